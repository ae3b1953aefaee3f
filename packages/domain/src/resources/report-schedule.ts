import type { ReportScheduleId, UserId } from '../ids.ts';

export const SCHEDULE_FREQUENCIES = ['daily', 'weekly', 'monthly'] as const;
/** Every day, on Mondays, or on the first of the month. */
export type ScheduleFrequency = (typeof SCHEDULE_FREQUENCIES)[number];

export const SCHEDULE_COVERS = ['yesterday', 'last-week', 'last-month'] as const;
/** What a report is of, seen from the day on which it is made; weeks begin on Monday. */
export type ScheduleCovers = (typeof SCHEDULE_COVERS)[number];

/** When a report is made, and what of the past it is of. */
export interface ScheduleTerms {
  frequency: ScheduleFrequency;
  /** By the clock of the time zone: 0 to 23. */
  hour: number;
  covers: ScheduleCovers;
  /** IANA name: whose days, and whose clock. */
  timeZone: string;
}

/**
 * Why a schedule rests.
 *
 * - `switched-off`: somebody wanted it so.
 * - `owner-blocked`: the account that owns it is blocked.
 * - `nothing-to-tell`: what it names is gone, or its owner may not see it any more.
 */
export type ScheduleRest = 'switched-off' | 'owner-blocked' | 'nothing-to-tell';

/** A report that is made again and again. */
export interface ReportSchedule extends ScheduleTerms {
  kind: 'report-schedule';
  id: ReportScheduleId;
  version: number;
  ownerId: UserId;
  /** Unique for its owner. */
  name: string;
  active: boolean;
  /** Null while it is active. */
  inactiveReason: ScheduleRest | null;
  /** What is made, without its time range; the reporter validates it. */
  report: Readonly<Record<string, unknown>>;
  emails: readonly string[];
  /** The last day that a report was made for; null: none yet. */
  lastPeriod: string | null;
  /** When the next is due; null while it is not active. */
  nextAtMs: number | null;
  /** The day that the next is made for. */
  nextPeriod: string | null;
}

/** A time at which a report is due. */
export interface ScheduledRun {
  /** The day that it is made on, as `2026-03-29`: there is one for each. */
  period: string;
  atMs: number;
}

/**
 * The next time at which a report is due: once on each of its days, whatever the clocks do. An hour that does not exist
 * there on that day is taken as much later as the clocks were put forward; of one that comes twice it is the first.
 *
 * @param afterMs it is later than this
 * @param afterPeriod and of a later day than this; null: of any
 * @throws {RangeError} when there is no such zone
 */
export function nextRun(
  { frequency, hour, timeZone }: Pick<ScheduleTerms, 'frequency' | 'hour' | 'timeZone'>,
  afterMs: number,
  afterPeriod: string | null,
): ScheduledRun {
  // From the day before: where the clocks go from 23:00 to 24:00, its last hour is due when the next day begins.
  let day = Temporal.Instant.fromEpochMilliseconds(afterMs)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
    .subtract({ days: 1 });
  if (afterPeriod !== null) {
    const following = Temporal.PlainDate.from(afterPeriod).add({ days: 1 });
    if (Temporal.PlainDate.compare(following, day) > 0) day = following;
  }
  for (;;) {
    day = firstFrom(day, frequency);
    const atMs = day.toZonedDateTime({ timeZone, plainTime: { hour } }).epochMilliseconds;
    if (atMs > afterMs && exists(day, timeZone)) return { period: day.toString(), atMs };
    day = day.add({ days: 1 });
  }
}

/**
 * The time range of the report made on a day, in Unix milliseconds; its end is not part of it.
 *
 * @throws {RangeError} when there is no such zone
 */
export function coveredRange(
  { covers, timeZone }: Pick<ScheduleTerms, 'covers' | 'timeZone'>,
  period: string,
): { fromMs: number; toMs: number } {
  const day = Temporal.PlainDate.from(period);
  switch (covers) {
    case 'yesterday': {
      const toMs = startOf(day, timeZone);
      // The day that ended then, which is not always the one before in the calendar: islands have left out days.
      const before = Temporal.Instant.fromEpochMilliseconds(toMs - 1).toZonedDateTimeISO(timeZone);
      return { fromMs: before.startOfDay().epochMilliseconds, toMs };
    }
    case 'last-week': {
      const monday = day.subtract({ days: day.dayOfWeek - 1 });
      return { fromMs: startOf(monday.subtract({ days: 7 }), timeZone), toMs: startOf(monday, timeZone) };
    }
    case 'last-month': {
      const first = day.with({ day: 1 });
      return { fromMs: startOf(first.subtract({ months: 1 }), timeZone), toMs: startOf(first, timeZone) };
    }
  }
}

/** The day itself where it is one of the schedule's, else the first after it that is. */
function firstFrom(day: Temporal.PlainDate, frequency: ScheduleFrequency): Temporal.PlainDate {
  if (frequency === 'weekly') return day.add({ days: (8 - day.dayOfWeek) % 7 });
  if (frequency === 'monthly' && day.day > 1) return day.with({ day: 1 }).add({ months: 1 });
  return day;
}

function startOf(day: Temporal.PlainDate, timeZone: string): number {
  return day.toZonedDateTime(timeZone).epochMilliseconds;
}

/** Zones that moved across the date line have left out a day. */
function exists(day: Temporal.PlainDate, timeZone: string): boolean {
  return day.toZonedDateTime(timeZone).toPlainDate().equals(day);
}
