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
  /** Unix milliseconds: only what the gateway had then or later. */
  receivedFromMs: number;
}

/**
 * Did the gateway have a good position of the interval no sooner than that? What was sent again is archived as it first
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
 * {@link hasLateArrivals} of many vehicles, in one statement. Returns an answer for each question, in their order.
 *
 * @throws {RangeError} when there are over 100 questions, two are about one vehicle, or a time is not a number
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
