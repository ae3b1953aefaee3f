import {
  beganAtMs,
  DESCRIBED_KINDS,
  EVENT_KINDS,
  type EventBase,
  type EventId,
  type EventKind,
  type FleetEvent,
  type VehicleId,
} from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { OWN_COLUMNS, type OwnField } from '../events/own-columns.ts';
import { NOT_REMOVED } from '../events/replacement.ts';
import { boundMs } from '../native/time.ts';

export interface EventsQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds of the fix that began the event, inclusive. */
  fromMs: number;
  /** Unix milliseconds of the fix that began the event, exclusive. */
  toMs: number;
  /** At most this many events: 1 to 10,000. */
  limit: number;
  /** Where to continue: the `next` of the previous page. */
  after?: EventsCursor | null;
}

/** Position of the last event of a page, in the order of events. */
export interface EventsCursor {
  beganAtMs: number;
  id: EventId;
}

export interface Events {
  /** By begin, oldest first; each as its latest phase reports it. */
  events: FleetEvent[];
  /** Null when there are no more. */
  next: EventsCursor | null;
}

/** Maximum size of one page. */
export const MAX_EVENTS_LIMIT = 10_000;

const time = (column: string) => `toUnixTimestamp64Milli(${column})`;
/** Select expressions of the fields that all events have. */
const BASE_COLUMNS = {
  id: 'id',
  kind: 'kind',
  phase: 'phase',
  vehicleId: 'vehicle_id',
  startedAtMs: time('started_at'),
  endedAtMs: time('ended_at'),
  latitudeE7: 'latitude_e7',
  longitudeE7: 'longitude_e7',
  startLatitudeE7: 'start_latitude_e7',
  startLongitudeE7: 'start_longitude_e7',
  speedKmhX10: 'speed_kmh_x10',
  fromFixTimeMs: time('from_fix_time'),
  fixTimeMs: time('fix_time'),
  definitionVersion: 'definition_version',
  origin: 'origin',
  inferred: 'inferred',
  driverCode: 'driver_code',
  endReason: 'end_reason',
} as const;
const AT = Object.fromEntries(Object.keys(BASE_COLUMNS).map((name, at) => [name, at])) as Readonly<
  Record<keyof typeof BASE_COLUMNS, number>
>;

/** The columns of an {@link EventRow}, in its order. */
export const EVENT_COLUMNS = [...Object.values(BASE_COLUMNS), ...OWN_COLUMNS.map(({ name }) => name)].join(', ');

/** A selected row of an event. */
export type EventRow = readonly unknown[];

/** For each kind, the row indexes of the fields of that kind. */
const OWN_FIELDS = Object.fromEntries(
  EVENT_KINDS.map((kind) => [
    kind,
    OWN_COLUMNS.flatMap(({ name: column, fields }, nth) => {
      const field = fields.get(kind);
      return field === undefined ? [] : [{ ...field, column, at: AT.endReason + 1 + nth }];
    }),
  ]),
) as unknown as Readonly<Record<EventKind, readonly (OwnField & { column: string; at: number })[]>>;

/**
 * The vehicle's events that began in a time range, page by page.
 *
 * @throws {RangeError} when the limit is not 1 to 10,000, or a time is not a number
 */
export async function events(engine: Engine, question: EventsQuestion): Promise<Events> {
  const { vehicleId, fromMs, toMs, limit, after = null } = question;
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_EVENTS_LIMIT))
    throw new RangeError(`The limit of events must be 1 to ${MAX_EVENTS_LIMIT}, not ${limit}`);
  const parameters: Record<string, string | number> = {
    vehicleId,
    fromMs: boundMs(fromMs),
    toMs: boundMs(toMs),
    limit: limit + 1,
  };
  const conditions = [
    'vehicle_id = {vehicleId:UUID}',
    "began_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')",
    "began_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')",
    NOT_REMOVED,
  ];
  if (after) {
    parameters.afterMs = boundMs(after.beganAtMs);
    parameters.afterId = after.id;
    conditions.push("(began_at, id) > (fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC'), {afterId:UUID})");
  }
  const rows = (await engine.select({
    sql: `SELECT ${EVENT_COLUMNS} FROM events FINAL WHERE ${conditions.join(' AND ')}
      ORDER BY vehicle_id, began_at, id LIMIT {limit:UInt32}`,
    parameters,
  })) as EventRow[];
  const events = rows.slice(0, limit).map(fleetEvent);
  return { events, next: rows.length > limit ? cursorAfter(events) : null };
}

/** The cursor after the last of some events; null if the list is empty. */
export function cursorAfter(events: readonly FleetEvent[]): EventsCursor | null {
  const last = events.at(-1);
  return last === undefined ? null : { beganAtMs: beganAtMs(last.id), id: last.id };
}

/** @throws {Error} when the row lacks a field that every such event has */
export function fleetEvent(row: EventRow): FleetEvent {
  const kind = row[AT.kind] as EventKind;
  const { fields, requires = [] } = DESCRIBED_KINDS[kind].description;
  const event: EventBase & Record<string, unknown> = {
    kind,
    id: row[AT.id] as EventId,
    phase: row[AT.phase] as EventBase['phase'],
    vehicleId: row[AT.vehicleId] as VehicleId,
    startedAtMs: row[AT.startedAtMs] as number,
    endedAtMs: row[AT.endedAtMs] as number | null,
    latitude: (row[AT.latitudeE7] as number) / 1e7,
    longitude: (row[AT.longitudeE7] as number) / 1e7,
    speedKmh: row[AT.speedKmhX10] === null ? null : (row[AT.speedKmhX10] as number) / 10,
    fromFixTimeMs: row[AT.fromFixTimeMs] as number,
    fixTimeMs: row[AT.fixTimeMs] as number,
    definitionVersion: row[AT.definitionVersion] as number,
    origin: row[AT.origin] as EventBase['origin'],
    inferred: row[AT.inferred] as boolean,
    endReason: row[AT.endReason] || null,
  };
  const [startLatitudeE7, startLongitudeE7] = [row[AT.startLatitudeE7], row[AT.startLongitudeE7]];
  if (startLatitudeE7 !== null && startLongitudeE7 !== null) {
    event.startLatitude = (startLatitudeE7 as number) / 1e7;
    event.startLongitude = (startLongitudeE7 as number) / 1e7;
  } else if ('startLatitude' in fields) throw new Error('An archived event has no start_latitude_e7');
  const driverCode = row[AT.driverCode] as string;
  if (driverCode !== '' || requires.includes('driverCode')) event.driverCode = driverCode;
  for (const { name, column, at, isNullable, isOptional } of OWN_FIELDS[kind]) {
    const value = row[at];
    if (value !== null || isNullable) event[name] = value;
    else if (!isOptional) throw new Error(`An archived event has no ${column}`);
  }
  return event as unknown as FleetEvent;
}
