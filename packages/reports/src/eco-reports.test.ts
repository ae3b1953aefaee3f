import {
  type Alarm,
  type DriverId,
  deriveEventId,
  type EventKind,
  type FleetEvent,
  type GeofenceId,
  type Trip,
  type VehicleId,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY_ARCHIVE, NO_MAINTENANCE } from './empty-archive.fixture.ts';
import { vehicleIdOf, vehicleOf } from './fleet.fixture.ts';
import { driversReport } from './kinds/drivers.ts';
import { ecoDrivingReport } from './kinds/eco-driving.ts';
import { tripsReport } from './kinds/event-lists.ts';
import { GroupTotals, projected, Totalled } from './kinds/groups.ts';
import { fullPage, type Question, type ReportKind, type ReportSources, type Row } from './report.ts';

const T0 = Date.parse('2026-03-01T00:00:00Z');
const MINUTE = 60_000;
const HIDDEN = 'hidden' as GeofenceId;
const VAN = vehicleIdOf(1);
const ANNA = { id: 'anna' as DriverId, name: 'Anna' };

function eventOf(kind: EventKind, vehicleId: VehicleId, fromMin: number, toMin: number | null, facts = {}): FleetEvent {
  const [startedAtMs, endedAtMs] = [T0 + fromMin * MINUTE, toMin === null ? null : T0 + toMin * MINUTE];
  return {
    id: deriveEventId(kind, vehicleId, JSON.stringify(facts), startedAtMs),
    ...{ kind, phase: endedAtMs === null ? 'begin' : 'end', vehicleId, startedAtMs, endedAtMs },
    ...{ latitude: 0, longitude: 0, startLatitude: 1, startLongitude: 1, speedKmh: null },
    ...{ fixTimeMs: endedAtMs ?? startedAtMs, fromFixTimeMs: startedAtMs, definitionVersion: 1 },
    ...{ origin: 'live', inferred: false, endReason: null, ...facts },
  } as unknown as FleetEvent;
}
const tripOf = (fromMin: number, toMin: number | null, distanceM: number, facts = {}, vehicleId = VAN) =>
  eventOf('trip', vehicleId, fromMin, toMin, { distanceM, movingMs: 1000, ...facts }) as Trip;
const alarmOf = (atMin: number, alarm: Alarm, vehicleId = VAN) =>
  eventOf('alarm', vehicleId, atMin, atMin + 0.05, { alarm });
const rpmOf = (fromMin: number, toMin: number, peakValue: number, vehicleId = VAN) =>
  eventOf('sensor-threshold', vehicleId, fromMin, toMin, { sensorKind: 'rpm', min: 500, max: 3000, peakValue });

function sourcesOf(events: readonly FleetEvent[]): ReportSources {
  return {
    maintenance: NO_MAINTENANCE,
    archive: {
      ...EMPTY_ARCHIVE,
      async overlappingEvents({ vehicleIds, kinds, fromMs, toMs, after, limit }) {
        const found = events
          .filter(({ vehicleId, kind }) => vehicleIds.includes(vehicleId) && (kinds?.includes(kind) ?? true))
          .filter(({ startedAtMs, endedAtMs: end }) => startedAtMs < toMs && (end === null || end > fromMs))
          .toSorted((a, b) => a.vehicleId.localeCompare(b.vehicleId) || a.startedAtMs - b.startedAtMs);
        const first = after == null ? 0 : found.findIndex(({ id }) => id === after.id) + 1;
        const page = found.slice(first, first + Math.min(limit, 3));
        const last = page.at(-1);
        const isLast = last === undefined || first + page.length === found.length;
        const next = isLast ? null : { vehicleId: last.vehicleId, beganAtMs: last.startedAtMs, id: last.id };
        return { events: page, next };
      },
    },
    geofenceName: () => null,
    seesGone: () => false,
    driversAt: async (moments) => moments.map(({ code }) => (code === 'A1' ? ANNA : null)),
    placesOf: async (points) => points.map(() => null),
    visibleGeofences: async () => [],
    readDeleted: async () => {},
    latest: async () => [],
    connections: async () => new Map(),
  };
}

