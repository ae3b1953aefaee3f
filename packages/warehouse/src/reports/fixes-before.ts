import type { VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';
import { IS_GOOD } from '../positions/reading.ts';
import { fleetCondition, fleetParameters, PAGE_LIMITS } from './fleet.ts';
import { inInterval } from './positions.ts';

/** Vehicles of one question: of each a few rows are answered, so there may be more than in others. */
export const MAX_FLEET_OF_FIXES = 10_000;

export interface FixesBeforeQuestion {
  /** 1 to {@link MAX_FLEET_OF_FIXES} vehicles. */
  vehicleIds: readonly VehicleId[];
  /** Unix milliseconds: older ones are not looked for. */
  fromMs: number;
  /** Unix milliseconds, exclusive. */
  beforeMs: number;
  /** Of each vehicle at most so many, the newest: at least 1. */
  count: number;
  /** What it waits in line with. Default: `quick`. */
  queue?: 'quick' | 'report';
  signal?: AbortSignal | undefined;
}

/** When and where a vehicle was. */
export interface ArchivedFix {
  vehicleId: VehicleId;
  fixTimeMs: number;
  latitude: number;
  longitude: number;
  /** Null, as the next two: the terminal did not say. */
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
 * The newest good and valid fixes of many vehicles before a moment: by vehicle, and of each by time, oldest first.
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
