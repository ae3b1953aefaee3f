const QUARTER_MS = 900_000;
const MOST_KNOWN = 10_000;

/**
 * Creates a function that returns a zone's offset from UTC at a moment, in milliseconds. The offset is looked up once
 * for each quarter of an hour: no zone's offset changes in between.
 *
 * @param timeZone IANA name
 */
export function offsetsOf(timeZone: string): (timeMs: number) => number {
  const offsets = new Map<number, number>();
  return (timeMs) => {
    const quarter = Math.floor(timeMs / QUARTER_MS);
    let offsetMs = offsets.get(quarter);
    if (offsetMs === undefined) {
      if (offsets.size >= MOST_KNOWN) offsets.clear();
      const zoned = Temporal.Instant.fromEpochMilliseconds(Math.floor(timeMs)).toZonedDateTimeISO(timeZone);
      offsetMs = zoned.offsetNanoseconds / 1e6;
      offsets.set(quarter, offsetMs);
    }
    return offsetMs;
  };
}

/**
 * Creates a function that formats Unix milliseconds as ISO 8601 in the zone's time, with its offset:
 * `2026-11-27T01:30:00.000+05:30`. UTC is `Z`, as everywhere else.
 */
export function zonedTimes(timeZone: string): (timeMs: number) => string {
  const offsetMs = offsetsOf(timeZone);
  return (timeMs) => {
    // ISO 8601 has offsets in whole minutes; before 1972 some zones had others.
    const minutes = Math.round(offsetMs(timeMs) / 60_000);
    const clock = new Date(timeMs + minutes * 60_000).toISOString();
    if (minutes === 0) return clock;
    const two = (value: number) => String(value).padStart(2, '0');
    const ahead = Math.abs(minutes);
    return `${clock.slice(0, -1)}${minutes < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
  };
}
