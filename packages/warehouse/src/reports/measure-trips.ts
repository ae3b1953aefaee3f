import { MAX_SPEED_KMH } from '@outrider/domain';
import type { Engine, Parameter } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';
import { IS_GOOD } from '../positions/reading.ts';
import { PAGE_LIMITS } from './fleet.ts';
import { cutAt, intervalOf, stepOf } from './intervals.ts';
import type { CrossingTrip } from './tallies.ts';

/**
 * Maximum number of time ranges, each of which costs a search of the key. With more, everything between the first and
 * the last trip is read.
 */
const MAX_INTERVALS = 64;
/** Between two fixes, a slower vehicle counts as stationary (the engine's default threshold). */
const STATIONARY_KMH = 2;

/**
 * Measures of a trip in one interval, from its positions. Interval -1 is before the first cut, the last one after the
 * last.
 */
export interface Measured {
  interval: number;
  distanceM: number;
  movingMs: number;
  stationaryMs: number;
  peakKmh: number | null;
}

/*
 * The index finds the time ranges of positions; the join then assigns each to its trip. PREWHERE uses only columns of
 * the key, so it may drop rows before those of one record are merged; `valid` is not in the key.
 */

/** Great-circle distance in metres between two fixes of a row, by the prefixes of their columns. */
const wayM = (from: string, to: string) =>
  `greatCircleDistance(${from}_longitude / 1e7, ${from}_latitude / 1e7, ${to}_longitude / 1e7, ${to}_latitude / 1e7)`;
const isJump = (from: string, to: string) => `${wayM(from, to)} * 3600 > ${MAX_SPEED_KMH} * (${to}_ms - ${from}_ms)`;
/**
 * True if the odometer counts less than half of the distance between the fixes of a window, and over 500 m less. The
 * rule is that of the engine, but over all steps from one reading and over the whole trip.
 */
const isWrong = (window: string) =>
  `2 * sum(counted) OVER ${window} < sumIf(way, counted IS NOT NULL) OVER ${window}
    AND sumIf(way, counted IS NOT NULL) OVER ${window} - sum(counted) OVER ${window} > 500`;
const before = (column: string) => `lagInFrame(${column}) OVER steps`;
const after = (column: string) => `leadInFrame(${column}) OVER steps`;

