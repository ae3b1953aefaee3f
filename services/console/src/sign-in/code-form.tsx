import { ApiError } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { Field } from '../parts/forms/field.tsx';
import { Failure } from '../parts/message.tsx';
import { logIn } from '../session.ts';
import { t } from '../words/words.ts';
import { askPasskey, describePasskeyError, supportsPasskeys } from './passkeys.ts';
import { signInWords } from './words.ts';

interface Props {
  login: string;
  password: string;
  onBack: () => void;
}

/** The second step of a login with a second factor: a code or a passkey. */
export function CodeForm({ login, password, onBack }: Props) {
  const words = signInWords().login;
  const isBusy = useSignal(false);
  const error = useSignal<string | null>(null);
  const enterWith = async (factor: () => Promise<Parameters<typeof logIn>[2]>, wrong: string) => {
    isBusy.value = true;
    error.value = null;
    try {
      await logIn(login, password, await factor());
    } catch (reason) {
      const isWrong = reason instanceof ApiError && reason.problem.type === 'urn:outrider:problem:wrong-second-factor';
      error.value = isWrong ? wrong : describePasskeyError(reason);
    }
    isBusy.value = false;
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const totp = String(new FormData(form).get('totp'));
    await enterWith(async () => ({ totp }), words.wrong);
    form.reset();
  };
  const { use, wrong } = signInWords().passkeys;
  return (
    <form onSubmit={submit}>
      <img src="/favicon.svg" alt="" width="48" height="48" />
      <h1>Outrider</h1>
      <p>{words.needed}</p>
      <Field
        label={words.code}
        name="totp"
        autocomplete="one-time-code"
        autocapitalize="none"
        spellcheck={false}
        maxLength={100}
        required
        autoFocus
      />
      <Failure>{error.value}</Failure>
      <button type="submit" class="primary" disabled={isBusy.value}>
        {isBusy.value ? t().loggingIn : t().logIn}
      </button>
      {supportsPasskeys() && (
        <button
          type="button"
          disabled={isBusy.value}
          onClick={() => void enterWith(async () => ({ passkey: await askPasskey() }), wrong)}
        >
          {use}
        </button>
      )}
      <button type="button" onClick={onBack}>
        {words.back}
      </button>
    </form>
  );
}
