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

test('where clocks skip midnight a day begins at one o’clock, and where they repeat it, the first time', () => {
  // Santiago: clocks go from 24:00 to 01:00 on 6 September, and from 24:00 back to 23:00 on 4 April 2026.
  expect(dayStart('2026-09-06', 'America/Santiago').toISOString()).toBe('2026-09-06T04:00:00.000Z');
  expect(dayStart('2026-09-05', 'America/Santiago').toISOString()).toBe('2026-09-05T04:00:00.000Z');
  expect(dayStart('2026-09-07', 'America/Santiago').toISOString()).toBe('2026-09-07T03:00:00.000Z');
  expect(dayStart('2026-04-05', 'America/Santiago').toISOString()).toBe('2026-04-05T04:00:00.000Z');
  // Havana: from 00:00 to 01:00 on 8 March, from 01:00 back to 00:00 on 1 November 2026.
  expect(dayStart('2026-03-08', 'America/Havana').toISOString()).toBe('2026-03-08T05:00:00.000Z');
  expect(dayStart('2026-11-01', 'America/Havana').toISOString()).toBe('2026-11-01T04:00:00.000Z');
  // The Azores: from 00:00 to 01:00 on 29 March 2026, at 01:00 of UTC.
  expect(dayStart('2026-03-29', 'Atlantic/Azores').toISOString()).toBe('2026-03-29T01:00:00.000Z');
});

test.each(['America/Santiago', 'America/Havana', 'Atlantic/Azores', 'Africa/Cairo', 'Asia/Beirut', 'Pacific/Apia'])(
  'in %s each day of a year begins where the one before ends',
  (timeZone) => {
    for (let date = '2026-01-01'; date < '2027-01-01'; date = addDays(date, 1)) {
      const startMs = dayStart(date, timeZone).getTime();
      expect([dateOf(startMs - 1, timeZone), dateOf(startMs, timeZone)]).toEqual([addDays(date, -1), date]);
    }
  },
);

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
