import { blankPosition, type CounterSums, isTimely } from '@outrider/domain';
import { distanceM } from '@outrider/geo';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JumpJudge } from '../intake/jump.ts';
import { type CounterRecord, type CounterState, countOn, freshCounters } from './counters.ts';

const T0 = Date.UTC(2026, 2, 1, 20);
const HOUR_MS = 3_600_000;

const recordAt = (second: number, fields: Partial<CounterRecord> = {}): CounterRecord => ({
  ...blankPosition(T0 + second * 1000, 50 + second / 100_000, 10),
  receivedAtMs: T0 + second * 1000 + 500,
  valid: true,
  rejection: null,
  speedKmh: 40,
  ignition: null,
  odometerM: null,
  terminalId: '1',
  attributes: null,
  ...fields,
});

/** The odometer, but for where it counts less than half of the way between the fixes and lacks 500 m. */
function countedM(steps: readonly { odometerM: number; fixesM: number }[]): number {
  const total = (of: typeof steps, name: 'odometerM' | 'fixesM') => of.reduce((sum, each) => sum + each[name], 0);
  const agreed = steps.findIndex((_, nth) => {
    const upTo = steps.slice(0, nth + 1);
    return total(upTo, 'odometerM') >= total(upTo, 'fixesM') / 2;
  });
  const part = agreed < 0 ? steps : steps.slice(0, agreed + 1);
  const claims = part.map((_, nth) => {
    const [odometerM, fixesM] = [total(part.slice(0, nth + 1), 'odometerM'), total(part.slice(0, nth + 1), 'fixesM')];
    return odometerM < fixesM / 2 && fixesM - odometerM > 500 ? fixesM : odometerM;
  });
  return Math.max(0, ...claims) + (agreed < 0 ? 0 : countedM(steps.slice(agreed + 1)));
}

type PlainSums = Pick<CounterSums, 'odometerM' | 'engineMs'>;
function plainSums(records: readonly CounterRecord[]): { sums: PlainSums; first: PlainSums } {
  const believed = records.filter(
    (record) => (record.valid && record.rejection === null) || isTimely(record, record.receivedAtMs),
  );
  const judge = new JumpJudge();
  let odometer = 0;
  /** By the fixes alone, without readings that go on; and what both say of the other steps. */
  let before = 0;
  const steps: { odometerM: number; fixesM: number }[] = [];
  let engine = 0;
  let ownM = 0;
  let ownMs = 0;
  let fix: CounterRecord | null = null;
  let read: CounterRecord | null = null;
  let readHours: { record: CounterRecord; hours: number } | null = null;
  const top = { odometerM: 0, engineMs: 0 };
  const first = { odometerM: 0, engineMs: 0 };
  const note = () => {
    top.odometerM = Math.max(top.odometerM, odometer + ownM);
    top.engineMs = Math.max(top.engineMs, engine + ownMs);
  };
  for (const [nth, record] of believed.entries()) {
    note();
    const ignition = believed.slice(0, nth).findLast((each) => each.ignition !== null)?.ignition ?? null;
    const elapsedMs = nth === 0 ? 0 : record.fixTimeMs - (believed[nth - 1] as CounterRecord).fixTimeMs;
    if (ignition === true && elapsedMs <= HOUR_MS) ownMs += elapsedMs;
    const hours = record.attributes?.engineHours;
    if (typeof hours === 'number' && (readHours === null || record.fixTimeMs > readHours.record.fixTimeMs)) {
      const grown = readHours === null ? 0 : hours * HOUR_MS - readHours.hours * HOUR_MS;
      const after = readHours === null ? 0 : record.fixTimeMs - readHours.record.fixTimeMs;
      const isNext = readHours?.record.terminalId === record.terminalId && grown >= 0 && grown <= after + 360_000;
      if (readHours === null) {
        engine += ownMs;
        if (engine < HOUR_MS) first.engineMs = hours * HOUR_MS - engine;
      } else engine += isNext ? grown : ownMs;
      ownMs = 0;
      readHours = { record, hours };
    }
    if (!record.valid || record.rejection !== null) continue;
    const verdict = judge.judge(record);
    if (verdict === 'jump') continue;
    const from: CounterRecord | null = fix;
    if (verdict === 'moves') {
      const stepMs = from === null ? 0 : record.fixTimeMs - from.fixTimeMs;
      const metres = from === null ? 0 : distanceM(from.longitude, from.latitude, record.longitude, record.latitude);
      const implied = stepMs > 0 ? (metres * 3600) / stepMs : 0;
      const isFar = stepMs > 0 && metres * 3600 > 500 * stepMs;
      const moves = (from?.speedKmh ?? implied) > 2 || (record.speedKmh ?? implied) > 2 || metres > 50;
      if (from !== null && !isFar && moves) ownM += metres;
      fix = record;
    }
    if (record.odometerM === null || (read !== null && record.fixTimeMs <= read.fixTimeMs)) continue;
    const grown = record.odometerM - (read?.odometerM ?? 0);
    const after = read === null ? 1 : record.fixTimeMs - read.fixTimeMs;
    const isNext = read?.terminalId === record.terminalId && grown >= 0 && grown * 3600 <= 500 * after;
    if (read === null) {
      before = ownM;
      odometer = before;
      if (odometer < 1000) first.odometerM = record.odometerM - odometer;
    } else {
      if (read.odometerM === 0 && record.odometerM === 0) continue;
      if (isNext) steps.push({ odometerM: grown, fixesM: ownM });
      else before += ownM;
      odometer = before + countedM(steps);
    }
    ownM = 0;
    read = record;
  }
  note();
  return { sums: top, first };
}

