import { blankPosition, type Position, type TerminalId, type VehicleId } from '@outrider/domain';
import { hasAllInputs, runs } from '@outrider/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Engine } from './engines/engine.ts';
import { erase, eraseBefore } from './erasure.ts';
import { migrate } from './migrations.ts';
import { positionBlock } from './positions/block.ts';
import type { CrossingTrip } from './reports/tallies.ts';
import { partsByPositions, type TripPart, tripParts } from './reports/trip-parts.ts';
import { seededRandom } from './sample.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A clock is set forward in one of these nights, in others back; some are no whole hours away from UTC. */
const ZONES = ['UTC', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Auckland'];
const START_MS = Date.UTC(2026, 2, 6);
const DAYS = 4;
/** A round takes seconds: where few inputs are asked for, each time zone has one. */
const ROUNDS = hasAllInputs() ? runs(20) : ZONES.length;

/** What is kept of trips is what their positions show, on every ClickHouse. */
export function tripPartsConformance(name: string, open: () => Promise<Engine>): void {
  describe(`parts of trips on ${name}`, () => {
    let engine: Engine;
    /** Statements that read positions. */
    let readings = 0;
    let offset = 0;
    beforeAll(async () => {
      const opened = await open();
      await migrate(opened);
      const select: Engine['select'] = (statement) => {
        if (/FROM positions/.test(statement.sql)) readings += 1;
        return opened.select(statement);
      };
      engine = { ...opened, select };
    });
    afterAll(() => engine?.close());

    async function insert(vehicleId: VehicleId, positions: readonly Position[]): Promise<void> {
      const [terminalId, receivedAtMs] = ['1' as TerminalId, Date.now()];
      const value = { vehicleId, terminalId, protocol: 'osmand' as const, receivedAtMs, positions: [...positions] };
      await engine.insert('positions', positionBlock([{ offset: offset++, value }]));
    }

    /** As if all that was measured and marked had been an hour ago. */
    async function anHourPasses(): Promise<void> {
      for (const [table, column] of [
        ['measured_trips', 'measured_at'],
        ['late_days', 'marked_at'],
      ]) {
        await engine.execute(`CREATE TABLE before_${table} AS ${table}`);
        await engine.execute(
          `INSERT INTO before_${table} SELECT * REPLACE (${column} - toIntervalHour(1) AS ${column}) FROM ${table}`,
        );
        await engine.execute(`TRUNCATE TABLE ${table}`);
        await engine.execute(`INSERT INTO ${table} SELECT * FROM before_${table}`);
        await engine.execute(`DROP TABLE before_${table} SYNC`);
      }
    }

    /** The parts, which must be those that the positions show; and how often positions were read for them. */
    async function ask(trips: readonly CrossingTrip[], cuts: readonly number[]) {
      const before = readings;
      const later: Promise<void>[] = [];
      const parts = await tripParts(engine, { trips, cuts }, (work) => later.push(work));
      const read = readings - before;
      await Promise.all(later);
      const inOrder = trips.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
      expectSame(parts, await partsByPositions(engine, { trips: inOrder, cuts }));
      return { parts, read, kept: later.length };
    }

    const count = async (table: string, vehicleId: VehicleId) => {
      const sql = `SELECT count() FROM ${table} WHERE vehicle_id = {vehicleId:UUID}`;
      return Number((await engine.select({ sql, parameters: { vehicleId } }))[0]?.[0]);
    };

    test('random trips in any time zone, before and after late data and erasures', { timeout: 600_000 }, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const random = seededRandom(977 + round);
        const vehicleIds = [crypto.randomUUID(), crypto.randomUUID()] as VehicleId[];
        const drives = vehicleIds.map((vehicleId) => randomDrive(vehicleId, random));
        const trips = drives.flatMap((drive) => drive.trips);
        for (const { vehicleId, positions } of drives) await insert(vehicleId, positions);
        const [here = 'UTC', there = 'UTC'] = [ZONES[round % ZONES.length], ZONES[(round + 2) % ZONES.length]];
        const cuts = midnightsOf(here, random);
        // Just inserted: nothing is kept yet.
        expect(await ask(trips, cuts)).toMatchObject({ kept: 0 });
        await anHourPasses();
        const onceMore = await ask(trips, cuts);
        expect(onceMore.read).toBeGreaterThan(0);
        const settled = trips.filter((trip) => isKept(trip, cuts));
        expect(onceMore.kept).toBe(settled.length > 0 ? 1 : 0);
        const kept = await ask(settled, cuts);
        expect([kept.read, kept.kept]).toEqual([0, 0]);
        await ask(trips, midnightsOf(there, random));
        // Late data of one of them: what was kept of the other still holds.
        const [late = vehicleIds[0] as VehicleId, other] = random() < 0.5 ? vehicleIds : vehicleIds.toReversed();
        const { positions } = randomDrive(late, random);
        await insert(late, positions);
        const ofOther = settled.filter(({ vehicleId }) => vehicleId === other);
        const ofLate = settled.filter(({ vehicleId }) => vehicleId === late);
        expect((await ask(ofOther, cuts)).read).toBe(0);
        expect((await ask(ofLate, cuts)).read).toBe(ofLate.length > 0 ? 1 : 0);
        await ask(trips, cuts);
        await anHourPasses();
        await ask(trips, cuts);
        await engine.execute('OPTIMIZE TABLE measured_trips FINAL');
        await engine.execute('OPTIMIZE TABLE late_days FINAL');
        expect((await ask(settled, cuts)).read).toBe(0);
      }
    });

    test('what is erased of a vehicle is erased of what was kept', { timeout: 120_000 }, async () => {
      const [whole, cut] = [crypto.randomUUID(), crypto.randomUUID()] as VehicleId[];
      const drives = [whole, cut].map((vehicleId) => randomDrive(vehicleId as VehicleId, seededRandom(5)));
      const trips = drives.flatMap((drive) => drive.trips);
      for (const { vehicleId, positions } of drives) await insert(vehicleId, positions);
      await anHourPasses();
      const cuts = HOURS;
      expect(await ask(trips, cuts)).toMatchObject({ kept: 1 });
      const beforeMs = START_MS + 2 * DAY_MS;
      const settled = trips.filter((trip) => isKept(trip, cuts));
      const left = settled.filter(({ vehicleId, startedAtMs }) => vehicleId === cut && startedAtMs >= beforeMs);
      expect(left.length).toBeGreaterThan(0);
      expect(await count('measured_trips', cut as VehicleId)).toBeGreaterThan(left.length);
      const soon = { timeout: 100_000, interval: 50 };
      const limits = [{ vehicleId: cut as VehicleId, beforeMs }];
      await vi.waitFor(async () => expect(await eraseBefore(engine, limits)).toEqual({ done: true, rows: 0 }), soon);
      expect(await count('measured_trips', cut as VehicleId)).toBe(left.length);
      expect(await count('late_days', cut as VehicleId)).toBe(DAYS - 2);
      expect((await ask(left, cuts)).read).toBe(0);
      const all = { vehicleIds: [whole as VehicleId], geofenceIds: [] };
      await vi.waitFor(async () => expect(await erase(engine, all)).toEqual({ done: true, rows: 0 }), soon);
      expect(await count('measured_trips', whole as VehicleId)).toBe(0);
      expect(await count('late_days', whole as VehicleId)).toBe(0);
      expect((await ask(left, cuts)).read).toBe(0);
    });

    test('a trip of the last day is measured each time: its positions still come', async () => {
      const vehicleId = crypto.randomUUID() as VehicleId;
      const endMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 30 * MINUTE_MS;
      const minute = (nth: number, latitude: number) => blankPosition(endMs - (90 - nth) * MINUTE_MS, latitude, 10);
      const trip = { ...TOTALS, vehicleId, startedAtMs: endMs - 90 * MINUTE_MS, untilMs: endMs, lasts: false };
      const cut = Math.ceil((endMs - 60 * MINUTE_MS) / (15 * MINUTE_MS)) * 15 * MINUTE_MS;
      const cuts = [cut - DAY_MS, cut, cut + DAY_MS];
      await insert(vehicleId, [minute(0, 50), minute(45, 50.1), minute(90, 50.2)]);
      await anHourPasses();
      const first = await ask([trip], cuts);
      expect([first.read, first.kept]).toEqual([1, 0]);
      await insert(vehicleId, [minute(10, 50.09)]);
      const second = await ask([trip], cuts);
      expect(second.parts[0]?.distanceM).not.toBeCloseTo(first.parts[0]?.distanceM ?? 0, 1);
    });

    test('what was kept by a clock that was ahead does not count', async () => {
      const vehicleId = crypto.randomUUID() as VehicleId;
      const { positions, trips } = randomDrive(vehicleId, seededRandom(11));
      await insert(vehicleId, positions);
      await anHourPasses();
      const cuts = HOURS;
      const settled = trips.filter((trip) => isKept(trip, cuts));
      expect(settled.length).toBeGreaterThan(0);
      for (const { startedAtMs, untilMs } of settled)
        await engine.execute(`INSERT INTO measured_trips SELECT '${vehicleId}', fromUnixTimestamp64Milli(${startedAtMs}, 'UTC'),
          fromUnixTimestamp64Milli(${untilMs}, 'UTC'), now64(3) + toIntervalDay(2), [${Math.floor(startedAtMs / 900_000)}], [1e6],
          [1e6], [1e6], [200]`);
      expect((await ask(settled, cuts)).read).toBe(1);
    });
  });
}

