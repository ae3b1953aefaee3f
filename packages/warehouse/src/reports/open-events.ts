import type { FleetEvent, VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { EVENT_COLUMNS, type EventRow, fleetEvent } from './events.ts';
import { fleetCondition, fleetParameters, PAGE_LIMITS } from './fleet.ts';

/** Maximum number of events per vehicle, which may be in a thousand geofences at once; more are left out. */
const MAX_OPEN_A_VEHICLE = 1000;

/**
 * Events of many vehicles that have begun and not ended, by vehicle and time.
 *
 * @throws {RangeError} when too many vehicles are named
 */
export async function openEvents(
  engine: Engine,
  question: { vehicleIds: readonly VehicleId[]; signal?: AbortSignal | undefined },
): Promise<FleetEvent[]> {
  const { vehicleIds, signal } = question;
  if (vehicleIds.length === 0) return [];
  const rows = (await engine.select({
    sql: `SELECT ${EVENT_COLUMNS} FROM events FINAL WHERE ${fleetCondition} AND ended_at IS NULL AND phase = 'begin'
      ORDER BY vehicle_id, began_at DESC, id LIMIT ${MAX_OPEN_A_VEHICLE} BY vehicle_id`,
    parameters: fleetParameters(vehicleIds),
    limits: PAGE_LIMITS,
    queue: 'report',
    signal,
  })) as EventRow[];
  return rows.map(fleetEvent);
}
