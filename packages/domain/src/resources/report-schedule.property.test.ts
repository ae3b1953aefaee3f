import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coveredRange, nextRun, SCHEDULE_COVERS, SCHEDULE_FREQUENCIES, type ScheduleTerms } from './report-schedule.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Zones whose clocks do everything that clocks do: changes at midnight, before it, of half an hour, of a whole day. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/Nuuk',
  'America/Havana',
  'Asia/Beirut',
  'Asia/Tehran',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Pacific/Apia',
  'Pacific/Chatham',
];

/** What the clock on the wall shows, found without Temporal. */
const clocks = new Map<string, Intl.DateTimeFormat>();
function wall(atMs: number, timeZone: string): { date: string; hour: number; minute: number } {
  let clock = clocks.get(timeZone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en-CA-u-hc-h23', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
    clocks.set(timeZone, clock);
  }
  const parts = Object.fromEntries(clock.formatToParts(atMs).map(({ type, value }) => [type, value]));
  return {
    date: `${parts.year}-${parts.month}-${parts.day}`,
    hour: Number(parts.hour),
    minute: Number(parts.minute),
  };
}

const weekdayOf = (date: string) => new Date(`${date}T00:00:00Z`).getUTCDay();
const isDay = (frequency: ScheduleTerms['frequency'], date: string) =>
  frequency === 'daily' || (frequency === 'weekly' ? weekdayOf(date) === 1 : date.endsWith('-01'));

/**
 * All times at which reports are due, by walking through the minutes of a time range: on each day that is seen on
 * the wall, the first minute that shows the hour; where none does, the first after the clocks jumped over it, as much
 * later as they jumped.
 */
function walked(terms: ScheduleTerms, fromMs: number, toMs: number): { period: string; atMs: number }[] {
  const { frequency, hour, timeZone } = terms;
  const minutes = (at: { hour: number; minute: number }) => at.hour * 60 + at.minute;
  const dayOf = (date: string) => Date.parse(`${date}T00:00:00Z`) / MINUTE_MS;
  const found: { period: string; atMs: number }[] = [];
  const done = new Set<string>();
  let before = wall(fromMs - MINUTE_MS, timeZone);
  for (let atMs = fromMs; atMs < toMs; atMs += MINUTE_MS) {
    const now = wall(atMs, timeZone);
    // What the wall showed, minute by minute, counted from the begin of its calendar; a jump leaves some of it out.
    const left = dayOf(before.date) + minutes(before);
    const reached = dayOf(now.date) + minutes(now);
    const dates = before.date === now.date ? [now.date] : [before.date, now.date];
    for (const date of dates) {
      const due = dayOf(date) + hour * 60;
      const isShown = reached === due;
      const isJumped = reached > left + 1 && left < due && due < reached;
      if (!(isShown || isJumped) || done.has(date) || !isDay(frequency, date)) continue;
      done.add(date);
      found.push({ period: date, atMs: isShown ? atMs : atMs + (due - left - 1) * MINUTE_MS });
    }
    before = now;
  }
  return found;
}

const terms = fc.record({
  frequency: fc.constantFrom(...SCHEDULE_FREQUENCIES),
  hour: fc.integer({ min: 0, max: 23 }),
  covers: fc.constantFrom(...SCHEDULE_COVERS),
  timeZone: fc.constantFrom(...ZONES),
});
/** Around changes of the clocks more often than not. */
const moment = fc
  .record({
    timeZone: fc.constantFrom(...ZONES),
    atMs: fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2030, 0, 1) }),
    near: fc.boolean(),
    offsetMs: fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
  })
  .map(({ timeZone, atMs, near, offsetMs }) => {
    const change = Temporal.Instant.fromEpochMilliseconds(atMs)
      .toZonedDateTimeISO(timeZone)
      .getTimeZoneTransition('next');
    const at = near && change !== null ? change.epochMilliseconds + offsetMs : atMs;
    return { timeZone, atMs: Math.floor(at / MINUTE_MS) * MINUTE_MS };
  });

