import {
  ApiError,
  type CounterReadingImport,
  type DriverImport,
  type MaintenancePlanImport,
  NewDriverFields,
  NewVehicleFields,
  type SensorImport,
  type VehicleImport,
} from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { driverWords } from '../../drivers/words.ts';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { maintenanceWords } from '../../maintenance/words.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Choice } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Table } from '../../parts/lists/table.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { setQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { joined, t } from '../../words/words.ts';
import { maintenanceImportWords } from '../maintenance/import-words.ts';
import { words } from '../sensors/words.ts';
import { vehicleWords } from './words.ts';

type Subject = 'vehicles' | 'sensors' | 'drivers' | 'plans' | 'readings';
type Report = VehicleImport | SensorImport | DriverImport | MaintenancePlanImport | CounterReadingImport;
/** Report of an import that may change existing objects. */
type ChangesReport = Extract<Report, { updated: number }>;
interface Props {
  subject: Subject;
  onClose: () => void;
  onImported: () => void;
}

type Busy = 'checking' | 'importing' | null;
const VEHICLE_COLUMNS = ['vehicleId', 'terminalId', 'plate', 'vehicleName'];
const COLUMNS: Readonly<Record<Subject, readonly string[]>> = {
  vehicles: ['id', ...Object.keys(NewVehicleFields), 'groups', 'terminalProtocol', 'terminalSecret'].filter(
    (name) => name !== 'dealerId',
  ),
  sensors: [
    ...[...VEHICLE_COLUMNS, 'name', 'kind', 'unit', 'source', 'calibration', 'outside'],
    ...['validMin', 'validMax', 'onlyWithIgnition', 'smoothing', 'thresholds'],
  ],
  drivers: [...new Set(['id', 'name', 'codes', ...Object.keys(NewDriverFields)]), 'groups'].filter(
    (name) => name !== 'dealerId',
  ),
  plans: [
    ...[...VEHICLE_COLUMNS, 'group', 'name', 'description', 'everyKm', 'everyHours', 'everyDays'],
    ...['warningKm', 'warningHours', 'warningDays', 'startsAt'],
  ],
  readings: [...VEHICLE_COLUMNS, 'counter', 'value', 'at', 'note'],
};
const PATHS = {
  vehicles: '/api/v1/vehicles/import',
  sensors: '/api/v1/vehicles/sensors/import',
  drivers: '/api/v1/drivers/import',
  plans: '/api/v1/maintenance-plans/import',
  readings: '/api/v1/counter-corrections/import',
} as const;
/** Subjects that share a page, offered as a choice in the dialog. Drivers are alone. */
const CHOICES: readonly (readonly Subject[])[] = [
  ['vehicles', 'sensors'],
  ['plans', 'readings'],
];

function nameOf(subject: Subject): string {
  if (subject === 'plans') return maintenanceWords().plans;
  if (subject === 'readings') return maintenanceImportWords().readings;
  return subject === 'sensors' ? words().sensors : t().vehicles;
}

function hintOf(subject: Subject): string {
  if (subject === 'plans') return maintenanceImportWords().plansHint;
  if (subject === 'readings') return maintenanceImportWords().readingsHint;
  return { vehicles: vehicleWords(), sensors: words(), drivers: driverWords() }[subject].importHint;
}

const doneOf = (subject: Subject) => (subject === 'drivers' ? driverWords() : vehicleWords()).imported;
const changesOf = (report: Report): ChangesReport | null => ('updated' in report ? report : null);

/** Imports a file, which adds and changes objects. It is checked first, and imported completely or not at all. */
export function ImportDialog({ subject, onClose, onImported }: Props) {
  const file = useSignal<File | null>(null);
  const busy = useSignal<Busy>(null);
  const checked = useSignal<Report | null>(null);
  const error = useSignal<unknown>(null);
  const ending = useRef<AbortController | null>(null);
  useEffect(() => () => ending.current?.abort(), []);

  const send = async (chosen: File, isDry: boolean) => {
    ending.current?.abort();
    ending.current = new AbortController();
    const { signal } = ending.current;
    busy.value = isDry ? 'checking' : 'importing';
    error.value = null;
    try {
      const body = new Blob([chosen], { type: 'text/csv' });
      const query = { dryRun: isDry ? 'true' : 'false' } as const;
      checked.value = await api.post(PATHS[subject], { query, body, signal });
      if (isDry) return;
      toast(doneOf(subject));
      onImported();
    } catch (reason) {
      if (signal.aborted) return;
      checked.value = null;
      error.value = reason;
    } finally {
      if (!signal.aborted) busy.value = null;
    }
  };
  const choose = (files: FileList | null | undefined) => {
    const chosen = files?.[0];
    if (chosen === undefined) return;
    file.value = chosen;
    checked.value = null;
    void send(chosen, true);
  };
  const choices = CHOICES.find((some) => some.includes(subject));
  const wait = busy.value === 'checking' ? vehicleWords().checking : vehicleWords().importing;
  return (
    <Dialog title={vehicleWords().importCsv} isWide onClose={onClose}>
      {file.value === null ? (
        <>
          {choices !== undefined && (
            <Choice
              label={words().importOf}
              value={subject}
              onChange={(chosen) => setQuery({ import: chosen === choices[0] ? '1' : chosen })}
            >
              {choices.map((one) => (
                <option key={one} value={one}>
                  {nameOf(one)}
                </option>
              ))}
            </Choice>
          )}
          <Explanation subject={subject} />
        </>
      ) : (
        <p>
          <strong>
            <bdi>{file.value.name}</bdi>
          </strong>
        </p>
      )}
      {busy.value === null && checked.value?.dryRun !== false && (
        <FileField isFirst={file.value === null} onChoose={choose} />
      )}
      {busy.value !== null && (
        <p role="status">
          {wait} <progress aria-label={wait} />
        </p>
      )}
      {error.value !== null && <Faults error={error.value} />}
      {checked.value !== null && <Outcome report={checked.value} subject={subject} />}
      <div class="actions">
        {checked.value?.dryRun && (
          <button
            type="button"
            class="primary"
            disabled={busy.value !== null || checked.value.created + (changesOf(checked.value)?.updated ?? 0) === 0}
            onClick={() => file.value && send(file.value, false)}
          >
            {vehicleWords().importNow}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {checked.value?.dryRun === false ? t().close : t().cancel}
        </button>
      </div>
    </Dialog>
  );
}

function Explanation({ subject }: { subject: Subject }) {
  const vehicles = vehicleWords();
  const columns = COLUMNS[subject];
  return (
    <>
      <p>{hintOf(subject)}</p>
      <p>
        {vehicles.columns}: <code>{columns.join(', ')}</code>
      </p>
      {subject === 'sensors' && (
        <p>
          calibration: <code>0=0 2048=182.5 4095=400</code>
          <br />
          thresholds: <code>above -15 hysteresis 1 for 300 | inside 2 8</code>
        </p>
      )}
      <p class="actions">
        <a
          download={`${subject}.csv`}
          href={URL.createObjectURL(new Blob([`${columns.join(',')}\r\n`], { type: 'text/csv' }))}
        >
          {vehicles.template}
        </a>
        {subject === 'sensors' && (
          <a href="/api/v1/vehicles/sensors/export" download>
            {words().exportCsv}
          </a>
        )}
      </p>
    </>
  );
}

function FileField({
  isFirst,
  onChoose,
}: {
  isFirst: boolean;
  onChoose: (files: FileList | null | undefined) => void;
}) {
  const vehicles = vehicleWords();
  return (
    <label
      class="drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        onChoose(event.dataTransfer?.files);
      }}
    >
      <Icon name="upload" />
      <span>
        {isFirst ? vehicles.chooseFile : vehicles.otherFile} {vehicles.dropFile}
      </span>
      <input
        type="file"
        accept=".csv,.txt,text/csv"
        // Allows choosing the same file again after it was corrected.
        onClick={(event) => {
          event.currentTarget.value = '';
        }}
        onChange={(event) => onChoose(event.currentTarget.files)}
      />
    </label>
  );
}

function Faults({ error }: { error: unknown }) {
  const vehicles = vehicleWords();
  const errors = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  if (errors.length === 0) return <Failure>{describeError(error)}</Failure>;
  return (
    <>
      <Failure>
        {vehicles.errorsFound(errors.length)} {vehicles.mendAndRetry}
      </Failure>
      <Table
        label={vehicles.problem}
        rows={errors.map((one, nth) => ({ ...one, nth }))}
        rowKey={({ nth }) => String(nth)}
        columns={[
          { key: 'row', title: vehicles.row, isNumber: true, cell: ({ row }) => row ?? '' },
          { key: 'column', title: vehicles.column, cell: ({ column }) => column ?? '' },
          { key: 'detail', title: vehicles.problem, cell: ({ detail }) => <span title={detail}>{detail}</span> },
        ]}
      />
    </>
  );
}

function Outcome({ report, subject }: { report: Report; subject: Subject }) {
  const vehicles = vehicleWords();
  const number = (value: number) => formats().number(value);
  const changes = changesOf(report);
  if (changes === null)
    return (
      <p role="status">
        {!report.dryRun && `${doneOf(subject)} `}
        {maintenanceImportWords().added(number(report.created))}
      </p>
    );
  const { created, updated, unchanged, items } = changes;
  return (
    <>
      <p role="status">
        {!report.dryRun && `${doneOf(subject)} `}
        {vehicles.checked(number(created), number(updated), number(unchanged))}
      </p>
      <Table
        label={vehicles.outcome}
        rows={items as readonly (VehicleImport | SensorImport)['items'][number][]}
        rowKey={({ row }) => String(row)}
        columns={[
          { key: 'row', title: vehicles.row, isNumber: true, cell: ({ row }) => row },
          ...('name' in (items[0] ?? {}) ? [{ key: 'name', title: words().sensors, cell: sensorName }] : []),
          { key: 'outcome', title: vehicles.outcome, cell: ({ outcome }) => vehicles.outcomes[outcome] },
        ]}
      />
    </>
  );
}

/** “Van 12: Cargo”. */
function sensorName(item: VehicleImport['items'][number] | SensorImport['items'][number]): string {
  if (!('name' in item)) return '';
  const { name = item.vehicleId } = fleet.vehicles[fleet.indexOf(item.vehicleId)] ?? {};
  return joined([name, item.name], ': ');
}
