import type { VehicleCounters as Counters } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { Dialog } from '../parts/dialog.tsx';
import { Edit } from '../parts/forms/edit.ts';
import { EditForm } from '../parts/forms/edit-form.tsx';
import { Choice, Field } from '../parts/forms/field.tsx';
import { preferences } from '../preferences.ts';
import { api } from '../session.ts';
import { metresOf, shownDistance, unitOf } from './units.ts';
import { maintenanceWords } from './words.ts';

interface Draft {
  /** `odometer`, `engine-hours`, or the id of a custom counter. */
  counter: string;
  value: string;
  at: string;
  note: string;
}

/** Asks for the actual value of a vehicle's counter, and since when it applies. */
export function CorrectionDialog(props: {
  vehicleId: string;
  counters: Counters;
  onClose: () => void;
  onSaved: () => void;
}) {
  const { vehicleId, counters, onClose, onSaved } = props;
  const words = maintenanceWords();
  const { units } = preferences.value;
  const customOf = (counter: string) => counters.custom.find(({ id }) => id === counter);
  const shownValue = (counter: string) =>
    counter === 'odometer'
      ? String(Math.round(shownDistance(counters.odometerM, units)))
      : String(Math.round((customOf(counter)?.value ?? counters.engineHours) * 10) / 10);
  const edit = useSignal(
    new Edit<Draft>({
      value: { counter: 'odometer', value: shownValue('odometer'), at: '', note: '' },
      etag: null,
      save: ({ counter = 'odometer', value = '', at = '', note = '' }) =>
        api.post('/api/v1/vehicles/{id}/counter-corrections', {
          path: { id: vehicleId },
          body: {
            counter,
            value: counter === 'odometer' ? metresOf(Number(value), units) : Number(value),
            ...(at === '' ? {} : { at: new Date(at).toISOString() }),
            note: note === '' ? null : note,
          },
        }),
    }),
  ).value;
  const draft = edit.draft.value;
  const unit = draft.counter === 'odometer' ? unitOf(units) : (customOf(draft.counter)?.unit ?? words.hourUnit);
  return (
    <Dialog title={words.correct} onClose={onClose}>
      <EditForm edit={edit} labels={{}} saved={words.corrected} onSaved={onSaved}>
        <p>{words.correctHint}</p>
        <Choice
          label={words.counter}
          value={draft.counter}
          onChange={(counter) => edit.set({ counter, value: shownValue(counter) })}
        >
          <option value="odometer">{words.names.odometer}</option>
          <option value="engine-hours">{words.names['engine-hours']}</option>
          {counters.custom.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Choice>
        <Field
          label={unit === '' ? words.value : `${words.value}, ${unit}`}
          type="number"
          min="0"
          step="any"
          required
          value={draft.value}
          errors={edit.at('/value')}
          onInput={(event) => edit.set({ value: event.currentTarget.value })}
        />
        <Field
          label={words.at}
          hint={words.atHint}
          type="datetime-local"
          value={draft.at}
          errors={edit.at('/at')}
          onInput={(event) => edit.set({ at: event.currentTarget.value })}
        />
        <Field
          label={words.note}
          maxLength={200}
          value={draft.note}
          errors={edit.at('/note')}
          onInput={(event) => edit.set({ note: event.currentTarget.value })}
        />
      </EditForm>
    </Dialog>
  );
}
