import { ApiError, type User } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { CancelButton, IconButton, SubmitButton } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { suggestedPassword } from './draft.ts';
import { userWords } from './words.ts';

interface Props {
  value: string;
  errors: readonly string[];
  onChange: (password: string) => void;
}

/** Field for another person's password: visible, to be handed over, with a random suggestion. */
export function SuggestedPassword({ value, errors, onChange }: Props) {
  const words = userWords();
  const copy = () =>
    navigator.clipboard.writeText(value).then(
      () => toast(words.copied),
      () => toast(words.notCopied, 'error'),
    );
  return (
    <div class="with-buttons">
      <Field
        label={t().newPassword}
        name="password"
        value={value}
        autocomplete="off"
        spellcheck={false}
        minLength={8}
        required
        errors={errors}
        hint={words.passwordHint}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <button
        type="button"
        class="icon"
        aria-label={words.suggest}
        title={words.suggest}
        onClick={() => onChange(suggestedPassword())}
      >
        <Icon name="refresh" />
      </button>
      <IconButton icon="copy" label={words.copy} title={words.copy} onClick={copy} />
    </div>
  );
}

/** Sets a new password for an account. */
export function PasswordDialog({ account: { id, login }, onClose }: { account: User; onClose: () => void }) {
  const password = useSignal(suggestedPassword());
  const error = useSignal<unknown>(null);
  const errors = error.value instanceof ApiError ? error.value.at('/password') : [];
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    try {
      await api.put('/api/v1/users/{id}/password', { path: { id }, body: { password: password.value } });
      toast(userWords().passwordSet(login));
      onClose();
    } catch (reason) {
      error.value = reason;
    }
  };
  return (
    <Dialog title={userWords().passwordOf(login)} onClose={onClose}>
      <form class="form" onSubmit={save}>
        <SuggestedPassword value={password.value} errors={errors} onChange={(value) => (password.value = value)} />
        {error.value !== null && errors.length === 0 && <Failure>{describeError(error.value)}</Failure>}
        <div class="actions">
          <SubmitButton>{userWords().setPassword}</SubmitButton>
          <CancelButton onClick={onClose} />
        </div>
      </form>
    </Dialog>
  );
}
