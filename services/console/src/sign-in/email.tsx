import { ApiError } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { Field } from '../parts/forms/field.tsx';
import { Failure } from '../parts/message.tsx';
import { toast } from '../parts/toast.tsx';
import { api } from '../session.ts';
import { t } from '../words/words.ts';
import { signInWords } from './words.ts';

/**
 * E-mail address of an account. Changing one's own address requires the password. Another person's account can be sent
 * an invitation.
 */
export function EmailForm({ userId, isOwn }: { userId: string; isOwn: boolean }) {
  const words = signInWords().email;
  const path = { id: userId };
  const saved = useSignal<string | null>(null);
  const error = useSignal<unknown>(null);
  const at = (pointer: string) => (error.value instanceof ApiError ? error.value.at(pointer) : []);
  const run = async (work: () => Promise<unknown>) => {
    try {
      error.value = null;
      await work();
    } catch (reason) {
      error.value = reason;
    }
  };
  useEffect(() => {
    void run(async () => {
      saved.value = (await api.get('/api/v1/users/{id}/email', { path })).email;
    });
  }, [userId]);
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const email = String(data.get('email')).trim() || null;
    const current = isOwn ? { currentPassword: String(data.get('current')) } : {};
    void run(async () => {
      await api.put('/api/v1/users/{id}/email', { path, body: { email, ...current } });
      saved.value = email;
      if (isOwn) form.reset();
      toast(words.saved);
    });
  };
  const invite = () =>
    run(async () => {
      await api.post('/api/v1/users/{id}/invitation', { path });
      toast(words.invited);
    });
  const isElsewhere = error.value !== null && at('/email').length + at('/currentPassword').length === 0;
  return (
    <form class={isOwn ? 'form' : 'form body'} onSubmit={save}>
      <Field
        key={saved.value}
        label={words.label}
        name="email"
        type="email"
        maxLength={320}
        autocomplete={isOwn ? 'email' : 'off'}
        defaultValue={saved.value ?? ''}
        hint={words.hint}
        errors={at('/email')}
      />
      {isOwn && (
        <Field
          label={t().currentPassword}
          name="current"
          type="password"
          autocomplete="current-password"
          required
          errors={at('/currentPassword')}
        />
      )}
      {isElsewhere && <Failure>{describeError(error.value)}</Failure>}
      <div class="actions">
        <button type="submit">{words.save}</button>
        {!isOwn && saved.value !== null && (
          <button type="button" onClick={() => void invite()}>
            {words.invite}
          </button>
        )}
      </div>
    </form>
  );
}
