import { MAINTENANCE_STAGES, type MaintenanceState, type ServiceRecord, type VehicleId } from '@outrider/domain';
import { type ShapeCursor, shapeCursor } from '../cursors.ts';
import { type Column, fleetFrom, type ReportKind, type Row, seconds, tenths } from '../report.ts';

/** State of a plan, with its name. */
export interface PlannedService extends MaintenanceState {
  planName: string;
}

/** Maintenance of the vehicles that a report is about. */
export interface MaintenanceOfVehicles {
  /** The most urgent first. */
  planned(vehicleIds: readonly VehicleId[]): Promise<readonly PlannedService[]>;
  /** Services that were done in a time range, by their times. */
  done(vehicleIds: readonly VehicleId[], fromMs: number, toMs: number): Promise<readonly ServiceRecord[]>;
  /** Currency in which most of these services were paid; null: nothing was paid. */
  currency(vehicleIds: readonly VehicleId[], fromMs: number, toMs: number): Promise<string | null>;
}

/** Vehicles per query. */
const AT_ONCE = 50;

const COLUMNS: readonly Column[] = [
  { name: 'vehicleId', type: 'id', always: true },
  { name: 'vehicleName', type: 'text', always: true },
  {
    name: 'kind',
    type: 'text',
    values: ['done', 'planned'],
    always: true,
    about: '`done`: a completed service. `planned`: the current state of a maintenance plan.',
  },
  { name: 'title', type: 'text', always: true, about: 'Title of the service, or name of the plan.' },
  { name: 'planId', type: 'id' },
  { name: 'at', type: 'time', about: 'Time of the service. For a plan, the time at which it is due by the calendar.' },
  { name: 'stage', type: 'text', values: MAINTENANCE_STAGES, about: 'Stage of the plan; only for plans.' },
  {
    name: 'cause',
    type: 'text',
    values: ['distance', 'engine-hours', 'days', 'counter'],
    about: 'Which interval of the plan is due first; only for plans.',
  },
  {
    name: 'leftM',
    type: 'number',
    about:
      'Remaining distance until the plan is due, in metres; negative if overdue. Only for plans, like the other `left` columns.',
  },
  { name: 'leftEngineSeconds', type: 'number' },
  { name: 'leftDays', type: 'number' },
  {
    name: 'leftCounter',
    type: 'number',
    about: 'Remaining amount by the custom counter of the plan, in `counterUnit`.',
  },
  { name: 'counterUnit', type: 'text' },
  { name: 'odometerM', type: 'number', about: 'Odometer reading at the service, in metres.' },
  { name: 'readEngineSeconds', type: 'number', about: 'Engine hours read at the service, in seconds.' },
  { name: 'cost', type: 'number', total: 'sum', about: 'Cost of the service, in `currency`.' },
  { name: 'currency', type: 'text', about: 'Currency in which most services of the report were paid.' },
  {
    name: 'otherCost',
    type: 'text',
    about: 'Cost in another currency, with its currency code. It is not included in totals.',
  },
  { name: 'note', type: 'text' },
  { name: 'files', type: 'whole', isRare: true, about: 'Number of files of the service.' },
];

export const maintenanceReport: ReportKind = {
  name: 'maintenance',
  summary: 'Completed services with their costs, and upcoming maintenance.',
  description:
    'A row for each service in the time range, and a row with the current state of each plan of a vehicle, the most urgent first.',
  columns: COLUMNS,
  charts: [
    { shape: 'bars', measure: 'cost', by: 'vehicle' },
    { shape: 'bars', measure: null, by: 'kind' },
  ],
  cursor: shapeCursor,
  async page({ maintenance }, question, after, limit) {
    const { vehicle = null, returned = 0 } = (after as ShapeCursor | null) ?? {};
    const { part, following } = fleetFrom(question.vehicles, vehicle, AT_ONCE);
    const [first] = part;
    if (first === undefined) return { rows: [], next: null };
    const { fromMs, toMs } = question;
    const ids = part.map(({ id }) => id);
    const [planned, done, currency] = await Promise.all([
      maintenance.planned(ids),
      maintenance.done(ids, fromMs, toMs),
      maintenance.currency(
        question.vehicles.map(({ id }) => id),
        fromMs,
        toMs,
      ),
    ]);
    const all: Row[] = [];
    for (const { id, name } of part) {
      for (const each of planned) if (each.vehicleId === id) all.push([id, name, ...plannedRow(each)]);
      for (const each of done) if (each.vehicleId === id) all.push([id, name, ...doneRow(each, currency)]);
    }
    const rows = all.slice(returned, returned + limit);
    const reached = returned + rows.length;
    if (reached < all.length) return { rows, next: { vehicle: first.id, returned: reached } satisfies ShapeCursor };
    return { rows, next: following === null ? null : ({ vehicle: following, returned: 0 } satisfies ShapeCursor) };
  },
};

function plannedRow({ planId, planName, dueAtMs, stage, cause, left, counterUnit }: PlannedService): Row {
  const { distanceM, engineMs, days, counter } = left;
  const known = [
    distanceM === null ? null : tenths(distanceM),
    engineMs === null ? null : seconds(engineMs),
    days === null ? null : tenths(days),
    counter === null ? null : tenths(counter),
    counterUnit,
  ];
  return ['planned', planName, planId, dueAtMs, stage, cause, ...known, null, null, null, null, null, null, null];
}

function doneRow(record: ServiceRecord, currency: string | null): Row {
  const { title, planId, atMs, odometerM, engineMs, cost, note, files } = record;
  const amount = cost === null ? null : cost.amountMinor / 100;
  const paid =
    cost === null || cost.currency === currency
      ? [amount, amount === null ? null : currency, null]
      : [null, null, `${amount} ${cost.currency}`];
  const read = [odometerM, engineMs === null ? null : seconds(engineMs)];
  return ['done', title, planId, atMs, null, null, null, null, null, null, null, ...read, ...paid, note, files.length];
}
