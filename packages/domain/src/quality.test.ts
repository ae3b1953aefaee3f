import { describe, expect, test } from 'vitest';
import { blankPosition, type Position } from './position.ts';
import { correctKnownErrors, rejectionOf } from './quality.ts';

const RECEIVED = Date.UTC(2026, 0, 1, 12);
const at = (latitude: number, longitude: number, fixTimeMs = RECEIVED) =>
  rejectionOf(blankPosition(fixTimeMs, latitude, longitude), RECEIVED);

test('a plain fix is good, at the edges of the world too', () => {
  expect(at(52.5, 13.4)).toBeNull();
  expect(at(90, 180)).toBeNull();
  expect(at(-90, -180)).toBeNull();
  expect(at(0, 13.4)).toBeNull();
});

test('a place off the world is out of range', () => {
  for (const [latitude, longitude] of [
    [90.0001, 0],
    [0, -180.0001],
    [Number.NaN, 13.4],
    [52.5, Number.POSITIVE_INFINITY],
  ] as const)
    expect(at(latitude, longitude)).toBe('out-of-range');
});

test('exactly 0/0 is where receivers without a fix are', () => {
  expect(at(0, 0)).toBe('null-island');
  expect(at(0, -0)).toBe('null-island');
});

test('a fix may be 10 minutes ahead of the server, and not a millisecond more', () => {
  expect(at(52.5, 13.4, RECEIVED + 600_000)).toBeNull();
  expect(at(52.5, 13.4, RECEIVED + 600_001)).toBe('time-in-future');
  expect(at(52.5, 13.4, Number.NaN)).toBe('time-in-future');
});

test('a fix from before 2005 comes from a receiver without a clock', () => {
  expect(at(52.5, 13.4, Date.UTC(2005, 0, 1))).toBeNull();
  expect(at(52.5, 13.4, Date.UTC(2005, 0, 1) - 1)).toBe('time-too-old');
});

describe('known errors of receivers are corrected', () => {
  const WEEKS_MS = 1024 * 7 * 86_400_000;
  const corrected = (fields: Partial<Position>) => {
    const position = { ...blankPosition(RECEIVED, 52.5, 13.4), ...fields };
    return [correctKnownErrors(position, RECEIVED), position.fixTimeMs - RECEIVED, position.speedKmh];
  };

  test('a date that is a rollover of the GPS week back, or two, is that of now', () => {
    for (const rollovers of [1, 2])
      for (const ageMs of [-9 * 60_000, 0, 50_000, 30 * 86_400_000])
        expect(corrected({ fixTimeMs: RECEIVED - rollovers * WEEKS_MS - ageMs })).toEqual([
          'week-rollover',
          0 - ageMs,
          null,
        ]);
    for (const ageMs of [32 * 86_400_000, 400 * 86_400_000, -11 * 60_000])
      expect(corrected({ fixTimeMs: RECEIVED - WEEKS_MS - ageMs })).toEqual([null, -WEEKS_MS - ageMs, null]);
    expect(corrected({ fixTimeMs: RECEIVED - 3 * WEEKS_MS })).toEqual([null, -3 * WEEKS_MS, null]);
  });

  test('a place that is known to some hundred metres only is not valid', () => {
    const validBy = (attributes: Position['attributes']) => {
      const position = { ...blankPosition(RECEIVED, 52.5, 13.4), attributes };
      return [correctKnownErrors(position, RECEIVED), position.valid];
    };
    for (const accuracy of [101, 1500]) expect(validBy({ accuracy })).toEqual(['inaccurate-place', false]);
    for (const accuracy of [4.3, 100, 'high']) expect(validBy({ accuracy })).toEqual([null, true]);
    expect(validBy(null)).toEqual([null, true]);
  });

  test('a speed that no vehicle drives is unknown', () => {
    for (const speedKmh of [1202, 6553.5, 65_535, Number.NaN])
      expect(corrected({ speedKmh })).toEqual(['impossible-speed', 0, null]);
    for (const speedKmh of [0, 40, 320, null]) expect(corrected({ speedKmh })).toEqual([null, 0, speedKmh]);
  });
});