const HOURS = Array.from({ length: DAYS * 24 + 1 }, (_, hour) => START_MS + hour * 60 * MINUTE_MS);
const TOTALS = { distanceM: 30_000, movingMs: 40 * MINUTE_MS, idlingMs: 10 * MINUTE_MS, peakKmh: 70 };

/** Has it ended, is it in three days (UTC) at most, and is each cut that divides it at a quarter of an hour? */
function isKept({ startedAtMs, untilMs, lasts }: CrossingTrip, cuts: readonly number[]): boolean {
  const dividing = cuts.filter((cut) => cut > startedAtMs && cut < untilMs);
  const isShort = Math.floor(untilMs / DAY_MS) - Math.floor(startedAtMs / DAY_MS) < 3;
  return !lasts && isShort && dividing.every((cut) => cut % (15 * MINUTE_MS) === 0);
}

/**
 * Some days of a vehicle: positions every minute or so, with gaps, jumps, fixes that are not valid, and an odometer now
 * and then; and its trips, one after the other, most of some hours, some of days.
 */
function randomDrive(vehicleId: VehicleId, random: () => number) {
  const positions: Position[] = [];
  let [latitude, odometerM] = [50 + random(), 1000];
  const hasOdometer = random() < 0.5;
  const step = () =>
    random() < 0.01 ? Math.floor(random() * 200) * MINUTE_MS : 20_000 + Math.floor(random() * 160_000);
  for (let atMs = START_MS; atMs < START_MS + DAYS * DAY_MS; atMs += step()) {
    const metres = random() < 0.3 ? 0 : Math.floor(random() * 1500);
    latitude += metres / 111_000;
    odometerM += metres;
    const jumps = random() < 0.01;
    const position = blankPosition(atMs, jumps ? -20 : latitude % 80, 10);
    position.valid = random() > 0.03;
    if (random() < 0.8) position.speedKmh = Math.floor(random() * 120);
    if (hasOdometer && random() < 0.9) position.odometerM = odometerM;
    positions.push(position);
  }
  const trips: CrossingTrip[] = [];
  for (
    let atMs = START_MS + Math.floor(random() * 9 * 60) * MINUTE_MS;
    atMs < START_MS + DAYS * DAY_MS - DAY_MS / 2;
  ) {
    const untilMs = atMs + Math.floor((random() * DAY_MS * (random() < 0.1 ? 3 : 1 / 3)) / 1000) * 1000;
    trips.push({ ...TOTALS, vehicleId, startedAtMs: atMs, untilMs, lasts: random() < 0.1 });
    atMs = untilMs + Math.floor(random() * 200) * MINUTE_MS;
  }
  return { vehicleId, positions, trips };
}

