import { ApiError } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { Choice, Field } from '../parts/forms/field.tsx';
import { lazy } from '../parts/loading/lazy.tsx';
import { Failure } from '../parts/message.tsx';
import { change } from '../preferences.ts';
import { logIn, sessionEnd } from '../session.ts';
import { LANGUAGES, language, t } from '../words/words.ts';

const CodeForm = lazy(async () => (await import('../sign-in/code-form.tsx')).CodeForm);
const ForgottenPassword = lazy(async () => (await import('../sign-in/password-reset.tsx')).ForgottenPassword);
const OtherWays = lazy(async () => (await import('../sign-in/other-ways.tsx')).OtherWays);

export function LoginPage() {
  const isBusy = useSignal(false);
  const error = useSignal<string | null>(null);
  /** The accepted login and password, while a second factor is still needed. */
  const half = useSignal<{ login: string; password: string } | null>(null);
  const hasForgotten = useSignal(false);
  const title = t().logIn;
  const ends = { ended: t().sessionEnded, blocked: t().accountBlocked, expired: t().accountExpired };
  useEffect(() => {
    document.title = `${title} · Outrider`;
  }, [title]);

  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    isBusy.value = true;
    error.value = sessionEnd.value = null;
    const login = String(form.get('login'));
    const password = String(form.get('password'));
    try {
      await logIn(login, password);
    } catch (reason) {
      isBusy.value = false;
      if (reason instanceof ApiError && reason.problem.type === 'urn:outrider:problem:second-factor-needed') {
        half.value = { login, password };
        return;
      }
      const isWrong = reason instanceof ApiError && reason.problem.type === 'urn:outrider:problem:wrong-credentials';
      error.value = isWrong ? t().wrongCredentials : describeError(reason);
    }
    isBusy.value = false;
  };

  if (half.value !== null)
    return (
      <main class="login">
        <CodeForm {...half.value} onBack={() => (half.value = null)} />
      </main>
    );
  if (hasForgotten.value)
    return (
      <main class="login">
        <ForgottenPassword onBack={() => (hasForgotten.value = false)} />
      </main>
    );
  return (
    <main class="login">
      <form onSubmit={submit}>
        <img src="/favicon.svg" alt="" width="48" height="48" />
        <h1>Outrider</h1>
        {sessionEnd.value !== null && <p role="status">{ends[sessionEnd.value]}</p>}
        <Field
          label={t().login}
          name="login"
          autocomplete="username webauthn"
          autocapitalize="none"
          required
          autoFocus
        />
        <Field label={t().password} name="password" type="password" autocomplete="current-password" required />
        <Failure>{error.value}</Failure>
        <button type="submit" class="primary" disabled={isBusy.value}>
          {isBusy.value ? t().loggingIn : t().logIn}
        </button>
        <button type="button" onClick={() => (hasForgotten.value = true)}>
          {t().forgotPassword}
        </button>
        <OtherWays />
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
