/** Milliseconds by which a zone is ahead of UTC at a time; null stands for the device's zone. */
function offsetMs(atMs: number, timeZone: string | null): number {
  if (timeZone === null) return -new Date(atMs).getTimezoneOffset() * 60_000;
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  }).formatToParts(atMs);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(atMs / 1000) * 1000;
}

/** A zone's clocks change at most once within this time before and after a moment. */
const AROUND_MS = 6 * 3_600_000;

/**
 * Converts a local clock time to Unix milliseconds. `localMs` has the local date and time in the fields of UTC.
 *
 * If clocks show a time twice, the first one is returned. If they skip it, the result is as long after the change as
 * `localMs` is after the last clock time before the change.
 */
export function timeOfClock(localMs: number, timeZone: string | null): number {
  const guessMs = localMs - offsetMs(localMs, timeZone);
  const [before = 0, after = 0] = [-AROUND_MS, AROUND_MS].map((ms) => localMs - offsetMs(guessMs + ms, timeZone));
  const first = Math.min(before, after);
  return timeIn(first, timeZone).getTime() === localMs ? first : Math.max(before, after);
}

/** Midnight of a date (`2026-01-31`) in a zone; where clocks skip midnight, the first moment of the day. */
export function dayStart(date: string, timeZone: string | null): Date {
  return new Date(timeOfClock(Date.parse(`${date}T00:00:00Z`), timeZone));
}

/** Local date and time in a zone, in the fields of UTC. */
export function timeIn(atMs: number, timeZone: string | null): Date {
  return new Date(atMs + offsetMs(atMs, timeZone));
}

/** The date of a time in a zone, as `2026-01-31`. */
export function dateOf(atMs: number, timeZone: string | null): string {
  return timeIn(atMs, timeZone).toISOString().slice(0, 10);
}

/** The Monday of a date's week. */
export function weekStart(date: string): string {
  return addDays(date, -((new Date(`${date}T12:00:00Z`).getUTCDay() + 6) % 7));
}

export function startOfDay(atMs: number, timeZone: string | null): Date {
  return dayStart(dateOf(atMs, timeZone), timeZone);
}

/** The date some days later, or earlier. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T12:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}
