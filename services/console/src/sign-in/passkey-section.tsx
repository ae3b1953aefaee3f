import type { Passkey } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { formats } from '../format.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/forms/field.tsx';
import { toast } from '../parts/toast.tsx';
import { api } from '../session.ts';
import { t } from '../words/words.ts';
import '../style/manage.css';
import { TaskForm } from '../parts/forms/task-form.tsx';
import { OwnPasswordForm } from './own-password-form.tsx';
import { describePasskeyError, makePasskey, supportsPasskeys } from './passkeys.ts';
import { RecoveryCodes } from './second-factor.tsx';
import { signInWords } from './words.ts';

type Task = { kind: 'add' } | { kind: 'rename' | 'remove'; passkey: Passkey };

/** The passkeys of the user's own account: add, rename, remove. */
export function PasskeySection({ onChange }: { onChange: () => void }) {
  const words = signInWords().passkeys;
  const passkeys = useSignal<readonly Passkey[] | null>(null);
  const error = useSignal<string | null>(null);
  /** Why this page cannot create passkeys; undefined: not known yet. */
  const obstacle = useSignal<string | null | undefined>(undefined);
  const task = useSignal<Task | null>(null);
  const read = async () => {
    try {
      passkeys.value = (await api.get('/api/v1/me/passkeys')).items;
      const { passkeyOrigin } = await api.get('/auth/options');
      obstacle.value = obstacleAt(passkeyOrigin);
      error.value = null;
    } catch (reason) {
      error.value = describeError(reason);
    }
  };
  useEffect(() => void read(), []);
  const changed = async () => {
    await read();
    onChange();
  };
  return (
    <section class="card" aria-labelledby="me-passkeys">
      <h2 id="me-passkeys">{words.title}</h2>
      <small>{words.hint}</small>
      {error.value !== null && <p class="error">{error.value}</p>}
      {passkeys.value?.length === 0 && <p>{words.none}</p>}
      <ul class="facts-list">
        {passkeys.value?.map((passkey) => (
          <li key={passkey.id}>
            <div>
              <strong>
                <bdi>{passkey.name}</bdi>
              </strong>
              <small>
                {words.created(formats().dateTime(passkey.createdAt))} ·{' '}
                {passkey.lastUsedAt === null ? words.neverUsed : words.lastUsed(formats().moment(passkey.lastUsedAt))}
              </small>
            </div>
            {(['rename', 'remove'] as const).map((kind) => (
              <button
                key={kind}
                type="button"
                aria-label={words[`${kind}Of`](passkey.name)}
                onClick={() => (task.value = { kind, passkey })}
              >
                {words[kind]}
              </button>
            ))}
          </li>
        ))}
      </ul>
      {obstacle.value === null ? (
        <div class="actions">
          <button type="button" onClick={() => (task.value = { kind: 'add' })}>
            {words.add}
          </button>
        </div>
      ) : (
        obstacle.value && <p>{obstacle.value}</p>
      )}
      {task.value !== null && <TaskDialog task={task.value} onChange={changed} onClose={() => (task.value = null)} />}
    </section>
  );
}

function obstacleAt(origin: string | null): string | null {
  const words = signInWords().passkeys;
  if (origin === null) return words.noTls;
  if (origin !== location.origin) return words.elsewhere(origin);
  return supportsPasskeys() ? null : words.unsupported;
}

interface TaskProps {
  task: Task;
  onChange: () => Promise<void>;
  onClose: () => void;
}

function TaskDialog({ task, onChange, onClose }: TaskProps) {
  const words = signInWords().passkeys;
  const codes = useSignal<readonly string[] | null>(null);
  const done = async (recoveryCodes: readonly string[] | null) => {
    codes.value = recoveryCodes;
    if (recoveryCodes === null) onClose();
    await onChange();
  };
  if (codes.value !== null)
    return (
      <Dialog title={signInWords().factor.codes} onClose={onClose}>
        <RecoveryCodes codes={codes.value} onClose={onClose} />
      </Dialog>
    );
  if (task.kind === 'add')
    return (
      <Dialog title={words.add} onClose={onClose}>
        <AddForm onAdded={done} onCancel={onClose} />
      </Dialog>
    );
  const { kind, passkey } = task;
  const path = { id: passkey.id };
  const rename = async (data: FormData) => {
    await api.patch('/api/v1/me/passkeys/{id}', { path, body: { name: String(data.get('name')) } });
    await done(null);
  };
  const remove = async (currentPassword: string) => {
    await api.post('/api/v1/me/passkeys/{id}/remove', { path, body: { currentPassword } });
    toast(words.removed);
    await done(null);
  };
  return (
    <Dialog title={words[`${kind}Of`](passkey.name)} onClose={onClose}>
      {kind === 'rename' ? (
        <TaskForm action={t().save} pointers={['/name']} run={rename} onCancel={onClose}>
          {(at) => <NameField value={passkey.name} errors={at('/name')} />}
        </TaskForm>
      ) : (
        <OwnPasswordForm action={words.remove} run={remove} onCancel={onClose}>
          <p>{words.removeHint}</p>
        </OwnPasswordForm>
      )}
    </Dialog>
  );
}

interface AddProps {
  onAdded: (recoveryCodes: readonly string[] | null) => Promise<void>;
  onCancel: () => void;
}

function AddForm({ onAdded, onCancel }: AddProps) {
  const words = signInWords().passkeys;
  const add = async (currentPassword: string, data: FormData) => {
    const options = await api.post('/api/v1/me/passkeys/options', { body: { currentPassword } });
    const credential = await makePasskey(options);
    const body = { state: options.state, name: String(data.get('name')), credential };
    await onAdded((await api.post('/api/v1/me/passkeys', { body })).recoveryCodes);
  };
  return (
    <OwnPasswordForm action={words.add} run={add} describe={describePasskeyError} onCancel={onCancel}>
      <NameField value="" errors={[]} />
    </OwnPasswordForm>
  );
}

function NameField({ value, errors }: { value: string; errors: readonly string[] }) {
  const label = signInWords().passkeys.name;
  return <Field label={label} name="name" defaultValue={value} maxLength={100} required autoFocus errors={errors} />;
}
