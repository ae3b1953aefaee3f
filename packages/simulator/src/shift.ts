/** Working hours of a vehicle, in this machine's time zone. */
export interface Shift {
  /** Minutes from midnight. */
  fromMinute: number;
  /** Later than `fromMinute`; beyond 1440 on the next day. */
  toMinute: number;
  /** 0 is Sunday. */
  weekdays: readonly number[];
  /** Maximum delay of the departure after the beginning of the shift, so that vehicles leave at different times. */
  staggerSeconds: number;
  /** Unix milliseconds from which the vehicle is on duty at any hour, because people watch the demo at any hour. */
  alwaysFromMs: number;
}

const MINUTE_MS = 60_000;

/** The first time from `timeMs` on at which the vehicle is on duty: `timeMs` itself where it is already. */
export function dutyFrom({ fromMinute, toMinute, weekdays, alwaysFromMs }: Shift, timeMs: number): number {
  if (timeMs >= alwaysFromMs) return timeMs;
  const day = new Date(timeMs);
  day.setHours(0, 0, 0, 0);
  // Starts with the day before, whose shift may extend past midnight.
  day.setDate(day.getDate() - 1);
  for (let days = 0; days < 9; days++, day.setDate(day.getDate() + 1)) {
    if (!weekdays.includes(day.getDay())) continue;
    const midnightMs = day.getTime();
    if (timeMs >= midnightMs + toMinute * MINUTE_MS) continue;
    return Math.min(alwaysFromMs, Math.max(timeMs, midnightMs + fromMinute * MINUTE_MS));
  }
  return alwaysFromMs;
}
