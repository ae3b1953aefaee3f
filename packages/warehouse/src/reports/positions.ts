import type { VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';
import { AS_THEY_CAME, IS_GOOD, MAX_RECORDS, mergedRecord, momentsOf, rowsFor } from '../positions/reading.ts';
import { fleetCondition, fleetParameters, PAGE_LIMITS } from './fleet.ts';
import { type ArchivedPosition, archivedPosition, MAX_TRACK_LIMIT, type PositionRow, TRACK_COLUMNS } from './track.ts';

export interface PositionsQuestion {
  /** 1 to {@link MAX_FLEET} vehicles. */
  vehicleIds: readonly VehicleId[];
  /** Unix milliseconds of the fix, inclusive. */
  fromMs: number;
  /** Unix milliseconds of the fix, exclusive. */
  toMs: number;
  /** At most this many: 1 to 10,000. */
  limit: number;
  after?: PositionsCursor | null;
  signal?: AbortSignal | undefined;
}

export interface PositionsCursor {
  vehicleId: VehicleId;
  fixTimeMs: number;
}

export interface Positions {
  /** By vehicle, then by time of the fix. Only good positions. */
  positions: (ArchivedPosition & { vehicleId: VehicleId })[];
  /** Null when there are no more. */
  next: PositionsCursor | null;
}

/**
 * Good positions of many vehicles in a time range, page by page.
 *
 * @throws {RangeError} when the limit is not 1 to 10,000, a time is not a number, or too many vehicles are named
 */
export async function positions(engine: Engine, question: PositionsQuestion): Promise<Positions> {
  const { vehicleIds, fromMs, toMs, limit, after = null, signal } = question;
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_TRACK_LIMIT))
    throw new RangeError(`The limit of positions must be 1 to ${MAX_TRACK_LIMIT}, not ${limit}`);
  if (vehicleIds.length === 0) return { positions: [], next: null };
  const parameters: Record<string, string | number | readonly string[]> = {
    ...fleetParameters(vehicleIds),
    fromMs: boundMs(fromMs),
    toMs: boundMs(toMs),
    limit: rowsFor(limit),
  };
  const conditions = [fleetCondition, inInterval('fix_time'), IS_GOOD];
  if (after) {
    parameters.afterVehicle = after.vehicleId;
    parameters.afterMs = boundMs(after.fixTimeMs);
    conditions.push("(vehicle_id, fix_time) > ({afterVehicle:UUID}, fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC'))");
  }
  const rows = (await engine.select({
    sql: `SELECT vehicle_id, ${TRACK_COLUMNS} FROM positions FINAL WHERE ${conditions.join(' AND ')}
      ORDER BY vehicle_id, fix_time, ${AS_THEY_CAME} LIMIT ${MAX_RECORDS} BY vehicle_id, fix_time LIMIT {limit:UInt32}`,
    parameters,
    limits: PAGE_LIMITS,
    queue: 'report',
    signal,
  })) as [VehicleId, ...PositionRow][];
  const { moments, hasMore } = momentsOf(rows, limit, (a, b) => a[0] === b[0] && a[1] === b[1]);
  const page = moments.map((moment) =>
    mergedRecord(moment.map(([vehicleId, ...row]) => Object.assign(archivedPosition(row), { vehicleId }))),
  );
  const last = page.at(-1);
  return { positions: page, next: hasMore && last ? { vehicleId: last.vehicleId, fixTimeMs: last.fixTimeMs } : null };
}

/** Those of the vehicles that were in a box in a time range. */
export async function vehiclesWithin(
  engine: Engine,
  question: Omit<PositionsQuestion, 'limit' | 'after'> & { box: Box },
): Promise<VehicleId[]> {
  const { vehicleIds, fromMs, toMs, box, signal } = question;
  if (vehicleIds.length === 0) return [];
  const rows = await engine.select({
    sql: `SELECT DISTINCT vehicle_id FROM positions WHERE ${fleetCondition} AND ${inInterval('fix_time')}
      AND ${IS_GOOD} AND valid AND latitude_e7 BETWEEN {south:Float64} AND {north:Float64}
      AND ${
        box.west <= box.east
          ? 'longitude_e7 BETWEEN {west:Float64} AND {east:Float64}'
          : '(longitude_e7 >= {west:Float64} OR longitude_e7 <= {east:Float64})'
      }`,
    parameters: {
      ...fleetParameters(vehicleIds),
      fromMs: boundMs(fromMs),
      toMs: boundMs(toMs),
      south: box.south * 1e7,
      north: box.north * 1e7,
      west: box.west * 1e7,
      east: box.east * 1e7,
    },
    limits: PAGE_LIMITS,
    queue: 'report',
    signal,
  });
  return rows.map(([vehicleId]) => vehicleId as VehicleId);
}

/** Degrees. If `west` > `east`, the box crosses the antimeridian. */
export interface Box {
  west: number;
  south: number;
  east: number;
  north: number;
}

/** A condition on a column of times; `fromMs` and `toMs` are bound. */
export function inInterval(column: string): string {
  return `${column} >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND ${column} < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')`;
}
