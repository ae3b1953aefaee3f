import type { MaintenancePlan } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { fleet, groups } from '../../fleet/store.ts';
import { words as counterWords } from '../../maintenance/counter-words.ts';
import { metresOf, shownDistance, unitOf } from '../../maintenance/units.ts';
import { maintenanceWords } from '../../maintenance/words.ts';
import { Edit, editStored, ifMatch } from '../../parts/forms/edit.ts';
import { EditForm } from '../../parts/forms/edit-form.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { useFresh } from '../../parts/loading/fresh.ts';
import { Message } from '../../parts/message.tsx';
import { Panel } from '../../parts/panel.tsx';
import { preferences } from '../../preferences.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';

interface Props {
  /** Null: a new plan. */
  id: string | null;
  onClose: () => void;
  onDone: () => void;
}

type Span = MaintenancePlan['every'];
interface Draft {
  name: string;
  vehicleId: string | null;
  groupId: string | null;
  counterName: string | null;
  every: Span;
  warning: Span;
}

const PATH = '/api/v1/maintenance-plans/{id}';
const NOTHING: Span = { distanceKm: null, engineHours: null, days: null, counter: null };

/** A plan: its vehicles, its intervals in kilometres, hours and days, and when to warn. */
export function PlanPanel({ id, onClose, onDone }: Props) {
  const edit = useSignal<Edit<Draft> | null>(null);
  const error = useSignal<unknown>(null);
  useEffect(() => {
    open(id).then(
      (value) => (edit.value = value),
      (reason: unknown) => (error.value = reason),
    );
  }, [id]);
  const words = maintenanceWords();
  const title = id === null ? words.newPlan : (edit.value?.draft.value.name ?? '');
  return (
    <Panel
      kind="detail"
      label={title}
      onClose={onClose}
      head={
        <h2>
          <bdi>{title}</bdi>
        </h2>
      }
    >
      {error.value !== null && <Message icon="warning" title={describeError(error.value)} />}
      {edit.value !== null && (
        <div class="body">
          <PlanForm id={id} edit={edit.value} onDone={onDone} />
        </div>
      )}
    </Panel>
  );
}

async function open(id: string | null): Promise<Edit<Draft>> {
  if (id === null)
    return new Edit<Draft>({
      value: { name: '', vehicleId: null, groupId: null, counterName: null, every: NOTHING, warning: NOTHING },
      etag: null,
      save: ({ name = '', vehicleId = null, groupId = null, counterName = null, every = NOTHING, warning = NOTHING }) =>
        api.post('/api/v1/maintenance-plans', { body: { name, vehicleId, groupId, counterName, every, warning } }),
    });
  const draftOf = ({ name, vehicleId, groupId, counterName, every, warning }: MaintenancePlan): Draft => ({
    name,
    vehicleId,
    groupId,
    counterName,
    every,
    warning,
  });
  const path = { id };
  const { edit } = await editStored<MaintenancePlan, Draft>({
    read: () => api.getTagged(PATH, { path }),
    draftOf,
    save: (fields, tag) => api.patch(PATH, { path, headers: ifMatch(tag), body: fields }),
  });
  return edit;
}

