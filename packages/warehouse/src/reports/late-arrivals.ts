import type { VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';

export interface LateArrivalsQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds of the fix, inclusive. */
  fromMs: number;
  /** Unix milliseconds of the fix, inclusive too. */
  throughMs: number;
  /** Unix milliseconds: only what the gateway had then or later. */
  receivedFromMs: number;
}

/**
 * Did the gateway have a good position of the stretch no sooner than that? What was sent again is archived as it first
 * came, so the answer is no where all that came late was there already.
 *
 * @throws {RangeError} when a time is not a number
 */
export async function hasLateArrivals(engine: Engine, question: LateArrivalsQuestion): Promise<boolean> {
  const { vehicleId, fromMs, throughMs, receivedFromMs } = question;
  const rows = await engine.select({
    sql: `SELECT 1 FROM positions FINAL WHERE vehicle_id = {vehicleId:UUID}
      AND fix_time >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
      AND fix_time <= fromUnixTimestamp64Milli({throughMs:Int64}, 'UTC')
      AND rejection = '' AND received_at >= fromUnixTimestamp64Milli({receivedFromMs:Int64}, 'UTC') LIMIT 1`,
    parameters: {
      vehicleId,
      fromMs: boundMs(fromMs),
      throughMs: boundMs(throughMs),
      receivedFromMs: boundMs(receivedFromMs),
    },
  });
  return rows.length > 0;
}
