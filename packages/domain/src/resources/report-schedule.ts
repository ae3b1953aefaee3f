import type { ReportScheduleId, UserId } from '../ids.ts';

export const SCHEDULE_FREQUENCIES = ['daily', 'weekly', 'monthly'] as const;
/** Every day, on Mondays, or on the first of the month. */
export type ScheduleFrequency = (typeof SCHEDULE_FREQUENCIES)[number];

export const SCHEDULE_COVERS = ['yesterday', 'last-week', 'last-month'] as const;
/** Period that a report covers, relative to the day on which it is made; weeks begin on Monday. */
export type ScheduleCovers = (typeof SCHEDULE_COVERS)[number];

/** When a report is made, and which period it covers. */
export interface ScheduleTerms {
  frequency: ScheduleFrequency;
  /** 0 to 23, in the time zone. */
  hour: number;
  covers: ScheduleCovers;
  /** IANA name of the time zone for days and hours. */
  timeZone: string;
}

/**
 * Why a schedule is inactive.
 *
 * - `switched-off`: somebody switched it off.
 * - `owner-blocked`: the account that owns it is blocked.
 * - `nothing-to-tell`: what it names was deleted, or its owner may not see it any more.
 */
export type ScheduleRest = 'switched-off' | 'owner-blocked' | 'nothing-to-tell';

/** A report that is made regularly. */
export interface ReportSchedule extends ScheduleTerms {
  kind: 'report-schedule';
  id: ReportScheduleId;
  version: number;
  ownerId: UserId;
  /** Unique per owner. */
  name: string;
  active: boolean;
  /** Null while it is active. */
  inactiveReason: ScheduleRest | null;
  /** The report's parameters without its time range; the reporter validates them. */
  report: Readonly<Record<string, unknown>>;
  emails: readonly string[];
  /** The last day for which a report was made; null: none yet. */
  lastPeriod: string | null;
  /** When the next report is due; null while the schedule is inactive. */
  nextAtMs: number | null;
  /** The day for which the next report is made. */
  nextPeriod: string | null;
}

/** A time at which a report is due. */
export interface ScheduledRun {
  /** The day on which the report is made, as `2026-03-29`: one report for each. */
  period: string;
  atMs: number;
}

/**
 * The next time at which a report is due: once on each of its days, whatever clock changes occur. A local hour that is
 * skipped on that day is moved forward by the size of the clock change; of a repeated hour the first one counts.
 *
 * @param afterMs the result is later than this
 * @param afterPeriod the result is for a later day than this; null: for any
 * @throws {RangeError} when the time zone does not exist
 */
export function nextRun(
  { frequency, hour, timeZone }: Pick<ScheduleTerms, 'frequency' | 'hour' | 'timeZone'>,
  afterMs: number,
  afterPeriod: string | null,
): ScheduledRun {
  // Start a day earlier: where clocks go from 23:00 to 24:00, that day's last hour is due when the next day begins.
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
 * The time range of the report made on a day, in Unix milliseconds; the end is exclusive.
 *
 * @throws {RangeError} when the time zone does not exist
 */
export function coveredRange(
  { covers, timeZone }: Pick<ScheduleTerms, 'covers' | 'timeZone'>,
  period: string,
): { fromMs: number; toMs: number } {
  const day = Temporal.PlainDate.from(period);
  switch (covers) {
    case 'yesterday': {
      const toMs = startOf(day, timeZone);
      // The day that ended at that time. It may not be the previous calendar day: some islands have skipped days.
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

/** The first day of the schedule on or after a day. */
function firstFrom(day: Temporal.PlainDate, frequency: ScheduleFrequency): Temporal.PlainDate {
  if (frequency === 'weekly') return day.add({ days: (8 - day.dayOfWeek) % 7 });
  if (frequency === 'monthly' && day.day > 1) return day.with({ day: 1 }).add({ months: 1 });
  return day;
}

function startOf(day: Temporal.PlainDate, timeZone: string): number {
  return day.toZonedDateTime(timeZone).epochMilliseconds;
}

/** Whether the day exists: zones that moved across the date line have skipped one. */
function exists(day: Temporal.PlainDate, timeZone: string): boolean {
  return day.toZonedDateTime(timeZone).toPlainDate().equals(day);
}
