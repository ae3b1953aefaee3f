import { calendarOf, type Period } from '../calendar.ts';

const DAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'] as const;
const DAY_MINUTES = 24 * 60;
/** Maximum number of spans of a day: nobody works more. */
const MOST_SPANS = 4;
export const DEFAULT_WORK_HOURS = 'Mo-Fr 08:00-18:00';
export const MAX_WORK_HOURS_LENGTH = 200;

/** Minutes of the day, from 0 to 1440; an end that is not later than the start is on the next day. */
type Span = readonly [from: number, to: number];
/** A week of work: the spans of each day, Monday first. */
export type WorkHours = readonly (readonly Span[])[];

/**
 * Parses hours such as `Mo-Fr 08:00-12:00,13:00-17:00; Sa 22:00-06:00`: days, and spans in local time. A span that ends
 * before it begins ends on the next day.
 *
 * @throws {RangeError} with a message about what is wrong
 */
export function readWorkHours(text: string): WorkHours {
  const week = DAYS.map((): Span[] => []);
  for (const rule of text.split(';')) {
    const found = /^\s*([A-Za-z,-]+)\s+([\d:,-]+)\s*$/.exec(rule);
    if (found === null) throw new RangeError(`“${rule.trim()}” must be days and times such as Mo-Fr 08:00-17:00.`);
    const [, days = '', times = ''] = found;
    const spans = times.split(',').map(spanOf);
    for (const day of daysOf(days)) {
      const spansOfDay = week[day] ?? [];
      spansOfDay.push(...spans);
      if (spansOfDay.length > MOST_SPANS) throw new RangeError(`A day may have at most ${MOST_SPANS} spans of work.`);
    }
  }
  return week;
}

function daysOf(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [first, last = first, ...rest] = part.split('-').map((name) => (DAYS as readonly string[]).indexOf(name));
    if (first === undefined || last === undefined || first < 0 || last < 0 || rest.length > 0)
      throw new RangeError(`“${part}” must be a day or a range of days; the days are ${DAYS.join(', ')}.`);
    const count = ((last - first + 7) % 7) + 1;
    return Array.from({ length: count }, (_, nth) => (first + nth) % 7);
  });
}

function spanOf(text: string): Span {
  const found = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(text);
  const [fromHour = 99, fromMinute = 99, toHour = 99, toMinute = 99] = (found ?? []).slice(1).map(Number);
  const [from, to] = [fromHour * 60 + fromMinute, toHour * 60 + toMinute];
  if (fromMinute > 59 || toMinute > 59 || from >= DAY_MINUTES || to > DAY_MINUTES)
    throw new RangeError(`“${text}” must be two times of the day such as 08:00-17:00.`);
  if (from === to)
    throw new RangeError(`“${text}” must not begin and end at the same time; a whole day is 00:00-24:00.`);
  return [from, to];
}

/** A time range cut at days (weeks, months), and at the start and the end of work. */
export interface WorkCalendar {
  /** Unix milliseconds, ascending; the first is the start, the last the end. */
  cuts: number[];
  /** For each interval, twice the index of its period, plus one if it is work. */
  places: number[];
  /** First day of each period. */
  days: string[];
}

/**
 * Cuts a time range for the report of work. Work begins and ends by local time, whatever the clocks do: a night shift
 * may have 7 hours or 9. A skipped local time is later by what is skipped; of one that comes twice, the first counts.
 * The part of a shift after midnight counts on the next day.
 *
 * @throws {RangeError} when there is no such zone, or there would be too many intervals
 */
export function workCalendarOf(
  fromMs: number,
  toMs: number,
  timeZone: string,
  period: Period,
  hours: WorkHours,
): WorkCalendar {
  const { cuts: periods, days } = calendarOf(fromMs, toMs, timeZone, period);
  const spans = spansWithin(fromMs, toMs, timeZone, hours);
  const cuts = [...new Set([...periods, ...spans.flat()])]
    .filter((cut) => cut >= fromMs && cut <= toMs)
    .sort(ascending);
  let nthPeriod = 0;
  let nthSpan = 0;
  const places = cuts.slice(0, -1).map((cut) => {
    while ((periods[nthPeriod + 1] ?? Number.POSITIVE_INFINITY) <= cut) nthPeriod += 1;
    while ((spans[nthSpan]?.[1] ?? Number.POSITIVE_INFINITY) <= cut) nthSpan += 1;
    const isWork = (spans[nthSpan]?.[0] ?? Number.POSITIVE_INFINITY) <= cut;
    return nthPeriod * 2 + (isWork ? 1 : 0);
  });
  return { cuts, places, days };
}

const ascending = (a: number, b: number) => a - b;

/** Spans of work as Unix milliseconds, ascending, without an overlap. */
function spansWithin(fromMs: number, toMs: number, timeZone: string, hours: WorkHours): [number, number][] {
  const dayOf = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate();
  const end = dayOf(toMs);
  const spans: [number, number][] = [];
  // A shift of the evening before may last into the range.
  for (
    let day = dayOf(fromMs).subtract({ days: 1 });
    Temporal.PlainDate.compare(day, end) <= 0;
    day = day.add({ days: 1 })
  )
    for (const [from, to] of hours[day.dayOfWeek - 1] ?? []) {
      const startMs = instantOf(day, from, timeZone);
      const endMs = instantOf(to > from ? day : day.add({ days: 1 }), to, timeZone);
      if (endMs > startMs && endMs > fromMs && startMs < toMs) spans.push([startMs, endMs]);
    }
  return joined(spans.sort(([a], [b]) => a - b));
}

function instantOf(day: Temporal.PlainDate, minutes: number, timeZone: string): number {
  if (minutes === DAY_MINUTES) return day.add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds;
  const plainTime = { hour: Math.floor(minutes / 60), minute: minutes % 60 };
  return day.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds;
}

function joined(spans: readonly [number, number][]): [number, number][] {
  const all: [number, number][] = [];
  for (const [startMs, endMs] of spans) {
    const last = all.at(-1);
    if (last !== undefined && startMs <= last[1]) last[1] = Math.max(last[1], endMs);
    else all.push([startMs, endMs]);
  }
  return all;
}
