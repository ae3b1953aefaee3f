import { blankPosition, type Position, type TerminalId, type VehicleId } from '@outrider/domain';
import { Engine } from '@outrider/engine';
import { runs } from '@outrider/testing';
import type { ArchivedPosition } from '@outrider/warehouse';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EMPTY_ARCHIVE, NO_MAINTENANCE } from './empty-archive.fixture.ts';
import { vehicleIdOf, vehicleOf } from './fleet.fixture.ts';
import { type JudgedCursor, judgedTrack, type TrackReport } from './kinds/jumps.ts';
import { allRows, fullPage, type Question, type ReportSources, type Row } from './report.ts';
import { TRACK_PLACES as AT, trackReport } from './tracks.ts';

const T0 = Date.UTC(2026, 2, 1, 8);

type Tracks = ReadonlyMap<VehicleId, readonly Position[]>;

/** What an archive would answer of these. */
function archiveOf(tracks: Tracks) {
  const all = [...tracks].flatMap(([vehicleId, positions]) =>
    positions
      .toSorted((a, b) => a.fixTimeMs - b.fixTimeMs)
      .map((position): ArchivedPosition & { vehicleId: VehicleId } => ({
        ...position,
        vehicleId,
        receivedAtMs: position.fixTimeMs,
        terminalId: '1' as TerminalId,
        protocol: 'osmand',
        rejection: null,
      })),
  );
  const positions: ReportSources['archive']['positions'] = async ({ vehicleIds, fromMs, toMs, limit, after }) => {
    const found = all.filter(
      ({ vehicleId, fixTimeMs }) =>
        vehicleIds.includes(vehicleId) &&
        fixTimeMs >= fromMs &&
        fixTimeMs < toMs &&
        (!after || vehicleId > after.vehicleId || (vehicleId === after.vehicleId && fixTimeMs > after.fixTimeMs)),
    );
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const next = found.length > limit && last ? { vehicleId: last.vehicleId, fixTimeMs: last.fixTimeMs } : null;
    return { positions: page, next };
  };
  const fixesBefore: TrackReport['fixesBefore'] = async ({ vehicleIds, fromMs, beforeMs, count }) =>
    vehicleIds.flatMap((id) =>
      all
        .filter(({ vehicleId, valid }) => vehicleId === id && valid)
        .filter(({ fixTimeMs }) => fixTimeMs >= fromMs && fixTimeMs < beforeMs)
        .slice(-count),
    );
  const track: TrackReport['track'] = async ({ vehicleId, after, ...asked }) => {
    const page = await positions({
      vehicleIds: [vehicleId],
      ...asked,
      after: after && { vehicleId, fixTimeMs: after.fixTimeMs },
    });
    return {
      positions: page.positions,
      next: page.next && { fixTimeMs: page.next.fixTimeMs, rejection: null },
    };
  };
  return { positions, fixesBefore, track };
}

function ask(tracks: Tracks, more: Partial<Question> = {}): [ReportSources, Question] {
  const sources: ReportSources = {
    archive: { ...EMPTY_ARCHIVE, ...archiveOf(tracks) },
    geofenceName: () => null,
    seesGone: () => false,
    driversAt: async (moments) => moments.map(() => null),
    maintenance: NO_MAINTENANCE,
    placesOf: async (points) => points.map(() => null),
    visibleGeofences: async () => null,
    readDeleted: async () => {},
    latest: async () => [],
    connections: async () => new Map(),
  };
  const question: Question = {
    vehicles: [...tracks.keys()].toSorted().map((id) => vehicleOf(id)),
    fromMs: T0 - 1000,
    toMs: T0 + 400 * 86_400_000,
    timeZone: 'UTC',
    period: 'whole',
    eventKinds: null,
    geofenceId: null,
    maxPoints: null,
    workHours: null,
    ecoWeights: null,
    sensors: null,
    driverIds: null,
    nowMs: T0,
    signal: new AbortController().signal,
    ...more,
  };
  return [sources, question];
}

async function whole(tracks: Tracks, more: Partial<Question> = {}): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of allRows(trackReport, ...ask(tracks, more), 1_000_000)) rows.push(...page);
  return rows;
}

