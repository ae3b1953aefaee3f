import type { MaintenancePlan, ServiceRecord } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { mayMaintain } from '../../maintenance/counters.tsx';
import { metresOf, unitOf } from '../../maintenance/units.ts';
import { confirmed } from '../../parts/dialog.tsx';
import { Edit } from '../../parts/forms/edit.ts';
import { EditForm } from '../../parts/forms/edit-form.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { toast } from '../../parts/toast.tsx';
import { preferences } from '../../preferences.ts';
import { api, user } from '../../session.ts';
import { joined, t } from '../../words/words.ts';
import '../../style/maintenance.css';
import { maintenanceWords } from '../../maintenance/words.ts';
import { ServiceFiles } from './files.tsx';

interface Props {
  vehicleId: string;
  plans: readonly MaintenancePlan[];
  onClose: () => void;
  onRecorded: () => void;
}

interface Draft {
  planId: string;
  title: string;
  at: string;
  odometer: string;
  engineHours: string;
  amount: string;
  currency: string;
  note: string;
}

const EMPTY: Draft = {
  planId: '',
  title: '',
  at: '',
  odometer: '',
  engineHours: '',
  amount: '',
  currency: 'EUR',
  note: '',
};
const PATH = '/api/v1/vehicles/{id}/service-records';

/** The services of a vehicle, and the form for another one. */
export function ServicePanel({ vehicleId, plans, onClose, onRecorded }: Props) {
  const words = maintenanceWords();
  const records = useSignal<readonly ServiceRecord[] | null>(null);
  const error = useSignal<string | null>(null);
  const isAdding = useSignal(false);
  const path = { id: vehicleId };
  const read = () =>
    api.get(PATH, { path, query: { limit: 100 } }).then(
      ({ items }) => (records.value = items),
      (reason: unknown) => (error.value = describeError(reason)),
    );
  useEffect(() => void read(), [vehicleId]);
  const vehicle = fleet.vehicles[fleet.indexOf(vehicleId)];
  const maintains = user.value != null && mayMaintain(user.value);
  const remove = async (record: ServiceRecord) => {
    if (!(await confirmed(t().delete, words.deleteRecord(record.title), t().delete))) return;
    try {
      await api.delete('/api/v1/vehicles/{id}/service-records/{recordId}', {
        path: { id: vehicleId, recordId: record.id },
      });
      onRecorded();
      await read();
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
  };
  const own = plans.filter(
    ({ vehicleId: id, groupId }) => id === vehicleId || (groupId !== null && vehicle?.groupIds.includes(groupId)),
  );
  return (
    <Panel
      kind="detail"
      label={vehicle?.name ?? words.records}
      onClose={onClose}
      head={
        <h2>
          <bdi>{vehicle?.name ?? words.records}</bdi>
        </h2>
      }
    >
      <div class="body">
        {error.value !== null && <p class="error">{error.value}</p>}
        {maintains && !isAdding.value && (
          <div class="actions">
            <button type="button" class="primary" onClick={() => (isAdding.value = true)}>
              <Icon name="plus" /> {words.record}
            </button>
          </div>
        )}
        {isAdding.value && (
          <RecordForm
            vehicleId={vehicleId}
            plans={own}
            onDone={() => {
              isAdding.value = false;
              onRecorded();
              void read();
            }}
          />
        )}
        <h3>{words.records}</h3>
        {records.value?.length === 0 && <p>{words.noRecords}</p>}
        <ul class="records">
          {records.value?.map((record) => (
            <li key={record.id}>
              <strong>{record.title}</strong> <time dateTime={record.at}>{formats().date(record.at)}</time>
              <p>
                {joined([
                  record.odometerM === null ? null : formats().distance(record.odometerM),
                  record.engineHours === null ? null : words.hours(formats().number(record.engineHours, 1)),
                  record.cost === null ? null : money(record.cost),
                  record.note,
                ])}
              </p>
              <ServiceFiles vehicleId={vehicleId} record={record} maintains={maintains} onChanged={() => void read()} />
              {maintains && (
                <button type="button" onClick={() => void remove(record)} aria-label={`${t().delete}: ${record.title}`}>
                  <Icon name="trash" /> {t().delete}
                </button>
              )}
            </li>
          ))}
        </ul>
      </div>
    </Panel>
  );
}

function money({ amount, currency }: { amount: number; currency: string }): string {
  return `${formats().number(amount, 2)} ${currency}`;
}

function RecordForm(props: { vehicleId: string; plans: readonly MaintenancePlan[]; onDone: () => void }) {
  const { vehicleId, plans, onDone } = props;
  const words = maintenanceWords();
  const { units } = preferences.value;
  const edit = useSignal(
    new Edit<Draft>({
      value: { ...EMPTY, planId: plans[0]?.id ?? '' },
      etag: null,
      save: (fields) => {
        const { planId, title, at, odometer, engineHours, amount, currency, note } = { ...EMPTY, ...fields };
        return api.post(PATH, {
          path: { id: vehicleId },
          body: {
            planId: planId || null,
            title: title || null,
            ...(at === '' ? {} : { at: new Date(at).toISOString() }),
            odometerM: odometer === '' ? null : metresOf(Number(odometer), units),
            engineHours: engineHours === '' ? null : Number(engineHours),
            cost: amount === '' ? null : { amount: Number(amount), currency },
            note: note || null,
          },
        });
      },
    }),
  ).value;
  const draft = edit.draft.value;
  return (
    <EditForm edit={edit} labels={{}} saved={words.recorded} onSaved={onDone}>
      <Choice label={words.plan} value={draft.planId} onChange={(planId) => edit.set({ planId })}>
        <option value="">–</option>
        {plans.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Choice>
      <Field
        label={words.what}
        hint={draft.planId === '' ? undefined : words.whatHint}
        maxLength={100}
        value={draft.title}
        errors={edit.at('/title')}
        onInput={(event) => edit.set({ title: event.currentTarget.value })}
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
        label={`${words.names.odometer}, ${unitOf(units)}`}
        hint={words.odometerHint}
        type="number"
        min="0"
        step="any"
        value={draft.odometer}
        errors={edit.at('/odometerM')}
        onInput={(event) => edit.set({ odometer: event.currentTarget.value })}
      />
      <Field
        label={words.names['engine-hours']}
        hint={words.odometerHint}
        type="number"
        min="0"
        step="any"
        value={draft.engineHours}
        errors={edit.at('/engineHours')}
        onInput={(event) => edit.set({ engineHours: event.currentTarget.value })}
      />
      <Field
        label={words.cost}
        type="number"
        min="0"
        step="0.01"
        value={draft.amount}
        errors={edit.at('/cost/amount')}
        onInput={(event) => edit.set({ amount: event.currentTarget.value })}
      />
      <Field
        label={words.currency}
        maxLength={3}
        value={draft.currency}
        errors={edit.at('/cost/currency')}
        onInput={(event) => edit.set({ currency: event.currentTarget.value.toUpperCase() })}
      />
      <Field
        label={words.note}
        maxLength={2000}
        value={draft.note}
        errors={edit.at('/note')}
        onInput={(event) => edit.set({ note: event.currentTarget.value })}
      />
    </EditForm>
  );
}
