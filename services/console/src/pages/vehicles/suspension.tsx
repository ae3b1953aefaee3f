import type { Vehicle } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { CancelButton, SubmitButton } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/forms/field.tsx';
import { useTask } from '../../parts/forms/task-form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { keepsAccounts } from '../../rights.ts';
import { api, user } from '../../session.ts';
import { t } from '../../words/words.ts';

interface Props {
  vehicle: Vehicle;
  /** Called with the changed vehicle. */
  onChange: (vehicle: Vehicle) => void;
}

/** Explains why a vehicle is suspended. Suspends or resumes it if the user may. */
export function Suspension({ vehicle, onChange }: Props) {
  const words = t().fleetMap.suspension;
  const isAsking = useSignal(false);
  const isBusy = useSignal(false);
  const caller = user.value;
  if (!caller || !keepsAccounts(caller)) return null;
  // From the live definitions, as others may suspend and resume it too.
  void fleet.version.value;
  const { id, suspension } = fleet.vehicles[fleet.indexOf(vehicle.id)] ?? vehicle;
  const isHeld = suspension?.by === 'operator' && caller.role !== 'operator';
  const resume = async () => {
    isBusy.value = true;
    try {
      onChange(await api.post('/api/v1/vehicles/{id}/resume', { path: { id } }));
      toast(words.resumed);
    } catch (error) {
      toast(describeError(error), 'error');
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <>
      {suspension === null ? (
        <button type="button" onClick={() => (isAsking.value = true)}>
          <Icon name="lock" /> {words.suspend}
        </button>
      ) : isHeld ? (
        <small>{words.held}</small>
      ) : (
        <button type="button" disabled={isBusy.value} onClick={() => void resume()}>
          <Icon name="lock" /> {words.resume}
        </button>
      )}
      {isAsking.value && (
        <SuspendDialog
          vehicle={vehicle}
          onClose={() => (isAsking.value = false)}
          onDone={(changed) => {
            isAsking.value = false;
            onChange(changed);
          }}
        />
      )}
    </>
  );
}

function SuspendDialog({
  vehicle: { id, name },
  onClose,
  onDone,
}: {
  vehicle: Vehicle;
  onClose: () => void;
  onDone: (vehicle: Vehicle) => void;
}) {
  const words = t().fleetMap.suspension;
  const { error, submit } = useTask(async (data) => {
    const body = { reason: String(data.get('reason')) };
    const changed = await api.post('/api/v1/vehicles/{id}/suspend', { path: { id }, body });
    toast(words.done);
    onDone(changed);
  });
  return (
    <Dialog title={words.title(name)} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{words.hint}</p>
        <Field
          label={words.reason}
          name="reason"
          maxLength={200}
          required
          errors={error.value === null ? [] : [describeError(error.value)]}
        />
        <div class="actions">
          <SubmitButton>{words.suspend}</SubmitButton>
          <CancelButton onClick={onClose} />
        </div>
      </form>
    </Dialog>
  );
}