/** The same, so many rows at a time, with cursors as they come back from a client. */
async function byPages(tracks: Tracks, size: number, more: Partial<Question> = {}): Promise<Row[]> {
  const rows: Row[] = [];
  let after: unknown = null;
  do {
    const page = await fullPage(trackReport, ...ask(tracks, more), after, size);
    rows.push(...page.rows);
    after = page.next === null ? null : trackReport.cursor.parse(JSON.parse(JSON.stringify(page.next)));
  } while (after !== null);
  return rows;
}

const ONE = vehicleIdOf(1);
const TWO = vehicleIdOf(2);
const secondsOf = (row: Row) => (Number(row[AT.fixTime]) - T0) / 1000;
const jumpsIn = (rows: readonly Row[], vehicleId = ONE) =>
  rows.filter((row) => row[AT.vehicleId] === vehicleId && row[AT.rejection] === 'jump').map(secondsOf);

const near = (second: number, more: Partial<Position> = {}): Position => ({
  ...blankPosition(T0 + second * 1000, 52 + second * 1e-6, 13),
  ...more,
});
const far = (second: number, more: Partial<Position> = {}) => near(second, { latitude: -33, ...more });
const drive = (from: number, to: number) => Array.from({ length: (to - from) / 10 }, (_, nth) => near(from + nth * 10));

describe('jumps in a track', () => {
  test('in its middle: those alone that nobody gets to, each', async () => {
    const fixes = [...drive(0, 100), far(100), ...drive(110, 200), far(201), far(203), ...drive(210, 300)];
    expect(jumpsIn(await whole(new Map([[ONE, fixes]])))).toEqual([100, 201, 203]);
  });

  test('as its first, found by the fixes before it; and not those after it', async () => {
    const tracks = new Map([[ONE, [...drive(0, 100), far(100), ...drive(110, 200)]]]);
    expect(jumpsIn(await whole(tracks, { fromMs: T0 + 100_000 }))).toEqual([100]);
    // Even though its last fix was a day ago.
    const rare = new Map([[ONE, [near(0), far(3600), near(3610), near(3620)]]]);
    expect(jumpsIn(await whole(rare, { fromMs: T0 + 3_600_000 }))).toEqual([3600]);
  });

  test('where nothing was before it, the first is believed until three that agree over two minutes say otherwise', async () => {
    const tracks = new Map([[ONE, [far(0), ...drive(10, 300)]]]);
    const wanted = Array.from({ length: 12 }, (_, nth) => 10 + nth * 10);
    expect(jumpsIn(await whole(tracks))).toEqual(wanted);
    for (const size of [1, 2, 3, 5, 12, 13]) expect(jumpsIn(await byPages(tracks, size))).toEqual(wanted);
    // Once that is over, it is over for who asks from there on, though the wrong one is still looked at.
    expect(jumpsIn(await whole(tracks, { fromMs: T0 + 130_000 }))).toEqual([]);
  });

  test('on both sides of a page’s border', async () => {
    const fixes = [...drive(0, 50), far(50), ...drive(60, 100)];
    const tracks = new Map([[ONE, fixes]]);
    for (let size = 1; size <= fixes.length; size++) expect(jumpsIn(await byPages(tracks, size))).toEqual([50]);
  });

  test('of one vehicle say nothing of another, on the same page or the next', async () => {
    const tracks = new Map([
      [ONE, [...drive(0, 100), far(100)]],
      [TWO, [far(0), far(10), near(20), ...[30, 40, 50].map((second) => far(second))]],
    ]);
    for (const size of [1, 4, 11, 12, 100]) {
      const rows = await byPages(tracks, size);
      expect([jumpsIn(rows), jumpsIn(rows, TWO)]).toEqual([[100], [20]]);
    }
    const later = { fromMs: T0 + 20_000 };
    for (const size of [1, 8, 9, 100]) expect(jumpsIn(await byPages(tracks, size, later), TWO)).toEqual([20]);
  });

  test('are not made by what the terminal does not trust, and that is no jump itself', async () => {
    const fixes = [near(0), far(10, { valid: false }), near(20), far(30), far(40, { valid: false }), near(50)];
    const rows = await whole(new Map([[ONE, fixes]]));
    expect(jumpsIn(rows)).toEqual([30]);
    expect(rows.filter((row) => row[AT.valid] === false).map(secondsOf)).toEqual([10, 40]);
  });

  test('are no extremes of a simplified track', async () => {
    const fixes = drive(0, 5000).map((fix, nth) => (nth % 50 === 7 ? { ...fix, latitude: 80, speedKmh: 400 } : fix));
    const rows = await whole(new Map([[ONE, fixes]]), { maxPoints: 20 });
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => Number(row[AT.latitude]) > 60 || row[AT.rejection] !== null)).toEqual([]);
    // Nor where they are its first.
    const from = await whole(new Map([[ONE, fixes]]), { maxPoints: 20, fromMs: T0 + 70_000 });
    expect(secondsOf(from[0] as Row)).toBe(80);
  });
});

