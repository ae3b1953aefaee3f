import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { Field } from '../parts/forms/field.tsx';
import { Failure } from '../parts/message.tsx';
import { toast } from '../parts/toast.tsx';
import { api } from '../session.ts';
import { signInWords } from './words.ts';

/** Value for time inputs: in the zone of the device, to the minute. */
function localText(iso: string | null): string {
  if (iso === null) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** When an account expires: from then on it is blocked. */
export function ExpiryForm({ userId, onChange }: { userId: string; onChange: () => Promise<void> }) {
  const words = signInWords().expiry;
  const path = { id: userId };
  const saved = useSignal<string | null>(null);
  const error = useSignal<unknown>(null);
  useEffect(() => {
    api.get('/api/v1/users/{id}/expiry', { path }).then(
      ({ expiresAt }) => (saved.value = expiresAt),
      (reason: unknown) => (error.value = reason),
    );
  }, [userId]);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('expiry'));
    const expiresAt = text === '' ? null : new Date(text).toISOString();
    try {
      await api.put('/api/v1/users/{id}/expiry', { path, body: { expiresAt } });
      saved.value = expiresAt;
      error.value = null;
      toast(words.saved);
      await onChange();
    } catch (reason) {
      error.value = reason;
    }
  };
  return (
    <form class="form body" onSubmit={save}>
      <Field
        key={saved.value}
        label={words.label}
        name="expiry"
        type="datetime-local"
        defaultValue={localText(saved.value)}
        hint={words.hint}
      />
      {error.value !== null && <Failure>{describeError(error.value)}</Failure>}
      <div class="actions">
        <button type="submit">{words.save}</button>
      </div>
    </form>
  );
}
