import { ApiError, type Sensor } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { Choice } from '../../parts/forms/field.tsx';
import { VehiclePicker } from '../../parts/forms/picker.tsx';
import { Table } from '../../parts/lists/table.tsx';
import { Failure } from '../../parts/message.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { refusals } from '../vehicles/bulk.ts';
import { vehicleWords } from '../vehicles/words.ts';
import { type CopyMode, copySteps } from './copy.ts';
import { words } from './words.ts';

interface Props {
  vehicleId: string;
  /** The saved sensors: unsaved ones cannot be copied. */
  sensors: readonly Sensor[];
  onClose: () => void;
}

type Outcome = 'updated' | 'unchanged' | 'refused';
interface Result {
  id: string;
  outcome: Outcome;
  detail: string;
}
interface Done {
  isDry: boolean;
  results: readonly Result[];
  error: unknown;
}

/** Copies sensors to other vehicles. A dry run shows the result for each vehicle. */
export function Copy({ vehicleId, sensors, onClose }: Props) {
  const text = words();
  const ids = useSignal<readonly string[]>([]);
  const chosen = useSignal<ReadonlySet<string>>(new Set(sensors.map(({ id }) => id)));
  const mode = useSignal<CopyMode>('add');
  const done = useSignal<Done | null>(null);
  const isBusy = useSignal(false);
  const copied = sensors.filter(({ id }) => chosen.value.has(id));
  const run = async (isDry: boolean) => {
    isBusy.value = true;
    done.value = await copyAll(ids.peek(), copied, mode.peek(), isDry);
    isBusy.value = false;
  };
  const toggle = (id: string) => {
    const next = new Set(chosen.peek());
    if (!next.delete(id)) next.add(id);
    chosen.value = next;
    done.value = null;
  };
  const count = done.value?.results.filter(({ outcome }) => outcome === 'updated').length ?? 0;
  const isReady = ids.value.length > 0 && copied.length > 0;
  return (
    <section class="copy" aria-label={text.copyTo}>
      <h3>{text.copyTo}</h3>
      <fieldset>
        <legend>{text.whichSensors}</legend>
        {sensors.map(({ id, name }) => (
          <label key={id} class="check">
            <input type="checkbox" checked={chosen.value.has(id)} onChange={() => toggle(id)} />
            <span>
              <bdi>{name}</bdi>
            </span>
          </label>
        ))}
      </fieldset>
      <VehiclePicker
        label={text.toVehicles}
        chosen={ids.value}
        onChange={(next) => {
          ids.value = next.filter((id) => id !== vehicleId);
          done.value = null;
        }}
      />
      <Choice
        label={text.copyMode}
        value={mode.value}
        onChange={(value) => {
          mode.value = value as CopyMode;
          done.value = null;
        }}
      >
        {(['add', 'replace'] as const).map((one) => (
          <option key={one} value={one} selected={one === mode.value}>
            {text.copyModes[one]}
          </option>
        ))}
      </Choice>
      {done.value !== null && <Results {...done.value} count={count} />}
      <div class="actions">
        {done.value?.isDry && done.value.error === null && count > 0 ? (
          <button type="button" class="primary" disabled={isBusy.value} onClick={() => run(false)}>
            {text.copyNow(count)}
          </button>
        ) : (
          done.value?.isDry !== false && (
            <button type="button" class="primary" disabled={!isReady || isBusy.value} onClick={() => run(true)}>
              {vehicleWords().check}
            </button>
          )
        )}
        <button type="button" onClick={onClose}>
          {done.value?.isDry === false ? t().close : t().cancel}
        </button>
        {isBusy.value && <progress aria-label={vehicleWords().applying} />}
      </div>
    </section>
  );
}

/** Stops at the first part that is refused. The API applies a part completely or not at all. */
async function copyAll(ids: readonly string[], sensors: readonly Sensor[], mode: CopyMode, isDry: boolean) {
  const vehicles = ids.flatMap((id) => fleet.vehicles[fleet.indexOf(id)] ?? []);
  const results: Result[] = [];
  for (const step of copySteps(vehicles, sensors, mode))
    try {
      const { items } = await api.patch('/api/v1/vehicles', {
        query: { dryRun: isDry ? 'true' : 'false' },
        body: { ids: step.ids, patch: { sensors: step.sensors } },
      });
      results.push(...items.map(({ id, outcome }) => ({ id, outcome, detail: '' })));
    } catch (error) {
      const errors = error instanceof ApiError ? (error.problem.errors ?? []) : [];
      const known = refusals(errors, step.ids);
      const others = errors.filter(({ pointer }) => !pointer?.startsWith('/ids/')).map(({ detail }) => detail);
      for (const id of step.ids)
        results.push({ id, outcome: 'refused', detail: known.get(id) ?? (known.size === 0 ? others.join('; ') : '') });
      return { isDry, results, error };
    }
  return { isDry, results, error: null };
}

function Results({ isDry, results, error, count }: Done & { count: number }) {
  const vehicles = vehicleWords();
  const nameOf = (id: string) => fleet.vehicles[fleet.indexOf(id)]?.name ?? id;
  return (
    <>
      {error === null ? (
        <p role="status">
          {count === 0 ? vehicles.nothingToChange : isDry ? vehicles.wouldChange(count) : vehicles.haveChanged(count)}
        </p>
      ) : (
        <Failure>{describeError(error)}</Failure>
      )}
      <Table
        label={vehicles.outcome}
        rows={results}
        rowKey={({ id }) => id}
        columns={[
          { key: 'name', title: vehicles.fields.name, cell: ({ id }) => nameOf(id) },
          {
            key: 'outcome',
            title: vehicles.outcome,
            cell: ({ outcome, detail }) => `${vehicles.outcomes[outcome]}${detail === '' ? '' : `: ${detail}`}`,
          },
        ]}
      />
    </>
  );
}
