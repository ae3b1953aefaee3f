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
    about: '`done`: a service; `planned`: how a plan stands now.',
  },
  { name: 'title', type: 'text', always: true, about: 'What was done, or the name of the plan.' },
  { name: 'planId', type: 'id' },
  { name: 'at', type: 'time', about: 'When it was done; of a plan, when it is due by the calendar.' },
  { name: 'stage', type: 'text', values: MAINTENANCE_STAGES, about: 'Of a plan.' },
  {
    name: 'cause',
    type: 'text',
    values: ['distance', 'engine-hours', 'days', 'counter'],
    about: 'Of a plan: what comes first.',
  },
  { name: 'leftM', type: 'number', about: 'Of a plan; negative: so much over it.' },
  { name: 'leftEngineSeconds', type: 'number' },
  { name: 'leftDays', type: 'number' },
  { name: 'leftCounter', type: 'number', about: 'By the custom counter of the plan, in `counterUnit`.' },
  { name: 'counterUnit', type: 'text' },
  { name: 'odometerM', type: 'number', about: 'As it was read at the service.' },
  { name: 'readEngineSeconds', type: 'number', about: 'Engine hours as they were read at the service.' },
  { name: 'cost', type: 'number', total: 'sum', about: 'In `currency`.' },
  { name: 'currency', type: 'text', about: 'What most of the services were paid in.' },
  { name: 'otherCost', type: 'text', about: 'What was paid in another currency: it is in no total.' },
  { name: 'note', type: 'text' },
  { name: 'files', type: 'whole', isRare: true, about: 'How many files the service has.' },
];

export const maintenanceReport: ReportKind = {
  name: 'maintenance',
  summary: 'Services that were done, what they cost, and what is due next.',
  description:
    'A row for each service of the time range, and one for each plan of a vehicle as it stands now, the most urgent first.',
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