function PlanForm({ id, edit, onDone }: { id: string | null; edit: Edit<Draft>; onDone: () => void }) {
  const words = maintenanceWords();
  const draft = edit.draft.value;
  const target = draft.vehicleId !== null ? `v${draft.vehicleId}` : draft.groupId !== null ? `g${draft.groupId}` : '';
  return (
    <EditForm
      edit={edit}
      labels={{ name: t().name, counterName: counterWords().planCounter, every: words.every, warning: words.warning }}
      saved={words.planSaved}
      onSaved={onDone}
      removal={{
        question: words.deletePlan(draft.name),
        run: (etag) => api.delete(PATH, { path: { id: id ?? '' }, headers: ifMatch(etag) }),
        done: words.planDeleted,
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
        label={words.appliesTo}
        value={target}
        onChange={(value) =>
          edit.set({
            vehicleId: value.startsWith('v') ? value.slice(1) : null,
            groupId: value.startsWith('g') ? value.slice(1) : null,
          })
        }
      >
        <option value="">–</option>
        <optgroup label={t().group}>
          {groups.value.map((group) => (
            <option key={group.id} value={`g${group.id}`}>
              {group.name}
            </option>
          ))}
        </optgroup>
        <optgroup label={t().vehicles}>
          {fleet.vehicles.map((vehicle) => (
            <option key={vehicle.id} value={`v${vehicle.id}`}>
              {vehicle.name}
            </option>
          ))}
        </optgroup>
      </Choice>
      {[...edit.at('/vehicleId'), ...edit.at('/groupId')].map((text) => (
        <p key={text} class="error">
          {text}
        </p>
      ))}
      <CounterField edit={edit} />
      <SpanFields
        legend={words.every}
        hint={words.everyHint}
        span={draft.every}
        pointer="/every"
        edit={edit}
        onChange={(every) => edit.set({ every })}
      />
      <SpanFields
        legend={words.warning}
        hint={words.warningHint}
        span={draft.warning}
        pointer="/warning"
        edit={edit}
        onChange={(warning) => edit.set({ warning })}
      />
    </EditForm>
  );
}

/** The custom counter that the plan goes by, with those of its vehicle to choose from. */
function CounterField({ edit }: { edit: Edit<Draft> }) {
  const own = counterWords();
  const { vehicleId, counterName, every, warning } = edit.draft.value;
  const names = useFresh<readonly string[]>([], [vehicleId]);
  const listId = useId();
  useEffect(() => {
    if (vehicleId === null) return;
    const ending = new AbortController();
    api.get('/api/v1/vehicles/{id}/counters', { path: { id: vehicleId }, signal: ending.signal }).then(
      ({ custom }) => (names.value = custom.map(({ name }) => name)),
      // Without suggestions, a name can still be typed.
      () => {},
    );
    return () => ending.abort();
  }, [vehicleId]);
  return (
    <>
      <Field
        label={own.planCounter}
        hint={own.planCounterHint}
        maxLength={100}
        list={listId}
        value={counterName ?? ''}
        errors={edit.at('/counterName')}
        onInput={(event) => {
          const text = event.currentTarget.value;
          if (text !== '') edit.set({ counterName: text });
          else
            edit.set({ counterName: null, every: { ...every, counter: null }, warning: { ...warning, counter: null } });
        }}
      />
      <datalist id={listId}>
        {names.value.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function SpanFields(props: {
  legend: string;
  hint: string;
  span: Span;
  pointer: string;
  edit: Edit<Draft>;
  onChange: (span: Span) => void;
}) {
  const { legend, hint, span, pointer, edit, onChange } = props;
  const words = maintenanceWords();
  const { units } = preferences.value;
  const numberOf = (text: string) => (text === '' ? null : Number(text));
  const distance =
    span.distanceKm === null ? '' : String(Math.round(shownDistance(span.distanceKm * 1000, units) * 10) / 10);
  return (
    <fieldset>
      <legend>{legend}</legend>
      <small>{hint}</small>
      <Field
        label={`${t().distance}, ${unitOf(units)}`}
        type="number"
        min="0"
        step="any"
        value={distance}
        errors={edit.at(`${pointer}/distanceKm`)}
        onInput={(event) => {
          const entered = numberOf(event.currentTarget.value);
          onChange({ ...span, distanceKm: entered === null ? null : metresOf(entered, units) / 1000 });
        }}
      />
      <Field
        label={words.names['engine-hours']}
        type="number"
        min="0"
        step="any"
        value={span.engineHours ?? ''}
        errors={edit.at(`${pointer}/engineHours`)}
        onInput={(event) => onChange({ ...span, engineHours: numberOf(event.currentTarget.value) })}
      />
      <Field
        label={words.daysLabel}
        type="number"
        min="0"
        step="any"
        value={span.days ?? ''}
        errors={edit.at(`${pointer}/days`)}
        onInput={(event) => onChange({ ...span, days: numberOf(event.currentTarget.value) })}
      />
      {edit.draft.value.counterName !== null && (
        <Field
          label={counterWords().planAmount}
          type="number"
          min="0"
          step="any"
          value={span.counter ?? ''}
          errors={edit.at(`${pointer}/counter`)}
          onInput={(event) => onChange({ ...span, counter: numberOf(event.currentTarget.value) })}
        />
      )}
      {edit.at(pointer).map((text) => (
        <p key={text} class="error">
          {text}
        </p>
      ))}
    </fieldset>
  );
}
