import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  blankPosition,
  type FleetEvent,
  type GeofenceId,
  type GeofenceVisit,
  type Position,
  type SensorId,
  type TerminalId,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import { sampleSensor, sampleStatus } from '@outrider/domain/samples';
import { openWarehouse, type Warehouse } from '@outrider/warehouse';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_MAINTENANCE } from './empty-archive.fixture.ts';
import {
  archive,
  geofenceOf,
  type Leg,
  metresBetween,
  OPERATOR,
  simulate,
  type Truth,
  vehicleIdOf,
  vehicleOf,
} from './fleet.fixture.ts';
import { currentStateReport } from './kinds/current-state.ts';
import { eventsReport, speedingReport, stopsReport, tripsReport } from './kinds/event-lists.ts';
import { fleetDigestReport } from './kinds/fleet-digest.ts';
import { matrixReport } from './kinds/geofence-matrix.ts';
import { idlingReport } from './kinds/idling.ts';
import { sensorSeriesReport, sensorsReport } from './kinds/sensors.ts';
import { shapeVisitsReport } from './kinds/shape-visits.ts';
import { violationsReport } from './kinds/violations.ts';
import { visitsReport } from './kinds/visits.ts';
import { workTimeReport } from './kinds/work-time.ts';
import { allRows, fullPage, type Question, type ReportKind, type ReportSources } from './report.ts';
import { mileageReport, summaryReport, utilisationReport } from './totals.ts';
import { trackReport } from './tracks.ts';

const ZONE = 'Europe/Berlin';
/** Noon of the Friday before the clocks of Berlin go forward: two of the days that follow have midnight in a drive. */
const START_MS = Temporal.ZonedDateTime.from(`2026-03-27T12:00[${ZONE}]`).epochMilliseconds;
const HOUR = 3600;
const DAY_MS = 86_400_000;

const minutes = (count: number) => count * 60;
const roundTrip = (seconds: number): Leg[] => [
  { does: 'drive', seconds, kmh: [25, 110] },
  { does: 'park', seconds: minutes(45) },
  { does: 'drive', seconds: minutes(35), kmh: [15, 70] },
  { does: 'idle', seconds: minutes(12) },
];

/** Four days: an ordinary van, one that drives through every night, one that is silent for hours. */
const LIVES: Leg[][] = [
  Array.from({ length: 12 }, (_, nth): Leg[] => [
    { does: 'park', seconds: minutes(10) },
    ...roundTrip(minutes(20 + nth)),
    { does: 'park', seconds: minutes(360) },
  ]).flat(),
  Array.from({ length: 4 }, (): Leg[] => [
    { does: 'park', seconds: 8 * HOUR },
    { does: 'drive', seconds: 9 * HOUR, kmh: [40, 95] },
    { does: 'idle', seconds: HOUR },
    { does: 'park', seconds: 6 * HOUR },
  ]).flat(),
  Array.from({ length: 5 }, (): Leg[] => [
    { does: 'park', seconds: HOUR },
    { does: 'drive', seconds: minutes(50), kmh: [20, 60] },
    { does: 'silence', seconds: 3 * HOUR },
    { does: 'drive', seconds: minutes(30), kmh: [20, 60] },
    { does: 'park', seconds: 14 * HOUR },
  ]).flat(),
];

const SENSORS = [
  sampleSensor({ id: 'a0' as SensorId, name: 'Ignition', kind: 'digital', source: 'ignition' }),
  sampleSensor({ id: 'a1' as SensorId, name: 'Speed', kind: 'custom', source: 'speedKmh', smoothing: 3 }),
];

