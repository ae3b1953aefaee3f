import type { CustomCounter } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { fleet } from '../fleet/store.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Edit, ifMatch } from '../parts/forms/edit.ts';
import { EditForm } from '../parts/forms/edit-form.tsx';
import { Choice, Field } from '../parts/forms/field.tsx';
import { api } from '../session.ts';
import { t } from '../words/words.ts';
import { words } from './counter-words.ts';

interface Props {
  vehicleId: string;
  /** Null: a new one. */
  counter: CustomCounter | null;
  onClose: () => void;
  onSaved: () => void;
}

interface Draft extends Pick<CustomCounter, 'name' | 'unit' | 'source' | 'sensorId'> {
  /** In the format of the browser's input; empty: now. */
  startsAt: string;
}

const PATH = '/api/v1/vehicles/{id}/counters/{counterId}';
const HOURS_UNIT = 'h';
const SOURCES = ['sensor-hours', 'sensor-total', 'manual'] as const;

/** Edits the name of a vehicle's custom counter and what increases it. */
export function CustomCounterDialog({ vehicleId, counter, onClose, onSaved }: Props) {
  const edit = useSignal(editOf(vehicleId, counter)).value;
  const draft = edit.draft.value;
  const own = words();
  const sensors = fleet.vehicles[fleet.indexOf(vehicleId)]?.sensors ?? [];
  const fitting = (source: Draft['source']) =>
    source === 'manual' ? [] : sensors.filter(({ kind }) => source === 'sensor-total' || kind === 'digital');
  const choose = (source: Draft['source'], sensorId: string | null) => {
    const sensor = fitting(source).find(({ id }) => id === sensorId) ?? fitting(source)[0];
    const unit = source === 'sensor-hours' ? HOURS_UNIT : source === 'sensor-total' ? sensor?.unit : draft.unit;
    edit.set({ source, sensorId: sensor?.id ?? null, unit: unit ?? '' });
  };
  const path = { id: vehicleId, counterId: counter?.id ?? '' };
  return (
    <Dialog title={counter === null ? own.newTitle : own.change} onClose={onClose}>
      <EditForm
        edit={edit}
        labels={{ name: t().name, unit: own.unit, source: own.source, sensorId: own.sensor }}
        saved={own.saved}
        onSaved={onSaved}
        removal={{
          question: own.remove(counter?.name ?? ''),
          run: (etag) => api.delete(PATH, { path, headers: ifMatch(etag) }),
          done: own.deleted,
        }}
      >
        <Field
          label={t().name}
          required
          maxLength={100}
          value={draft.name}
          errors={edit.at('/name')}
          onInput={(event) => edit.set({ name: event.currentTarget.value })}
        />
        <Choice
          label={own.source}
          value={draft.source}
          onChange={(source) => choose(source as Draft['source'], draft.sensorId)}
        >
          {SOURCES.map((source) => (
            <option key={source} value={source}>
              {own.sources[source]}
            </option>
          ))}
        </Choice>
        {counter !== null && <small>{own.sourceHint}</small>}
        {draft.source !== 'manual' && (
          <SensorChoice
            sensors={fitting(draft.source)}
            value={draft.sensorId}
            onChange={(sensorId) => choose(draft.source, sensorId)}
          />
        )}
        {edit.at('/sensorId').map((text) => (
          <p key={text} class="error">
            {text}
          </p>
        ))}
        <Field
          label={own.unit}
          maxLength={20}
          value={draft.unit}
          disabled={draft.source === 'sensor-hours'}
          errors={edit.at('/unit')}
          onInput={(event) => edit.set({ unit: event.currentTarget.value })}
        />
        {counter === null && draft.source !== 'manual' && (
          <Field
            label={own.startsAt}
            hint={own.startsAtHint}
            type="datetime-local"
            value={draft.startsAt}
            errors={edit.at('/startsAt')}
            onInput={(event) => edit.set({ startsAt: event.currentTarget.value })}
          />
        )}
      </EditForm>
    </Dialog>
  );
}

function SensorChoice(props: {
  sensors: readonly { id: string; name: string }[];
  value: string | null;
  onChange: (sensorId: string) => void;
}) {
  const { sensors, value, onChange } = props;
  const own = words();
  const isGone = value !== null && !sensors.some(({ id }) => id === value);
  if (sensors.length === 0 && !isGone) return <p class="note">{own.noSensor}</p>;
  return (
    <Choice label={own.sensor} value={value ?? ''} onChange={onChange}>
      {isGone && <option value={value}>{own.sensorGone}</option>}
      {sensors.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Choice>
  );
}

function editOf(vehicleId: string, counter: CustomCounter | null): Edit<Draft> {
  if (counter === null)
    return new Edit<Draft>({
      value: { name: '', unit: '', source: 'manual', sensorId: null, startsAt: '' },
      etag: null,
      save: ({ name = '', unit = '', source = 'manual', sensorId = null, startsAt = '' }) =>
        api.post('/api/v1/vehicles/{id}/counters', {
          path: { id: vehicleId },
          body: { name, unit, source, sensorId, startsAt: startsAt === '' ? null : new Date(startsAt).toISOString() },
        }),
    });
  const path = { id: vehicleId, counterId: counter.id };
  const draftOf = ({ name, unit, source, sensorId }: CustomCounter): Draft => ({
    name,
    unit,
    source,
    sensorId,
    startsAt: '',
  });
  return new Edit<Draft>({
    value: draftOf(counter),
    etag: `"${counter.version}"`,
    async read() {
      const { body, etag } = await api.getTagged(PATH, { path });
      return { body: draftOf(body), etag };
    },
    save: ({ startsAt: _, ...fields }, tag) => api.patch(PATH, { path, headers: ifMatch(tag), body: fields }),
  });
}
