import {
  blankPosition,
  type Position,
  type SensorId,
  type SensorThreshold,
  type TelemetryPacket,
  type TerminalId,
} from '@outrider/domain';
import { sampleSensor } from '@outrider/domain/samples';
import { Engine } from '@outrider/engine';
import { runs } from '@outrider/testing';
import type { MeasuredRecord } from '@outrider/warehouse';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY_ARCHIVE } from '../empty-archive.fixture.ts';
import { vehicleIdOf, vehicleOf } from '../fleet.fixture.ts';
import { fullPage, type Question, type ReportKind, type ReportSources, type Value } from '../report.ts';
import { sensorSeriesReport, sensorsReport, seriesCuts } from './sensors.ts';

const T0 = Date.UTC(2026, 2, 2);
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const threshold = (more: Partial<SensorThreshold>): SensorThreshold => ({
  ...{ id: 't', condition: 'above', min: null, max: null, hysteresis: 0, forSeconds: 0 },
  ...more,
});
const CARGO = sampleSensor({
  ...{ id: 's1' as SensorId, name: 'Cargo', source: 'raw' },
  calibration: [
    { raw: 0, value: -20 },
    { raw: 100, value: 30 },
  ],
  thresholds: [threshold({ max: 8 }), threshold({ condition: 'outside', min: 2, max: 9 })],
});
const CONTACT = sampleSensor({ id: 's2' as SensorId, name: 'Rear', kind: 'digital', unit: '', source: 'open' });

function recordAt(atMs: number, attributes: Position['attributes']): MeasuredRecord {
  return { ...blankPosition(atMs, 0, 0), attributes, receivedAtMs: atMs + 1000, rejection: null };
}

/** An archive of these records that brings two times a page. */
function archiveOf(records: readonly MeasuredRecord[]): Pick<ReportSources, 'archive'> {
  return {
    archive: {
      ...EMPTY_ARCHIVE,
      async records({ fromMs, toMs, after }) {
        const wanted = records.filter(({ fixTimeMs: at }) => at >= fromMs && at < toMs && at > (after ?? -Infinity));
        const times = [...new Set(wanted.map(({ fixTimeMs }) => fixTimeMs))].sort((a, b) => a - b);
        const page = wanted
          .filter(({ fixTimeMs }) => times.slice(0, 2).includes(fixTimeMs))
          .toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
        return { records: page, next: times.length > 2 ? (times[1] ?? null) : null };
      },
    },
  };
}

function questionOf(more: Partial<Question> = {}): Question {
  return {
    vehicles: [vehicleOf(vehicleIdOf(1), { sensors: [CARGO, CONTACT] })],
    ...{ fromMs: T0, toMs: T0 + 2 * DAY_MS, timeZone: 'UTC', period: 'day', eventKinds: null, geofenceId: null },
    ...{ maxPoints: null, workHours: null, ecoWeights: null, sensors: null, driverIds: null, nowMs: T0 + 3 * DAY_MS },
    ...{ signal: new AbortController().signal },
    ...more,
  };
}

async function itemsOf(
  kind: ReportKind,
  records: readonly MeasuredRecord[],
  question = questionOf(),
  limit = 1000,
): Promise<Record<string, Value>[]> {
  const items: Record<string, Value>[] = [];
  let after: unknown = null;
  do {
    const page = await fullPage(kind, archiveOf(records) as ReportSources, question, after, limit);
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    for (const row of page.rows)
      items.push(Object.fromEntries(kind.columns.map(({ name }, nth) => [name, row[nth] ?? null])));
    after = page.next === null ? null : kind.cursor.parse(JSON.parse(JSON.stringify(page.next)));
  } while (after !== null);
  return items;
}

