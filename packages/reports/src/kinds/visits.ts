import { type FleetEvent, type GeofenceId, type GeofenceVisit, geofenceOf, type VehicleId } from '@outrider/domain';
import { LIST_FLEET } from '@outrider/warehouse';
import { type VisitCursor, visitCursor } from '../cursors.ts';
import { lastingUntil } from '../known.ts';
import { withPlaces } from '../places.ts';
import { type Column, fleetFrom, type Page, type Question, type ReportSources, type Row, seconds } from '../report.ts';
import { END_REASON, isIncluded, PLACES, places } from './event-lists.ts';

export const VISIT_COLUMNS: readonly Column[] = [
  { name: 'vehicleId', type: 'id', always: true },
  { name: 'vehicleName', type: 'text', always: true },
  {
    name: 'part',
    type: 'text',
    values: ['inside', 'between'],
    always: true,
    about:
      '`inside`: a visit of a geozone. `between`: the time between two visits, in which the vehicle was in no geozone of the report.',
  },
  { name: 'geozoneId', type: 'id', about: 'The visited geozone. For `between`, the geozone that the vehicle left.' },
  { name: 'geozoneName', type: 'text', about: 'Name of that geozone. If it was deleted, its last name.' },
  { name: 'nextGeozoneId', type: 'id', about: 'Geozone that the vehicle visited next; only for `between`.' },
  { name: 'nextGeozoneName', type: 'text' },
  { name: 'startedAt', type: 'time', always: true },
  { name: 'endedAt', type: 'time', about: 'Null while the visit is in progress.' },
  {
    name: 'durationSeconds',
    type: 'number',
    always: true,
    total: 'sum',
    about: 'Duration in seconds. While the visit is in progress, it counts up to the last record of the vehicle.',
  },
  {
    name: 'inferred',
    type: 'flag',
    always: true,
    about: 'True if no fix was inside the geozone, and only the line between two fixes crosses it.',
  },
  { ...END_REASON, about: 'Why the visit ended. Null while it is in progress, and for `between`.' },
  ...PLACES,
];

/** The part of the previous visit that the row after it needs. */
export interface Left {
  vehicleId: VehicleId;
  geofenceId: GeofenceId;
  /** Null: the visit still lasts, and no interval lies between it and another. */
  endedAtMs: number | null;
}

/** Visits of saved geofences, and the intervals between them. */
export const visitsReport = withPlaces({
  name: 'geozone-visits',
  summary: 'Visits of geozones, and the time between them.',
  description:
    'Contains visits of the geozones that the caller may see, including deleted ones. There is no `between` row between visits that overlap.',
  parameters: { geozoneId: true },
  columns: VISIT_COLUMNS,
  cursor: visitCursor,
  async page(sources, question, after, limit): Promise<Page> {
    const cursor = after as VisitCursor | null;
    const { part, following } = fleetFrom(question.vehicles, cursor?.fleet ?? null, LIST_FLEET);
    const [first] = part;
    if (first === undefined) return { rows: [], next: null };
    const page = await sources.archive.overlappingEvents({
      vehicleIds: part.map(({ id }) => id),
      kinds: ['geofence-visit'],
      fromMs: question.fromMs,
      toMs: question.toMs,
      // A visit can add a second row, for the interval before it.
      limit: Math.max(1, Math.floor(limit / 2)),
      after: cursor?.after ?? null,
      signal: question.signal,
    });
    await sources.readDeleted([cursor?.left?.geofenceId ?? null, ...page.events.map(geofenceOf)]);
    const names = new Map(part.map(({ id, name }) => [id, name]));
    const visits = page.events.filter((event): event is GeofenceVisit => isIncludedVisit(event, sources, question));
    const { rows, left } = visitRows(
      visits,
      cursor?.left ?? null,
      names,
      (id) => sources.geofenceName(id),
      await lastingUntil(sources, visits, question),
    );
    const next: VisitCursor | null = page.next
      ? { fleet: first.id, after: page.next, left }
      : following && { fleet: following, after: null, left: null };
    return { rows, next };
  },
});

function isIncludedVisit(event: FleetEvent, sources: ReportSources, question: Question): boolean {
  const id = geofenceOf(event);
  return event.kind === 'geofence-visit' && id !== null && isIncluded(id, sources, question);
}

/**
 * Rows of visits, by vehicle and time, with the intervals between them.
 *
 * @param before the visit that was left last, among those before these
 * @param untilOf Unix milliseconds until which a visit that has not ended lasts
 */
export function visitRows(
  visits: readonly GeofenceVisit[],
  before: Left | null,
  vehicleNames: ReadonlyMap<VehicleId, string>,
  geofenceName: (id: GeofenceId) => string | null,
  untilOf: (visit: FleetEvent) => number,
): { rows: Row[]; left: Left | null } {
  const rows: Row[] = [];
  let left = before;
  for (const visit of visits) {
    const { vehicleId, geofenceId, startedAtMs, endedAtMs, inferred, endReason } = visit;
    const name = vehicleNames.get(vehicleId) ?? '';
    const row = (part: string, from: GeofenceId, to: GeofenceId | null, startMs: number, endMs: number | null): Row => [
      vehicleId,
      name,
      part,
      from,
      geofenceName(from),
      to,
      to && geofenceName(to),
      startMs,
      endMs,
      seconds(Math.max(0, (endMs ?? untilOf(visit)) - startMs)),
      part === 'inside' && inferred,
      part === 'inside' ? endReason : null,
      ...(part === 'inside' ? places(visit) : [null, null, null, null]),
    ];
    if (left?.vehicleId !== vehicleId) left = null;
    if (left !== null && left.endedAtMs !== null && left.endedAtMs < startedAtMs)
      rows.push(row('between', left.geofenceId, geofenceId, left.endedAtMs, startedAtMs));
    rows.push(row('inside', geofenceId, null, startedAtMs, endedAtMs));
    // If geofences overlap, the vehicle comes from the one that it left last.
    if (left === null || endedAtMs === null || (left.endedAtMs !== null && endedAtMs >= left.endedAtMs))
      left = { vehicleId, geofenceId, endedAtMs };
  }
  return { rows, left };
}