describe('the times of a schedule', () => {
  test('are those that a walk through the minutes finds, each once', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(terms, moment, fc.integer({ min: 1, max: 8 }), ({ ...asked }, { timeZone, atMs }, days) => {
        const schedule = { ...asked, timeZone };
        // From midnight on: a day that was begun elsewhere may have had its hour before.
        const fromMs = Temporal.Instant.fromEpochMilliseconds(atMs)
          .toZonedDateTimeISO(timeZone)
          .startOfDay().epochMilliseconds;
        const toMs = fromMs + days * DAY_MS;
        const wanted = walked(schedule, fromMs, toMs);
        const found: { period: string; atMs: number }[] = [];
        let last = nextRun(schedule, fromMs - 1, null);
        // The last hour of the day before may be due when this one begins.
        const firstDay = wall(fromMs, timeZone).date;
        if (last.period < firstDay) last = nextRun(schedule, fromMs - 1, last.period);
        while (last.atMs < toMs) {
          found.push(last);
          last = nextRun(schedule, last.atMs, last.period);
        }
        expect(found).toEqual(wanted.filter((each) => each.atMs < toMs));
      }),
      { numRuns: runs(400) },
    );
  });

  test('come again and again, never twice for a day, whenever it is asked', () => {
    fc.assert(
      fc.property(terms, moment, ({ ...asked }, { timeZone, atMs }) => {
        const schedule = { ...asked, timeZone };
        const first = nextRun(schedule, atMs, null);
        expect(first.atMs).toBeGreaterThan(atMs);
        // Asked a moment before, it is the same.
        expect(nextRun(schedule, first.atMs - 1, null)).toEqual(first);
        const second = nextRun(schedule, first.atMs, null);
        expect(second.period > first.period).toBe(true);
        expect(nextRun(schedule, atMs, first.period)).toEqual(second);
      }),
    );
  });
});

describe('what a report is of', () => {
  test('is the calendar’s day, week or month that ended last', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(terms, moment, ({ ...asked }, { timeZone, atMs }) => {
        const schedule = { ...asked, timeZone };
        const { period } = nextRun(schedule, atMs, null);
        const { fromMs, toMs } = coveredRange(schedule, period);
        expect(fromMs).toBeLessThan(toMs);
        const [first, last, next] = [wall(fromMs, timeZone), wall(toMs - 1, timeZone), wall(toMs, timeZone)];
        const before = wall(fromMs - 1, timeZone);
        // A day begins where the wall shows another date than a moment before.
        expect(before.date).not.toBe(first.date);
        expect(last.date).not.toBe(next.date);
        if (schedule.covers === 'yesterday') {
          expect(last.date).toBe(first.date);
          expect(next.date).toBe(period);
        }
        if (schedule.covers === 'last-week') {
          expect([weekdayOf(first.date), weekdayOf(next.date)]).toEqual([1, 1]);
          expect(next.date <= period && Date.parse(period) - Date.parse(next.date) < 7 * DAY_MS).toBe(true);
          expect(Date.parse(next.date) - Date.parse(first.date)).toBe(7 * DAY_MS);
        }
        if (schedule.covers === 'last-month') {
          expect([first.date.slice(8), next.date.slice(8)]).toEqual(['01', '01']);
          expect(next.date.slice(0, 7)).toBe(period.slice(0, 7));
          expect(last.date.slice(0, 7)).toBe(first.date.slice(0, 7));
        }
      }),
    );
  });

  test.each([
    ['Europe/Berlin', '2026-03-30', 23],
    ['Europe/Berlin', '2026-10-26', 25],
    ['Australia/Lord_Howe', '2026-10-05', 23.5],
    ['Pacific/Apia', '2011-12-31', 24],
  ])('yesterday in %s, seen from %s, has %d hours', (timeZone, period, hours) => {
    const { fromMs, toMs } = coveredRange({ covers: 'yesterday', timeZone }, period);
    expect((toMs - fromMs) / 3_600_000).toBe(hours);
  });

  test.each([
    // 02:00 does not exist: it is 03:00.
    ['Europe/Berlin', 2, '2026-03-29', '2026-03-29T01:00:00Z'],
    // 02:00 comes twice: it is the first.
    ['Europe/Berlin', 2, '2026-10-25', '2026-10-25T00:00:00Z'],
    // The day has no 23:00: it is due when the next one begins.
    ['America/Nuuk', 23, '2024-03-30', '2024-03-31T01:00:00Z'],
  ])('in %s at %d on %s', (timeZone, hour, period, at) => {
    const schedule = { frequency: 'daily', hour, timeZone } as const;
    expect(nextRun(schedule, Date.parse(at) - 1, null)).toEqual({ period, atMs: Date.parse(at) });
  });
});
