import type { Position } from './position.ts';

/** Why a position is only archived and does not move its vehicle. `null` means that the position is good. */
export type Rejection = 'out-of-range' | 'null-island' | 'time-in-future' | 'time-too-old' | 'jump';

const MAX_AHEAD_MS = 10 * 60_000;
/**
 * A fix further ahead of its reception than this does not move the vehicle live. Otherwise true fixes that follow would
 * be older than it and count as late for as long. Lower than the bound for the archive, since the clocks of terminal,
 * gateway and server differ only by seconds.
 */
export const MAX_AHEAD_LIVE_MS = 60_000;
const EARLIEST_MS = Date.UTC(2005, 0, 1);
/** Highest plausible speed: a step that needs more is a jump; a higher reported speed is treated as unknown. */
export const MAX_SPEED_KMH = 500;
const DAY_MS = 86_400_000;
/** Period of the GPS week number: a receiver that ignores its rollover sends a date that is this far back. */
const WEEK_ROLLOVER_MS = 1024 * 7 * DAY_MS;
/** Maximum age on arrival of records whose date is corrected. */
const MAX_ROLLED_OVER_AGE_MS = 31 * DAY_MS;

/** Largest accuracy radius with which a place is valid. Places by cell towers often exceed it. */
const MAX_ACCURACY_M = 100;

/** Errors that {@link correctKnownErrors} corrects. */
export type Correctable = 'week-rollover' | 'impossible-speed' | 'inaccurate-place';

/**
 * Corrects known errors of receivers in place. A date that is one or two GPS week rollovers back is moved forward. A
 * speed that no vehicle can have, such as the largest number that the field holds, becomes unknown. A place whose own
 * `accuracy` is worse than 100 m becomes invalid.
 *
 * @param receivedAtMs when the gateway received the record, Unix milliseconds
 * @returns the error found; null: none
 */
export function correctKnownErrors(position: Position, receivedAtMs: number): Correctable | null {
  let corrected: Correctable | null = null;
  const { speedKmh } = position;
  if (speedKmh !== null && !(speedKmh <= MAX_SPEED_KMH)) {
    position.speedKmh = null;
    corrected = 'impossible-speed';
  }
  const accuracy = position.attributes?.accuracy;
  if (position.valid && typeof accuracy === 'number' && accuracy > MAX_ACCURACY_M) {
    position.valid = false;
    corrected = 'inaccurate-place';
  }
  const behindMs = receivedAtMs - position.fixTimeMs;
  if (behindMs < WEEK_ROLLOVER_MS - MAX_AHEAD_MS) return corrected;
  const rollovers = Math.floor((behindMs + MAX_AHEAD_MS) / WEEK_ROLLOVER_MS);
  if (rollovers > 2 || behindMs - rollovers * WEEK_ROLLOVER_MS > MAX_ROLLED_OVER_AGE_MS) return corrected;
  position.fixTimeMs += rollovers * WEEK_ROLLOVER_MS;
  return 'week-rollover';
}

/**
 * Checks a position by itself, without comparing it with others (semantics, "Positions"). Jumps are detected by the
 * engine, which knows the vehicle's last fix.
 *
 * @param receivedAtMs when the gateway received the packet: the server's clock, as recorded, so that a replay agrees
 */
export function rejectionOf(position: Position, receivedAtMs: number): Rejection | null {
  return rejectionOfFix(position.fixTimeMs, position.latitude, position.longitude, receivedAtMs);
}

/** As {@link rejectionOf}, for a fix whose position is not an object. */
export function rejectionOfFix(
  fixTimeMs: number,
  latitude: number,
  longitude: number,
  receivedAtMs: number,
): Rejection | null {
  if (!isOnEarth(latitude, longitude)) return 'out-of-range';
  if (!isPlace(latitude, longitude)) return 'null-island';
  if (!(fixTimeMs <= receivedAtMs + MAX_AHEAD_MS)) return 'time-in-future';
  if (fixTimeMs < EARLIEST_MS) return 'time-too-old';
  return null;
}

function isOnEarth(latitude: number, longitude: number): boolean {
  return latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180;
}

/** Whether a position has coordinates at all, even if they are not the vehicle's. */
export function hasPlace({ latitude, longitude }: Position): boolean {
  return isPlace(latitude, longitude);
}

/** Whether these degrees are a place: on Earth, and not exactly 0/0. */
export function isPlace(latitude: number, longitude: number): boolean {
  return isOnEarth(latitude, longitude) && !(latitude === 0 && longitude === 0);
}

/** Whether the time of a record is plausible, whatever its place: then the rest of the record applies at that time. */
export function isTimely({ fixTimeMs }: Pick<Position, 'fixTimeMs'>, receivedAtMs: number): boolean {
  return fixTimeMs <= receivedAtMs + MAX_AHEAD_MS && fixTimeMs >= EARLIEST_MS;
}