const step = fc.record({
  seconds: fc.constantFrom(0, 5, 10, 60, 300, 1800, 3601, 30_000, 90_000),
  north: fc.constantFrom(0, 0, 0.0001, 0.002, 0.02, 5),
  valid: fc.constantFrom(true, true, true, true, false),
  speedKmh: fc.constantFrom(null, 0, 1, 40, 90),
  ignition: fc.constantFrom(null, true, true, false),
  driven: fc.constantFrom(null, null, 0, 150, 2000),
  reset: fc.constantFrom(false, false, false, false, false, true),
  terminalId: fc.constantFrom('1', '1', '1', '2'),
  engine: fc.constantFrom(null, null, 0, 0.05, 0.5),
});

/** Records in their order; odometers and hours grow from 100 km and 50 h, and begin anew where they are reset. */
const drive = fc.array(step, { minLength: 1, maxLength: 60 }).map((steps) => {
  let second = 0;
  let latitude = 50;
  let odometerM = 100_000;
  let hours = 50;
  return steps.map(({ seconds, north, driven, reset, engine, ...fields }): CounterRecord => {
    second += seconds;
    latitude += north;
    odometerM = reset ? 0 : odometerM + (driven ?? 0);
    hours = reset ? 0 : hours + (engine ?? 0);
    return recordAt(second, {
      ...fields,
      latitude,
      odometerM: driven === null ? null : odometerM,
      attributes: engine === null ? null : { engineHours: hours },
    });
  });
});

test('sums are those of the plain rules', () => {
  fc.assert(
    fc.property(drive, (records) => {
      const found = countOn(freshCounters(), records, []);
      const plain = plainSums(records);
      for (const name of ['odometerM', 'engineMs'] as const) {
        expect(found.sums[name]).toBeCloseTo(plain.sums[name], 6);
        expect(found.first[name]).toBeCloseTo(plain.first[name], 6);
      }
    }),
    { numRuns: runs(1000) },
  );
});

test('counted on from any state that was left, in any parts, sums, marks and days are bit for bit the same', () => {
  const asked = fc.array(fc.integer({ min: -10, max: 200_000 }), { maxLength: 4 });
  fc.assert(
    fc.property(drive, fc.array(fc.nat(60), { maxLength: 6 }), asked, (records, cuts, seconds) => {
      const marks = [...new Set(seconds)].sort((a, b) => a - b).map((second) => T0 + second * 1000);
      const whole = countOn(freshCounters(), records, marks);
      let state: CounterState = freshCounters();
      const marked = new Map<number, CounterSums>();
      const days = new Set<string>();
      for (const cut of [...cuts.sort((a, b) => a - b), records.length]) {
        const left = JSON.parse(JSON.stringify(state)) as CounterState;
        const part = records.filter(
          ({ fixTimeMs }, nth) => nth < cut && (left.throughMs === 0 || fixTimeMs > left.throughMs),
        );
        const run = countOn(
          left,
          part,
          marks.filter((mark) => mark >= left.throughMs),
        );
        for (const [mark, sums] of run.marked) marked.set(mark, sums);
        for (const day of run.days) days.add(JSON.stringify(day));
        state = run.settled;
        if (cut === records.length) expect(run.sums).toEqual(whole.sums);
      }
      expect(marked).toEqual(whole.marked);
      expect(days).toEqual(new Set(whole.days.map((day) => JSON.stringify(day))));
    }),
    { numRuns: runs(1000) },
  );
});

