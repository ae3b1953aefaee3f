import {
  blankPosition,
  type CounterTerms,
  type CustomCounterId,
  isTimely,
  type Sensor,
  type SensorId,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CounterRecord, type CounterState, countOn, countUntil, freshCounters, sumsOf } from './counters.ts';

const T0 = Date.UTC(2026, 2, 1, 20);
const HOUR_MS = 3_600_000;
const idOf = (nth: number) => `01961f3d-7c10-7c3e-9b1d-00000000000${nth}` as CustomCounterId;

const sensorOf = (source: string, more: Partial<Sensor> = {}): Sensor => ({
  id: `01961f3d-7c10-7c3e-9b1d-2f6a0c4e8d5d` as SensorId,
  ...{ name: '', kind: 'custom', unit: '', source, calibration: [], outside: 'extrapolate' },
  ...{ validMin: null, validMax: null, onlyWithIgnition: false, smoothing: 1, thresholds: [] },
  ...more,
});
const termsOf = (source: CounterTerms['source'], sensor: Sensor | null, fromSecond = 0, gapMs = 0): CounterTerms => ({
  fromMs: T0 + fromSecond * 1000,
  source,
  sensor,
  gapMs,
});
const recordAt = (
  second: number,
  attributes: CounterRecord['attributes'],
  more: Partial<CounterRecord> = {},
): CounterRecord => ({
  ...blankPosition(T0 + second * 1000, 50, 10),
  receivedAtMs: T0 + second * 1000 + 500,
  rejection: null,
  terminalId: '1',
  attributes,
  ...more,
});
const shown = (terms: readonly CounterTerms[], records: readonly CounterRecord[]) => {
  const { sums, first } = countOn(freshCounters(), records, [], [{ id: idOf(1), terms }]);
  return [sums.custom[idOf(1)] ?? 0, first.custom[idOf(1)] ?? 0];
};

describe('a running total', () => {
  const total = [termsOf('sensor-total', sensorOf('pulses'))];
  const at = (second: number, pulses: number) => recordAt(second, { pulses });

  test('goes on from its first value; where it falls it continues nothing', () => {
    const records = [at(0, 3410), at(60, 3415), at(120, 0), at(180, 2), at(90_000, 12), at(90_060, 12)];
    expect(shown(total, records)).toEqual([5 + 2 + 10, 3410]);
  });

  test('of another sensor goes on from what was counted; a sensor that is gone counts nothing', () => {
    const terms = [
      ...total,
      termsOf('sensor-total', sensorOf('pulses * 10'), 100),
      termsOf('sensor-total', null, 300),
      termsOf('sensor-total', sensorOf('pulses'), 500),
    ];
    const records = [at(0, 100), at(60, 103), at(120, 110), at(180, 112), at(360, 500), at(560, 600), at(620, 601)];
    expect(shown(terms, records)).toEqual([3 + 20 + 1, 100]);
  });

  test('counts nothing from before it starts, and what the first sensor showed is no part of the sum', () => {
    expect(shown([termsOf('sensor-total', sensorOf('pulses'), 100)], [at(0, 5), at(100, 50), at(160, 51)])).toEqual([
      1, 50,
    ]);
  });
});

describe('hours of a digital sensor', () => {
  const hours = [termsOf('sensor-hours', sensorOf('pto', { kind: 'digital' }))];
  const at = (second: number, pto: number | boolean) => recordAt(second, { pto });

  test('are those between values at most an hour apart, the first of which is not 0', () => {
    const records = [at(0, true), recordAt(900, null), at(1800, 1), at(3600, 0), at(5400, 1), at(9001, 1), at(9901, 0)];
    expect(shown(hours, records)).toEqual([1 + 0.25, 0]);
  });
});

test('what was counted before there were custom counters goes on, and a counter that is gone is forgotten', () => {
  const { custom, ...before } = countOn(freshCounters(), [recordAt(0, null), recordAt(60, null)], []).settled;
  expect(custom).toEqual({});
  const counters = [{ id: idOf(1), terms: [termsOf('sensor-total', sensorOf('pulses'))] }];
  const records = [recordAt(60, { pulses: 1 }), recordAt(120, { pulses: 4 }), recordAt(180, { pulses: 5 })];
  const run = countOn(before, records, [], counters);
  expect(run.sums.custom).toEqual({ [idOf(1)]: 4 });
  expect(run.sums.odometerM).toBe(0);
  expect(countOn(run.settled, records, [], []).sums.custom).toEqual({});
});

test('the first record with which a sum is reached', () => {
  const counters = [{ id: idOf(1), terms: [termsOf('sensor-total', sensorOf('pulses'))] }];
  const records = [0, 3, 5, 9].map((pulses, nth) => recordAt(nth * 60, { pulses }));
  const { reached } = countUntil(freshCounters(), records, ({ custom }) => (custom[idOf(1)] ?? 0) >= 5, counters);
  expect(reached?.fixTimeMs).toBe(T0 + 120_000);
});

