import type { SecondFactor, SecondFactorSecret } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { formats } from '../format.ts';
import { confirmed, Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/forms/field.tsx';
import { toast } from '../parts/toast.tsx';
import { api } from '../session.ts';
import { t } from '../words/words.ts';
import '../style/sign-in.css';
import { TaskForm } from '../parts/forms/task-form.tsx';
import { OwnPasswordForm } from './own-password-form.tsx';
import { QrCode } from './qr-code.tsx';
import { signInWords } from './words.ts';

type Task = 'begin' | 'renew' | 'disable';

/** The second factor of the user's own account: turn on, renew recovery codes, turn off. */
export function SecondFactorSection() {
  const words = signInWords().factor;
  const factor = useSignal<SecondFactor | null>(null);
  const error = useSignal<string | null>(null);
  const task = useSignal<Task | null>(null);
  const read = async () => {
    try {
      factor.value = await api.get('/api/v1/me/second-factor');
      error.value = null;
    } catch (reason) {
      error.value = describeError(reason);
    }
  };
  useEffect(() => void read(), []);
  const close = () => {
    task.value = null;
    void read();
  };
  const button = (which: Task) => (
    <button type="button" onClick={() => (task.value = which)}>
      {words[which]}
    </button>
  );
  const state = factor.value;
  const hasAny = state !== null && (state.enabled || state.passkeys > 0);
  const withoutApp = hasAny ? words.byPasskeys : words.off;
  return (
    <section class="card" aria-labelledby="me-second-factor">
      <h2 id="me-second-factor">{words.title}</h2>
      <small>{words.hint}</small>
      {error.value !== null && <p class="error">{error.value}</p>}
      {state !== null && (
        <>
          <p>
            {state.enabledAt === null ? withoutApp : words.on(formats().dateTime(state.enabledAt))}
            {hasAny && <small> · {words.codesLeft(state.recoveryCodes)}</small>}
          </p>
          <div class="actions">
            {hasAny && button('renew')}
            {button(state.enabled ? 'disable' : 'begin')}
          </div>
        </>
      )}
      {task.value !== null && <TaskDialog task={task.value} onClose={close} />}
    </section>
  );
}

/** Asks for the password, runs the task, and shows its result once. */
function TaskDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const words = signInWords().factor;
  const secret = useSignal<SecondFactorSecret | null>(null);
  const codes = useSignal<readonly string[] | null>(null);
  const run = async (currentPassword: string) => {
    const body = { currentPassword };
    if (task === 'begin') secret.value = await api.post('/api/v1/me/second-factor', { body });
    else if (task === 'renew')
      codes.value = (await api.post('/api/v1/me/second-factor/recovery-codes', { body })).recoveryCodes;
    else {
      await api.post('/api/v1/me/second-factor/disable', { body });
      toast(words.disabled);
      onClose();
    }
  };
  let content = <OwnPasswordForm action={task === 'begin' ? words.next : words[task]} run={run} onCancel={onClose} />;
  if (codes.value !== null) content = <RecoveryCodes codes={codes.value} onClose={onClose} />;
  else if (secret.value !== null)
    content = <ConfirmForm secret={secret.value} onConfirmed={(made) => (codes.value = made)} />;
  return (
    <Dialog title={codes.value === null ? words.title : words.codes} onClose={onClose}>
      {content}
    </Dialog>
  );
}

interface ConfirmProps {
  secret: SecondFactorSecret;
  onConfirmed: (recoveryCodes: readonly string[]) => void;
}

function ConfirmForm({ secret: { secret, uri }, onConfirmed }: ConfirmProps) {
  const words = signInWords().factor;
  const run = async (data: FormData) => {
    const body = { totp: String(data.get('totp')) };
    onConfirmed((await api.post('/api/v1/me/second-factor/confirm', { body })).recoveryCodes);
  };
  return (
    <TaskForm action={words.confirm} pointers={['/totp']} run={run}>
      {(at) => (
        <>
          <p>{words.scan}</p>
          <QrCode text={uri} label={words.picture} />
          <Field label={words.secret} value={secret.match(/.{4}/g)?.join(' ')} readOnly />
          <Field
            label={words.code}
            name="totp"
            inputMode="numeric"
            autocomplete="one-time-code"
            required
            autoFocus
            errors={at('/totp')}
          />
        </>
      )}
    </TaskForm>
  );
}

/** Recovery codes, which are shown only once. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <div class="form">
      <p>{signInWords().factor.codesHint}</p>
      <ul class="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          {t().close}
        </button>
      </div>
    </div>
  );
}

/** Lets operators remove the second factor of another account, if it has one, when its user has lost the phone. */
export function RemoveSecondFactor({ userId, login }: { userId: string; login: string }) {
  const words = signInWords().factor;
  const isOn = useSignal(false);
  const path = { id: userId };
  useEffect(() => {
    api.get('/api/v1/users/{id}/second-factor', { path }).then(
      ({ enabled, passkeys }) => {
        isOn.value = enabled || passkeys > 0;
      },
      (reason: unknown) => toast(describeError(reason), 'error'),
    );
  }, [userId]);
  const remove = async () => {
    if (!(await confirmed(words.remove, words.removeQuestion(login), words.remove))) return;
    try {
      await api.delete('/api/v1/users/{id}/second-factor', { path });
      isOn.value = false;
      toast(words.removed);
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
  };
  if (!isOn.value) return null;
  return (
    <div class="body actions">
      <button type="button" onClick={() => void remove()}>
        {words.remove}
      </button>
    </div>
  );
}
