import type { VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';

export interface LastFixesQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds, inclusive. */
  throughMs: number;
  /** At least 1. */
  count: number;
}

/**
 * Time of the oldest of a vehicle's newest `count` good and valid fixes up to a moment, in Unix milliseconds; null where
 * there is none.
 *
 * @throws {RangeError} when the time is not a number
 */
export async function startOfLastFixes(engine: Engine, question: LastFixesQuestion): Promise<number | null> {
  const { vehicleId, throughMs, count } = question;
  const rows = await engine.select({
    sql: `SELECT toUnixTimestamp64Milli(fix_time) FROM positions FINAL
      WHERE vehicle_id = {vehicleId:UUID} AND fix_time <= fromUnixTimestamp64Milli({throughMs:Int64}, 'UTC')
      AND rejection = '' AND valid ORDER BY vehicle_id DESC, fix_time DESC LIMIT {count:UInt32}`,
    parameters: { vehicleId, throughMs: boundMs(throughMs), count },
  });
  const last = rows.at(-1);
  return last === undefined ? null : Number(last[0]);
}