/** The midnights of a zone, and a begin and an end that may be any time. */
function midnightsOf(timeZone: string, random: () => number): number[] {
  const fromMs = START_MS + Math.floor(random() * 20 * 60) * MINUTE_MS;
  const toMs = START_MS + DAYS * DAY_MS - Math.floor(random() * 20 * 60) * MINUTE_MS;
  const cuts = [fromMs];
  let day = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone).toPlainDate();
  for (;;) {
    day = day.add({ days: 1 });
    const startMs = day.toZonedDateTime(timeZone).epochMilliseconds;
    if (startMs >= toMs) return [...cuts, toMs];
    cuts.push(startMs);
  }
}

/** Equal but for the order in which fractions were added up. */
function expectSame(parts: readonly TripPart[], wanted: readonly TripPart[]): void {
  const keyOf = ({ vehicleId, interval, peakKmh }: TripPart) => `${vehicleId} ${interval} ${peakKmh}`;
  const ordered = (list: readonly TripPart[]) =>
    list.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : a.distanceM - b.distanceM));
  const [got, plain] = [ordered(parts), ordered(wanted)];
  expect(got.map(keyOf)).toEqual(plain.map(keyOf));
  for (const [nth, part] of plain.entries())
    for (const field of ['distanceM', 'movingMs', 'idlingMs'] as const)
      expect(Math.abs((got[nth]?.[field] ?? Number.NaN) - part[field])).toBeLessThan(1e-6 * (1 + part[field]));
}