// Up to 40 fixes over 34 hours: no more than is read before a time range.
const fixes = fc
  .array(
    fc.record({
      seconds: fc.constantFrom(1, 5, 30, 30, 60, 60, 61, 90, 120, 900, 3000),
      place: fc.constantFrom('near', 'near', 'near', 'near', 'far', 'again'),
      valid: fc.constantFrom(true, true, true, true, false),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((steps) => {
    let [second, latitude] = [0, 52];
    return steps.map(({ seconds, place, valid }) => {
      second += seconds;
      if (place !== 'again') latitude = place === 'near' ? 52 + second * 1e-6 : -33;
      return near(second, { latitude, valid });
    });
  });
const someTracks = fc
  .array(fixes, { minLength: 1, maxLength: 4 })
  .map((each): Tracks => new Map(each.map((positions, nth) => [vehicleIdOf(nth + 1), positions])));

describe('whatever the fixes', () => {
  test('pages of any size come to the same as one, the jumps included', { timeout: 120_000 }, async () => {
    let jumps = 0;
    await fc.assert(
      fc.asyncProperty(someTracks, fc.integer({ min: 1, max: 50 }), fc.nat(1500), async (tracks, size, second) => {
        const more = { fromMs: T0 + second * 1000 };
        const rows = await whole(tracks, more);
        expect(await byPages(tracks, size, more)).toEqual(rows);
        jumps += rows.filter((row) => row[AT.rejection] !== null).length;

        // One vehicle's track by the page has a way of its own.
        const ofOne: unknown[] = [];
        let after: JudgedCursor | null = null;
        do {
          const asked = { vehicleId: ONE, fromMs: more.fromMs, toMs: T0 + 1e10, limit: size, after };
          const page = await judgedTrack(archiveOf(tracks), asked);
          ofOne.push(...page.positions.map(({ position, rejection }) => [position.fixTimeMs, rejection]));
          after = JSON.parse(JSON.stringify(page.next));
        } while (after !== null);
        expect(ofOne).toEqual(
          rows.filter((row) => row[AT.vehicleId] === ONE).map((row) => [row[AT.fixTime], row[AT.rejection]]),
        );
      }),
      { numRuns: runs(1000) },
    );
    expect(jumps).toBeGreaterThan(runs(1000));
  });

  test('jumps are those that move nothing in the rules, wherever the time range begins', {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fixes, fc.nat(40), async (positions, from) => {
        const engine = new Engine();
        const unmoved = positions.filter(
          (position, offset) =>
            engine.process(
              {
                vehicleId: ONE,
                terminalId: '1' as TerminalId,
                protocol: 'osmand',
                receivedAtMs: position.fixTimeMs,
                positions: [position],
              },
              offset,
              [],
            ) === 0,
        );
        const fromMs = positions[from % positions.length]?.fixTimeMs ?? 0;
        const wanted = unmoved.filter(({ valid, fixTimeMs }) => valid && fixTimeMs >= fromMs);
        const rows = await whole(new Map([[ONE, positions]]), { fromMs });
        expect(jumpsIn(rows)).toEqual(wanted.map(({ fixTimeMs }) => (fixTimeMs - T0) / 1000));
      }),
      { numRuns: runs(500) },
    );
  });
});

test('a simplified straight drive shows where data is missing, and nowhere else', async () => {
  const hour = 3600;
  const fixes = [...drive(0, 10 * hour), ...drive(14 * hour, 24 * hour)];
  const maxPoints = 200;
  const rows = await whole(new Map([[ONE, fixes]]), { maxPoints, fromMs: T0, toMs: T0 + 24 * hour * 1000 });
  const times = rows.map(secondsOf);
  const silence = (8 * 24 * hour) / maxPoints;
  expect(times.length).toBeLessThanOrEqual(maxPoints);
  expect(times.slice(1).flatMap((at, nth) => (at - (times[nth] ?? 0) > silence ? [[times[nth], at]] : []))).toEqual([
    [10 * hour - 10, 14 * hour],
  ]);
});