/** The sums by the plainest means: all records anew, and all values before each. */
function plainSum(terms: readonly CounterTerms[], records: readonly CounterRecord[]): { sum: number; first: number } {
  const believed = records.filter(
    (record) => (record.valid && record.rejection === null) || isTimely(record, record.receivedAtMs),
  );
  let sum = 0;
  let first: number | null = null;
  for (const [nth, { fromMs, source, sensor, gapMs }] of terms.entries()) {
    const toMs = terms[nth + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
    const raws: { atMs: number; value: number }[] = [];
    for (const { fixTimeMs, attributes, ignition } of believed) {
      if (fixTimeMs < fromMs || fixTimeMs >= toMs || sensor === null) continue;
      const value = attributes?.[sensor.source];
      if (typeof value !== 'number' || value > (sensor.validMax ?? Number.POSITIVE_INFINITY)) continue;
      if (sensor.onlyWithIgnition && ignition !== true) continue;
      if (fixTimeMs > (raws.at(-1)?.atMs ?? 0)) raws.push({ atMs: fixTimeMs, value });
    }
    const values = raws.map(({ atMs }, at) => {
      let since = at;
      const isGap = (place: number) => (raws[place]?.atMs ?? 0) - (raws[place - 1]?.atMs ?? 0) > gapMs;
      while (since > 0 && at - since + 1 < (sensor?.smoothing ?? 1) && !isGap(since)) since--;
      const sorted = raws
        .slice(since, at + 1)
        .map(({ value }) => value)
        .sort((a, b) => a - b);
      const half = (sorted.length - 1) / 2;
      return { atMs, value: ((sorted[Math.floor(half)] ?? 0) + (sorted[Math.ceil(half)] ?? 0)) / 2 };
    });
    for (const [at, now] of values.entries()) {
      const before = values[at - 1];
      if (source === 'sensor-hours') {
        const lastedMs = before === undefined ? 0 : now.atMs - before.atMs;
        if (before && before.value !== 0 && lastedMs <= HOUR_MS) sum += lastedMs / HOUR_MS;
      } else if (before === undefined) {
        if (sum === 0) first ??= now.value;
      } else sum += Math.max(0, now.value - before.value);
    }
  }
  return { sum, first: first ?? 0 };
}

const sensor = fc.record({
  source: fc.constantFrom('a', 'b'),
  onlyWithIgnition: fc.boolean(),
  smoothing: fc.constantFrom(1, 1, 3, 4),
  validMax: fc.constantFrom(null, 40),
});
const terms = fc
  .uniqueArray(
    fc.record({
      fromSecond: fc.integer({ min: 0, max: 100_000 }),
      source: fc.constantFrom('sensor-total' as const, 'sensor-hours' as const),
      sensor: fc.option(sensor, { freq: 4 }),
    }),
    { minLength: 1, maxLength: 4, selector: ({ fromSecond }) => fromSecond },
  )
  .map((all) =>
    all
      .toSorted((a, b) => a.fromSecond - b.fromSecond)
      .map(({ fromSecond, source, sensor: of }) =>
        termsOf(source, of && sensorOf(of.source, of), fromSecond, (of?.smoothing ?? 1) > 1 ? 600_000 : 0),
      ),
  );
const step = fc.record({
  seconds: fc.constantFrom(0, 5, 60, 300, 601, 1800, 3600, 3601, 30_000),
  a: fc.constantFrom(null, 0, 0, 1, 2, 10, 50),
  b: fc.constantFrom(null, 0, 1),
  ignition: fc.constantFrom(null, true, true, false),
  valid: fc.constantFrom(true, true, false),
  isLate: fc.constantFrom(false, false, false, true),
});
const drive = fc.array(step, { minLength: 1, maxLength: 50 }).map((steps) => {
  let second = 0;
  return steps.map(({ seconds, a, b, isLate, ...more }) => {
    second += seconds;
    const attributes = { ...(a !== null && { a }), ...(b !== null && { b }) };
    const record = recordAt(second, attributes, more);
    // Without a valid fix its time is believed only where it came soon.
    return isLate ? { ...record, receivedAtMs: record.fixTimeMs + 40 * 86_400_000 } : record;
  });
});

test('sums are those of the plain rules, counted at once or from any state that was left', () => {
  fc.assert(
    fc.property(
      drive,
      fc.array(terms, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(50), { maxLength: 5 }),
      (records, all, cuts) => {
        const counters = all.map((each, nth) => ({ id: idOf(nth), terms: each }));
        const whole = countOn(freshCounters(), records, [], counters);
        for (const { id, terms: each } of counters) {
          const plain = plainSum(each, records);
          expect(whole.sums.custom[id] ?? 0).toBeCloseTo(plain.sum, 9);
          expect(whole.first.custom[id] ?? 0).toBe(plain.first);
        }
        let state: CounterState = freshCounters();
        for (const cut of [...cuts.sort((a, b) => a - b), records.length]) {
          const left = JSON.parse(JSON.stringify(state)) as CounterState;
          const part = records.filter(
            ({ fixTimeMs }, nth) => nth < cut && (left.throughMs === 0 || fixTimeMs > left.throughMs),
          );
          const run = countOn(left, part, [], counters);
          state = run.settled;
          if (cut === records.length) expect(run.sums).toEqual(whole.sums);
        }
        expect(sumsOf(state).custom).toBeDefined();
      },
    ),
    { numRuns: runs(1000) },
  );
});