async function rowsOf(kind: ReportKind, events: readonly FleetEvent[], more: Partial<Question> = {}, pageSize = 1000) {
  const sources = sourcesOf(events);
  const question: Question = {
    vehicles: [...new Set(events.map(({ vehicleId }) => vehicleId))].toSorted().map((id) => vehicleOf(id)),
    ...{ fromMs: T0, toMs: T0 + 1000 * MINUTE, timeZone: 'UTC', period: 'whole', eventKinds: null, geofenceId: null },
    ...{
      maxPoints: null,
      workHours: null,
      ecoWeights: null,
      sensors: null,
      driverIds: null,
      nowMs: T0 + 1000 * MINUTE,
    },
    signal: new AbortController().signal,
    ...more,
  };
  const rows: Row[] = [];
  let after: unknown = null;
  do {
    const page = await fullPage(kind, sources, { ...question }, after, pageSize);
    rows.push(...page.rows);
    after = page.next === null ? null : kind.cursor.parse(JSON.parse(JSON.stringify(page.next)));
  } while (after !== null);
  return rows;
}
const at = (kind: ReportKind, name: string) => kind.columns.findIndex((column) => column.name === name);
/** The values of some columns of each row. */
const values = (kind: ReportKind, rows: readonly Row[], ...names: string[]) =>
  rows.map((row) => names.map((name) => row[at(kind, name)]));

test('a trip has what began on it, and idling that touches it', async () => {
  const events = [
    eventOf('idling', VAN, 0, 10, { endReason: 'moved' }),
    tripOf(10, 60, 50_000, { driverCode: 'A1' }),
    eventOf('speeding', VAN, 20, 24, { geofenceId: null }),
    eventOf('speeding', VAN, 30, 31, { geofenceId: HIDDEN }),
    alarmOf(25, 'harsh-acceleration'),
    alarmOf(26, 'harsh-braking'),
    eventOf('harsh-driving', VAN, 27, 27.05, { manoeuvre: 'braking', peakMps2: 4 }),
    alarmOf(28, 'sos'),
    rpmOf(40, 43, 4000),
    // The engine stalls: it does not turn too fast.
    rpmOf(45, 46, 300),
    eventOf('idling', VAN, 60, 90, { endReason: 'ignition' }),
    tripOf(120, 130, 20_000),
    // Between trips, and touching none.
    eventOf('idling', VAN, 200, 230, { endReason: 'ignition' }),
    alarmOf(210, 'harsh-braking'),
    eventOf('idling', VAN, 290, 300, { endReason: 'moved' }),
    tripOf(300, 310, 20_000),
  ];
  const rows = await rowsOf(ecoDrivingReport, events);
  const names = ['ecoScore', 'ecoPoints', 'speedingPoints', 'brakingPoints', 'idlingPoints', 'overRevvingPoints'];
  expect(values(ecoDrivingReport, rows, ...names, 'driverName')).toEqual([
    // 4 + 2 + 2×3 + (10 + 30)×0.2 + 3 = 23 points on 50 km. The geofence that is not to be seen says nothing.
    [54, 23, 4, 6, 8, 3, 'Anna'],
    [100, 0, 0, 0, 0, 0, null],
    // 2 points on 20 km.
    [90, 2, 0, 0, 2, 0, null],
  ]);
  const strict = await rowsOf(ecoDrivingReport, events, { ecoWeights: 'braking=10, idling=0' });
  expect(values(ecoDrivingReport, strict, 'ecoScore')).toEqual([[42], [100], [100]]);
});

