import type { Rejection, VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';
import { IS_GOOD } from '../positions/reading.ts';

export interface RejectionsQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds: only positions that the gateway received then or later. */
  receivedFromMs: number;
}

/** Positions of a vehicle that were rejected for one reason. */
export interface RejectedPositions {
  reason: Rejection;
  count: number;
  /** Facts of the one that came last: times in Unix milliseconds, degrees. */
  lastFixTimeMs: number;
  lastReceivedAtMs: number;
  latitude: number;
  longitude: number;
}

/**
 * Number of a vehicle's positions rejected since a time, by reason, the last rejected first. Jumps are not included:
 * detecting them needs other positions. A fix in the future counts until its time has come.
 *
 * @throws {RangeError} when the time is not a number
 */
export async function rejections(engine: Engine, question: RejectionsQuestion): Promise<RejectedPositions[]> {
  const rows = (await engine.select({
    sql: `SELECT rejection, count(), argMax((toUnixTimestamp64Milli(fix_time), latitude_e7, longitude_e7), (received_at, fix_time)) AS last,
        toUnixTimestamp64Milli(max(received_at)) AS last_received
      FROM positions FINAL WHERE vehicle_id = {vehicleId:UUID} AND NOT ${IS_GOOD}
        AND received_at >= fromUnixTimestamp64Milli({receivedFromMs:Int64}, 'UTC')
      GROUP BY rejection ORDER BY last_received DESC, rejection`,
    parameters: { vehicleId: question.vehicleId, receivedFromMs: boundMs(question.receivedFromMs) },
  })) as [Rejection, number, [number, number, number], number][];
  return rows.map(([reason, count, [lastFixTimeMs, latitudeE7, longitudeE7], lastReceivedAtMs]) => ({
    reason,
    count,
    lastFixTimeMs,
    lastReceivedAtMs,
    latitude: latitudeE7 / 1e7,
    longitude: longitudeE7 / 1e7,
  }));
}
