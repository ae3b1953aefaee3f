import { ApiError } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { Choice, Field } from '../parts/field.tsx';
import { change } from '../preferences.ts';
import { hasSessionEnded, logIn } from '../session.ts';
import { LANGUAGES, language, t } from '../words/words.ts';

export function LoginPage() {
  const isBusy = useSignal(false);
  const error = useSignal<string | null>(null);
  const title = t().logIn;
  useEffect(() => {
    document.title = `${title} · Outrider`;
  }, [title]);

  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    isBusy.value = true;
    error.value = null;
    try {
      await logIn(String(form.get('login')), String(form.get('password')));
    } catch (reason) {
      const isWrong = reason instanceof ApiError && reason.status === 401;
      error.value = isWrong ? t().wrongCredentials : describeError(reason);
    }
    isBusy.value = false;
  };

  return (
    <main class="login">
      <form onSubmit={submit}>
        <img src="/favicon.svg" alt="" width="48" height="48" />
        <h1>Outrider</h1>
        {hasSessionEnded.value && <p role="status">{t().sessionEnded}</p>}
        <Field label={t().login} name="login" autocomplete="username" autocapitalize="none" required autoFocus />
        <Field label={t().password} name="password" type="password" autocomplete="current-password" required />
        <p class="error" role="alert">
          {error.value}
        </p>
        <button type="submit" class="primary" disabled={isBusy.value}>
          {isBusy.value ? t().loggingIn : t().logIn}
        </button>
        <Choice label={t().language} value={language.value} onChange={(tag) => change({ language: tag })}>
          {Object.entries(LANGUAGES).map(([tag, { name }]) => (
            <option key={tag} value={tag} lang={tag}>
              {name}
            </option>
          ))}
        </Choice>
      </form>
    </main>
  );
}
