import type { VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';
import { IS_GOOD } from '../positions/reading.ts';
import { fleetCondition, fleetParameters, PAGE_LIMITS } from './fleet.ts';
import { inInterval } from './positions.ts';

/** Maximum number of vehicles in one query: higher than in others, because only a few rows are returned for each. */
export const MAX_FLEET_OF_FIXES = 10_000;

export interface FixesBeforeQuestion {
  /** 1 to {@link MAX_FLEET_OF_FIXES} vehicles. */
  vehicleIds: readonly VehicleId[];
  /** Unix milliseconds: older fixes are ignored. */
  fromMs: number;
  /** Unix milliseconds, exclusive. */
  beforeMs: number;
  /** Maximum number of fixes of each vehicle, the newest: at least 1. */
  count: number;
  /** The queue that it waits in. Default: `quick`. */
  queue?: 'quick' | 'report';
  signal?: AbortSignal | undefined;
}

/** Time and position of a vehicle. */
export interface ArchivedFix {
  vehicleId: VehicleId;
  fixTimeMs: number;
  latitude: number;
  longitude: number;
  /** Null, as the next two, if the terminal did not send it. */
  speedKmh: number | null;
  courseDeg: number | null;
  ignition: boolean | null;
}

type FixRow = [
  vehicleId: VehicleId,
  fixTimeMs: number,
  latitudeE7: number,
  longitudeE7: number,
  speedKmhX10: number | null,
  courseDeg: number | null,
  ignition: number | null,
];

/**
 * The newest good and valid fixes of many vehicles before a time: sorted by vehicle, then by time, oldest first.
 *
 * @throws {RangeError} when a time is not a number, or too many vehicles are named
 */
export async function fixesBefore(engine: Engine, question: FixesBeforeQuestion): Promise<ArchivedFix[]> {
  const { vehicleIds, fromMs, beforeMs, count, queue = 'quick', signal } = question;
  if (vehicleIds.length === 0) return [];
  const rows = (await engine.select({
    sql: `SELECT vehicle_id, toUnixTimestamp64Milli(fix_time), latitude_e7, longitude_e7, speed_kmh_x10, course_deg,
        toUInt8(ignition)
      FROM positions FINAL
      WHERE ${fleetCondition} AND ${inInterval('fix_time')} AND ${IS_GOOD} AND valid
      ORDER BY vehicle_id DESC, fix_time DESC, received_at DESC, precedence LIMIT {count:UInt32} BY vehicle_id LIMIT {most:UInt32}`,
    parameters: {
      ...fleetParameters(vehicleIds, MAX_FLEET_OF_FIXES),
      fromMs: boundMs(fromMs),
      toMs: boundMs(beforeMs),
      count,
      most: count * vehicleIds.length,
    },
    limits: PAGE_LIMITS,
    queue,
    signal,
  })) as FixRow[];
  return rows.reverse().map(([vehicleId, fixTimeMs, latitudeE7, longitudeE7, speedKmhX10, courseDeg, ignition]) => ({
    vehicleId,
    fixTimeMs,
    latitude: latitudeE7 / 1e7,
    longitude: longitudeE7 / 1e7,
    speedKmh: speedKmhX10 === null ? null : speedKmhX10 / 10,
    courseDeg,
    ignition: ignition === null ? null : ignition === 1,
  }));
}
