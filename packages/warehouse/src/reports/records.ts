import { NO_ALARMS, type Position, type Rejection, type VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';
import { AS_THEY_CAME, MAX_RECORDS, momentsOf, REJECTION, rowsFor } from '../positions/reading.ts';
import { PAGE_LIMITS } from './fleet.ts';
import { inInterval } from './positions.ts';
import { MAX_TRACK_LIMIT } from './track.ts';

export interface RecordsQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds of the record, inclusive. */
  fromMs: number;
  /** Unix milliseconds of the record, exclusive. */
  toMs: number;
  /** Maximum number of record times, with all records of each: 1 to 10,000. */
  limit: number;
  /** Where to continue: the `next` of the previous page. */
  after?: number | null;
  signal?: AbortSignal | undefined;
}

/** Measurements of a record; coordinates (0) and alarms are left out. */
export interface MeasuredRecord extends Position {
  receivedAtMs: number;
  /** Why the position is not good; null if it is. */
  rejection: Rejection | null;
}

export interface Records {
  /** By time, oldest first; those of one time in order of arrival. */
  records: MeasuredRecord[];
  /** Time of the last; null when there are no more. */
  next: number | null;
}

const MEASURED_COLUMNS = `toUnixTimestamp64Milli(fix_time), valid, speed_kmh_x10, course_deg, altitude_m, satellites, ignition,
  odometer_m, supply_v_x1000, fuel_l_x10, attributes, toUnixTimestamp64Milli(received_at), ${REJECTION}`;
type MeasuredRow = [
  fixTimeMs: number,
  valid: boolean,
  speedKmhX10: number | null,
  courseDeg: number | null,
  altitudeM: number | null,
  satellites: number | null,
  ignition: boolean | null,
  odometerM: number | null,
  supplyVX1000: number | null,
  fuelLX10: number | null,
  attributes: string,
  receivedAtMs: number,
  rejection: Rejection | '',
];

/**
 * All records of a vehicle in a time range, including those without a good position, page by page: only with the fields
 * that sensors are evaluated on.
 *
 * @throws {RangeError} when the limit is not 1 to 10,000, or a time is not a number
 */
export async function records(engine: Engine, question: RecordsQuestion): Promise<Records> {
  const { vehicleId, fromMs, toMs, limit, after = null, signal } = question;
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_TRACK_LIMIT))
    throw new RangeError(`The limit of records must be 1 to ${MAX_TRACK_LIMIT}, not ${limit}`);
  const rows = (await engine.select({
    sql: `SELECT ${MEASURED_COLUMNS} FROM positions FINAL WHERE vehicle_id = {vehicleId:UUID} AND ${inInterval('fix_time')}
      ORDER BY vehicle_id, fix_time, ${AS_THEY_CAME} LIMIT ${MAX_RECORDS} BY vehicle_id, fix_time LIMIT {limit:UInt32}`,
    parameters: {
      vehicleId,
      // Times are whole milliseconds.
      fromMs: boundMs(after === null ? fromMs : Math.max(fromMs, after + 1)),
      toMs: boundMs(toMs),
      limit: rowsFor(limit),
    },
    limits: PAGE_LIMITS,
    queue: 'report',
    signal,
  })) as MeasuredRow[];
  const { moments, hasMore } = momentsOf(rows, limit, (a, b) => a[0] === b[0]);
  const page = moments.flat().map(measuredRecord);
  return { records: page, next: hasMore ? (page.at(-1)?.fixTimeMs ?? null) : null };
}

function measuredRecord(row: MeasuredRow): MeasuredRecord {
  return {
    fixTimeMs: row[0],
    latitude: 0,
    longitude: 0,
    valid: row[1],
    speedKmh: row[2] === null ? null : row[2] / 10,
    courseDeg: row[3],
    altitudeM: row[4],
    satellites: row[5],
    ignition: row[6],
    odometerM: row[7],
    supplyV: row[8] === null ? null : row[8] / 1000,
    fuelL: row[9] === null ? null : row[9] / 10,
    alarms: NO_ALARMS,
    attributes: row[10] === '' ? null : (JSON.parse(row[10]) as Position['attributes']),
    receivedAtMs: row[11],
    rejection: row[12] === '' ? null : row[12],
  };
}
