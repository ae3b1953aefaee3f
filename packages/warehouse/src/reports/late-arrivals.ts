import type { VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';
import { IS_GOOD } from '../positions/reading.ts';
import { fleetCondition, PAGE_LIMITS } from './fleet.ts';
import { ofVehicle, perVehicleParameters, queueOf } from './per-vehicle.ts';

export interface LateArrivalsQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds of the fix, inclusive. */
  fromMs: number;
  /** Unix milliseconds of the fix, inclusive too. */
  throughMs: number;
  /** Unix milliseconds: only positions that the gateway received then or later. */
  receivedFromMs: number;
}

/**
 * Whether the gateway received a good position of the interval at or after that time. A repeated position is archived
 * as it first arrived, so the result is false if all late positions were known already.
 *
 * @throws {RangeError} when a time is not a number
 */
export async function hasLateArrivals(engine: Engine, question: LateArrivalsQuestion): Promise<boolean> {
  const { vehicleId, fromMs, throughMs, receivedFromMs } = question;
  const rows = await engine.select({
    sql: `SELECT 1 FROM positions FINAL WHERE vehicle_id = {vehicleId:UUID}
      AND fix_time >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
      AND fix_time <= fromUnixTimestamp64Milli({throughMs:Int64}, 'UTC')
      AND ${IS_GOOD} AND received_at >= fromUnixTimestamp64Milli({receivedFromMs:Int64}, 'UTC') LIMIT 1`,
    parameters: {
      vehicleId,
      fromMs: boundMs(fromMs),
      throughMs: boundMs(throughMs),
      receivedFromMs: boundMs(receivedFromMs),
    },
  });
  return rows.length > 0;
}

/**
 * {@link hasLateArrivals} for many vehicles, in one statement. Returns a result for each query, in order.
 *
 * @throws {RangeError} when there are over 100 queries, two are about one vehicle, or a time is not a number
 */
export async function haveLateArrivals(engine: Engine, questions: readonly LateArrivalsQuestion[]): Promise<boolean[]> {
  if (questions.length === 0) return [];
  const rows = await engine.select({
    sql: `SELECT DISTINCT vehicle_id FROM positions FINAL WHERE ${fleetCondition}
      AND fix_time >= fromUnixTimestamp64Milli({oldestMs:Int64}, 'UTC')
      AND fix_time <= fromUnixTimestamp64Milli({newestMs:Int64}, 'UTC')
      AND toUnixTimestamp64Milli(fix_time) BETWEEN ${ofVehicle('fromMs')} AND ${ofVehicle('throughMs')}
      AND ${IS_GOOD} AND toUnixTimestamp64Milli(received_at) >= ${ofVehicle('receivedFromMs')}`,
    parameters: {
      ...perVehicleParameters(questions, {
        fromMs: (question) => question.fromMs,
        throughMs: (question) => question.throughMs,
        receivedFromMs: (question) => question.receivedFromMs,
      }),
      oldestMs: boundMs(Math.min(...questions.map(({ fromMs }) => fromMs))),
      newestMs: boundMs(Math.max(...questions.map(({ throughMs }) => throughMs))),
    },
    limits: PAGE_LIMITS,
    queue: queueOf(questions),
  });
  const found = new Set(rows.map(([vehicleId]) => vehicleId as VehicleId));
  return questions.map(({ vehicleId }) => found.has(vehicleId));
}
