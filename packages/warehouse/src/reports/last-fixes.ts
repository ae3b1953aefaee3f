import type { VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';
import { IS_GOOD } from '../positions/reading.ts';
import { fleetCondition, PAGE_LIMITS } from './fleet.ts';
import { ofVehicle, perVehicleParameters, queueOf } from './per-vehicle.ts';

export interface LastFixesQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds, inclusive. */
  throughMs: number;
  /** At least 1. */
  count: number;
}

/**
 * Time of the oldest of a vehicle's newest `count` good and valid fixes up to a moment, in Unix milliseconds; null
 * without any.
 *
 * @throws {RangeError} when the time is not a number
 */
export async function startOfLastFixes(engine: Engine, question: LastFixesQuestion): Promise<number | null> {
  const { vehicleId, throughMs, count } = question;
  const rows = await engine.select({
    sql: `SELECT toUnixTimestamp64Milli(fix_time) FROM positions FINAL
      WHERE vehicle_id = {vehicleId:UUID} AND fix_time <= fromUnixTimestamp64Milli({throughMs:Int64}, 'UTC')
      AND ${IS_GOOD} AND valid ORDER BY vehicle_id DESC, fix_time DESC LIMIT {count:UInt32}`,
    parameters: { vehicleId, throughMs: boundMs(throughMs), count },
  });
  const last = rows.at(-1);
  return last === undefined ? null : Number(last[0]);
}

const HOUR_MS = 3_600_000;
/**
 * How far back the fixes of many vehicles are read, step by step: for most the first step is enough. Vehicles without
 * enough fixes in the last step but one are new, or were silent for a month.
 */
const WINDOWS_MS = [2 * HOUR_MS, 26 * HOUR_MS, 30 * 24 * HOUR_MS, Number.POSITIVE_INFINITY] as const;

/**
 * {@link startOfLastFixes} for many vehicles, with a statement for each step back. Returns a result for each query, in
 * order.
 *
 * @throws {RangeError} when there are over 100 queries, two are about one vehicle, or a time is not a number
 */
export async function startsOfLastFixes(
  engine: Engine,
  questions: readonly LastFixesQuestion[],
): Promise<(number | null)[]> {
  const starts = new Map<VehicleId, number | null>();
  let left = questions;
  for (const windowMs of WINDOWS_MS) {
    if (left.length === 0) break;
    const times = await fixTimesWithin(engine, left, windowMs);
    for (const { vehicleId, count } of left) {
      const known = times.get(vehicleId) ?? [];
      const start = known[count - 1] ?? (windowMs === Number.POSITIVE_INFINITY ? known.at(-1) : undefined);
      if (start !== undefined) starts.set(vehicleId, start);
    }
    left = left.filter(({ vehicleId }) => !starts.has(vehicleId));
  }
  return questions.map(({ vehicleId }) => starts.get(vehicleId) ?? null);
}

/** For each vehicle, the newest fixes up to its time and within a window before it, newest first. */
async function fixTimesWithin(
  engine: Engine,
  questions: readonly LastFixesQuestion[],
  windowMs: number,
): Promise<Map<VehicleId, number[]>> {
  const rows = (await engine.select({
    sql: `SELECT vehicle_id, toUnixTimestamp64Milli(fix_time) FROM positions FINAL WHERE ${fleetCondition}
      AND fix_time >= fromUnixTimestamp64Milli({oldestMs:Int64}, 'UTC')
      AND fix_time <= fromUnixTimestamp64Milli({newestMs:Int64}, 'UTC')
      AND toUnixTimestamp64Milli(fix_time) BETWEEN ${ofVehicle('fromMs')} AND ${ofVehicle('throughMs')}
      AND ${IS_GOOD} AND valid ORDER BY vehicle_id DESC, fix_time DESC LIMIT {count:UInt32} BY vehicle_id`,
    parameters: {
      ...perVehicleParameters(questions, {
        fromMs: ({ throughMs }) => throughMs - windowMs,
        throughMs: (question) => question.throughMs,
      }),
      oldestMs: boundMs(Math.min(...questions.map(({ throughMs }) => throughMs)) - windowMs),
      newestMs: boundMs(Math.max(...questions.map(({ throughMs }) => throughMs))),
      count: Math.max(...questions.map(({ count }) => count)),
    },
    limits: PAGE_LIMITS,
    queue: queueOf(questions),
  })) as [VehicleId, number][];
  const times = new Map<VehicleId, number[]>();
  for (const [vehicleId, fixTimeMs] of rows) {
    const known = times.get(vehicleId);
    if (known) known.push(fixTimeMs);
    else times.set(vehicleId, [fixTimeMs]);
  }
  return times;
}
