import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readWorkHours, workCalendarOf } from './work-hours.ts';

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/Sao_Paulo',
];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** By the minute: what the clock on the wall shows says whether it is work. */
function isWork(atMs: number, timeZone: string, week: ReturnType<typeof readWorkHours>): boolean {
  const at = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone);
  const minutes = at.hour * 60 + at.minute;
  const today = week[at.dayOfWeek - 1] ?? [];
  const before = week[(at.dayOfWeek + 5) % 7] ?? [];
  return (
    today.some(([from, to]) => (to > from ? minutes >= from && minutes < to : minutes >= from)) ||
    before.some(([from, to]) => to < from && minutes < to)
  );
}

test('hours are days and spans; a span over midnight ends on the next day', () => {
  const week = readWorkHours('Mo-We,Fr 08:00-12:00,13:00-17:00; Sa 22:00-06:00');
  const day = [
    [480, 720],
    [780, 1020],
  ];
  expect(week).toEqual([day, day, day, [], day, [[1320, 360]], []]);
  expect(readWorkHours('Sa-Mo 00:00-24:00').map((spans) => spans.length)).toEqual([1, 0, 0, 0, 0, 1, 1]);
});

test('what is no hours is refused with what is wrong', () => {
  for (const text of [
    '',
    'Mo',
    'Mo 8-17',
    'Mon 08:00-17:00',
    'Mo 25:00-26:00',
    'Mo 08:00-08:00',
    'Mo 08:60-09:00',
    'Mo 24:00-01:00',
  ])
    expect(() => readWorkHours(text), text).toThrow(RangeError);
  expect(() => readWorkHours('Mo 01:00-02:00,03:00-04:00,05:00-06:00,07:00-08:00,09:00-10:00')).toThrow(/4 spans/);
});

test('work begins and ends by the clock on the wall where the clocks change', () => {
  const hours = readWorkHours('Mo-Su 08:00-17:00');
  const spansOf = (day: string, text = hours) => {
    const fromMs = Temporal.PlainDate.from(day).toZonedDateTime('Europe/Berlin').epochMilliseconds;
    const toMs = Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime('Europe/Berlin').epochMilliseconds;
    const { cuts, places } = workCalendarOf(fromMs, toMs, 'Europe/Berlin', 'day', text);
    return places.map((place, nth) => [place % 2, ((cuts[nth + 1] ?? 0) - (cuts[nth] ?? 0)) / HOUR]);
  };
  expect(spansOf('2026-03-28')).toEqual([
    [0, 8],
    [1, 9],
    [0, 7],
  ]);
  expect(spansOf('2026-03-29')).toEqual([
    [0, 7],
    [1, 9],
    [0, 7],
  ]);
  expect(spansOf('2026-10-25')).toEqual([
    [0, 9],
    [1, 9],
    [0, 7],
  ]);
  // The night in which the clocks go forward has an hour less of a shift, the one in which they go back an hour more.
  const night = readWorkHours('Mo-Su 22:00-06:00');
  expect(spansOf('2026-03-29', night)).toEqual([
    [1, 5],
    [0, 16],
    [1, 2],
  ]);
  expect(spansOf('2026-10-25', night)).toEqual([
    [1, 7],
    [0, 16],
    [1, 2],
  ]);
});

test('every minute is work or not, as the clock of its zone says', () => {
  const time = fc.integer({ min: 0, max: 47 }).map((half) => half * 30);
  const text = (minutes: number) =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${minutes % 60 === 0 ? '00' : '30'}`;
  const week = fc
    .array(fc.tuple(fc.constantFrom('Mo', 'Tu-Th', 'Fr', 'Sa-Su'), time, time), { minLength: 1, maxLength: 4 })
    .map((rules) => rules.filter(([, from, to]) => from !== to))
    .filter((rules) => rules.length > 0)
    .map((rules) => rules.map(([days, from, to]) => `${days} ${text(from)}-${text(to)}`).join('; '));
  fc.assert(
    fc.property(
      week,
      fc.constantFrom(...ZONES),
      fc.constantFrom(Date.UTC(2026, 2, 6), Date.UTC(2026, 2, 27), Date.UTC(2026, 9, 23), Date.UTC(2026, 3, 3)),
      fc.integer({ min: 1, max: 100 }),
      (hours, zone, startMs, count) => {
        const read = readWorkHours(hours);
        const endMs = startMs + count * HOUR;
        const { cuts, places, days } = workCalendarOf(startMs, endMs, zone, 'day', read);
        for (let at = startMs; at < endMs; at += 10 * MINUTE) {
          const nth = cuts.findLastIndex((cut) => cut <= at);
          const place = places[nth] ?? -1;
          const day = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate().toString();
          expect(days[Math.floor(place / 2)]).toBe(day);
          // Within the hour that is left out, or comes twice, a bound is one of two times.
          const isNearChange = [-60, 60].some(
            (minutes) => offsetAt(at + minutes * MINUTE, zone) !== offsetAt(at, zone),
          );
          if (!isNearChange) expect(place % 2 === 1, new Date(at).toISOString()).toBe(isWork(at, zone, read));
        }
      },
    ),
    { numRuns: runs(100) },
  );
});

function offsetAt(ms: number, timeZone: string): number {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).offsetNanoseconds;
}
