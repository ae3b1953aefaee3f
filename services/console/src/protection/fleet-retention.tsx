import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { Field } from '../parts/forms/field.tsx';
import { useTask } from '../parts/forms/task-form.tsx';
import { Failure } from '../parts/message.tsx';
import { toast } from '../parts/toast.tsx';
import { api } from '../session.ts';
import { protectionWords } from './words.ts';

const PATH = '/api/v1/users/{id}/retention';

/** Number of days for which the fleet of a dealer, or of the operator, keeps its history. */
export function FleetRetentionForm({ userId, role }: { userId: string; role: 'operator' | 'dealer' }) {
  const words = protectionWords();
  const path = { id: userId };
  const saved = useSignal<number | null>(null);
  const { error, submit } = useTask(async (data) => {
    const text = String(data.get('fleetDays'));
    const retentionDays = text === '' ? null : Number(text);
    await api.put(PATH, { path, body: { retentionDays } });
    saved.value = retentionDays;
    toast(words.fleetDaysSaved);
  });
  useEffect(() => {
    api.get(PATH, { path }).then(
      ({ retentionDays }) => (saved.value = retentionDays),
      (reason: unknown) => (error.value = reason),
    );
  }, [userId]);
  return (
    <form class="form body" onSubmit={submit}>
      <Field
        key={saved.value}
        label={words.fleetDays}
        name="fleetDays"
        type="number"
        min={1}
        max={36_500}
        step={1}
        defaultValue={saved.value ?? ''}
        hint={role === 'dealer' ? words.fleetHint : words.operatorFleetHint}
      />
      {error.value !== null && <Failure>{describeError(error.value)}</Failure>}
      <div class="actions">
        <button type="submit">{words.saveFleetDays}</button>
      </div>
    </form>
  );
}