test('values, times beyond thresholds and times on, over midnight', async () => {
  const records = [
    recordAt(T0 + DAY_MS - 4 * MINUTE_MS, { raw: 40, open: false }),
    // 10 degrees, open.
    recordAt(T0 + DAY_MS - 2 * MINUTE_MS, { raw: 60, open: true }),
    recordAt(T0 + DAY_MS + MINUTE_MS, { raw: 42 }),
    recordAt(T0 + DAY_MS + 2 * MINUTE_MS, { raw: 52, open: false }),
    // After a gap; nothing is known of the time before.
    recordAt(T0 + DAY_MS + 3 * 60 * MINUTE_MS, { raw: 40, open: true }),
  ];
  const common = { vehicleName: 'Van 0001', sensorKind: 'temperature', sensorName: 'Cargo', unit: '°C' };
  const items = await itemsOf(sensorsReport, records);
  expect(items).toMatchObject([
    {
      ...{ ...common, period: '2026-03-02', min: 0, mean: 5, max: 10, samples: 2 },
      ...{ knownSeconds: 240, aboveSeconds: 120, belowSeconds: 120, insideSeconds: null, onSeconds: null },
    },
    { sensorName: 'Rear', min: 0, mean: 0.5, max: 1, onSeconds: 120, offSeconds: 120, timesOn: 1, aboveSeconds: null },
    {
      ...{ ...common, period: '2026-03-03', min: 0, max: 6, samples: 3 },
      ...{ knownSeconds: 120, aboveSeconds: 60, belowSeconds: 60 },
    },
    { sensorName: 'Rear', period: '2026-03-03', samples: 2, onSeconds: 120, offSeconds: 0, timesOn: 0 },
  ]);
  expect(items).toHaveLength(4);
  const recalibrated = { ...CARGO, calibration: [] };
  const anew = questionOf({ vehicles: [vehicleOf(vehicleIdOf(1), { sensors: [recalibrated] })], period: 'whole' });
  expect(await itemsOf(sensorsReport, records, anew)).toMatchObject([{ min: 40, max: 60, aboveSeconds: 360 }]);
});

test('sensors are chosen by name or by id, and vehicles without them have no rows', async () => {
  const records = [recordAt(T0, { raw: 0, open: true })];
  const vehicles = [vehicleOf(vehicleIdOf(1)), vehicleOf(vehicleIdOf(2), { sensors: [CARGO, CONTACT] })];
  const named = async (sensors: string[] | null) =>
    (await itemsOf(sensorsReport, records, questionOf({ vehicles, sensors }))).map(({ sensorId }) => sensorId);
  expect(await named(null)).toEqual(['s1', 's2']);
  expect(await named(['REAR'])).toEqual(['s2']);
  expect(await named(['s1', 'no such'])).toEqual(['s1']);
  expect(await named(['no such'])).toEqual([]);
});

test('what was measured without a fix counts, and what is from the future does not', async () => {
  const records = [
    { ...recordAt(T0, { raw: 0 }), rejection: 'null-island' as const },
    { ...recordAt(T0 + DAY_MS, { raw: 100 }), rejection: 'time-in-future' as const, receivedAtMs: T0 },
  ];
  expect(await itemsOf(sensorsReport, records)).toMatchObject([{ sensorName: 'Cargo', samples: 1, max: -20 }]);
});

test('a series has as many intervals as asked for at most, of lengths that people know', () => {
  const cuts = (hours: number, maxPoints: number | null, timeZone = 'UTC') =>
    seriesCuts({ fromMs: T0 + 90_000, toMs: T0 + 90_000 + hours * 3_600_000, maxPoints, timeZone });
  expect(cuts(1, null)).toHaveLength(62);
  expect(cuts(24, 100).slice(0, 3)).toEqual([T0 + 90_000, T0 + 15 * MINUTE_MS, T0 + 30 * MINUTE_MS]);
  // Midnight in Kolkata is at half past in UTC.
  expect((cuts(24 * 7, 40, 'Asia/Kolkata')[1] as number) % (6 * 3_600_000)).toBe(30 * MINUTE_MS);
  for (const most of [7, 50, 500]) expect(cuts(24 * 31, most).length - 1).toBeLessThanOrEqual(most);
});

const someRecords = fc.array(
  fc.record({
    minutes: fc.integer({ min: -30, max: 2 * 24 * 60 + 30 }),
    raw: fc.option(fc.integer({ min: 0, max: 100 }), { freq: 8 }),
    open: fc.option(fc.boolean(), { freq: 4 }),
  }),
  { maxLength: 60 },
);

