import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { VehicleId } from '@outrider/domain';
import { treeCpuSecondsOf } from '@outrider/testing/process-tree';
import { openChdb } from './engines/chdb.ts';
import type { Engine } from './engines/engine.ts';
import { migrate } from './migrations.ts';
import { fixesBefore } from './reports/fixes-before.ts';
import { LIST_FLEET, MAX_FLEET } from './reports/fleet.ts';
import { openEvents } from './reports/open-events.ts';
import { type FleetCursor, overlappingEvents } from './reports/overlapping-events.ts';
import { type PositionsCursor, positions as positionsOf } from './reports/positions.ts';
import { tallies } from './reports/tallies.ts';
import { track } from './reports/track.ts';
import { tripParts } from './reports/trip-parts.ts';

/** Positions per vehicle and day: 480 positions in 2 hours, 8 times a day. */
const PER_DAY = 3840;
const DAYS = 26;
const PER_VEHICLE = PER_DAY * DAYS;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 0, 1);
/** Lead before a track's begin that is read to detect its jumps. */
const LEAD = { ms: 41 * 3_600_000, fixes: 250 };
/** Number of vehicles that one statement generates, which bounds its memory. */
const VEHICLES_A_BATCH = 5;
/** One in this many vehicles drives at night, through midnight. */
const NIGHT_DRIVERS = 20;

export interface ReportsBenchOptions {
  /** Total number of positions. Default 100,000,000. */
  positions?: number;
  /** Runs of each query. Default 20; queries of the whole fleet run a quarter as often. */
  runs?: number;
  /** Folder to work in, removed afterwards. Default: a temporary folder. */
  folder?: string;
  say?: (progress: string) => void;
}

/** First query for the mileage of a fleet: trips over midnight are measured by their positions. */
export const NOTHING_KEPT = 'mileage with nothing kept of trips over midnight';

export interface QuestionTimes {
  question: string;
  p50Ms: number;
  p95Ms: number;
  /** Processor time of the whole process at the median: meaningful on a busy machine, too. */
  cpuMs: number;
  /** Rows of both tables that ClickHouse read for it, at the median. */
  rowsRead: number;
}

export interface TableTimes {
  positions: number;
  vehicles: number;
  questions: QuestionTimes[];
}

export interface ReportsBenchResult {
  bytesPerPosition: number;
  generateSeconds: number;
  /** The same queries on a tenth of the table, and on all of it. */
  tables: TableTimes[];
  /** Effect of one slow report on other work, in milliseconds. */
  beside: { dayAloneMs: number; dayBesideMs: number; insertAloneMs: number; insertBesideMs: number };
}

