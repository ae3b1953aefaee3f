import { deriveEventId, type GeofenceId, type GeofenceVisit, type VehicleId } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY_ARCHIVE, NO_MAINTENANCE } from '../empty-archive.fixture.ts';
import { vehicleIdOf, vehicleOf } from '../fleet.fixture.ts';
import { fullPage, type Question, type ReportSources, type Row } from '../report.ts';
import { matrixReport } from './geofence-matrix.ts';

const DAY_MS = 86_400_000;
const T0 = Date.parse('2026-03-01T00:00:00Z');
const DAYS = 4;
const DEPOT = 'depot' as GeofenceId;
const YARD = 'yard' as GeofenceId;
const HIDDEN = 'hidden' as GeofenceId;
const NAMES = new Map([
  [DEPOT, 'Depot'],
  [YARD, 'Yard'],
]);

function visitOf(vehicleId: VehicleId, geofenceId: GeofenceId, startedAtMs: number, endedAtMs: number | null) {
  return {
    id: deriveEventId('geofence-visit', vehicleId, geofenceId, startedAtMs),
    ...{ kind: 'geofence-visit', phase: endedAtMs === null ? 'begin' : 'end', vehicleId, geofenceId },
    ...{ startedAtMs, endedAtMs, latitude: 0, longitude: 0, speedKmh: null, fixTimeMs: endedAtMs ?? startedAtMs },
    ...{ fromFixTimeMs: startedAtMs, definitionVersion: 1, origin: 'live', inferred: false, endReason: null },
  } as GeofenceVisit;
}

/** All rows, a few at a time, with cursors as they come back from a client. */
async function rowsOf(visits: readonly GeofenceVisit[], pageSize: number, more: Partial<Question> = {}) {
  const vehicleIds = [...new Set(visits.map(({ vehicleId }) => vehicleId))].toSorted();
  const sources: ReportSources = {
    archive: {
      ...EMPTY_ARCHIVE,
      // By vehicle and time, three at a time.
      async overlappingEvents({ vehicleIds: wanted, fromMs, toMs, after }) {
        const found = visits
          .filter((visit) => wanted.includes(visit.vehicleId) && visit.startedAtMs < toMs)
          .filter(({ endedAtMs }) => endedAtMs === null || endedAtMs > fromMs)
          .toSorted((a, b) => a.vehicleId.localeCompare(b.vehicleId) || a.startedAtMs - b.startedAtMs);
        const first = after == null ? 0 : found.findIndex(({ id }) => id === after.id) + 1;
        const events = found.slice(first, first + 3);
        const last = events.at(-1);
        const isLast = first + 3 >= found.length || last === undefined;
        const next = isLast ? null : { vehicleId: last.vehicleId, beganAtMs: last.startedAtMs, id: last.id };
        return { events, next };
      },
    },
    geofenceName: (id) => NAMES.get(id) ?? null,
    seesGone: () => false,
    driversAt: async (moments) => moments.map(() => null),
    maintenance: NO_MAINTENANCE,
    placesOf: async (points) => points.map(() => null),
    visibleGeofences: async () => [DEPOT, YARD],
    readDeleted: async () => {},
    latest: async () => [],
    connections: async () => new Map(),
  };
  const question: Question = {
    vehicles: vehicleIds.map((id) => vehicleOf(id)),
    ...{ fromMs: T0, toMs: T0 + DAYS * DAY_MS, timeZone: 'UTC', period: 'day', eventKinds: null, geofenceId: null },
    ...{
      maxPoints: null,
      workHours: null,
      ecoWeights: null,
      sensors: null,
      driverIds: null,
      nowMs: T0 + DAYS * DAY_MS,
      signal: new AbortController().signal,
    },
    ...more,
  };
  const rows: Row[] = [];
  let after: unknown = null;
  do {
    const page = await fullPage(matrixReport, sources, question, after, pageSize);
    rows.push(...page.rows);
    after = page.next === null ? null : matrixReport.cursor.parse(JSON.parse(JSON.stringify(page.next)));
  } while (after !== null);
  return rows;
}

const column = (name: string) => matrixReport.columns.findIndex((each) => each.name === name);

test('a visit over midnight counts on the day on which it began, and its time on both', async () => {
  const one = vehicleIdOf(1);
  const visits = [
    visitOf(one, DEPOT, T0 - 3_600_000, T0 + 1000),
    visitOf(one, DEPOT, T0 + DAY_MS - 3000, T0 + DAY_MS + 5000),
    visitOf(one, YARD, T0 + 7000, T0 + 9000),
    visitOf(one, YARD, T0 + 17_000, T0 + 20_000),
    visitOf(one, HIDDEN, T0, T0 + DAY_MS),
  ];
  const rows = await rowsOf(visits, 1000);
  const name = vehicleOf(one).name;
  expect(rows).toEqual([
    [one, name, DEPOT, 'Depot', '2026-03-01', 1, 4, 3, T0, T0 + DAY_MS],
    [one, name, DEPOT, 'Depot', '2026-03-02', 0, 5, 5, T0 + DAY_MS, T0 + DAY_MS + 5000],
    [one, name, YARD, 'Yard', '2026-03-01', 2, 5, 3, T0 + 7000, T0 + 20_000],
  ]);
  const whole = await rowsOf(visits, 1000, { period: 'whole', geofenceId: YARD });
  expect(whole).toEqual([rows[2]]);
});

test('it has each second of each visit once, whatever the pages', async () => {
  const visit = fc.record({
    vehicle: fc.integer({ min: 1, max: 3 }),
    geofence: fc.constantFrom(DEPOT, YARD, HIDDEN),
    startS: fc.integer({ min: -DAY_MS / 1000, max: (DAYS * DAY_MS) / 1000 }),
    lastedS: fc.integer({ min: 0, max: (2 * DAY_MS) / 1000 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(visit, { maxLength: 12, selector: ({ startS }) => startS }),
      fc.integer({ min: 1, max: 9 }),
      async (drawn, pageSize) => {
        const visits = drawn.map(({ vehicle, geofence, startS, lastedS }) =>
          visitOf(vehicleIdOf(vehicle), geofence, T0 + startS * 1000, T0 + (startS + lastedS) * 1000),
        );
        const rows = await rowsOf(visits, pageSize);
        expect(rows).toEqual(await rowsOf(visits, 5000));
        const sum = (name: string) => rows.reduce((total, row) => total + Number(row[column(name)]), 0);
        const shown = visits.filter(({ geofenceId }) => geofenceId !== HIDDEN);
        const toMs = T0 + DAYS * DAY_MS;
        const insideMs = shown.map(({ startedAtMs, endedAtMs }) =>
          Math.max(0, Math.min(endedAtMs ?? 0, toMs) - Math.max(startedAtMs, T0)),
        );
        expect(sum('durationSeconds')).toBe(insideMs.reduce((total, each) => total + each, 0) / 1000);
        const began = shown.filter(({ startedAtMs, endedAtMs }) => {
          const overlaps = startedAtMs < toMs && (endedAtMs ?? 0) > T0;
          return overlaps && startedAtMs >= T0;
        });
        expect(sum('visits')).toBe(began.length);
      },
    ),
    { numRuns: runs(300) },
  );
});
