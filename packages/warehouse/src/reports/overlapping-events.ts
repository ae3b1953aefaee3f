import { beganAtMs, type EventId, type EventKind, type FleetEvent, type VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { NOT_REMOVED } from '../events/replacement.ts';
import { boundMs } from '../native/time.ts';
import { EVENT_COLUMNS, type EventRow, fleetEvent, MAX_EVENTS_LIMIT } from './events.ts';
import { fleetCondition, fleetParameters, PAGE_LIMITS } from './fleet.ts';

export interface OverlappingEventsQuestion {
  /** 1 to {@link MAX_FLEET} vehicles. */
  vehicleIds: readonly VehicleId[];
  /** Null: all kinds. */
  kinds: readonly EventKind[] | null;
  /** Unix milliseconds: events that had ended by then are left out. */
  fromMs: number;
  /** Unix milliseconds: what had not begun by then is left out. */
  toMs: number;
  /** At most this many: 1 to 10,000. */
  limit: number;
  after?: FleetCursor | null;
  signal?: AbortSignal | undefined;
}

/** Position of the last event of a page, for many vehicles. */
export interface FleetCursor {
  vehicleId: VehicleId;
  beganAtMs: number;
  id: EventId;
}

export interface OverlappingEvents {
  /** By vehicle, then by begin; each as its latest phase reports it. */
  events: FleetEvent[];
  /** Null when there are no more. */
  next: FleetCursor | null;
}

/**
 * An event may have started before the fix that began it, at a boundary crossed between fixes, or when the last packet
 * came. The key has the fix, so the search includes begins this much later.
 */
const LATE_BEGIN_MS = 86_400_000;

/** Events with a part in a time range. An event without duration counts where it started. */
export const OVERLAPS = `began_at < fromUnixTimestamp64Milli({toMs:Int64} + ${LATE_BEGIN_MS}, 'UTC')
  AND started_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND (ended_at IS NULL OR ended_at > fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    OR started_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC') AND ended_at >= started_at)`;

/**
 * Only events of these kinds. Rows of other kinds are dropped before those of one event are merged: an event's kind is
 * a part of its id, so it is the same in all of them.
 */
export const OF_KINDS = 'PREWHERE kind IN {kinds:Array(String)}';

/**
 * Events of many vehicles that lasted into a time range, page by page. Includes events that began before it, however
 * long ago, and those that have not ended.
 *
 * @throws {RangeError} when the limit is not 1 to 10,000, a time is not a number, or too many vehicles are named
 */
export async function overlappingEvents(
  engine: Engine,
  question: OverlappingEventsQuestion,
): Promise<OverlappingEvents> {
  const { vehicleIds, kinds, fromMs, toMs, limit, after = null, signal } = question;
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_EVENTS_LIMIT))
    throw new RangeError(`The limit of events must be 1 to ${MAX_EVENTS_LIMIT}, not ${limit}`);
  if (vehicleIds.length === 0 || kinds?.length === 0) return { events: [], next: null };
  const conditions = [fleetCondition, OVERLAPS, NOT_REMOVED];
  const parameters: Record<string, string | number | readonly string[]> = {
    ...fleetParameters(vehicleIds),
    fromMs: boundMs(fromMs),
    toMs: boundMs(toMs),
    limit: limit + 1,
  };
  if (kinds) parameters.kinds = kinds;
  if (after) {
    parameters.afterVehicle = after.vehicleId;
    parameters.afterMs = boundMs(after.beganAtMs);
    parameters.afterId = after.id;
    conditions.push(
      "(vehicle_id, began_at, id) > ({afterVehicle:UUID}, fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC'), {afterId:UUID})",
    );
  }
  const rows = (await engine.select({
    sql: `SELECT ${EVENT_COLUMNS} FROM events FINAL ${kinds ? OF_KINDS : ''} WHERE ${conditions.join(' AND ')}
      ORDER BY vehicle_id, began_at, id LIMIT {limit:UInt32}`,
    parameters,
    limits: PAGE_LIMITS,
    queue: 'report',
    signal,
  })) as EventRow[];
  const events = rows.slice(0, limit).map(fleetEvent);
  const last = events.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { events, next: hasMore ? { vehicleId: last.vehicleId, beganAtMs: beganAtMs(last.id), id: last.id } : null };
}