test('pages of any size say the same, and so does a plain walk over all values', async () => {
  await fc.assert(
    fc.asyncProperty(
      someRecords,
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom(1, 3),
      async (given, limit, smoothing) => {
        const minutes = [...new Map(given.map((each) => [each.minutes, each])).values()];
        const records = minutes
          .map(({ minutes: at, raw, open }) =>
            recordAt(T0 + at * MINUTE_MS, { ...(raw !== null && { raw }), ...(open !== null && { open }) }),
          )
          .toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
        const vehicles = [
          vehicleOf(vehicleIdOf(1), { sensors: [{ ...CARGO, smoothing }, CONTACT], tripGapMinutes: 60 }),
        ];
        const question = questionOf({ vehicles, maxPoints: 20 });
        const all = await itemsOf(sensorSeriesReport, records, question);
        expect(await itemsOf(sensorSeriesReport, records, question, limit)).toEqual(all);
        const statistics = await itemsOf(sensorsReport, records, question);
        expect(await itemsOf(sensorsReport, records, question, limit)).toEqual(statistics);

        const values = plainValues(records, smoothing, 60 * MINUTE_MS);
        const within = values.filter(({ atMs }) => atMs >= T0 && atMs < T0 + 2 * DAY_MS);
        const cargo = all.filter(({ sensorName }) => sensorName === 'Cargo');
        expect(cargo.reduce((sum, { samples }) => sum + Number(samples), 0)).toBe(within.length);
        if (within.length > 0) {
          expect(Math.max(...cargo.map(({ max }) => Number(max)))).toBeCloseTo(
            Math.max(...within.map((each) => each.value)),
          );
          expect(Math.min(...cargo.map(({ min }) => Number(min)))).toBeCloseTo(
            Math.min(...within.map((each) => each.value)),
          );
        }
        const aboveMs = values.slice(0, -1).reduce((sum, { atMs, value }, nth) => {
          const nextMs = values[nth + 1]?.atMs ?? atMs;
          if (value <= 8 || nextMs - atMs > 60 * MINUTE_MS) return sum;
          return sum + Math.max(0, Math.min(nextMs, T0 + 2 * DAY_MS) - Math.max(atMs, T0));
        }, 0);
        const above = statistics.reduce((sum, { aboveSeconds }) => sum + Number(aboveSeconds ?? 0), 0);
        expect(above * 1000).toBeCloseTo(aboveMs);
      },
    ),
    { numRuns: runs(200) },
  );
});

/** Calibrated by hand; medians of the values up to each that no gap parts. */
function plainValues(records: readonly MeasuredRecord[], smoothing: number, gapMs: number) {
  const raw = records.flatMap(({ fixTimeMs, attributes }) =>
    typeof attributes?.raw === 'number' ? [{ atMs: fixTimeMs, value: attributes.raw / 2 - 20 }] : [],
  );
  return raw.map(({ atMs }, nth) => {
    const some: number[] = [];
    for (let at = nth; at >= 0 && some.length < smoothing; at--) {
      some.push((raw[at] as { value: number }).value);
      if (at > 0 && (raw[at] as { atMs: number }).atMs - (raw[at - 1] as { atMs: number }).atMs > gapMs) break;
    }
    some.sort((a, b) => a - b);
    const middle = (some.length - 1) / 2;
    return { atMs, value: ((some[Math.floor(middle)] ?? 0) + (some[Math.ceil(middle)] ?? 0)) / 2 };
  });
}

test('the last value is the one that the rules show', async () => {
  const vehicle = vehicleOf(vehicleIdOf(1), { sensors: [{ ...CARGO, smoothing: 3 }] });
  const engine = new Engine();
  engine.load([{ kind: 'vehicle', id: vehicle.id, version: 1, changedAtMs: 0, definition: vehicle }]);
  const records = [10, 90, 30, 55, 42].map((raw, nth) => recordAt(T0 + nth * MINUTE_MS, { raw }));
  for (const [nth, record] of records.entries()) {
    const packet = {
      vehicleId: vehicle.id,
      terminalId: '1' as TerminalId,
      protocol: 'osmand',
      receivedAtMs: record.fixTimeMs,
    };
    engine.process({ ...packet, positions: [{ ...record, latitude: 50, longitude: 10 }] } as TelemetryPacket, nth, []);
  }
  const question = questionOf({ vehicles: [vehicle], toMs: T0 + 10 * MINUTE_MS });
  const series = await itemsOf(sensorSeriesReport, records, question);
  expect(engine.statusOf(vehicle.id)?.sensors).toMatchObject([{ value: series.at(-1)?.max }]);
});
