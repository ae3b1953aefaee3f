import type { FleetEvent, GeofenceId, VehicleId } from '@outrider/domain';
import type { Engine, Parameter } from '../engines/engine.ts';
import { NOT_REMOVED } from '../events/replacement.ts';
import { boundMs } from '../native/time.ts';
import { EVENT_COLUMNS, type EventRow, fleetEvent, MAX_EVENTS_LIMIT } from './events.ts';
import { fleetCondition } from './fleet.ts';

export interface RecentEventsQuestion {
  /** Only events of these vehicles, at most {@link MAX_RECENT_VEHICLES}; null: of all. */
  vehicleIds: readonly VehicleId[] | null;
  /** Only events of these kinds. Default: of all. */
  kinds?: readonly string[];
  /** Only events of these geofences. Null (default): all events. */
  geofenceIds?: readonly GeofenceId[] | null;
  /** Unix milliseconds of the fix that began the event, inclusive. */
  fromMs: number;
  /** Unix milliseconds of the fix that began the event, exclusive. */
  toMs: number;
  /** At most this many events: 1 to 10,000. */
  limit: number;
}

/** Maximum number of vehicles: a larger query would exceed what a server accepts. */
export const MAX_RECENT_VEHICLES = 5000;

/**
 * The newest events of many vehicles in a time range, the newest first; each as its latest phase reports it.
 *
 * @throws {RangeError} when the limit is not 1 to 10,000, a time is not a number, or too many vehicles are named
 */
export async function recentEvents(engine: Engine, question: RecentEventsQuestion): Promise<FleetEvent[]> {
  const { vehicleIds, kinds, geofenceIds = null, fromMs, toMs, limit } = question;
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_EVENTS_LIMIT))
    throw new RangeError(`The limit of events must be 1 to ${MAX_EVENTS_LIMIT}, not ${limit}`);
  checkVehicles(vehicleIds);
  if ([vehicleIds, kinds, geofenceIds].some((list) => list?.length === 0)) return [];
  const parameters: Record<string, Parameter> = { fromMs: boundMs(fromMs), toMs: boundMs(toMs), limit };
  const conditions = [
    "began_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')",
    "began_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')",
    NOT_REMOVED,
  ];
  if (vehicleIds !== null) {
    parameters.vehicleIds = vehicleIds;
    conditions.push(fleetCondition);
  }
  if (kinds !== undefined) {
    parameters.kinds = kinds;
    conditions.push('kind IN {kinds:Array(String)}');
  }
  if (geofenceIds !== null) {
    parameters.geofenceIds = geofenceIds;
    conditions.push('geofence_id IN {geofenceIds:Array(UUID)}');
  }
  const rows = (await engine.select({
    sql: `SELECT ${EVENT_COLUMNS} FROM events FINAL WHERE ${conditions.join(' AND ')}
      ORDER BY began_at DESC, id DESC LIMIT {limit:UInt32}`,
    parameters,
  })) as EventRow[];
  return rows.map(fleetEvent);
}

/**
 * Begin of the first event of many vehicles in a time range; null without any.
 *
 * @throws {RangeError} when a time is not a number, or too many vehicles are named
 */
export async function firstEventMs(
  engine: Engine,
  { vehicleIds, fromMs, toMs }: Pick<RecentEventsQuestion, 'vehicleIds' | 'fromMs' | 'toMs'>,
): Promise<number | null> {
  checkVehicles(vehicleIds);
  if (vehicleIds?.length === 0) return null;
  const [row] = await engine.select({
    sql: `SELECT count(), toUnixTimestamp64Milli(min(began_at)) FROM events
      WHERE began_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
        AND began_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC') AND ${NOT_REMOVED}
        ${vehicleIds === null ? '' : `AND ${fleetCondition}`}`,
    parameters: { fromMs: boundMs(fromMs), toMs: boundMs(toMs), ...(vehicleIds === null ? {} : { vehicleIds }) },
  });
  const [count, first] = (row ?? []) as unknown[];
  return Number(count) > 0 ? Number(first) : null;
}

function checkVehicles(vehicleIds: readonly VehicleId[] | null): void {
  if (vehicleIds !== null && vehicleIds.length > MAX_RECENT_VEHICLES)
    throw new RangeError(`Events are of at most ${MAX_RECENT_VEHICLES} vehicles, not ${vehicleIds.length}`);
}