/** Measures of trips in each of the intervals, by index of the trip. */
export async function measure(
  engine: Engine,
  trips: readonly CrossingTrip[],
  cuts: readonly number[],
  signal: AbortSignal | undefined,
): Promise<Map<number, Measured[]>> {
  const parameters: Record<string, Parameter> = {
    ...(stepOf(cuts) === null && { cuts: cuts.map(boundMs) }),
    vehicleIds: trips.map(({ vehicleId }) => vehicleId),
    starts: trips.map(({ startedAtMs }) => boundMs(startedAtMs)),
    ends: trips.map(({ startedAtMs, untilMs }) => boundMs(Math.max(startedAtMs, untilMs))),
  };
  const conditions = intervalsOf(trips).map(([fromMs, toMs], nth) => {
    parameters[`from${nth}`] = boundMs(fromMs);
    parameters[`to${nth}`] = boundMs(toMs);
    return `fix_time BETWEEN fromUnixTimestamp64Milli({from${nth}:Int64}, 'UTC') AND fromUnixTimestamp64Milli({to${nth}:Int64}, 'UTC')`;
  });
  const rows = (await engine.select({
    sql: `SELECT trip, interval - 1, sum(metres * share), sum(if(metres * 3600 > ${STATIONARY_KMH} * ms, ms, 0) * share),
        sum(if(metres * 3600 > ${STATIONARY_KMH} * ms, 0, ms) * share), max(speed_kmh_x10) / 10
      FROM (
        SELECT trip, metres, ms, speed_kmh_x10, arrayJoin(range(${intervalOf('before_ms', cuts)}, ${intervalOf('at_ms - 1', cuts)} + 1)) AS interval,
          (least(at_ms, if(interval >= ${cuts.length}, at_ms, ${cutAt('interval + 1', cuts)}))
            - greatest(before_ms, if(interval = 0, before_ms, ${cutAt('interval', cuts)}))) / ms AS share
        FROM (
          SELECT trip, at_ms, before_ms, ms, speed_kmh_x10,
            if(counted IS NULL OR ${isWrong('one_reading')} OR ${isWrong('trip')}, way, counted) AS metres
          FROM (
          SELECT trip, at_ms, before_ms, at_ms - before_ms AS ms, speed_kmh_x10, ${wayM('before', 'at')} AS way,
            if(odometer_m > 0 AND odometer_m >= odometer_before AND (odometer_m - odometer_before) * 3600 <= ${MAX_SPEED_KMH} * ms,
              toFloat64(odometer_m - odometer_before), NULL) AS counted, odometer_before
          FROM (
            SELECT trip, at_ms, at_latitude, at_longitude, odometer_m, speed_kmh_x10, ${before('at_ms')} AS before_ms,
              ${before('at_latitude')} AS before_latitude, ${before('at_longitude')} AS before_longitude,
              ${before('odometer_m')} AS odometer_before, row_number() OVER steps AS nth
            FROM (
              SELECT *, row_number() OVER steps AS place, ${before('at_ms')} AS prior_ms, ${before('at_latitude')} AS prior_latitude,
                ${before('at_longitude')} AS prior_longitude, ${after('at_ms')} AS next_ms,
                ${after('at_latitude')} AS next_latitude, ${after('at_longitude')} AS next_longitude
              FROM (
                SELECT vehicle_id, toUnixTimestamp64Milli(fix_time) AS at_ms, latitude_e7 AS at_latitude,
                  longitude_e7 AS at_longitude, odometer_m, speed_kmh_x10
                FROM positions FINAL PREWHERE vehicle_id IN {vehicleIds:Array(UUID)} AND ${IS_GOOD}
                  AND indexHint(${conditions.join(' OR ')})
                WHERE valid
              ) AS fixes
              ASOF INNER JOIN (
                SELECT vehicle_id, start_ms, end_ms, trip FROM (SELECT {vehicleIds:Array(UUID)} AS vehicle_id,
                  {starts:Array(Int64)} AS start_ms, {ends:Array(Int64)} AS end_ms, range(${trips.length}) AS trip)
                ARRAY JOIN vehicle_id, start_ms, end_ms, trip
              ) AS trips ON fixes.vehicle_id = trips.vehicle_id AND fixes.at_ms >= trips.start_ms
              WHERE at_ms <= end_ms
              WINDOW steps AS (PARTITION BY trip ORDER BY at_ms ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
            ) WHERE place = 1 OR NOT (${isJump('prior', 'at')}) OR next_ms = 0 OR NOT (${isJump('at', 'next')})
            WINDOW steps AS (PARTITION BY trip ORDER BY at_ms ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
          ) WHERE nth > 1 AND at_ms > before_ms
          ) WINDOW one_reading AS (PARTITION BY trip, odometer_before), trip AS (PARTITION BY trip)
        ) WHERE metres * 3600 <= ${MAX_SPEED_KMH} * ms
      ) GROUP BY trip, interval ORDER BY trip, interval`,
    parameters,
    limits: PAGE_LIMITS,
    queue: 'report',
    signal,
  })) as [number, number, number, number, number, number | null][];
  const measured = rows.map(([nth, place, distanceM, movingMs, stationaryMs, peakKmh]) => ({
    nth,
    interval: place,
    distanceM,
    movingMs,
    stationaryMs,
    peakKmh,
  }));
  return Map.groupBy(measured, ({ nth }) => nth);
}

/** Time ranges that hold all trips, in order. */
function intervalsOf(trips: readonly CrossingTrip[]): [fromMs: number, toMs: number][] {
  const intervals: [number, number][] = [];
  // Trips are sorted by start: each either overlaps the last interval, or lies after it.
  for (const { startedAtMs, untilMs } of trips) {
    const last = intervals.at(-1);
    if (last && startedAtMs <= last[1]) last[1] = Math.max(last[1], untilMs);
    else intervals.push([startedAtMs, untilMs]);
  }
  const [first] = intervals;
  const last = intervals.at(-1);
  return first && last && intervals.length > MAX_INTERVALS ? [[first[0], last[1]]] : intervals;
}
