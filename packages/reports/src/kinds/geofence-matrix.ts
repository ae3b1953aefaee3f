import type { FleetEvent, GeofenceId, VehicleId } from '@outrider/domain';
import { LIST_FLEET } from '@outrider/warehouse';
import { placeOf } from '../calendar.ts';
import { type ShapeCursor, shapeCursor } from '../cursors.ts';
import { eventsOf } from '../fleet-events.ts';
import { lastingUntil } from '../known.ts';
import {
  fleetFrom,
  type Page,
  type Question,
  type ReportKind,
  type ReportSources,
  ROWS_AT_ONCE,
  type Row,
  seconds,
} from '../report.ts';
import { byPeriod, dayOf, PERIOD_START } from '../totals.ts';
import { isIncluded } from './event-lists.ts';

/** Visits of one vehicle to one geofence in one period. */
interface Cell {
  geofenceId: GeofenceId;
  place: number;
  visits: number;
  lastedMs: number;
  longestMs: number;
  firstMs: number;
  /** Infinite if the vehicle was still there at the end. */
  lastMs: number;
}

/** Time of vehicles in geofences: a row for each vehicle, geofence and period with a visit. */
export const matrixReport: ReportKind = {
  name: 'geozone-matrix',
  summary: 'Number and duration of visits, by vehicle and geozone.',
  description:
    'A row for each vehicle, geozone and period with a visit. A visit that continues past the end of a period is counted ' +
    'in the period in which it began; its time is divided. Contains the geozones that the caller may see, including deleted ones.',
  parameters: { period: 'whole', geozoneId: true },
  charts: [
    { shape: 'bars', measure: 'durationSeconds', by: 'geozone' },
    { shape: 'bars', measure: 'durationSeconds', by: 'vehicle' },
  ],
  columns: [
    { name: 'vehicleId', type: 'id', always: true },
    { name: 'vehicleName', type: 'text', always: true },
    { name: 'geozoneId', type: 'id', always: true },
    { name: 'geozoneName', type: 'text', about: 'Name of the geozone. If it was deleted, its last name.' },
    PERIOD_START,
    { name: 'visits', type: 'whole', always: true, total: 'sum', about: 'Number of visits that began in the period.' },
    {
      name: 'durationSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time inside the geozone within the period, in seconds.',
    },
    {
      name: 'longestSeconds',
      type: 'number',
      always: true,
      total: 'max',
      about: 'Longest visit, in seconds; only its part within the period counts.',
    },
    { name: 'firstInsideAt', type: 'time', always: true, about: 'First time inside the geozone in the period.' },
    { name: 'lastInsideAt', type: 'time', always: true, about: 'Last time inside the geozone in the period.' },
  ],
  cursor: shapeCursor,
  async page(sources, question, after, limit): Promise<Page> {
    const { vehicle = null, returned = 0 } = (after as ShapeCursor | null) ?? {};
    // A small page queries few vehicles, because it may show the rows of few only.
    const { part, following } = fleetFrom(question.vehicles, vehicle, limit >= ROWS_AT_ONCE ? LIST_FLEET : 10);
    if (part.length === 0) return { rows: [], next: null };
    const cells = await cellsOf(sources, question, new Set(part.map(({ id }) => id)));
    const rows: Row[] = [];
    for (const { id, name } of part) {
      const ofVehicle = sortedCells(cells.get(id) ?? [], sources);
      const first = id === vehicle ? returned : 0;
      for (const [nth, cell] of ofVehicle.entries()) {
        if (nth < first) continue;
        if (rows.length === limit) return { rows, next: { vehicle: id, returned: nth } satisfies ShapeCursor };
        rows.push([id, name, ...rowOf(cell, sources, question)]);
      }
    }
    return { rows, next: following && ({ vehicle: following, returned: 0 } satisfies ShapeCursor) };
  },
};

function rowOf(cell: Cell, sources: ReportSources, question: Question): Row {
  const { geofenceId, place, visits, lastedMs, longestMs, firstMs, lastMs } = cell;
  return [
    geofenceId,
    sources.geofenceName(geofenceId),
    dayOf(question, place),
    visits,
    seconds(lastedMs),
    seconds(longestMs),
    firstMs,
    lastMs,
  ];
}

/** Sorts by the name of the geofence and by time. */
function sortedCells(cells: Iterable<Cell>, { geofenceName }: ReportSources): Cell[] {
  const nameOf = (cell: Cell) => geofenceName(cell.geofenceId) ?? '';
  return [...cells].sort(
    (a, b) =>
      nameOf(a).localeCompare(nameOf(b), 'en', { numeric: true }) ||
      a.geofenceId.localeCompare(b.geofenceId) ||
      a.place - b.place,
  );
}

/** Reads the visits of some vehicles, a page at a time, and keeps the sums only. */
async function cellsOf(
  sources: ReportSources,
  question: Question,
  vehicleIds: ReadonlySet<VehicleId>,
): Promise<Map<VehicleId, Iterable<Cell>>> {
  const { fromMs, toMs, signal } = question;
  const { cuts } = byPeriod(question);
  const cells = new Map<VehicleId, Map<string, Cell>>();
  const asked = { kinds: ['geofence-visit'] as const, fromMs, toMs, signal };
  for await (const visits of eventsOf(sources.archive, [...vehicleIds], asked)) {
    await sources.readDeleted(visits.map(({ geofenceId }) => geofenceId));
    const untilOf = await lastingUntil(sources, visits, question);
    for (const visit of visits) {
      if (!isIncluded(visit.geofenceId, sources, question)) continue;
      const ofVehicle = cells.get(visit.vehicleId) ?? new Map<string, Cell>();
      cells.set(visit.vehicleId, ofVehicle);
      addVisit(ofVehicle, visit, visit.geofenceId, visit.endedAtMs ?? untilOf(visit), cuts);
    }
  }
  return new Map([...cells].map(([id, ofVehicle]) => [id, ofVehicle.values()]));
}

function addVisit(
  cells: Map<string, Cell>,
  { startedAtMs }: FleetEvent,
  geofenceId: GeofenceId,
  endedAtMs: number,
  cuts: readonly number[],
): void {
  for (let place = placeOf(cuts, startedAtMs); place + 1 < cuts.length; place++) {
    const startMs = Math.max(startedAtMs, cuts[place] as number);
    const periodEndMs = cuts[place + 1] as number;
    const endMs = Math.max(startMs, Math.min(endedAtMs, periodEndMs));
    const began = startedAtMs >= (cuts[place] as number);
    if (!began && endedAtMs <= startMs) return;
    const key = `${geofenceId} ${place}`;
    const cell = cells.get(key) ?? {
      ...{ geofenceId, place, visits: 0, lastedMs: 0, longestMs: 0, firstMs: startMs, lastMs: endMs },
    };
    cells.set(key, cell);
    cell.visits += began ? 1 : 0;
    cell.lastedMs += endMs - startMs;
    cell.longestMs = Math.max(cell.longestMs, endMs - startMs);
    cell.firstMs = Math.min(cell.firstMs, startMs);
    cell.lastMs = Math.max(cell.lastMs, endMs);
    if (endedAtMs <= periodEndMs) return;
  }
}
