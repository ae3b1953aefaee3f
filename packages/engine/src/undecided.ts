import type { VehicleState } from './vehicle-state.ts';

/**
 * The time since which something of a vehicle waits for more time to pass before it is reported, in Unix milliseconds:
 * a presence, speeding or standing that is not long enough yet, an absence that may be too short to count, or fixes
 * that may be jumps. Null where nothing waits.
 *
 * @param silentFromMs also includes presences from this time on whose begin was not observed, of which only the end is
 *   published
 */
export function undecidedSinceMs(vehicle: VehicleState, silentFromMs: number): number | null {
  const { presences, runs, suspects, motion, conditions, shift, latest } = vehicle;
  let sinceMs = suspects?.firstAtMs ?? Number.POSITIVE_INFINITY;
  for (const { phase, silent, entry, exit } of presences) {
    if (phase === 'entering' || (silent && entry.atMs >= silentFromMs)) sinceMs = Math.min(sinceMs, entry.atMs);
    else if (phase === 'leaving' && exit !== null) sinceMs = Math.min(sinceMs, exit.atMs);
  }
  for (const { reported, start } of runs) if (!reported) sinceMs = Math.min(sinceMs, start.atMs);
  for (const { silent, start } of conditions)
    if (silent && start.atMs >= silentFromMs) sinceMs = Math.min(sinceMs, start.atMs);
  // If the vehicle stays parked, the shift has ended.
  if (shift !== null && latest !== null && latest.fixTimeMs > shift.seen.atMs)
    sinceMs = Math.min(sinceMs, shift.seen.atMs);
  for (const { runs: values } of vehicle.sensors?.beyond ?? [])
    for (const { reported, start } of values) if (!reported) sinceMs = Math.min(sinceMs, start.atMs);
  if (motion !== null) {
    const { rest, halt } = motion;
    if (rest !== null && halt === null) sinceMs = Math.min(sinceMs, rest.since.atMs);
    else if (halt !== null && halt.turn !== null) sinceMs = Math.min(sinceMs, halt.turn.at.atMs);
  }
  return sinceMs === Number.POSITIVE_INFINITY ? null : sinceMs;
}