const shown = (records: readonly CounterRecord[], name: 'odometerM' | 'engineMs') => {
  const { sums, first } = countOn(freshCounters(), records, []);
  return sums[name] + first[name];
};

describe('an odometer', () => {
  test.each([
    ['that is always 0', () => 0],
    ['that stands still', () => 9_650],
    ['that stands still half way', (nth: number) => 9_650 + 100 * Math.min(nth, 125)],
    ['in steps of a kilometre', (nth: number) => 9_000 + 1000 * Math.floor((650 + 100 * nth) / 1000)],
    ['in metres', (nth: number) => 9_650 + 100 * nth],
  ])('%s, and 25 km between the fixes, are 25 km', (_, reading) => {
    const metreDeg = 0.001 / distanceM(10, 50, 10, 50.001);
    const records = Array.from({ length: 251 }, (_each, nth) =>
      recordAt(10 * nth, { latitude: 50 + nth * 100 * metreDeg, odometerM: reading(nth) }),
    );
    const { odometerM } = countOn(freshCounters(), records, []).sums;
    expect(Math.abs(odometerM - 25_000)).toBeLessThan(660);
  });

  test('is the terminal’s from its first reading on, and survives its reset and its swap', () => {
    const records = [
      recordAt(0, { odometerM: 120_000_000 }),
      recordAt(60, { odometerM: 120_000_700 }),
      // Reset: by the fixes it came 60 s on the same way.
      recordAt(120, { odometerM: 0 }),
      recordAt(180, { odometerM: 650 }),
      recordAt(240, { odometerM: 77_000, terminalId: '2' }),
      recordAt(300, { odometerM: 77_600, terminalId: '2' }),
    ];
    const way = distanceM(10, 50, 10, 50.0006);
    expect(shown(records, 'odometerM')).toBeCloseTo(120_000_000 + 700 + way + 650 + way + 600, 0);
  });

  test('counts what a gap hid, and no jitter of a vehicle that stands', () => {
    const parked = Array.from({ length: 50 }, (_, nth) =>
      recordAt(nth * 60, { latitude: 50 + (nth % 2) * 0.0001, speedKmh: 0 }),
    );
    expect(countOn(freshCounters(), parked, []).sums.odometerM).toBe(0);
    const driven = [recordAt(0, { odometerM: 5_000_000 }), recordAt(100_000, { odometerM: 5_300_000 })];
    expect(shown(driven, 'odometerM')).toBe(5_300_000);
    expect(countOn(freshCounters(), driven, []).sums.odometerM).toBe(300_000);
  });
});

describe('engine hours', () => {
  test('are the time with the ignition on, but not over a gap', () => {
    const records = [
      recordAt(0, { ignition: true }),
      recordAt(600),
      recordAt(1200, { ignition: false, valid: false }),
      recordAt(2000, { ignition: true }),
      recordAt(90_000, { ignition: false }),
    ];
    expect(countOn(freshCounters(), records, []).sums.engineMs).toBe(1_200_000);
  });

  test('are the terminal’s where it counts them', () => {
    const records = [
      recordAt(0, { ignition: true, attributes: { engineHours: 1234.5 } }),
      recordAt(1800, { ignition: true }),
      recordAt(3600, { ignition: false, attributes: { engineHours: 1235.4 } }),
    ];
    expect(shown(records.slice(0, 2), 'engineMs')).toBe(1235 * HOUR_MS);
    expect(shown(records, 'engineMs')).toBeCloseTo(1235.4 * HOUR_MS, 3);
  });
});
