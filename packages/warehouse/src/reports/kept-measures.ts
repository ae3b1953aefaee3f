import type { VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import type { NativeBlock } from '../native/block.ts';
import { arrayColumn, Int64Values, OffsetValues, UuidValues, uuidWords } from '../native/columns.ts';
import { boundMs } from '../native/time.ts';
import { PAGE_LIMITS } from './fleet.ts';
import { type Measured, measure } from './measure-trips.ts';
import type { CrossingTrip } from './tallies.ts';

/*
 * A trip that midnight divides is measured by its positions, some hundred of each. The measures are cached by quarters
 * of an hour: the midnight of each time zone is at one of them. They are valid until late positions of the trip's days
 * arrive, which the archive marks on insert (`late_days`, see the migrations).
 */

/** Every offset of a time zone from UTC is a multiple of it. */
const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;
/**
 * Trips that ended more recently are measured each time: their positions still arrive, and do not count as late. Longer
 * than `LATE_AFTER_HOURS` of the migrations.
 */
const SETTLED_MS = DAY_MS;
/**
 * Tolerance of marks: a day is marked when an insert begins. Longer than an insert takes, and than servers' clocks
 * differ.
 */
const INSERT_MS = 600_000;
/** Longer trips are measured each time: nobody drives for more days without a stop. */
const MAX_DAYS = 3;

/** Takes work that continues after the response. The work never fails. */
export type Later = (work: Promise<void>) => void;

/** Measures of a trip by quarters of an hour: `interval` is the number of the quarter since 1970. */
type MeasuredQuarters = readonly Measured[];

/** Whether quarters of an hour suffice for a trip: it has ended, is not too long, and is only divided at quarters. */
export function isOnQuarters({ startedAtMs, untilMs, lasts }: CrossingTrip, cuts: readonly number[]): boolean {
  const divides = (cut: number) => cut > startedAtMs && cut < untilMs;
  return (
    !lasts && cuts.every((cut) => cut % QUARTER_MS === 0 || !divides(cut)) && daysOf(startedAtMs, untilMs) !== null
  );
}

/** A trip's quarters of an hour, added up in the intervals that cuts make; -1 lies before the first. */
export function inIntervals(
  { startedAtMs }: CrossingTrip,
  quarters: MeasuredQuarters,
  cuts: readonly number[],
): Measured[] {
  const intervals = new Map<number, Measured>();
  for (const { interval: quarter, distanceM, movingMs, stationaryMs, peakKmh } of quarters) {
    // A cut before or behind the trip may lie in its first or last quarter.
    const fromMs = Math.max(startedAtMs, quarter * QUARTER_MS);
    const interval = cuts.findLastIndex((cut) => cut <= fromMs);
    const sum = intervals.get(interval) ?? { interval, distanceM: 0, movingMs: 0, stationaryMs: 0, peakKmh: null };
    sum.distanceM += distanceM;
    sum.movingMs += movingMs;
    sum.stationaryMs += stationaryMs;
    if (peakKmh !== null) sum.peakKmh = Math.max(sum.peakKmh ?? 0, peakKmh);
    intervals.set(interval, sum);
  }
  return [...intervals.values()];
}

/** Measures of trips, from the cache, or measured now and then cached. Trips that must not be cached are left out. */
export async function measuredQuarters(
  engine: Engine,
  trips: readonly CrossingTrip[],
  signal: AbortSignal | undefined,
  later: Later,
): Promise<Map<CrossingTrip, MeasuredQuarters>> {
  const found = new Map<CrossingTrip, MeasuredQuarters>();
  if (trips.length === 0) return found;
  const about = { limits: PAGE_LIMITS, queue: 'report', signal } as const;
  // Only the database's clock is used: days are marked by it.
  const [now] = await engine.select({ ...about, sql: 'SELECT toUnixTimestamp64Milli(now64(3))', parameters: {} });
  const nowMs = Number(now?.[0]);
  const settled = trips.filter(({ untilMs }) => untilMs < nowMs - SETTLED_MS);
  if (settled.length === 0) return found;
  const kept = await keptMeasures(engine, settled, about);
  const marks = await lateDays(engine, settled, Math.min(nowMs, ...[...kept.values()].map(({ atMs }) => atMs)), about);
  const holds = ({ vehicleId, startedAtMs, untilMs }: CrossingTrip, atMs: number) =>
    (daysOf(startedAtMs, untilMs) ?? []).every((day) => (marks.get(`${vehicleId} ${day}`) ?? 0) < atMs - INSERT_MS);
  const missing: CrossingTrip[] = [];
  for (const trip of settled) {
    const measures = kept.get(keyOf(trip.vehicleId, trip.startedAtMs, trip.untilMs));
    // Measures from a clock that was ahead may be older than a mark that was made later.
    if (measures && measures.atMs <= nowMs && holds(trip, measures.atMs)) found.set(trip, measures.quarters);
    else missing.push(trip);
  }
  if (missing.length === 0) return found;
  const firstQuarter = Math.floor(Math.min(...missing.map(({ startedAtMs }) => startedAtMs)) / QUARTER_MS);
  const lastQuarter = Math.floor(Math.max(...missing.map(({ untilMs }) => untilMs)) / QUARTER_MS);
  const cuts = Array.from({ length: lastQuarter - firstQuarter + 2 }, (_, nth) => (firstQuarter + nth) * QUARTER_MS);
  const measured = await measure(engine, missing, cuts, signal);
  for (const [nth, trip] of missing.entries())
    found.set(
      trip,
      (measured.get(nth) ?? []).map((part) => ({ ...part, interval: part.interval + firstQuarter })),
    );
  const toKeep = missing.filter((trip) => holds(trip, nowMs));
  // Not awaited: if it fails, the next query measures again.
  if (toKeep.length > 0)
    later(engine.insert('measured_trips', keptBlock(toKeep, found, nowMs)).then(undefined, () => {}));
  return found;
}

const keyOf = (vehicleId: VehicleId, startedAtMs: number, untilMs: number) => `${vehicleId} ${startedAtMs} ${untilMs}`;

/** Days since 1970 that a trip covers; null if it is longer than `MAX_DAYS`. */
function daysOf(startedAtMs: number, untilMs: number): number[] | null {
  const first = Math.floor(startedAtMs / DAY_MS);
  const count = Math.floor(untilMs / DAY_MS) - first + 1;
  return count > MAX_DAYS ? null : Array.from({ length: Math.max(1, count) }, (_, nth) => first + nth);
}

type About = Pick<Parameters<Engine['select']>[0], 'limits' | 'queue' | 'signal'>;

async function keptMeasures(engine: Engine, trips: readonly CrossingTrip[], about: About) {
  const starts = trips.map(({ startedAtMs }) => boundMs(startedAtMs));
  const rows = (await engine.select({
    ...about,
    sql: `SELECT vehicle_id, toUnixTimestamp64Milli(started_at), toUnixTimestamp64Milli(ended_at),
        toUnixTimestamp64Milli(measured_at), quarters, metres, moving_ms, stationary_ms, peaks_kmh
      FROM measured_trips FINAL WHERE vehicle_id IN {vehicleIds:Array(UUID)}
        AND started_at BETWEEN fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC') AND fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
        AND (vehicle_id, toUnixTimestamp64Milli(started_at)) IN (SELECT vehicle, start
          FROM (SELECT {vehicles:Array(UUID)} AS vehicle, {starts:Array(Int64)} AS start) ARRAY JOIN vehicle, start)`,
    parameters: {
      vehicleIds: [...new Set(trips.map(({ vehicleId }) => vehicleId))],
      vehicles: trips.map(({ vehicleId }) => vehicleId),
      starts,
      fromMs: Math.min(...starts),
      toMs: Math.max(...starts),
    },
  })) as KeptRow[];
  return new Map(
    rows.map(([vehicleId, startedAtMs, endedAtMs, atMs, quarters, metres, moving, stationary, peaks]) => [
      keyOf(vehicleId, startedAtMs, endedAtMs),
      {
        atMs,
        quarters: quarters.map((interval, nth) => ({
          interval,
          distanceM: metres[nth] ?? 0,
          movingMs: moving[nth] ?? 0,
          stationaryMs: stationary[nth] ?? 0,
          peakKmh: peaks[nth] === NO_PEAK ? null : (peaks[nth] ?? null),
        })),
      },
    ]),
  );
}

type KeptRow = [
  vehicleId: VehicleId,
  startedAtMs: number,
  endedAtMs: number,
  measuredAtMs: number,
  quarters: number[],
  metres: number[],
  movingMs: number[],
  stationaryMs: number[],
  peaksKmh: number[],
];

/** Of a quarter whose positions say no speed. */
const NO_PEAK = -1;

/** Times of the latest late positions of the trips' days, by vehicle and day. Omits those well before `sinceMs`. */
async function lateDays(engine: Engine, trips: readonly CrossingTrip[], sinceMs: number, about: About) {
  const days = trips.flatMap(({ startedAtMs, untilMs }) => daysOf(startedAtMs, untilMs) ?? []);
  const rows = (await engine.select({
    ...about,
    sql: `SELECT vehicle_id, day, toUnixTimestamp64Milli(max(marked_at)) FROM late_days
      WHERE vehicle_id IN {vehicleIds:Array(UUID)} AND day BETWEEN {firstDay:Int32} AND {lastDay:Int32}
        AND marked_at >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')
      GROUP BY vehicle_id, day`,
    parameters: {
      vehicleIds: [...new Set(trips.map(({ vehicleId }) => vehicleId))],
      firstDay: Math.min(...days),
      lastDay: Math.max(...days),
      sinceMs: boundMs(sinceMs - INSERT_MS),
    },
  })) as [VehicleId, number, number][];
  return new Map(rows.map(([vehicleId, day, markedAtMs]) => [`${vehicleId} ${day}`, markedAtMs]));
}

function keptBlock(
  trips: readonly CrossingTrip[],
  measured: ReadonlyMap<CrossingTrip, MeasuredQuarters>,
  nowMs: number,
): NativeBlock {
  const rows = trips.length;
  const [vehicleIds, starts, ends, measuredAt] = [
    new UuidValues(rows),
    new Int64Values(rows),
    new Int64Values(rows),
    new Int64Values(rows),
  ];
  const arrayEnds = new OffsetValues(rows);
  const parts: Measured[] = [];
  for (const [row, trip] of trips.entries()) {
    vehicleIds.set(row, uuidWords(trip.vehicleId));
    starts.set(row, trip.startedAtMs);
    ends.set(row, trip.untilMs);
    measuredAt.set(row, nowMs);
    parts.push(...(measured.get(trip) ?? []));
    arrayEnds.set(row, parts.length);
  }
  const numbers = (name: string, of: (part: Measured) => number) =>
    arrayColumn(name, 'Float64', arrayEnds, Float64Array.from(parts, of));
  const time = "DateTime64(3, 'UTC')";
  return {
    rows,
    columns: [
      vehicleIds.column('vehicle_id'),
      starts.column('started_at', time),
      ends.column('ended_at', time),
      measuredAt.column('measured_at', time),
      arrayColumn(
        'quarters',
        'UInt32',
        arrayEnds,
        Uint32Array.from(parts, ({ interval }) => interval),
      ),
      numbers('metres', ({ distanceM }) => distanceM),
      numbers('moving_ms', ({ movingMs }) => movingMs),
      numbers('stationary_ms', ({ stationaryMs }) => stationaryMs),
      numbers('peaks_kmh', ({ peakKmh }) => peakKmh ?? NO_PEAK),
    ],
  };
}
