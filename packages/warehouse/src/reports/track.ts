import type { Alarm, Position, ProtocolName, Rejection, TerminalId, VehicleId } from '@outrider/domain';
import { NO_ALARMS } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';
import {
  AS_THEY_CAME,
  IS_GOOD,
  MAX_RECORDS,
  mergedRecord,
  momentsOf,
  REJECTION,
  rowsFor,
} from '../positions/reading.ts';
import { fleetCondition, PAGE_LIMITS } from './fleet.ts';
import { ofVehicle, perVehicleParameters, queueOf } from './per-vehicle.ts';

/** A position as it is archived. */
export interface ArchivedPosition extends Position {
  /** Unix milliseconds at which the gateway had its packet. */
  receivedAtMs: number;
  terminalId: TerminalId;
  protocol: ProtocolName;
  /** Why the position was rejected; null when it is good. */
  rejection: Rejection | null;
}

export interface TrackQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds of the fix, inclusive. */
  fromMs: number;
  /** Unix milliseconds of the fix, exclusive. */
  toMs: number;
  /** Maximum number of fix times, with all positions of each: 1 to 10,000. */
  limit: number;
  /** Where to continue: the `next` of the previous page. */
  after?: TrackCursor | null;
  /**
   * Includes rejected positions, and each record of a fix time separately, in order of arrival. Default false: records
   * of one fix time are merged into one position.
   */
  withRejected?: boolean;
}

/** The last position of a page, in the order of positions. */
export interface TrackCursor {
  fixTimeMs: number;
  rejection: Rejection | null;
}

export interface Track {
  /** By time of the fix, oldest first. */
  positions: ArchivedPosition[];
  /** Null when there are no more. */
  next: TrackCursor | null;
}

/** Maximum size of one page. */
export const MAX_TRACK_LIMIT = 10_000;

/** The columns of a {@link PositionRow}, in its order. */
export const TRACK_COLUMNS = `toUnixTimestamp64Milli(fix_time), latitude_e7, longitude_e7, valid, speed_kmh_x10, course_deg, altitude_m,
  satellites, ignition, odometer_m, supply_v_x1000, fuel_l_x10, alarms, attributes, toUnixTimestamp64Milli(received_at),
  terminal_id, protocol, ${REJECTION}`;

/**
 * The vehicle's positions in a time range, page by page. A page continues after the last position of the previous page,
 * not after a count, so that positions that arrive in between shift nothing.
 *
 * @throws {RangeError} when the limit is not 1 to 10,000, or a time is not a number
 */
export async function track(engine: Engine, question: TrackQuestion): Promise<Track> {
  const { vehicleId, fromMs, toMs, limit, after = null, withRejected = false } = question;
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_TRACK_LIMIT))
    throw new RangeError(`The limit of a track must be 1 to ${MAX_TRACK_LIMIT}, not ${limit}`);

  const parameters: Record<string, string | number> = {
    vehicleId,
    fromMs: boundMs(fromMs),
    toMs: boundMs(toMs),
    limit: rowsFor(limit),
  };
  const conditions = [
    'vehicle_id = {vehicleId:UUID}',
    "fix_time >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')",
    "fix_time < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')",
  ];
  if (!withRejected) conditions.push(IS_GOOD);
  if (after) {
    parameters.afterMs = boundMs(after.fixTimeMs);
    conditions.push("fix_time > fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC')");
  }
  const rows = await engine.select({
    sql: `SELECT ${TRACK_COLUMNS} FROM positions FINAL WHERE ${conditions.join(' AND ')}
      ORDER BY vehicle_id, fix_time, ${AS_THEY_CAME} LIMIT ${MAX_RECORDS} BY vehicle_id, fix_time LIMIT {limit:UInt32}`,
    parameters,
  });
  const { moments, hasMore } = momentsOf(rows as PositionRow[], limit, (a, b) => a[0] === b[0]);
  const records = moments.map((moment) => moment.map(archivedPosition));
  const positions = withRejected ? records.flat() : records.map(mergedRecord);
  const last = positions.at(-1);
  const next = hasMore && last ? { fixTimeMs: last.fixTimeMs, rejection: last.rejection } : null;
  return { positions, next };
}

/** The columns of a position that the rules use: a third of the data of the whole position. */
const JUDGED_COLUMNS = `vehicle_id, toUnixTimestamp64Milli(fix_time), latitude_e7, longitude_e7, valid, speed_kmh_x10, ignition,
  odometer_m, supply_v_x1000, alarms, toUnixTimestamp64Milli(received_at), ${REJECTION}`;
