export const PERIODS = ['whole', 'day', 'week', 'month'] as const;
/** Periods into which a report is divided, by the calendar of a time zone; weeks begin on Monday. */
export type Period = (typeof PERIODS)[number];

/** A time range cut by the calendar. */
export interface Calendar {
  /** Unix milliseconds: the start of the range, every beginning of a period within it, its end. */
  cuts: number[];
  /** For each interval, the first day of its period, as `2026-01-31`. */
  days: string[];
}

/** Maximum number of intervals: nobody reads a longer report. */
export const MAX_INTERVALS = 1500;

/**
 * Cuts a time range at the beginnings of days, weeks or months of a time zone. Days have their local length: 23 or 25
 * hours when the clocks change. If the change skips midnight, the day begins with its first existing time.
 *
 * @throws {RangeError} when there is no such zone, or there would be too many intervals
 */
export function calendarOf(fromMs: number, toMs: number, timeZone: string, period: Period): Calendar {
  const zoned = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone);
  let day = zoned.toPlainDate();
  if (period === 'week') day = day.subtract({ days: day.dayOfWeek - 1 });
  if (period === 'month') day = day.with({ day: 1 });
  const days = [day.toString()];
  const cuts = [fromMs];
  if (period !== 'whole')
    for (;;) {
      day = day.add({ [`${period}s`]: 1 });
      const startMs = day.toZonedDateTime(timeZone).epochMilliseconds;
      if (startMs >= toMs) break;
      if (days.length === MAX_INTERVALS) throw new RangeError(`More than ${MAX_INTERVALS} periods`);
      cuts.push(startMs);
      days.push(day.toString());
    }
  cuts.push(toMs);
  return { cuts, days };
}

/** Index of the last period that begins at or before a time; 0 if none does. */
export function placeOf(cuts: readonly number[], atMs: number): number {
  let low = 0;
  let high = cuts.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((cuts[middle] as number) <= atMs) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A time range cut into pieces that each lie within one hour of the clock. */
export interface HourGrid {
  /** Unix milliseconds, evenly apart; the first may lie before the range, the last after it. */
  cuts: number[];
  /** For each piece, its hour in local time: 0 to 23. */
  hours: number[];
}

const QUARTER_MS = 900_000;
const HOUR_MS = 3_600_000;

/**
 * Cuts a time range into hours of local time. If the zone's offset changes by other than whole hours meanwhile, the
 * pieces are quarters of an hour, of which every zone's offset is a multiple.
 *
 * @throws {RangeError} when there is no such zone
 */
export function hourGridOf(fromMs: number, toMs: number, timeZone: string): HourGrid {
  const offsets = offsetsOf(fromMs, toMs, timeZone);
  const first = offsets[0]?.offsetMs ?? 0;
  const isWhole = offsets.every(({ offsetMs }) => (offsetMs - first) % HOUR_MS === 0);
  const step = isWhole ? HOUR_MS : QUARTER_MS;
  const cuts: number[] = [];
  const hours: number[] = [];
  let at = Math.floor((fromMs + first) / step) * step - first;
  let nth = 0;
  for (; at < toMs; at += step) {
    while ((offsets[nth + 1]?.fromMs ?? Number.POSITIVE_INFINITY) <= at) nth += 1;
    cuts.push(at);
    const localMs = at + (offsets[nth]?.offsetMs ?? 0);
    hours.push(Math.floor(localMs / HOUR_MS) - Math.floor(localMs / (24 * HOUR_MS)) * 24);
  }
  cuts.push(at);
  return { cuts, hours };
}

/** The zone's offsets from UTC in a time range, each with the time from which it holds. */
function offsetsOf(fromMs: number, toMs: number, timeZone: string): { fromMs: number; offsetMs: number }[] {
  let at = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone);
  const offsets = [{ fromMs, offsetMs: at.offsetNanoseconds / 1e6 }];
  for (;;) {
    const next = at.getTimeZoneTransition('next');
    if (next === null || next.epochMilliseconds >= toMs) return offsets;
    at = next;
    offsets.push({ fromMs: at.epochMilliseconds, offsetMs: at.offsetNanoseconds / 1e6 });
  }
}

/** Whether the text is the name of a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
