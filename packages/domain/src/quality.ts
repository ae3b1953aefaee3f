import type { Position } from './position.ts';

/** Why a position is kept in the archive but moves nothing. `null` means that it is good. */
export type Rejection = 'out-of-range' | 'null-island' | 'time-in-future' | 'time-too-old' | 'jump';

const MAX_AHEAD_MS = 10 * 60_000;
/**
 * A fix more than this ahead of its reception moves nothing live: true fixes that come after it are older than it, and
 * would be late for as long. Kept shorter than what is archived as good: clocks of a terminal, a gateway and a server
 * differ by seconds.
 */
export const MAX_AHEAD_LIVE_MS = 60_000;
const EARLIEST_MS = Date.UTC(2005, 0, 1);
/** No vehicle drives faster: a step that takes more is a jump, a reported speed above it is unknown. */
export const MAX_SPEED_KMH = 500;
const DAY_MS = 86_400_000;
/** Period of the GPS week number: a receiver that does not know of its rollover sends a date that is this far back. */
const WEEK_ROLLOVER_MS = 1024 * 7 * DAY_MS;
/** Records of a receiver whose date is corrected are at most this old when they come. */
const MAX_ROLLED_OVER_AGE_MS = 31 * DAY_MS;

/** A place that may be farther off than this, as of cell towers, moves no vehicle. */
const MAX_ACCURACY_M = 100;

/** What {@link correctKnownErrors} corrects. */
export type Correctable = 'week-rollover' | 'impossible-speed' | 'inaccurate-place';

/**
 * Corrects in place what receivers are known to get wrong: a date that is one or two rollovers of the GPS week back, a
 * speed that no vehicle drives, such as the largest number that the field holds, and a place that by its own `accuracy`
 * is anywhere in a circle of more than 100 m: that is not valid.
 *
 * @param receivedAtMs when the gateway had the record, Unix milliseconds
 * @returns what was wrong; null where nothing was
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
 * What is wrong with a position as such, before any other is looked at (semantics, "Positions"). A jump can only be
 * seen against the vehicle's last fix: that is the engine's to say.
 *
 * @param receivedAtMs when the gateway had the packet: the server's clock, as recorded, so that a replay agrees
 */
export function rejectionOf(position: Position, receivedAtMs: number): Rejection | null {
  return rejectionOfFix(position.fixTimeMs, position.latitude, position.longitude, receivedAtMs);
}

/** The same of a fix whose position is no object. */
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

/** True where a position has a place at all, be it the vehicle's or not. */
export function hasPlace({ latitude, longitude }: Position): boolean {
  return isPlace(latitude, longitude);
}

/** Whether these degrees are a place: on Earth, and not exactly 0/0. */
export function isPlace(latitude: number, longitude: number): boolean {
  return isOnEarth(latitude, longitude) && !(latitude === 0 && longitude === 0);
}

/** True where the time of a record can be believed, whatever its place: it says when the rest of the record was so. */
export function isTimely({ fixTimeMs }: Pick<Position, 'fixTimeMs'>, receivedAtMs: number): boolean {
  return fixTimeMs <= receivedAtMs + MAX_AHEAD_MS && fixTimeMs >= EARLIEST_MS;
}