/** Measures the cost of reports on a table with a month of a fleet. */
export async function reportsBench(options: ReportsBenchOptions = {}): Promise<ReportsBenchResult> {
  const { positions = 100_000_000, runs = 20, say = () => {} } = options;
  const vehicles = Math.max(10, Math.round(positions / PER_VEHICLE));
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'outrider-reports-bench-')));
  const engine = await openChdb(join(folder, 'chdb'));
  try {
    await migrate(engine);
    const started = performance.now();
    const tenth = Math.max(1, Math.floor(vehicles / 10));
    await generate(engine, 0, tenth, say);
    await settle(engine);
    await check(engine, tenth);
    const tables = [await measure(engine, tenth, runs, say)];
    await generate(engine, tenth, vehicles, say);
    await settle(engine);
    const generateSeconds = Math.round((performance.now() - started) / 1000);
    await check(engine, vehicles);
    tables.push(await measure(engine, vehicles, runs, say));
    const [size] = await engine.select({
      sql: `SELECT sum(bytes_on_disk) / sum(rows) FROM system.parts WHERE active AND table = 'positions'`,
      parameters: {},
    });
    const beside = await besideSlowOnes(engine, vehicles, runs);
    return { bytesPerPosition: Math.round(Number(size?.[0]) * 100) / 100, generateSeconds, tables, beside };
  } finally {
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const vehicleId = (number: number) =>
  `0190a1b2-c3d4-7000-8${(number % 4096).toString(16).padStart(3, '0')}-${number.toString(16).padStart(12, '0')}` as VehicleId;

/**
 * Generates tracks and events of some vehicles inside ClickHouse. Each drives an hour and stands an hour, eight times a
 * day, with a fix every 10 s and every 30 s. Positions vary like those of receivers (a metre or so), speed varies as in
 * traffic, and the odometer counts the distance driven. The supply voltage ripples, the tank empties, and there are two
 * attributes.
 */
async function generate(engine: Engine, from: number, to: number, say: (progress: string) => void): Promise<void> {
  for (let first = from; first < to; first += VEHICLES_A_BATCH) {
    const count = Math.min(VEHICLES_A_BATCH, to - first);
    const ids = Array.from({ length: count }, (_, nth) => `'${vehicleId(first + nth)}'`).join(', ');
    const vehicle = `(${first} + intDiv(number, ${PER_VEHICLE}))`;
    await engine.execute(`
      INSERT INTO positions (vehicle_id, fix_time, rejection, latitude_e7, longitude_e7, valid, speed_kmh_x10, course_deg,
        altitude_m, satellites, ignition, odometer_m, supply_v_x1000, fuel_l_x10, alarms, attributes, terminal_id, protocol,
        received_at, precedence)
      WITH
        number % ${PER_VEHICLE} AS n, intDiv(n, ${PER_DAY}) AS day, intDiv(n % ${PER_DAY}, 480) AS block, n % 480 AS k,
        k < 360 AS drives, rand(1) AS r1, rand(2) AS r2, rand(3) AS r3, rand(4) AS r4, rand(5) AS r5,
        ${START_MS} + day * ${DAY_MS} + (if(${vehicle} % ${NIGHT_DRIVERS} = 0, 13.5, 4) + 2 * block) * 3600000
          + if(drives, k * 10000, 3600000 + (k - 360) * 30000) + ${vehicle} * 7919 % 60000 AS at_ms,
        least(k, 360) AS driven,
        (day * 8 + block) * 360 + driven AS progress,
        progress / 360. * 2.1 + ${vehicle} AS phase
      SELECT [${ids}][intDiv(number, ${PER_VEHICLE}) + 1], fromUnixTimestamp64Milli(toInt64(at_ms), 'UTC'), '',
        toInt32((52 + ${vehicle} % 50 / 100. + 0.12 * sin(phase) + 0.02 * sin(phase * 5.3)) * 1e7 + if(drives, r1 % 200, r1 % 20)),
        toInt32((13 + ${vehicle} % 70 / 100. + 0.18 * cos(phase * 0.9) + 0.03 * cos(phase * 4.1)) * 1e7 + if(drives, r2 % 200, r2 % 20)),
        1, if(drives, 10 * toUInt16(greatest(4, 45 + 30 * sin(progress / 9.) + r3 % 9)), 0),
        if(drives, toUInt16(toInt64(180 + 170 * sin(phase * 7)) + r4 % 4) % 360, 0),
        toInt16(150 + 60 * sin(phase * 3) + r5 % 3), 9 + r4 % 6, drives, toUInt32(100000000 + progress * 125 + r3 % 9),
        if(drives, 13800 + 10 * (r5 % 40), 12600 + 10 * (r5 % 5)), toUInt32(600 - progress % 4000 / 10), [],
        concat('{"hdop":0.', toString(7 + r1 % 3), ',"gsm":', toString(2 + r2 % 4), '}'), toString(350000000000000 + ${vehicle}),
        'teltonika', fromUnixTimestamp64Milli(toInt64(at_ms + 700 + r1 % 600), 'UTC'),
        bitNot(toUInt64(intDiv(n, 10) * 1000 + ${vehicle}) * 1024 + n % 10)
      FROM numbers(${count * PER_VEHICLE})
      SETTINGS max_insert_threads = 1, max_threads = 2, optimize_on_insert = 0, max_partitions_per_insert_block = 0`);
    await engine.execute(eventsOf(first, count, ids));
    if ((first - from) % 100 < VEHICLES_A_BATCH) say(`${first + count} of ${to} vehicles`);
  }
}

/** Trips and stops as driven, the ignition, and occasional speedings and visits. */
function eventsOf(first: number, count: number, ids: string): string {
  const blocks = DAYS * 8;
  return `
    INSERT INTO events (vehicle_id, began_at, id, kind, phase, started_at, ended_at, latitude_e7, longitude_e7, speed_kmh_x10,
      fix_time, geofence_id, definition_version, end_reason, peak_kmh, mean_kmh, limit_kmh, limit_source, distance_m,
      start_latitude_e7, start_longitude_e7, moving_ms, idling_ms, precedence)
    WITH (${first} + intDiv(number, ${blocks})) AS vehicle, number % ${blocks} AS b,
      ${START_MS} + intDiv(b, 8) * ${DAY_MS} + (if(vehicle % ${NIGHT_DRIVERS} = 0, 13.5, 4) + 2 * (b % 8)) * 3600000
        + vehicle * 7919 % 60000 AS at_ms,
      arrayJoin(arrayFilter(e -> e.1 NOT IN ('speeding', 'geofence-visit') OR (b + vehicle) % 4 = 0,
        [('trip', 0, 3600000), ('parking', 3600000, 7200000), ('ignition', 0, 3600000), ('speeding', 900000, 960000),
          ('geofence-visit', 1800000, 2400000)])) AS e, e.1 AS what, at_ms + e.2 AS start_ms, at_ms + e.3 AS end_ms
    SELECT [${ids}][intDiv(number, ${blocks}) + 1], fromUnixTimestamp64Milli(toInt64(start_ms), 'UTC'), generateUUIDv4(what), what,
      'end', fromUnixTimestamp64Milli(toInt64(start_ms), 'UTC'), fromUnixTimestamp64Milli(toInt64(end_ms), 'UTC'), 520000000, 130000000,
      400, fromUnixTimestamp64Milli(toInt64(end_ms), 'UTC'), if(what = 'geofence-visit', toUUID('0190a1b2-c3d4-7000-8000-0000000000f1'), NULL), 1,
      'stopped', 84, 45, if(what = 'speeding', 80, NULL), if(what = 'speeding', 'vehicle', ''), multiIf(what = 'trip', 45000, what = 'speeding', 1300, NULL),
      520000000, 130000000, if(what = 'trip', 3600000, NULL), 0, 1
    FROM numbers(${count * blocks})`;
}

/**
 * Brings the table into the state after a night of merging: as few parts as its engine makes, and none of the inserted
 * data counts as late any more.
 */
async function settle(engine: Engine): Promise<void> {
  await engine.execute('TRUNCATE TABLE late_days');
  await engine.execute('OPTIMIZE TABLE positions');
  await engine.execute('OPTIMIZE TABLE events FINAL');
}

/** Checks that all rows exist: otherwise the measurements are meaningless. */
async function check(engine: Engine, vehicles: number): Promise<void> {
  const sql = `SELECT (SELECT count() FROM positions), (SELECT count() FROM events FINAL WHERE kind = 'trip')`;
  const [counts] = await engine.select({ sql, parameters: {} });
  const wanted = [vehicles * PER_VEHICLE, vehicles * DAYS * 8];
  if (String(counts) !== String(wanted)) throw new Error(`The table has ${counts} positions and trips, not ${wanted}`);
}

type Ask = (nth: number) => Promise<unknown>;

async function measure(
  engine: Engine,
  vehicles: number,
  runs: number,
  say: (text: string) => void,
): Promise<TableTimes> {
  const fleet = Array.from({ length: Math.min(MAX_FLEET, vehicles) }, (_, nth) => vehicleId(nth));
  const one = (nth: number) => [vehicleId((nth * 37) % vehicles)];
  const day = (nth: number) => {
    const fromMs = START_MS + (2 + (nth % (DAYS - 4))) * DAY_MS;
    return { fromMs, toMs: fromMs + DAY_MS };
  };
  const month = { fromMs: START_MS, toMs: START_MS + 31 * DAY_MS };
  const nowMs = month.toMs;
  const daysOf = ({ fromMs, toMs }: { fromMs: number; toMs: number }) =>
    Array.from({ length: Math.round((toMs - fromMs) / DAY_MS) + 1 }, (_, nth) => fromMs + nth * DAY_MS);
  const hoursOf = ({ fromMs, toMs }: { fromMs: number; toMs: number }) =>
    Array.from({ length: Math.round((toMs - fromMs) / 3_600_000) + 1 }, (_, nth) => fromMs + nth * 3_600_000);
  const list =
    (kinds: Parameters<typeof overlappingEvents>[1]['kinds']) =>
    async (vehicleIds: VehicleId[], interval: Interval) => {
      for (let at = 0; at < vehicleIds.length; at += LIST_FLEET) {
        const some = vehicleIds.slice(at, at + LIST_FLEET);
        await everyPage<FleetCursor>((after) =>
          overlappingEvents(engine, { vehicleIds: some, kinds, ...interval, limit: 5000, after }),
        );
      }
    };
  const wholeTrack = (vehicleIds: VehicleId[], interval: Interval) =>
    everyPage<PositionsCursor>((after) => positionsOf(engine, { vehicleIds, ...interval, limit: 10_000, after }));
  const lead = (nth: number) => {
    const beforeMs = day(nth).fromMs;
    return fixesBefore(engine, { vehicleIds: one(nth), fromMs: beforeMs - LEAD.ms, beforeMs, count: LEAD.fixes });
  };
  const totals =
    (kinds: Parameters<typeof tallies>[1]['kinds'], cutsOf: (interval: Interval) => number[], hours = false) =>
    async (vehicleIds: VehicleId[], interval: Interval) => {
      const cuts = cutsOf(interval);
      const places = hours ? { places: cuts.slice(1).map((_, nth) => nth % 24) } : {};
      const asked = { vehicleIds, kinds, ...interval, cuts, ...places, geofenceIds: null, nowMs };
      const later: Promise<void>[] = [];
      const { crossing } = await tallies(engine, asked);
      if (!hours) await tripParts(engine, { trips: crossing, cuts }, (work) => later.push(work));
      await Promise.all(later);
    };
  const ALL = [
    'trip',
    'parking',
    'idling',
    'ignition',
    'offline',
    'speeding',
    'geofence-visit',
    'alarm',
    'power-cut',
  ] as const;
  const kinds: [string, (vehicleIds: VehicleId[], interval: Interval) => Promise<unknown>][] = [
    ['trips', list(['trip'])],
    ['stops', list(['parking', 'idling'])],
    ['mileage', totals(['trip'], daysOf)],
    [
      NOTHING_KEPT,
      async (vehicleIds, interval) => {
        await engine.execute('TRUNCATE TABLE measured_trips');
        await totals(['trip'], daysOf)(vehicleIds, interval);
      },
    ],
    ['speeding', list(['speeding'])],
    ['geozone-visits', list(['geofence-visit'])],
    ['events', list(null)],
    ['summary', totals(ALL, daysOf)],
    ['utilisation', totals(['trip', 'ignition', 'idling'], hoursOf, true)],
  ];
  const questions: [string, Ask, number][] = [
    [
      'track, first page, a day',
      (nth) =>
        Promise.all([track(engine, { vehicleId: one(nth)[0] as VehicleId, ...day(nth), limit: 1000 }), lead(nth)]),
      runs,
    ],
    ['track, a day', (nth) => wholeTrack(one(nth), day(nth)), runs],
    ['track, a month', (nth) => wholeTrack(one(nth), month), Math.ceil(runs / 4)],
    ...kinds.flatMap(([name, ask]): [string, Ask, number][] => [
      [`${name}, a day`, (nth) => ask(one(nth), day(nth)), runs],
      [`${name}, a month`, (nth) => ask(one(nth), month), runs],
      [`${name}, ${fleet.length} vehicles' month`, () => ask(fleet, month), Math.ceil(runs / 4)],
    ]),
    [
      `positions-at, ${fleet.length} vehicles`,
      (nth) => {
        const beforeMs = day(nth).fromMs + 12 * HOUR_MS;
        return fixesBefore(engine, { vehicleIds: fleet, fromMs: beforeMs - 6 * HOUR_MS, beforeMs, count: 1 });
      },
      runs,
    ],
    [`current-state, ${fleet.length} vehicles`, () => openEvents(engine, { vehicleIds: fleet }), runs],
    [
      'full scan: distance of all positions',
      () =>
        engine.select({
          sql: 'SELECT vehicle_id, max(odometer_m) - min(odometer_m), max(speed_kmh_x10) FROM positions GROUP BY vehicle_id',
          parameters: {},
          limits: { maxSeconds: 300, maxMemoryBytes: 1024 ** 3 },
        }),
      3,
    ],
  ];
  const times: QuestionTimes[] = [];
  for (const [question, ask, count] of questions) {
    say(`${vehicles} vehicles: ${question}`);
    await ask(count);
    const taken: number[] = [];
    const [read, cpu]: [number[], number[]] = [[], []];
    for (let nth = 0; nth < count; nth++) {
      const before = await rowsReadSoFar(engine);
      const [cpuBefore, started] = [await treeCpuSecondsOf(process.pid), performance.now()];
      await ask(nth);
      taken.push(performance.now() - started);
      cpu.push((((await treeCpuSecondsOf(process.pid)) ?? 0) - (cpuBefore ?? 0)) * 1000);
      read.push((await rowsReadSoFar(engine)) - before);
    }
    times.push({
      question,
      p50Ms: at(taken, 0.5),
      p95Ms: at(taken, 0.95),
      cpuMs: at(cpu, 0.5),
      rowsRead: at(read, 0.5),
    });
  }
  return { positions: vehicles * PER_VEHICLE, vehicles, questions: times };
}

interface Interval {
  fromMs: number;
  toMs: number;
}

/** Measures the effect of continuous slow reports on the query of a vehicle's day, and on an insert. */
async function besideSlowOnes(engine: Engine, vehicles: number, runs: number) {
  const dayMs = () =>
    median(runs, (nth) =>
      track(engine, {
        vehicleId: vehicleId((nth * 31) % vehicles),
        fromMs: START_MS + 5 * DAY_MS,
        toMs: START_MS + 6 * DAY_MS,
        limit: 1000,
      }),
    );
  let inserted = 0;
  const insertMs = () =>
    median(runs, () =>
      engine.execute(
        `INSERT INTO events (vehicle_id, began_at, id, kind, phase, started_at, fix_time)
          SELECT generateUUIDv4(), now64(3), generateUUIDv4(), 'alarm', 'begin', now64(3), now64(3) FROM numbers(${1000 + inserted++})`,
      ),
    );
  const [dayAloneMs, insertAloneMs] = [await dayMs(), await insertMs()];
  const over = new AbortController();
  const slow = engine
    .select({
      sql: 'SELECT sum(cityHash64(attributes, number)) FROM positions CROSS JOIN numbers(1000)',
      parameters: {},
      limits: { maxSeconds: 120, maxMemoryBytes: 1024 ** 3 },
      queue: 'report',
      signal: over.signal,
    })
    .catch(() => {});
  const [dayBesideMs, insertBesideMs] = [await dayMs(), await insertMs()];
  over.abort(new Error('measured'));
  await slow;
  return { dayAloneMs, dayBesideMs, insertAloneMs, insertBesideMs };
}

async function median(runs: number, ask: Ask): Promise<number> {
  const taken: number[] = [];
  for (let nth = 0; nth < runs; nth++) {
    const started = performance.now();
    await ask(nth);
    taken.push(performance.now() - started);
  }
  return at(taken, 0.5);
}

async function everyPage<C>(page: (after: C | null) => Promise<{ next: C | null }>): Promise<void> {
  let after: C | null = null;
  do {
    after = (await page(after)).next;
  } while (after !== null);
}

async function rowsReadSoFar(engine: Engine): Promise<number> {
  const [row] = await engine.select({
    sql: `SELECT sum(value) FROM system.events WHERE event = 'SelectedRows'`,
    parameters: {},
  });
  return Number(row?.[0] ?? 0);
}

/** The nearest rank; milliseconds to a tenth. */
function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0) * 10) / 10;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { positions: { type: 'string' }, runs: { type: 'string' }, folder: { type: 'string' } },
  });
  const result = await reportsBench({
    say: (progress) => console.error(progress),
    ...(values.positions && { positions: Number(values.positions) }),
    ...(values.runs && { runs: Number(values.runs) }),
    ...(values.folder && { folder: values.folder }),
  });
  console.log(JSON.stringify(result, null, 2));
}
