import { expect, test } from 'vitest';
import { accuracyOf, compareMany, findingsOf } from './accuracy.fixture.ts';
import { type FuelFinding, type FuelRecord, MAX_MINUTES, takeFuel } from './detector.ts';
import { decodeFuel, encodeFuel, freshFuelState } from './fuel-state.ts';
import { tankOf } from './tank.ts';
import { tankStory } from './tank-data.fixture.ts';

const T0 = Date.UTC(2026, 4, 4);
const DAY_MS = 86_400_000;
const SETTINGS = { tankCapacityL: 400, minRefuelL: null, minDrainL: null, fuelPer100KmL: 30, fuelPerHourL: 2.5 };

/** Records a minute apart; each leg is so many minutes at a speed, with the level from one value to another. */
function recordsOf(
  legs: readonly { minutes: number; speedKmh?: number; fromL: number; toL?: number; ignition?: boolean }[],
): FuelRecord[] {
  const records: FuelRecord[] = [];
  let atMs = T0;
  let latitude = 50;
  for (const { minutes, speedKmh = 0, fromL, toL = fromL, ignition = speedKmh > 0 } of legs)
    for (let i = 0; i < minutes; i++) {
      const distanceM = (speedKmh / 3.6) * 60;
      latitude += distanceM / 111_320;
      atMs += 60_000;
      records.push({
        atMs,
        levelL: fromL + ((toL - fromL) * i) / minutes,
        ignition,
        speedKmh,
        distanceM,
        latitude,
        longitude: 14,
      });
    }
  return records;
}

function found(records: readonly FuelRecord[], settings = SETTINGS): FuelFinding[] {
  const state = freshFuelState();
  const tank = tankOf(settings);
  const findings: FuelFinding[] = [];
  for (const record of records) takeFuel(state, tank, record, findings);
  return findings;
}

const minute = (nth: number) => T0 + nth * 60_000;

test('a tank that is filled has a refuelling with its volume, begin and end', () => {
  const findings = found(
    recordsOf([
      { minutes: 30, fromL: 100 },
      { minutes: 4, fromL: 110, toL: 290 },
      { minutes: 30, fromL: 300 },
    ]),
  );
  expect(findings.map(({ kind, endedAtMs }) => [kind, endedAtMs === null])).toEqual([
    ['refuelling', true],
    ['refuelling', false],
  ]);
  const [begin, end] = findings as [FuelFinding, FuelFinding];
  expect(begin.startedAtMs).toBe(end.startedAtMs);
  expect(end.volumeL).toBeCloseTo(200, 0);
  expect(end.levelBeforeL).toBeCloseTo(100, 0);
  expect(end.levelAfterL).toBe(300);
  expect(Math.abs(end.startedAtMs - minute(30))).toBeLessThanOrEqual(120_000);
  expect(Math.abs((end.endedAtMs as number) - minute(35))).toBeLessThanOrEqual(120_000);
  expect(end.isMoving).toBe(false);
});

test('fuel that is taken from a parked truck is a drain, reported while it goes on', () => {
  const records = recordsOf([
    { minutes: 60, fromL: 300 },
    { minutes: 20, fromL: 299, toL: 241 },
    { minutes: 30, fromL: 240 },
  ]);
  const [begin, end] = found(records) as [FuelFinding, FuelFinding];
  expect(begin.kind).toBe('fuel-drain');
  const whileItGoesOn = found(records.slice(0, 80));
  expect(whileItGoesOn).toEqual([begin]);
  expect(end.volumeL).toBeCloseTo(60, 0);
  expect(end.isMoving).toBe(false);
});

test('fuel that is taken on the way is a drain beside what the engine burns', () => {
  const [, end] = found(
    recordsOf([
      { minutes: 60, speedKmh: 60, fromL: 300, toL: 282 },
      { minutes: 20, speedKmh: 60, fromL: 282, toL: 236 },
      { minutes: 60, speedKmh: 60, fromL: 236, toL: 218 },
    ]),
  );
  expect(end?.kind).toBe('fuel-drain');
  expect(end?.isMoving).toBe(true);
  expect(end?.volumeL).toBeGreaterThan(36);
  expect(end?.volumeL).toBeLessThan(43);
});

