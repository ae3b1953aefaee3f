import { ApiError, type Vehicle } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/forms/field.tsx';
import { GroupPicker } from '../../parts/forms/picker.tsx';
import { Table } from '../../parts/lists/table.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { ColorField, IconField } from './appearance.tsx';
import { chunks, refusals, type SharedPatch, type UndoStep, undoSteps } from './bulk.ts';
import { DeviceModelField } from './device-model.tsx';
import {
  DRIVING_FIELDS,
  FUEL_FIELDS,
  MOTION_FIELDS,
  type NumberName,
  numberProps,
  SPEED_FIELDS,
} from './plain-fields.ts';
import { vehicleWords } from './words.ts';

/** A change of fields, or of the members of a group. */
export type BulkKind = 'change' | 'add' | 'remove';

interface Props {
  kind: BulkKind;
  ids: readonly string[];
  onClose: () => void;
  onChanged: () => void;
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

/** Changes many vehicles at once. A dry run shows the result for each vehicle, and the change can be undone. */
export function BulkDialog({ kind, ids, onClose, onChanged }: Props) {
  const patch = useSignal<SharedPatch>({});
  const groupId = useSignal<string | null>(null);
  const done = useSignal<Done | null>(null);
  const isBusy = useSignal(false);
  const undo = useSignal<(() => Promise<void>) | null>(null);
  const change = kind === 'change' ? fieldChange(patch.value) : memberChange(kind, groupId.value);
  const isReady = kind === 'change' ? Object.keys(patch.value).length > 0 : groupId.value !== null;

  const run = async (isDry: boolean) => {
    isBusy.value = true;
    const before = ids.flatMap((id) => fleet.vehicles[fleet.indexOf(id)] ?? []);
    const { results, error } = await runChunks(ids, (some) => change.run(some, isDry));
    if (!isDry) {
      const changed = new Set(results.filter(({ outcome }) => outcome === 'updated').map(({ id }) => id));
      const steps = change.undo(before.filter(({ id }) => changed.has(id)));
      undo.value = steps === null || changed.size === 0 ? null : steps;
      onChanged();
    }
    done.value = { isDry, results, error };
    isBusy.value = false;
  };
  const takeBack = async () => {
    isBusy.value = true;
    try {
      await undo.peek()?.();
      toast(vehicleWords().undone);
      onChanged();
      onClose();
    } catch (error) {
      toast(describeError(error), 'error');
      isBusy.value = false;
    }
  };
  const titles = {
    change: vehicleWords().changeMany,
    add: vehicleWords().addToGroup,
    remove: vehicleWords().removeFromGroup,
  };
  const count = done.value?.results.filter(({ outcome }) => outcome === 'updated').length ?? 0;
  return (
    <Dialog title={`${titles[kind]} ${vehicleWords().chosen(ids.length)}`} isWide onClose={onClose}>
      {done.value === null ? (
        <div class="bulk">
          {kind === 'change' ? (
            <SharedFields patch={patch} />
          ) : (
            <GroupPicker
              isSingle
              chosen={groupId.value === null ? [] : [groupId.value]}
              onChange={([id]) => (groupId.value = id ?? null)}
            />
          )}
        </div>
      ) : (
        <Results {...done.value} count={count} />
      )}
      <div class="actions">
        {done.value === null && (
          <button type="button" class="primary" disabled={!isReady || isBusy.value} onClick={() => run(true)}>
            {vehicleWords().check}
          </button>
        )}
        {done.value?.isDry && (
          <>
            <button
              type="button"
              class="primary"
              disabled={isBusy.value || done.value.error !== null || count === 0}
              onClick={() => run(false)}
            >
              {isBusy.value ? vehicleWords().applying : vehicleWords().apply}
            </button>
            <button type="button" disabled={isBusy.value} onClick={() => (done.value = null)}>
              {vehicleWords().backToChange}
            </button>
          </>
        )}
        {done.value !== null && !done.value.isDry && (
          <>
            <button type="button" class="primary" onClick={onClose}>
              {t().close}
            </button>
            {undo.value !== null && (
              <button type="button" disabled={isBusy.value} onClick={takeBack}>
                {vehicleWords().undo}
              </button>
            )}
          </>
        )}
        {isBusy.value && <progress aria-label={vehicleWords().applying} />}
      </div>
    </Dialog>
  );
}

interface Change {
  run: (ids: readonly string[], isDry: boolean) => Promise<Result[]>;
  /** Restores the previous values; null if that is not possible. */
  undo: (before: readonly Vehicle[]) => (() => Promise<void>) | null;
}

function fieldChange(patch: SharedPatch): Change {
  const send = (ids: readonly string[], wanted: SharedPatch, isDry: boolean) =>
    api.patch('/api/v1/vehicles', {
      query: { dryRun: isDry ? 'true' : 'false' },
      body: { ids: [...ids], patch: wanted },
    });
  return {
    async run(ids, isDry) {
      const { items } = await send(ids, patch, isDry);
      return items.map(({ id, outcome }) => ({ id, outcome, detail: '' }));
    },
    undo(before) {
      const steps = undoSteps(before, patch);
      if (steps === null) return null;
      return async () => {
        for (const step of steps as UndoStep[]) for (const ids of chunks(step.ids)) await send(ids, step.patch, false);
      };
    },
  };
}

function memberChange(kind: 'add' | 'remove', groupId: string | null): Change {
  const isAdding = kind === 'add';
  const send = (ids: readonly string[], toAdd: boolean, isDry: boolean) =>
    api.patch('/api/v1/vehicle-groups/{id}/vehicles', {
      path: { id: groupId ?? '' },
      query: { dryRun: isDry ? 'true' : 'false' },
      body: toAdd ? { add: [...ids] } : { remove: [...ids] },
    });
  return {
    async run(ids, isDry) {
      const inGroup = new Set(ids.filter((id) => isMember(id, groupId)));
      await send(ids, isAdding, isDry);
      return ids.map((id) => ({ id, outcome: inGroup.has(id) === isAdding ? 'unchanged' : 'updated', detail: '' }));
    },
    undo: (before) => async () => {
      for (const ids of chunks(before.map(({ id }) => id))) await send(ids, !isAdding, false);
    },
  };
}

function isMember(id: string, groupId: string | null): boolean {
  const vehicle = fleet.vehicles[fleet.indexOf(id)];
  return groupId !== null && (vehicle?.groupIds.includes(groupId) ?? false);
}

/**
 * Applies a change in parts. Stops at the first part that is refused. The API applies a part completely or not at all.
 */
async function runChunks(
  ids: readonly string[],
  run: (ids: readonly string[]) => Promise<Result[]>,
): Promise<{ results: Result[]; error: unknown }> {
  const results: Result[] = [];
  for (const some of chunks(ids))
    try {
      results.push(...(await run(some)));
    } catch (error) {
      const errors = error instanceof ApiError ? (error.problem.errors ?? []) : [];
      for (const [id, detail] of refusals(errors, some)) results.push({ id, outcome: 'refused', detail });
      return { results, error };
    }
  return { results, error: null };
}

function Results({ isDry, results, error, count }: Done & { count: number }) {
  const vehicles = vehicleWords();
  const nameOf = (id: string) => fleet.vehicles[fleet.indexOf(id)]?.name ?? id;
  const detail = error instanceof ApiError ? (error.problem.errors ?? []).map((one) => one.detail).join('; ') : '';
  return (
    <>
      {error === null ? (
        <p role="status">
          {count === 0 ? vehicles.nothingToChange : isDry ? vehicles.wouldChange(count) : vehicles.haveChanged(count)}
        </p>
      ) : (
        <Failure>
          {describeError(error)} {results.length === 0 && detail}
        </Failure>
      )}
      {results.length > 0 && (
        <Table
          label={vehicles.outcome}
          rows={results}
          rowKey={({ id }) => id}
          columns={[
            { key: 'name', title: vehicles.fields.name, cell: ({ id }) => nameOf(id) },
            {
              key: 'outcome',
              title: vehicles.outcome,
              cell: ({ outcome, detail: why }) => `${vehicles.outcomes[outcome]}${why === '' ? '' : `: ${why}`}`,
            },
          ]}
        />
      )}
    </>
  );
}

/** Fields of the change. Only ticked ones are sent. */
function SharedFields({ patch }: { patch: Signal<SharedPatch> }) {
  const vehicles = vehicleWords();
  const set = (fields: SharedPatch) => {
    patch.value = { ...patch.peek(), ...fields };
  };
  const ticked = <Name extends keyof SharedPatch>(name: Name, initial: SharedPatch[Name], label: string) => (
    <label class="check">
      <input
        type="checkbox"
        checked={name in patch.value}
        onChange={(event) => {
          if (event.currentTarget.checked) return set({ [name]: initial });
          const { [name]: _, ...rest } = patch.peek();
          patch.value = rest;
        }}
      />
      <span>{label}</span>
    </label>
  );
  return (
    <>
      <p>{vehicles.fieldsToChange}</p>
      {ticked('icon', null, vehicles.fields.icon)}
      {patch.value.icon !== undefined && (
        <IconField value={patch.value.icon} color={null} onChange={(icon) => set({ icon })} />
      )}
      {ticked('color', null, vehicles.fields.color)}
      {patch.value.color !== undefined && <ColorField value={patch.value.color} onChange={(color) => set({ color })} />}
      {ticked('deviceModel', null, vehicles.fields.deviceModel)}
      {patch.value.deviceModel !== undefined && (
        <DeviceModelField value={patch.value.deviceModel} onChange={(deviceModel) => set({ deviceModel })} />
      )}
      {[...SPEED_FIELDS, ...MOTION_FIELDS, ...DRIVING_FIELDS, ...FUEL_FIELDS].map((name) => (
        <div key={name} class="shared">
          {ticked(name, initialOf(name), vehicles.fields[name])}
          {name in patch.value && <SharedNumber name={name} value={patch.value[name]} onChange={set} />}
        </div>
      ))}
    </>
  );
}

function initialOf(name: NumberName): never {
  return (numberProps(name).required ? (numberProps(name).min ?? 0) : null) as never;
}

function SharedNumber({
  name,
  value,
  onChange,
}: {
  name: NumberName;
  value: number | null | undefined;
  onChange: (patch: SharedPatch) => void;
}) {
  return (
    <Field
      {...numberProps(name)}
      type="number"
      step="any"
      value={value ?? ''}
      onInput={({ currentTarget: { valueAsNumber } }) =>
        onChange({ [name]: Number.isNaN(valueAsNumber) ? null : valueAsNumber })
      }
    />
  );
}
