import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { describeError } from '../errors.ts';
import { Field } from '../parts/forms/field.tsx';
import { useTask } from '../parts/forms/task-form.tsx';
import { Failure } from '../parts/message.tsx';
import { navigate, route } from '../router.ts';
import { api, logOut, user } from '../session.ts';
import { language, t } from '../words/words.ts';
import { signInWords } from './words.ts';

interface FormProps {
  about: string;
  action: string;
  run: (data: FormData) => Promise<void>;
  onBack: () => void;
  children: (at: (pointer: string) => readonly string[]) => ComponentChildren;
}

function SmallForm({ about, action, run, onBack, children }: FormProps) {
  const { error, isBusy, at, submit } = useTask(run);
  const isOfPassword = at('/password').length > 0;
  const message = at('/token')[0] ?? (error.value === null || isOfPassword ? null : describeError(error.value));
  return (
    <form onSubmit={submit}>
      <img src="/favicon.svg" alt="" width="48" height="48" />
      <h1>Outrider</h1>
      <p role="status">{about}</p>
      {children(at)}
      <Failure>{message}</Failure>
      <button type="submit" class="primary" disabled={isBusy.value}>
        {action}
      </button>
      <button type="button" onClick={onBack}>
        {signInWords().login.back}
      </button>
    </form>
  );
}

/** Requests the link with which a forgotten password is replaced. */
export function ForgottenPassword({ onBack }: { onBack: () => void }) {
  const words = signInWords().reset;
  const isSent = useSignal(false);
  const run = async (data: FormData) => {
    const body = { account: String(data.get('account')), language: language.value as 'en' };
    await api.post('/auth/password-reset', { body });
    isSent.value = true;
  };
  return (
    <SmallForm about={isSent.value ? words.sent : words.ask} action={words.send} run={run} onBack={onBack}>
      {() => <Field label={words.account} name="account" autocomplete="username" maxLength={320} required autoFocus />}
    </SmallForm>
  );
}

/** Target of the links in e-mails: sets the password of an account. */
export function PasswordLinkPage() {
  const words = signInWords().reset;
  const isSet = useSignal(false);
  const leave = () => navigate('/', { replace: true });
  const run = async (data: FormData) => {
    if (isSet.peek()) return leave();
    const body = { token: route.peek().query.get('token') ?? '', password: String(data.get('password')) };
    await api.post('/auth/password-reset/complete', { body });
    // Somebody else's session may be open in this browser.
    if (user.peek()) await logOut();
    isSet.value = true;
  };
  return (
    <main class="login">
      <SmallForm
        about={isSet.value ? words.done : words.choose}
        action={isSet.value ? t().logIn : words.set}
        run={run}
        onBack={leave}
      >
        {(at) =>
          !isSet.value && (
            <Field
              label={t().newPassword}
              name="password"
              type="password"
              autocomplete="new-password"
              minLength={8}
              required
              autoFocus
              errors={at('/password')}
            />
          )
        }
      </SmallForm>
    </main>
  );
}