type JudgedRow = [
  vehicleId: VehicleId,
  fixTimeMs: number,
  latitudeE7: number,
  longitudeE7: number,
  valid: boolean,
  speedKmhX10: number | null,
  ignition: boolean | null,
  odometerM: number | null,
  supplyVX1000: number | null,
  alarms: Alarm[],
  receivedAtMs: number,
  rejection: Rejection | '',
];

/** A position with the fields that the rules use. */
export interface JudgedPosition extends Position {
  receivedAtMs: number;
  rejection: Rejection | null;
}

/** Positions of one vehicle from a time on, or after a page. */
export interface JudgedTrackQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds of the fix, inclusive. */
  fromMs: number;
  after: TrackCursor | null;
}

/**
 * A page of the track of each of many vehicles, including rejected positions, in one statement: only with the fields
 * that the rules use. Returns a result for each query, in order.
 *
 * @param limit maximum number of positions of each vehicle
 * @throws {RangeError} when there are over 100 queries, two are about one vehicle, or a time is not a number
 */
export async function judgedTracks(
  engine: Engine,
  questions: readonly JudgedTrackQuestion[],
  limit: number,
): Promise<{ positions: JudgedPosition[]; next: TrackCursor | null }[]> {
  if (questions.length === 0) return [];
  // After a cursor, or after all positions of the millisecond before the first.
  const afterMsOf = ({ fromMs, after }: JudgedTrackQuestion) => (after === null ? fromMs - 1 : after.fixTimeMs);
  const rows = (await engine.select({
    sql: `SELECT ${JUDGED_COLUMNS} FROM positions FINAL WHERE ${fleetCondition}
      AND fix_time >= fromUnixTimestamp64Milli({oldestMs:Int64}, 'UTC')
      AND toUnixTimestamp64Milli(fix_time) > ${ofVehicle('afterMs')}
      ORDER BY vehicle_id, fix_time, ${AS_THEY_CAME} LIMIT {limit:UInt32} BY vehicle_id`,
    parameters: {
      ...perVehicleParameters(questions, { afterMs: afterMsOf }),
      oldestMs: boundMs(Math.min(...questions.map(afterMsOf))),
      limit: rowsFor(limit),
    },
    limits: PAGE_LIMITS,
    queue: queueOf(questions),
  })) as JudgedRow[];
  const byVehicle = Map.groupBy(rows, ([vehicleId]) => vehicleId);
  return questions.map(({ vehicleId }) => {
    const found = byVehicle.get(vehicleId) ?? [];
    const { moments, hasMore } = momentsOf(found, limit, (a, b) => a[1] === b[1]);
    const positions = moments.flat().map(judgedPosition);
    const last = positions.at(-1);
    const next = hasMore && last ? { fixTimeMs: last.fixTimeMs, rejection: last.rejection } : null;
    return { positions, next };
  });
}

function judgedPosition(row: JudgedRow): JudgedPosition {
  return {
    fixTimeMs: row[1],
    latitude: row[2] / 1e7,
    longitude: row[3] / 1e7,
    valid: row[4],
    speedKmh: row[5] === null ? null : row[5] / 10,
    courseDeg: null,
    altitudeM: null,
    satellites: null,
    ignition: row[6],
    odometerM: row[7],
    supplyV: row[8] === null ? null : row[8] / 1000,
    fuelL: null,
    alarms: row[9].length === 0 ? NO_ALARMS : row[9],
    attributes: null,
    receivedAtMs: row[10],
    rejection: row[11] === '' ? null : row[11],
  };
}

/** A selected row of a position. */
export type PositionRow = [
  fixTimeMs: number,
  latitudeE7: number,
  longitudeE7: number,
  valid: boolean,
  speedKmhX10: number | null,
  courseDeg: number | null,
  altitudeM: number | null,
  satellites: number | null,
  ignition: boolean | null,
  odometerM: number | null,
  supplyVX1000: number | null,
  fuelLX10: number | null,
  alarms: Alarm[],
  attributes: string,
  receivedAtMs: number,
  terminalId: TerminalId,
  protocol: ProtocolName,
  rejection: Rejection | '',
];

