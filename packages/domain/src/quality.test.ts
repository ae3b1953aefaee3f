import { expect, test } from 'vitest';
import { blankPosition } from './position.ts';
import { rejectionOf } from './quality.ts';

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