test('of named drivers there is what they drove, and nothing else; with the same scores', async () => {
  const events = [
    eventOf('driver-shift', VAN, 5, 65, { driverCode: 'A1' }),
    eventOf('driver-shift', VAN, 300, 320, { driverCode: 'B2' }),
    tripOf(10, 60, 50_000, { driverCode: 'A1' }),
    alarmOf(30, 'harsh-braking'),
    tripOf(120, 130, 20_000, { driverCode: 'B2' }),
    alarmOf(125, 'harsh-braking'),
    tripOf(200, 230, 20_000),
  ];
  const driverIds = [ANNA.id];
  const scored = ['startedAt', 'driverName', 'ecoScore'];
  const ofAnna = await rowsOf(ecoDrivingReport, events, { driverIds }, 1);
  const all = values(ecoDrivingReport, await rowsOf(ecoDrivingReport, events), ...scored);
  expect(all).toHaveLength(3);
  expect(values(ecoDrivingReport, ofAnna, ...scored)).toEqual(all.slice(0, 1));
  expect(
    values(driversReport, await rowsOf(driversReport, events, { driverIds }), 'driverName', 'shifts', 'trips'),
  ).toEqual([['Anna', 1, 1]]);
  expect(values(tripsReport, await rowsOf(tripsReport, events, { driverIds }, 1), 'driverName')).toEqual([['Anna']]);
  expect(
    await rowsOf(tripsReport, events, { driverIds: ['00000000-0000-7000-8000-000000000001' as DriverId] }),
  ).toEqual([]);
});

test('the score of a group is the mean of its trips’, by their distance', async () => {
  const events = [tripOf(10, 60, 60_000), tripOf(70, 90, 20_000), alarmOf(75, 'harsh-cornering')];
  const rows = await rowsOf(ecoDrivingReport, events);
  const totals = new GroupTotals(ecoDrivingReport, 'vehicle', 'UTC');
  for (const row of rows) totals.add(row);
  // (100 × 60 + 90 × 20) / 80
  expect(totals.all.at(at(ecoDrivingReport, 'ecoScore'))).toBe(97.5);
  expect(totals.sorted[0]?.[1].at(at(ecoDrivingReport, 'ecoScore'))).toBe(97.5);
  const withoutWeight = projected(ecoDrivingReport, ['vehicleName', 'ecoScore']);
  expect(withoutWeight.columns.map(({ total }) => total)).toEqual([undefined, undefined]);
  const nothing = new Totalled(ecoDrivingReport.columns);
  expect(nothing.at(at(ecoDrivingReport, 'ecoScore'))).toBeNull();
});

test('drivers have what they drove, and what nobody known drove is a row', async () => {
  const events = [
    eventOf('driver-shift', VAN, 5, 65, { driverCode: 'A1' }),
    eventOf('driver-shift', VAN, -60, -10, { driverCode: 'A1' }),
    tripOf(10, 60, 50_000, { driverCode: 'A1', fuelUsedL: 5 }),
    eventOf('speeding', VAN, 20, 25, { geofenceId: null }),
    alarmOf(30, 'harsh-braking'),
    tripOf(10, 40, 30_000, { driverCode: 'A1' }, vehicleIdOf(2)),
    tripOf(100, 130, 10_000),
    // It began before the time range.
    tripOf(-5, 4, 3000),
  ];
  const rows = await rowsOf(driversReport, events);
  expect(rows).toEqual([
    // 8 points on 50 km: 84; 30 km without: (84 × 50 + 100 × 30) / 80
    [ANNA.id, 'Anna', '2026-03-01', 1, 2, 2, 80_000, 4800, 2, 1, 300, 1, 5, 10, 90],
    [null, null, '2026-03-01', 0, 1, 1, 10_000, 1800, 1, 0, 0, 0, null, null, 100],
  ]);
});

