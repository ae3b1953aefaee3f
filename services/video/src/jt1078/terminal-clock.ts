/** JT/T 808 asks for this clock; terminals that were set to another one file their recordings by that. */
const STANDARD_OFFSET_MS = 8 * 3600 * 1000;

/**
 * The time by which a terminal whose clock shows `timeZone` takes JT/T 808's times, for a moment in Unix milliseconds.
 */
export function toTerminalMs(momentMs: number, timeZone: string): number {
  const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(Math.floor(momentMs)).toZonedDateTimeISO(
    timeZone,
  );
  return momentMs + offsetNanoseconds / 1e6 - STANDARD_OFFSET_MS;
}

/** The moment that a terminal means whose clock shows `timeZone`; of an hour that comes twice the first is taken. */
export function fromTerminalMs(terminalMs: number, timeZone: string): number {
  const shown = Temporal.Instant.fromEpochMilliseconds(Math.floor(terminalMs + STANDARD_OFFSET_MS))
    .toZonedDateTimeISO('UTC')
    .toPlainDateTime();
  return shown.toZonedDateTime(timeZone).epochMilliseconds;
}