let folder: string;
let warehouse: Warehouse;
const truths = LIVES.map((legs, nth) => simulate(vehicleIdOf(nth + 1), START_MS, legs, 7 + nth));
const endMs = Math.max(...truths.map(({ positions }) => positions.at(-1)?.fixTimeMs ?? 0)) + 1;
/** Around where vehicles came by: some of them twice. */
const zones = truths.flatMap(({ positions }, nth) =>
  [0.1, 0.25, 0.4, 0.6, 0.8].map((share, place) => {
    const { longitude, latitude } = positions[Math.floor(share * positions.length)] ?? { longitude: 0, latitude: 0 };
    return geofenceOf(10 * nth + place, { shape: { type: 'circle', center: [longitude, latitude], radiusM: 2500 } });
  }),
);
let fleetEvents: FleetEvent[];
let question: Question;
let sources: ReportSources;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-reports-'));
  warehouse = await openWarehouse({ path: folder });
  const vehicles = truths.map(({ vehicleId }) => vehicleOf(vehicleId, { speedLimitKmh: 90, sensors: SENSORS }));
  fleetEvents = await archive(warehouse, truths, [OPERATOR, ...vehicles, ...zones]);
  question = {
    vehicles,
    fromMs: START_MS - DAY_MS,
    toMs: endMs + DAY_MS,
    timeZone: ZONE,
    period: 'day',
    eventKinds: null,
    geofenceId: null,
    maxPoints: null,
    workHours: null,
    ecoWeights: null,
    sensors: null,
    driverIds: null,
    nowMs: endMs,
    signal: new AbortController().signal,
  };
  const names = new Map<GeofenceId, string>(zones.map(({ id, name }) => [id, name]));
  sources = {
    archive: warehouse,
    geofenceName: (id) => names.get(id) ?? null,
    seesGone: () => false,
    driversAt: async (moments) => moments.map(() => null),
    maintenance: NO_MAINTENANCE,
    placesOf: async (points) => points.map(() => null),
    visibleGeofences: async () => null,
    readDeleted: async () => {},
    latest: async () => [],
    connections: async () => new Map(),
  };
}, 120_000);
afterAll(async () => {
  await warehouse?.close();
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: rows are looked into by the names of their columns.
type Item = Record<string, any>;

async function report(kind: ReportKind, more: Partial<Question> = {}): Promise<Item[]> {
  const items: Item[] = [];
  for await (const rows of allRows(kind, sources, { ...question, ...more }, 1_000_000))
    for (const row of rows) items.push(Object.fromEntries(kind.columns.map(({ name }, nth) => [name, row[nth]])));
  return items;
}
const of = (items: Item[], { vehicleId }: Truth) => items.filter((item) => item.vehicleId === vehicleId);
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const dateOf = (timeMs: number) =>
  Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(ZONE).toPlainDate().toString();
const overlapMs = (a: { startMs: number; endMs: number | null }, fromMs: number, toMs: number, lastMs = 0) =>
  Math.max(0, Math.min(a.endMs ?? lastMs, toMs) - Math.max(a.startMs, fromMs));
const midnightsOf = (fromMs: number, toMs: number) => {
  const starts: number[] = [];
  let day = Temporal.PlainDate.from(dateOf(fromMs)).add({ days: 1 });
  for (; day.toZonedDateTime(ZONE).epochMilliseconds < toMs; day = day.add({ days: 1 }))
    starts.push(day.toZonedDateTime(ZONE).epochMilliseconds);
  return [fromMs, ...starts, toMs];
};

/** Metres by the day, step by step: one over midnight is shared by time. */
function metresByDay(truth: Truth): Map<string, number> {
  const days = new Map<string, number>();
  for (const { steps } of truth.trips)
    for (const { fromMs, toMs, metres } of steps) {
      const cuts = midnightsOf(fromMs, toMs);
      for (const [nth, at] of cuts.slice(0, -1).entries()) {
        const share = ((cuts[nth + 1] as number) - at) / (toMs - fromMs);
        days.set(dateOf(at), (days.get(dateOf(at)) ?? 0) + metres * share);
      }
    }
  return days;
}

describe('sensors', () => {
  test('a digital sensor was on as long as its events say, and the archive is read page after page', async () => {
    const items = await report(sensorsReport, { sensors: ['ignition'] });
    const ignitions = fleetEvents.filter(({ kind, phase }) => kind === 'ignition' && phase === 'end');
    for (const truth of truths.slice(0, 2)) {
      const lasted = ignitions.filter(({ vehicleId }) => vehicleId === truth.vehicleId);
      const onSeconds = sum(of(items, truth).map((item) => item.onSeconds));
      expect(onSeconds).toBeGreaterThan(HOUR);
      expect(onSeconds).toBeCloseTo(sum(lasted.map((each) => ((each.endedAtMs ?? 0) - each.startedAtMs) / 1000)), -2);
    }
  });

  test('a series has the lowest and the highest values of its intervals', async () => {
    const items = of(await report(sensorSeriesReport, { sensors: ['Speed'], maxPoints: 100 }), truths[0] as Truth);
    expect(items.length).toBeGreaterThan(10);
    expect(items.length).toBeLessThanOrEqual(100);
    const speeds = truths[0]?.positions.flatMap(({ speedKmh }) => speedKmh ?? []) ?? [];
    expect(Math.max(...items.map(({ max }) => max))).toBeLessThanOrEqual(Math.max(...speeds));
    expect(items.every(({ min, mean, max }) => min <= mean && mean <= max)).toBe(true);
  });
});

describe('lists', () => {
  test('trips are those that the simulator drove', async () => {
    const items = await report(tripsReport);
    for (const truth of truths) {
      const got = of(items, truth);
      expect(got.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual(
        truth.trips.map((trip) => [trip.startMs, trip.endMs]),
      );
      for (const [nth, trip] of truth.trips.entries()) {
        expect(got[nth]?.distanceM).toBeCloseTo(trip.distanceM, -1);
        expect(got[nth]?.movingSeconds).toBeCloseTo(trip.movingMs / 1000, 3);
        expect(got[nth]?.durationSeconds).toBe((trip.endMs - trip.startMs) / 1000);
      }
    }
  });

  test('stops are where it stood, with the ignition as it was', async () => {
    const items = await report(stopsReport);
    for (const truth of truths.slice(0, 2))
      expect(of(items, truth).map(({ kind, startedAt, endedAt }) => [kind, startedAt, endedAt])).toEqual(
        truth.stops.map(({ kind, startMs, endMs: stopEndMs }) => [kind, startMs, stopEndMs]),
      );
  });

  test('speeding has the values that the engine published', async () => {
    const items = await report(speedingReport);
    const ended = fleetEvents.filter((event) => event.kind === 'speeding' && event.phase === 'end');
    expect(items.length).toBeGreaterThan(10);
    expect(
      items.map(({ vehicleId, startedAt, endedAt, peakKmh }) => [vehicleId, startedAt, endedAt, peakKmh]).toSorted(),
    ).toEqual(
      ended
        .map((event) => [event.vehicleId, event.startedAtMs, event.endedAtMs, 'peakKmh' in event && event.peakKmh])
        .toSorted(),
    );
  });

  test('an event that began before the time range and lasts into it is in it; one that only touches it is not', async () => {
    const trip = truths[1]?.trips[1];
    if (!trip) throw new Error('it drove');
    const inside = await report(tripsReport, { fromMs: trip.startMs + 1000, toMs: trip.startMs + 2000 });
    expect(inside.map(({ startedAt }) => startedAt)).toContain(trip.startMs);
    const after = await report(tripsReport, { fromMs: trip.endMs, toMs: trip.endMs + 1000 });
    expect(after.map(({ startedAt }) => startedAt)).not.toContain(trip.startMs);
    const before = await report(tripsReport, { fromMs: trip.startMs - 1000, toMs: trip.startMs });
    expect(before.map(({ startedAt }) => startedAt)).not.toContain(trip.startMs);
  });

  test('events are all that the engine published, each once; and those of some kinds alone', async () => {
    const items = await report(eventsReport);
    expect(items.map(({ id }) => id).toSorted()).toEqual([...new Set(fleetEvents.map(({ id }) => id))].toSorted());
    const begins = new Map(fleetEvents.filter(({ phase }) => phase === 'begin').map((event) => [event.id, event]));
    for (const { id, startLatitude, startLongitude, latitude, endLatitude, endedAt } of items) {
      const began = begins.get(id);
      if (began) expect(startLatitude).toBeCloseTo(began.latitude, 6);
      if (began) expect(startLongitude).toBeCloseTo(began.longitude, 6);
      expect(endLatitude).toBe(endedAt === null ? null : latitude);
    }
    const some = await report(eventsReport, { eventKinds: ['speeding', 'ignition'] });
    expect(new Set(some.map(({ kind }) => kind))).toEqual(new Set(['speeding', 'ignition']));
  });

  test('pages of any size come to the same', async () => {
    for (const kind of [
      tripsReport,
      visitsReport,
      matrixReport,
      mileageReport,
      workTimeReport,
      violationsReport,
      trackReport,
    ]) {
      const whole = await report(kind, { toMs: START_MS + DAY_MS });
      const paged: unknown[][] = [];
      let after: unknown = null;
      do {
        const page = await fullPage(
          kind,
          sources,
          { ...question, toMs: START_MS + DAY_MS },
          after,
          kind === trackReport ? 999 : 7,
        );
        paged.push(...(page.rows as unknown[][]));
        // As it comes back from a client.
        after = page.next === null ? null : JSON.parse(JSON.stringify(page.next));
      } while (after !== null);
      expect(paged, kind.name).toEqual(whole.map((item) => kind.columns.map(({ name }) => item[name])));
    }
  });
});

describe('totals', () => {
  test('mileage by the day is what was driven between two midnights, the day of 23 hours included', async () => {
    const items = await report(mileageReport);
    for (const truth of truths) {
      const days = metresByDay(truth);
      const got = new Map(of(items, truth).map(({ period, distanceM }) => [period, distanceM]));
      expect([...got.keys()]).toEqual([...days.keys()].toSorted());
      for (const [day, metres] of days)
        expect(Math.abs((got.get(day) ?? 0) - metres), day).toBeLessThan(metres * 0.003 + 5);
      expect(sum([...got.values()])).toBeCloseTo(sum(truth.trips.map(({ distanceM }) => distanceM)), -2);
    }
  });

  test('weeks and months are the sums of their days', async () => {
    const [days, weeks, months] = await Promise.all(
      (['day', 'week', 'month'] as const).map((period) => report(mileageReport, { period })),
    );
    for (const truth of truths) {
      const monday = (day: string) => {
        const date = Temporal.PlainDate.from(day);
        return date.subtract({ days: date.dayOfWeek - 1 }).toString();
      };
      for (const [items, keyOf] of [
        [weeks, monday],
        [months, (day: string) => `${day.slice(0, 8)}01`],
      ] as const) {
        const wanted = new Map<string, number>();
        for (const { period, distanceM } of of(days ?? [], truth))
          wanted.set(keyOf(period), (wanted.get(keyOf(period)) ?? 0) + distanceM);
        const got = of(items ?? [], truth);
        expect(got.map(({ period }) => period)).toEqual([...wanted.keys()]);
        for (const { period, distanceM } of got)
          expect(Math.abs(distanceM - (wanted.get(period) ?? 0))).toBeLessThan(1);
      }
    }
  });

  test('a summary has each day’s times to the second, whatever goes on over midnight', async () => {
    const items = await report(summaryReport);
    for (const truth of truths.slice(0, 2)) {
      const cuts = midnightsOf(question.fromMs, question.toMs);
      const lastMs = truth.positions.at(-1)?.fixTimeMs ?? 0;
      const got = of(items, truth);
      expect(got).toHaveLength(cuts.length - 1);
      for (const [nth, row] of got.entries()) {
        const [fromMs, toMs] = [cuts[nth] as number, cuts[nth + 1] as number];
        const parked = truth.stops
          .filter(({ kind }) => kind === 'parking')
          .map((stop) => overlapMs(stop, fromMs, toMs, lastMs));
        expect(row.parkedSeconds, row.period).toBe(sum(parked) / 1000);
        const on = truth.ignitionOn.map((interval) => overlapMs(interval, fromMs, toMs, lastMs));
        expect(row.engineOnSeconds, row.period).toBe(sum(on) / 1000);
        const moving = truth.trips.flatMap(({ steps }) =>
          steps.map((step) => overlapMs({ startMs: step.fromMs, endMs: step.toMs }, fromMs, toMs)),
        );
        expect(Math.abs(row.movingSeconds - sum(moving) / 1000)).toBeLessThan(1);
        expect(row.trips).toBe(truth.trips.filter(({ startMs }) => startMs >= fromMs && startMs < toMs).length);
      }
    }
  });

  test('idling is the time that it stood with the ignition on, by the day and in all', async () => {
    const items = await report(idlingReport);
    const whole = await report(idlingReport, { period: 'whole' });
    for (const truth of truths.slice(0, 2)) {
      const cuts = midnightsOf(question.fromMs, question.toMs);
      const lastMs = truth.positions.at(-1)?.fixTimeMs ?? 0;
      const idling = truth.stops.filter(({ kind }) => kind === 'idling');
      expect(idling.length).toBeGreaterThan(0);
      const secondsOf = (intervals: { startMs: number; endMs: number | null }[], fromMs: number, toMs: number) =>
        sum(intervals.map((interval) => overlapMs(interval, fromMs, toMs, lastMs))) / 1000;
      const got = of(items, truth);
      expect(got).toHaveLength(cuts.length - 1);
      for (const [nth, row] of got.entries()) {
        const [fromMs, toMs] = [cuts[nth] as number, cuts[nth + 1] as number];
        const [idle, on] = [secondsOf(idling, fromMs, toMs), secondsOf(truth.ignitionOn, fromMs, toMs)];
        expect(row, row.period).toMatchObject({
          idlingSeconds: idle,
          tripIdlingSeconds: 0,
          idlings: idling.filter(({ startMs }) => startMs >= fromMs && startMs < toMs).length,
          engineOnSeconds: on,
        });
        if (on === 0) expect(row.share).toBeNull();
        else expect(row.share).toBeCloseTo(idle / on, 3);
      }
      const [total] = of(whole, truth);
      expect(total?.idlingSeconds).toBe(sum(got.map(({ idlingSeconds }) => idlingSeconds)));
      expect(total?.idlings).toBe(idling.length);
    }
  });

  test('utilisation by the hour of the clock, of days with and without a change of the clocks', async () => {
    const items = await report(utilisationReport);
    for (const truth of truths) {
      const wanted = new Array<number>(24).fill(0);
      for (const { startMs, endMs: tripEndMs } of truth.trips)
        for (let at = startMs; at < tripEndMs; at += 1000) {
          const hour = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(ZONE).hour;
          wanted[hour] = (wanted[hour] ?? 0) + 1;
        }
      expect(of(items, truth).map(({ hour, tripSeconds }) => [hour, tripSeconds])).toEqual([...wanted.entries()]);
    }
  });

  test('working time is what was done within the hours of the clock, minute by minute, where the clocks change too', async () => {
    // A night shift lies over the change of the clocks; another ends within the range that nobody works.
    const workHours = 'Mo-Fr 07:00-16:30; Fr-Sa 22:00-06:00';
    const isWork = (day: number, minutes: number) =>
      (day <= 5 && minutes >= 420 && minutes < 990) ||
      ((day === 5 || day === 6) && minutes >= 1320) ||
      ((day === 6 || day === 7) && minutes < 360);
    const MINUTE_MS = 60_000;
    const minutes = new Map<number, string>();
    for (let at = question.fromMs; at < question.toMs; at += MINUTE_MS) {
      const clock = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(ZONE);
      const part = isWork(clock.dayOfWeek, clock.hour * 60 + clock.minute) ? 'inside' : 'outside';
      minutes.set(at, `${clock.toPlainDate()} ${part}`);
    }
    const keyAt = (ms: number) => minutes.get(Math.floor(ms / MINUTE_MS) * MINUTE_MS) ?? '';
    const shared = (into: Map<string, number>, fromMs: number, toMs: number, amount: number) => {
      for (let at = fromMs; at < toMs; ) {
        const next = Math.min(toMs, (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS);
        into.set(keyAt(at), (into.get(keyAt(at)) ?? 0) + (amount * (next - at)) / (toMs - fromMs));
        at = next;
      }
    };
    const items = await report(workTimeReport, { workHours });
    expect(items.some(({ insideDistanceM }) => insideDistanceM > 1000)).toBe(true);
    expect(items.some(({ outsideDistanceM }) => outsideDistanceM > 1000)).toBe(true);
    for (const truth of truths) {
      const [metres, tripMs, onMs, trips] = Array.from({ length: 4 }, () => new Map<string, number>());
      for (const trip of truth.trips) {
        for (const { fromMs, toMs, metres: part } of trip.steps) shared(metres as never, fromMs, toMs, part);
        shared(tripMs as never, trip.startMs, trip.endMs, trip.endMs - trip.startMs);
        trips?.set(keyAt(trip.startMs), (trips.get(keyAt(trip.startMs)) ?? 0) + 1);
      }
      const lastMs = truth.positions.at(-1)?.fixTimeMs ?? 0;
      for (const { startMs, endMs: offMs } of truth.ignitionOn)
        shared(onMs as never, startMs, offMs ?? lastMs, (offMs ?? lastMs) - startMs);
      const got = of(items, truth);
      for (const item of got)
        for (const part of ['inside', 'outside']) {
          const key = `${item.period} ${part}`;
          expect(Math.abs(item[`${part}DistanceM`] - (metres?.get(key) ?? 0)), key).toBeLessThan(30);
          expect(item[`${part}TripSeconds`], key).toBeCloseTo((tripMs?.get(key) ?? 0) / 1000, 2);
          expect(item[`${part}EngineOnSeconds`], key).toBeCloseTo((onMs?.get(key) ?? 0) / 1000, 2);
          expect(item[`${part}Trips`], key).toBe(trips?.get(key) ?? 0);
        }
      const all = sum(got.map(({ insideDistanceM, outsideDistanceM }) => insideDistanceM + outsideDistanceM));
      expect(all).toBeCloseTo(sum(truth.trips.map(({ distanceM }) => distanceM)), -2);
    }
    expect(await report(workTimeReport)).not.toEqual(items);
  });

  test('violations are the events of a day, with the worst of each kind', async () => {
    const items = await report(violationsReport);
    const groups = Map.groupBy(
      fleetEvents.filter((event) => event.kind === 'speeding' && event.phase === 'end'),
      (event) => `${event.vehicleId} ${dateOf(event.startedAtMs)}`,
    );
    const speeding = items.filter(({ kind }) => kind === 'speeding');
    expect(speeding.length).toBe(groups.size);
    for (const item of speeding) {
      const events = (groups.get(`${item.vehicleId} ${item.period}`) ?? []) as Item[];
      const lengths = events.map(({ startedAtMs, endedAtMs }) => (endedAtMs - startedAtMs) / 1000);
      const over = Math.max(...events.map(({ peakKmh, limitKmh }) => peakKmh - limitKmh));
      const worst = events.find(({ peakKmh, limitKmh }) => peakKmh - limitKmh === over);
      expect(item).toMatchObject({
        count: events.length,
        longestSeconds: Math.max(...lengths),
        peakKmh: Math.max(...events.map(({ peakKmh }) => peakKmh)),
        startedAt: worst?.startedAtMs,
        endLatitude: worst?.latitude,
      });
      expect(item.durationSeconds).toBeCloseTo(sum(lengths), 3);
      expect(item.overLimitKmh).toBeCloseTo(over, 1);
    }
    const whole = await report(violationsReport, { period: 'whole' });
    expect(sum(whole.map(({ count }) => count))).toBe(sum(items.map(({ count }) => count)));
  });

  test('a digest has every vehicle with its totals, and where it was last before the end', async () => {
    const items = await report(fleetDigestReport);
    const summary = await report(summaryReport, { period: 'whole' });
    expect(items.map(({ vehicleId }) => vehicleId)).toEqual(question.vehicles.map(({ id }) => id));
    for (const [nth, truth] of truths.entries()) {
      const { distanceM, engineOnSeconds, idlingSeconds, trips, stops, maxKmh, speedings } = summary[nth] as Item;
      const last = truth.positions.at(-1);
      expect(items[nth]).toMatchObject({ distanceM, engineOnSeconds, idlingSeconds, trips, stops, maxKmh, speedings });
      expect(items[nth]).toMatchObject({ lastFixAt: last?.fixTimeMs, lastLatitude: last?.latitude });
    }
    const cut = truths[0]?.positions[200];
    const [early] = await report(fleetDigestReport, { toMs: cut?.fixTimeMs ?? 0 });
    expect(early?.lastFixAt).toBe(truths[0]?.positions[199]?.fixTimeMs);
  });

  test('a trip that still lasts counts as far as it has come', async () => {
    const truth = simulate(vehicleIdOf(90), START_MS, [{ does: 'drive', seconds: 2 * HOUR, kmh: [30, 80] }], 3);
    await archive(warehouse, [truth], [OPERATOR, vehicleOf(truth.vehicleId)]);
    const last = truth.positions.at(-1);
    const metres = sum(
      truth.positions.slice(1).map((position, nth) => metresBetween(truth.positions[nth] as never, position)),
    );
    const [row] = await report(mileageReport, {
      vehicles: [vehicleOf(truth.vehicleId)],
      nowMs: last?.fixTimeMs ?? 0,
      period: 'whole',
    });
    expect(Math.abs((row?.distanceM ?? 0) - metres)).toBeLessThan(metres * 0.003);
  });
});

describe('what lasts', () => {
  const MIDNIGHT_MS = START_MS + 12 * HOUR * 1000;
  /** Of the metres that were driven, what the odometer says. */
  const ODOMETERS: Record<string, (metres: number) => number | null> = {
    'an odometer': (metres) => 1000 + metres,
    'positions alone': () => null,
    'an odometer that is always 0': () => 0,
    'an odometer that stands still': () => 9_650,
    'an odometer that stands still half way': (metres) => 9_650 + Math.min(metres, 23_000),
  };
  /** Stands, drives through midnight with two pauses, and stands again: a record each 30 s. */
  const drive = (odometer = 'positions alone'): Position[] => {
    let [latitude, metres] = [50, 0];
    const legs = [
      [0, 5],
      [50, 50],
      [0, 7],
      [70, 20],
      [0, 3],
      [40, 25],
      [0, 30],
    ] as const;
    return legs
      .flatMap(([speedKmh, records]) => new Array<number>(records).fill(speedKmh))
      .map((speedKmh, nth) => {
        // The receiver wanders where the vehicle stands; the odometer counts a little else than the way on the map.
        latitude += (speedKmh * 30) / 3600 / 111.195 + (speedKmh === 0 ? (nth % 2 === 0 ? 1e-4 : -1e-4) : 0);
        metres += Math.round((speedKmh * 31) / 3.6);
        const fixTimeMs = MIDNIGHT_MS + (nth - 70) * 30_000;
        return {
          ...blankPosition(fixTimeMs, latitude, 13),
          speedKmh,
          ignition: nth > 0,
          odometerM: ODOMETERS[odometer]?.(metres) ?? null,
        };
      });
  };
  const reported = async (
    number: number,
    positions: readonly Position[],
    more: Partial<Question> = {},
    statusOf = (status: VehicleStatus) => status,
  ) => {
    const vehicle = vehicleOf(vehicleIdOf(number));
    const statuses = new Map<VehicleId, VehicleStatus>();
    await archive(warehouse, [{ vehicleId: vehicle.id, positions }], [OPERATOR, vehicle], statuses);
    const latest = sources.latest;
    sources.latest = async () => [...statuses.values()].map(statusOf);
    const nowMs = positions.at(-1)?.fixTimeMs ?? 0;
    try {
      const asked = { vehicles: [vehicle], nowMs, ...more };
      return {
        mileage: await report(mileageReport, asked),
        summary: await report(summaryReport, asked),
        trips: await report(tripsReport, asked),
        utilisation: await report(utilisationReport, asked),
        idling: await report(idlingReport, asked),
      };
    } finally {
      sources.latest = latest;
    }
  };
  const stood = 5 + 50 + 7 + 20 + 3 + 25 + 1;

  test('a trip that late data gave another beginning counts as far as its positions show, in every report', async () => {
    const positions = drive().slice(0, stood);
    // The rules saw its beginning when its first records were not there yet.
    const seenLater = (status: VehicleStatus): VehicleStatus => ({
      ...status,
      ...(status.trip && { trip: { ...status.trip, startedAtMs: status.trip.startedAtMs + 600_000, distanceM: 1 } }),
    });
    const { trips, mileage } = await reported(119, positions, {}, seenLater);
    const driven = await reported(120, positions);
    expect(trips).toMatchObject([{ endedAt: null, idlingSeconds: null }]);
    expect(trips[0]?.distanceM).toBeCloseTo(sum(mileage.map(({ distanceM }) => distanceM)), 0);
    expect(trips[0]?.movingSeconds).toBeCloseTo(sum(mileage.map(({ movingSeconds }) => movingSeconds)), 0);
    // Within a hundredth: the positions do not show by which steps the engine counted.
    expect(Math.abs(trips[0]?.distanceM / driven.trips[0]?.distanceM - 1)).toBeLessThan(0.01);
    expect(trips[0]?.maxKmh).toBe(driven.trips[0]?.maxKmh);
  });

  test.each([
    ['an odometer', 93],
    ['positions alone', 96],
    ['an odometer that is always 0', 110],
    ['an odometer that stands still', 113],
    ['an odometer that stands still half way', 116],
  ])('a drive by %s has the same mileage before its trip has ended and after', async (odometer, number) => {
    const positions = drive(odometer);
    const open = await reported(number, positions.slice(0, stood));
    const pausing = await reported(number + 1, positions.slice(0, stood + 5));
    const closed = await reported(number + 2, positions);
    expect(open.trips).toMatchObject([{ endedAt: null }]);
    for (const { trips, mileage } of [open, pausing]) {
      expect(trips[0]?.distanceM).toBeCloseTo(sum(mileage.map(({ distanceM }) => distanceM)), 0);
      expect(trips[0]?.movingSeconds).toBeCloseTo(sum(mileage.map(({ movingSeconds }) => movingSeconds)), 0);
      expect(trips[0]?.meanKmh).toBeCloseTo((3.6 * trips[0]?.distanceM) / trips[0]?.durationSeconds, 6);
    }
    expect(pausing.trips).toMatchObject([{ endedAt: null }]);
    expect(closed.trips).toMatchObject([{ endedAt: positions[stood - 1]?.fixTimeMs }]);
    const facts = (items: Item[]) =>
      items.map(({ period, distanceM, trips, movingSeconds }) => ({ period, distanceM, trips, movingSeconds }));
    expect(facts(closed.mileage)).toHaveLength(2);
    const pauseSeconds = sum(closed.idling.map(({ tripIdlingSeconds }) => tripIdlingSeconds));
    expect(pauseSeconds).toBeGreaterThan(0);
    expect(pauseSeconds).toBeCloseTo(closed.trips[0]?.idlingSeconds, 0);
    expect(facts(open.mileage)).toEqual(facts(closed.mileage));
    // 26 km before midnight and 15 after, whatever the odometer says; it counts 3 % more than the fixes.
    for (const [nth, km] of [26.1, 14.8].entries())
      expect(Math.abs((closed.mileage[nth]?.distanceM as number) / 1000 - km)).toBeLessThan(km * 0.04);
    const speeds = (items: Item[]) => items.map(({ maxKmh, meanKmh }) => [maxKmh, meanKmh]);
    expect(speeds(open.summary)).toEqual(speeds(closed.summary));
    expect(sum(pausing.mileage.map(({ distanceM }) => distanceM))).toBeCloseTo(closed.trips[0]?.distanceM, 0);
    // At whatever moment a report cuts it.
    const toMs = MIDNIGHT_MS + 10 * 60_000;
    const cutOpen = await reported(number, positions.slice(0, stood), { toMs });
    const cutClosed = await reported(number + 2, positions, { toMs });
    expect(facts(cutOpen.mileage)).toEqual(facts(cutClosed.mileage));
  });

  test.each([
    ['by its status', true, 99],
    ['by the archive', false, 100],
  ])('of a vehicle that fell silent while it moved, counts up to its last fix: %s', async (_, hasStatus, number) => {
    const positions = drive('an odometer').slice(0, 40);
    const lastMs = positions.at(-1)?.fixTimeMs ?? 0;
    const startMs = positions[5]?.fixTimeMs ?? 0;
    const nowMs = lastMs + 40 * 60_000;
    const { trips, summary, utilisation } = hasStatus
      ? await reported(number, positions, { nowMs })
      : await (async () => {
          const vehicle = vehicleOf(vehicleIdOf(number));
          await archive(warehouse, [{ vehicleId: vehicle.id, positions }], [OPERATOR, vehicle]);
          const asked = { vehicles: [vehicle], nowMs };
          return {
            trips: await report(tripsReport, asked),
            summary: await report(summaryReport, asked),
            utilisation: await report(utilisationReport, asked),
          };
        })();
    const drivenSeconds = (lastMs - startMs) / 1000;
    const onSeconds = (lastMs - (positions[1]?.fixTimeMs ?? 0)) / 1000;
    expect(trips.map(({ durationSeconds }) => durationSeconds)).toEqual([drivenSeconds]);
    expect(sum(summary.map(({ engineOnSeconds }) => engineOnSeconds))).toBe(onSeconds);
    expect(sum(utilisation.map(({ tripSeconds }) => tripSeconds))).toBe(drivenSeconds);
    expect(sum(utilisation.map(({ engineOnSeconds }) => engineOnSeconds))).toBe(onSeconds);
  });
});

describe('geozones', () => {
  const isVisit = (event: FleetEvent): event is GeofenceVisit => event.kind === 'geofence-visit';

  test('visits and what lies between them', async () => {
    const items = await report(visitsReport);
    const latest = new Map(fleetEvents.filter(isVisit).map((event) => [event.id, event]));
    const inside = items.filter(({ part }) => part === 'inside');
    expect(inside.length).toBeGreaterThan(10);
    expect(items.length).toBeGreaterThan(inside.length);
    expect(
      inside.map(({ vehicleId, geozoneId, startedAt }) => `${vehicleId} ${geozoneId} ${startedAt}`).toSorted(),
    ).toEqual(
      [...latest.values()].map((event) => `${event.vehicleId} ${event.geofenceId} ${event.startedAtMs}`).toSorted(),
    );
    for (const [nth, item] of items.entries())
      if (item.part === 'between') {
        expect(items[nth + 1]).toMatchObject({
          part: 'inside',
          geozoneId: item.nextGeozoneId,
          startedAt: item.endedAt,
        });
        expect(items.some((each) => each.part === 'inside' && each.endedAt === item.startedAt)).toBe(true);
      }
  });

  test('a shape that was never saved gives the same results as a saved one', async () => {
    let found = 0;
    for (const geofence of zones) {
      const saved = (await report(visitsReport, { geofenceId: geofence.id })).filter(({ part }) => part === 'inside');
      const asked = (await report(shapeVisitsReport(geofence.shape, 0))).filter(({ part }) => part === 'inside');
      expect(
        shapeVisitsReport(geofence.shape, 0)
          .columns.map(({ name }) => name)
          .slice(-2),
      ).toEqual([...['startPlace', 'endPlace']]);
      const facts = (item: Item) => [item.vehicleId, item.startedAt, item.endedAt, item.inferred];
      expect(asked.map(facts)).toEqual(saved.map(facts));
      found += asked.length;
    }
    expect(found).toBeGreaterThan(10);
  });

  test('a vehicle that stood inside all the time is reported, too', async () => {
    const truth = simulate(vehicleIdOf(91), START_MS, [{ does: 'park', seconds: HOUR }], 5);
    await archive(warehouse, [truth], [OPERATOR, vehicleOf(truth.vehicleId)]);
    const { longitude, latitude } = truth.positions[0] as never as { longitude: number; latitude: number };
    const shape = { type: 'circle', center: [longitude, latitude], radiusM: 50 } as const;
    const vehicles = [vehicleOf(truth.vehicleId)];
    const items = await report(shapeVisitsReport(shape, 0), { vehicles });
    expect(items).toMatchObject([{ startedAt: START_MS, endedAt: null }]);
    expect(await report(shapeVisitsReport({ ...shape, center: [longitude + 1, latitude] }, 0), { vehicles })).toEqual(
      [],
    );
  });
});

describe('tracks', () => {
  test('are the positions, of all vehicles, and what came late has its place', async () => {
    const items = await report(trackReport);
    for (const truth of truths)
      expect(of(items, truth).map(({ fixTime }) => fixTime)).toEqual(truth.positions.map(({ fixTimeMs }) => fixTimeMs));
  });

  test('simplified, keep their extremes', async () => {
    const items = await report(trackReport, { maxPoints: 100 });
    for (const truth of truths) {
      const got = of(items, truth);
      expect(got.length).toBeLessThanOrEqual(100);
      expect(got.length).toBeGreaterThan(80);
      for (const extreme of [Math.min, Math.max])
        for (const name of ['latitude', 'longitude', 'fixTimeMs'] as const)
          expect(extreme(...got.map((item) => item[name === 'fixTimeMs' ? 'fixTime' : name]))).toBe(
            extreme(...truth.positions.map((position) => position[name])),
          );
      expect(Math.max(...got.map(({ speedKmh }) => speedKmh))).toBe(
        Math.max(...truth.positions.map(({ speedKmh }) => speedKmh ?? 0)),
      );
    }
  });
});

describe('receivers that lose their place', () => {
  const truth = simulate(vehicleIdOf(92), START_MS, LIVES[1] ?? [], 11);
  const midnights = midnightsOf(truth.positions[0]?.fixTimeMs ?? 0, endMs).slice(1, -1);
  const isNearMidnight = (timeMs: number) => midnights.some((midnight) => Math.abs(timeMs - midnight) < 60_000);
  // Five seconds after a fix, and mostly faster than anybody drives.
  const spikes = truth.positions
    .filter(({ fixTimeMs }, nth) => nth % 97 === 5 || isNearMidnight(fixTimeMs))
    .map((fix, nth) => ({
      ...fix,
      fixTimeMs: fix.fixTimeMs + 5000,
      latitude: fix.latitude - 10 - (nth % 5),
      speedKmh: 150 + nth,
    }));
  const positions = [...truth.positions, ...spikes].toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
  const vehicles = [vehicleOf(truth.vehicleId)];

  beforeAll(async () => {
    await archive(warehouse, [{ vehicleId: truth.vehicleId, positions }], [OPERATOR, ...vehicles]);
  });

  test('a track says which of its positions are jumps, whatever its pages', async () => {
    expect(spikes.length).toBeGreaterThan(50);
    const items = await report(trackReport, { vehicles });
    expect(items.map(({ fixTime }) => fixTime)).toEqual(positions.map(({ fixTimeMs }) => fixTimeMs));
    const jumps = items.filter(({ rejection }) => rejection === 'jump').map(({ fixTime }) => fixTime);
    expect(jumps).toEqual(spikes.map(({ fixTimeMs }) => fixTimeMs));
    // It begins with a jump, and pages end at some. A page is a query: a dozen are enough.
    const [first, last] = [spikes[3], spikes[16]];
    if (first === undefined || last === undefined) throw new Error('more jumps are needed');
    const asked = { ...question, vehicles, fromMs: first.fixTimeMs, toMs: last.fixTimeMs - 1 };
    const paged: unknown[] = [];
    let after: unknown = null;
    do {
      const page = await fullPage(trackReport, sources, asked, after, 97);
      paged.push(...page.rows);
      after = page.next === null ? null : JSON.parse(JSON.stringify(page.next));
    } while (after !== null);
    const expected = items.filter(({ fixTime }) => fixTime >= asked.fromMs && fixTime < asked.toMs);
    expect(expected.length).toBeGreaterThan(8 * 97);
    expect(paged).toEqual(expected.map((item) => trackReport.columns.map(({ name }) => item[name])));
  });

  test('a simplified track has none of them', async () => {
    const items = await report(trackReport, { vehicles, maxPoints: 100 });
    expect(items.length).toBeGreaterThan(80);
    const south = Math.min(...truth.positions.map(({ latitude }) => latitude));
    expect(Math.min(...items.map(({ latitude }) => latitude))).toBe(south);
  });

  test('trips, and what midnight divides of them, are as they were driven', async () => {
    const trips = await report(tripsReport, { vehicles });
    expect(trips.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual(
      truth.trips.map((trip) => [trip.startMs, trip.endMs]),
    );
    const days = metresByDay(truth);
    const mileage = await report(mileageReport, { vehicles });
    expect(mileage.map(({ period }) => period)).toEqual([...days.keys()].toSorted());
    for (const { period, distanceM } of mileage) {
      const metres = days.get(period) ?? 0;
      expect(Math.abs(distanceM - metres), period).toBeLessThan(metres * 0.003 + 5);
    }
    const summary = await report(summaryReport, { vehicles });
    const fastest = Math.max(...truth.positions.map(({ speedKmh }) => speedKmh ?? 0));
    expect(Math.max(...summary.map(({ maxKmh }) => maxKmh ?? 0))).toBe(fastest);
  });

  test('a shape where none but a jump ever was has no visit', async () => {
    const { longitude, latitude } = spikes[20] ?? { longitude: 0, latitude: 0 };
    const shape = { type: 'circle', center: [longitude, latitude], radiusM: 50_000 } as const;
    expect(await report(shapeVisitsReport(shape, 0), { vehicles })).toEqual([]);
  });
});

test('the present is what still lasts', async () => {
  const items = await report(currentStateReport);
  expect(items.map(({ vehicleId, state, stateSince }) => [vehicleId, state, stateSince])).toEqual(
    truths.map(({ vehicleId, stops }) => [vehicleId, stops.at(-1)?.kind, stops.at(-1)?.startMs]),
  );
});

test('what the rules published of a vehicle says what it does, and the archive does only where they did not', async () => {
  const [published, archived] = truths.map(({ vehicleId }) => vehicleOf(vehicleId));
  if (published === undefined || archived === undefined) throw new Error('two vehicles are needed');
  const position = { ...blankPosition(endMs - 60_000, 52.5, 13.4), speedKmh: 30 };
  const record = { ...blankPosition(endMs - 30_000, 0, 0), valid: false, supplyV: 12.1, fuelL: 33 };
  const status = sampleStatus(published.id, position, endMs - 59_000, {
    record,
    lastContactAtMs: endMs - 29_000,
    protocol: 'jt808',
    activity: {
      state: 'offline',
      sinceMs: endMs - 29_000,
      ignition: false,
      alarms: ['tamper', 'sos'],
      geofenceIds: zones.slice(0, 2).map(({ id }) => id),
      speeding: [],
    },
  });
  const terminalId = 'T1' as TerminalId;
  const connection = { protocol: 'jt808', address: '192.0.2.1', sinceMs: endMs };
  const asked = {
    vehicles: [
      { ...published, terminalId },
      { ...archived, terminalId: null },
    ],
  };
  const held = sources;
  sources = {
    ...held,
    latest: async () => [status, sampleStatus(archived.id, position)],
    connections: async () => new Map([[terminalId, connection]]),
  };
  const items = await report(currentStateReport, asked).finally(() => {
    sources = held;
  });
  expect(items[0]).toMatchObject({
    state: 'offline',
    stateSeconds: 29,
    online: false,
    fixTime: position.fixTimeMs,
    speedKmh: 30,
    ignition: false,
    supplyV: 12.1,
    fuelL: 33,
    geozones: zones
      .slice(0, 2)
      .map(({ name }) => name)
      .toSorted()
      .join('|'),
    speeding: false,
    alarms: 'sos|tamper',
    lastContactAt: endMs - 29_000,
    protocol: 'jt808',
    recordTime: record.fixTimeMs,
    connected: true,
  });
  expect(items[1]).toMatchObject({ state: truths[1]?.stops.at(-1)?.kind, online: true, connected: false });
});

test('a report whose client has left asks no more', async () => {
  const leaving = new AbortController();
  const pages = allRows(trackReport, sources, { ...question, signal: leaving.signal }, 1_000_000);
  await pages.next();
  leaving.abort(new Error('gone'));
  await expect(pages.next()).rejects.toThrow('gone');
});

test('a report with more rows than it may have is none, and not a part of one', async () => {
  const pages = allRows(trackReport, sources, question, 7000);
  await pages.next();
  const rest = async () => {
    for await (const _ of pages);
  };
  await expect(rest()).rejects.toThrow('A report may have at most 7000 rows');
});

test('nobody is in a report who was not asked about', async () => {
  const one = vehicleOf(truths[0]?.vehicleId as VehicleId);
  for (const kind of [trackReport, tripsReport, stopsReport, mileageReport, summaryReport, eventsReport, visitsReport])
    expect(new Set((await report(kind, { vehicles: [one] })).map(({ vehicleId }) => vehicleId)), kind.name).toEqual(
      new Set([one.id]),
    );
});