const story = fc.array(
  fc.record({
    vehicle: fc.integer({ min: 1, max: 2 }),
    restMin: fc.constantFrom(10, 30),
    tripMin: fc.constantFrom(10, 45),
    idling: fc.constantFrom('none', 'through', 'before', 'after', 'middle'),
    code: fc.constantFrom('A1', 'B2'),
    km: fc.constantFrom(0, 2, 30),
    violations: fc.array(fc.tuple(fc.nat(60), fc.constantFrom<Alarm>('harsh-braking', 'harsh-cornering', 'sos')), {
      maxLength: 3,
    }),
  }),
  { minLength: 1, maxLength: 8 },
);

test('pages, vehicles and parts of a time range come to the same; drivers to the sums of their trips', async () => {
  await fc.assert(
    fc.asyncProperty(story, fc.integer({ min: 1, max: 4 }), fc.nat(300), async (parts, pageSize, cutMin) => {
      const made: FleetEvent[] = [];
      const clocks = [0, 0, 0];
      for (const { vehicle, restMin, tripMin, idling, code, km, violations } of parts) {
        const from = clocks[vehicle] ?? 0;
        const id = vehicleIdOf(vehicle);
        const to = from + restMin;
        const [idleFrom, idleTo] = [idling === 'before' ? from + 5 : from, idling === 'after' ? to - 5 : to];
        const endReason = idleTo === to ? 'moved' : 'ignition';
        if (idling === 'middle') made.push(eventOf('idling', id, from + 2, to - 2, { endReason: 'ignition' }));
        else if (idling !== 'none') made.push(eventOf('idling', id, idleFrom, idleTo, { endReason }));
        made.push(tripOf(to, to + tripMin, km * 1000, { driverCode: code }, id));
        for (const [nth, [later, alarm]] of violations.entries()) made.push(alarmOf(to + later + nth / 100, alarm, id));
        clocks[vehicle] = to + tripMin;
      }
      // Two stories may have the same alarm at the same time: it is one event, and the archive has it once.
      const events = [...new Map(made.map((event) => [event.id, event])).values()];
      const rows = await rowsOf(ecoDrivingReport, events);
      expect(await rowsOf(ecoDrivingReport, events, {}, pageSize)).toEqual(rows);
      const cut = T0 + cutMin * MINUTE;
      const before = await rowsOf(ecoDrivingReport, events, { toMs: cut }, pageSize);
      const after = await rowsOf(ecoDrivingReport, events, { fromMs: cut }, pageSize);
      const byPlace = (all: readonly Row[]) =>
        all.toSorted((a, b) => String(a[0]).localeCompare(String(b[0])) || Number(a[2]) - Number(b[2]));
      expect(byPlace([...before, ...after])).toEqual(rows);

      const work = await rowsOf(driversReport, events, {}, pageSize);
      const sum = (kind: ReportKind, all: readonly Row[], name: string) =>
        all.reduce((total, row) => total + Number(row[at(kind, name)]), 0);
      expect(sum(driversReport, work, 'trips')).toBe(rows.length);
      const anna = rows.filter((row) => row[at(ecoDrivingReport, 'driverName')] === 'Anna');
      const [hers] = work.filter((row) => row[1] === 'Anna');
      expect(hers?.[at(driversReport, 'trips')] ?? 0).toBe(anna.length);
      const brakings = sum(ecoDrivingReport, anna, 'harshBrakings') + sum(ecoDrivingReport, anna, 'harshCornerings');
      expect(hers?.[at(driversReport, 'harshManoeuvres')] ?? 0).toBe(brakings);
      const totals = new Totalled(ecoDrivingReport.columns);
      for (const row of anna) totals.add(row);
      const score = hers?.[at(driversReport, 'ecoScore')] ?? null;
      const mean = totals.at(at(ecoDrivingReport, 'ecoScore'));
      if (score === null || mean === null) expect(score).toBe(mean);
      // Rows have tenths.
      else expect(Math.abs(Number(score) - mean)).toBeLessThanOrEqual(0.11);
    }),
    { numRuns: runs(300) },
  );
});