export function archivedPosition(row: PositionRow): ArchivedPosition {
  return {
    fixTimeMs: row[0],
    latitude: row[1] / 1e7,
    longitude: row[2] / 1e7,
    valid: row[3],
    speedKmh: row[4] === null ? null : row[4] / 10,
    courseDeg: row[5],
    altitudeM: row[6],
    satellites: row[7],
    ignition: row[8],
    odometerM: row[9],
    supplyV: row[10] === null ? null : row[10] / 1000,
    fuelL: row[11] === null ? null : row[11] / 10,
    alarms: row[12].length === 0 ? NO_ALARMS : row[12],
    attributes: row[13] === '' ? null : (JSON.parse(row[13]) as Position['attributes']),
    receivedAtMs: row[14],
    terminalId: row[15],
    protocol: row[16],
    rejection: row[17] === '' ? null : row[17],
  };
}

/** The columns that counters use. */
const COUNTED_COLUMNS = `vehicle_id, toUnixTimestamp64Milli(fix_time), latitude_e7, longitude_e7, valid, speed_kmh_x10, ignition,
  odometer_m, JSONExtract(attributes, 'engineHours', 'Nullable(Float64)'), terminal_id,
  toUnixTimestamp64Milli(received_at), ${REJECTION}`;
type CountedRow = [
  vehicleId: VehicleId,
  fixTimeMs: number,
  latitudeE7: number,
  longitudeE7: number,
  valid: boolean,
  speedKmhX10: number | null,
  ignition: boolean | null,
  odometerM: number | null,
  engineHours: number | null,
  terminalId: TerminalId,
  receivedAtMs: number,
  rejection: Rejection | '',
];

/** A position with the fields that counters use. */
export type CountedPosition = Position & Pick<ArchivedPosition, 'terminalId' | 'receivedAtMs' | 'rejection'>;

/** Positions of one vehicle after a time. */
export interface CountedTrackQuestion {
  vehicleId: VehicleId;
  afterMs: number;
}

/**
 * Positions with the fields that counters use, of each of many vehicles after a time. Otherwise like
 * {@link judgedTracks}.
 *
 * @param limit maximum number of positions of each vehicle
 * @param withAttributes returns whole positions: some counters use sensors
 * @throws as {@link judgedTracks} does
 */
export async function countedTracks(
  engine: Engine,
  questions: readonly CountedTrackQuestion[],
  limit: number,
  withAttributes = false,
): Promise<{ positions: CountedPosition[]; hasMore: boolean }[]> {
  if (questions.length === 0) return [];
  const columns = withAttributes ? `vehicle_id, ${TRACK_COLUMNS}` : COUNTED_COLUMNS;
  const rows = (await engine.select({
    sql: `SELECT ${columns} FROM positions FINAL WHERE ${fleetCondition}
      AND fix_time > fromUnixTimestamp64Milli({oldestMs:Int64}, 'UTC')
      AND toUnixTimestamp64Milli(fix_time) > ${ofVehicle('afterMs')}
      ORDER BY vehicle_id, fix_time, ${AS_THEY_CAME} LIMIT {limit:UInt32} BY vehicle_id`,
    parameters: {
      ...perVehicleParameters(questions, { afterMs: ({ afterMs }) => afterMs }),
      oldestMs: boundMs(Math.min(...questions.map(({ afterMs }) => afterMs))),
      limit: rowsFor(limit),
    },
    limits: PAGE_LIMITS,
    queue: queueOf(questions),
  })) as (CountedRow | [VehicleId, ...PositionRow])[];
  const byVehicle = Map.groupBy(rows, ([vehicleId]) => vehicleId);
  const positionOf = (row: CountedRow | [VehicleId, ...PositionRow]): CountedPosition =>
    withAttributes ? archivedPosition(row.slice(1) as PositionRow) : countedPosition(row as CountedRow);
  return questions.map(({ vehicleId }) => {
    const { moments, hasMore } = momentsOf(byVehicle.get(vehicleId) ?? [], limit, (a, b) => a[1] === b[1]);
    return { positions: moments.flat().map(positionOf), hasMore };
  });
}

function countedPosition(row: CountedRow): CountedPosition {
  return {
    fixTimeMs: row[1],
    latitude: row[2] / 1e7,
    longitude: row[3] / 1e7,
    valid: row[4],
    speedKmh: row[5] === null ? null : row[5] / 10,
    courseDeg: null,
    altitudeM: null,
    satellites: null,
    ignition: row[6],
    odometerM: row[7],
    supplyV: null,
    fuelL: null,
    alarms: NO_ALARMS,
    attributes: row[8] === null ? null : { engineHours: row[8] },
    terminalId: row[9],
    receivedAtMs: row[10],
    rejection: row[11] === '' ? null : row[11],
  };
}