test.each([
  ['driving', [{ minutes: 400, speedKmh: 70, fromL: 380, toL: 245 }]],
  ['idling', [{ minutes: 600, ignition: true, fromL: 300, toL: 275 }]],
  [
    'a tilt for some minutes',
    [
      { minutes: 60, speedKmh: 50, fromL: 300, toL: 285 },
      { minutes: 6, speedKmh: 50, fromL: 260 },
      { minutes: 60, speedKmh: 50, fromL: 284, toL: 269 },
    ],
  ],
  [
    'a sensor that shows nothing',
    [
      { minutes: 30, fromL: 300 },
      { minutes: 30, fromL: 0 },
      { minutes: 30, fromL: 300 },
    ],
  ],
  [
    'less than counts',
    [
      { minutes: 30, fromL: 300 },
      { minutes: 30, fromL: 285 },
    ],
  ],
])('no event is made of %s', (_, legs) => {
  expect(found(recordsOf(legs))).toEqual([]);
});

test('the thresholds are 5 % of the tank, and at least 10 l, where none are set', () => {
  const steal = (volumeL: number) =>
    recordsOf([
      { minutes: 60, fromL: 300 },
      { minutes: 60, fromL: 300 - volumeL },
    ]);
  expect(found(steal(18))).toEqual([]);
  expect(found(steal(23))).toHaveLength(2);
  expect(found(steal(13), { ...SETTINGS, tankCapacityL: 310 })).toEqual([]);
  expect(found(steal(13), { ...SETTINGS, minDrainL: 10 } as unknown as typeof SETTINGS)).toHaveLength(2);
});

test('a vehicle that is filled while its terminal is silent has a refuelling', () => {
  const records = recordsOf([
    { minutes: 60, fromL: 100 },
    { minutes: 60, fromL: 300 },
  ]).filter(({ atMs }) => atMs < minute(50) || atMs > minute(80));
  expect(found(records).map(({ kind }) => kind)).toEqual(['refuelling', 'refuelling']);
});

test('of honest tank data nearly all events are found, nothing else, with their volumes', () => {
  const accuracy = accuracyOf(compareMany([1, 2, 3, 4, 5, 6, 7, 8], 10));
  expect(accuracy.truths).toBeGreaterThan(120);
  expect(accuracy.precision).toBeGreaterThanOrEqual(0.98);
  expect(accuracy.recall).toBeGreaterThanOrEqual(0.98);
  expect(accuracy.medianVolumeError).toBeLessThan(0.03);
  expect(Math.abs(accuracy.volumeRatio - 1)).toBeLessThan(0.03);
});

test('a state that was stored goes on as if it had not been, and is bounded', () => {
  const story = tankStory(11, 6);
  const tank = tankOf(story.settings);
  let state = freshFuelState();
  const findings: FuelFinding[] = [];
  for (const [nth, record] of story.records.entries()) {
    if (nth % 97 === 0) {
      const encoded = JSON.stringify(encodeFuel(state));
      expect(encoded.length).toBeLessThan(8000);
      state = decodeFuel(JSON.parse(encoded));
      expect(state.minutes.length).toBeLessThanOrEqual(MAX_MINUTES);
      expect(state.highs.length + state.lows.length).toBeLessThanOrEqual(52);
    }
    takeFuel(state, tank, record, findings);
  }
  expect(findings.length).toBeGreaterThan(10);
  expect(findings).toEqual(findingsOf(story, story.records));
});

test.each([21, 22, 23])('who begins a day before an event finds it bit for bit (story %i)', (seed) => {
  const story = tankStory(seed, 8);
  const all = findingsOf(story, story.records);
  const facts = ({ kind, startedAtMs, endedAtMs, volumeL, levelBeforeL, levelAfterL, isMoving }: FuelFinding) =>
    [kind, startedAtMs, endedAtMs, volumeL, levelBeforeL, levelAfterL, isMoving].join(' ');
  for (let day = 1; day < 7; day++) {
    const fromMs = T0 + day * DAY_MS + seed * 3_456_789;
    const later = (findings: readonly FuelFinding[]) =>
      findings.filter(({ startedAtMs }) => startedAtMs > fromMs + DAY_MS).map(facts);
    expect(
      later(
        findingsOf(
          story,
          story.records.filter(({ atMs }) => atMs >= fromMs),
        ),
      ),
    ).toEqual(later(all));
  }
});
