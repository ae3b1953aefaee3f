/** JT/T 808 requires this clock (UTC+8). Terminals set to another clock file their recordings by that one. */
const STANDARD_OFFSET_MS = 8 * 3600 * 1000;

/**
 * Converts a Unix time in milliseconds for a terminal whose clock shows `timeZone` instead of the clock that JT/T 808
 * requires.
 */
export function toTerminalMs(momentMs: number, timeZone: string): number {
  const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(Math.floor(momentMs)).toZonedDateTimeISO(
    timeZone,
  );
  return momentMs + offsetNanoseconds / 1e6 - STANDARD_OFFSET_MS;
}

/** Converts such a terminal's time to Unix milliseconds. Of an hour that occurs twice, the first is taken. */
export function fromTerminalMs(terminalMs: number, timeZone: string): number {
  const shown = Temporal.Instant.fromEpochMilliseconds(Math.floor(terminalMs + STANDARD_OFFSET_MS))
    .toZonedDateTimeISO('UTC')
    .toPlainDateTime();
  return shown.toZonedDateTime(timeZone).epochMilliseconds;
}
