import { expect, test } from 'vitest';
import { addDays, dateOf, dayStart, startOfDay } from './days.ts';

test('a day begins at midnight of the zone, also when clocks change', () => {
  expect(dayStart('2026-01-15', 'Asia/Tokyo').toISOString()).toBe('2026-01-14T15:00:00.000Z');
  expect(dayStart('2026-01-15', 'America/New_York').toISOString()).toBe('2026-01-15T05:00:00.000Z');
  // Berlin: clocks go forward on 29 March and back on 25 October 2026.
  expect(dayStart('2026-03-29', 'Europe/Berlin').toISOString()).toBe('2026-03-28T23:00:00.000Z');
  expect(dayStart('2026-03-30', 'Europe/Berlin').toISOString()).toBe('2026-03-29T22:00:00.000Z');
  expect(dayStart('2026-10-26', 'Europe/Berlin').toISOString()).toBe('2026-10-25T23:00:00.000Z');
});

test('the date of a moment is that of the zone', () => {
  const at = Date.parse('2026-01-15T23:30:00Z');
  expect([dateOf(at, 'Asia/Tokyo'), dateOf(at, 'UTC'), dateOf(at, 'America/New_York')]).toEqual([
    '2026-01-16',
    '2026-01-15',
    '2026-01-15',
  ]);
  expect(startOfDay(at, 'Asia/Tokyo').toISOString()).toBe('2026-01-15T15:00:00.000Z');
});

test('days are counted over the ends of months', () => {
  expect([addDays('2026-02-28', 1), addDays('2026-01-01', -1), addDays('2026-03-28', 2)]).toEqual([
    '2026-03-01',
    '2025-12-31',
    '2026-03-30',
  ]);
});
