import {
  type FleetEvent,
  isTimely,
  MAX_AHEAD_LIVE_MS,
  type Position,
  type Rejection,
  rejectionOf,
} from '@outrider/domain';
import { isRepeat } from '../conditions.ts';
import type { FixSteps } from '../fix-steps.ts';
import type { LateIntervals } from '../late-intervals.ts';
import { besideFix, carry } from '../records.ts';
import { noteRecord } from '../status.ts';
import type { VehicleState } from '../vehicle-state.ts';
import { impliesJump, outweighAnchor, suspectsAfter } from './jump.ts';

/** A fix further ahead of its reception than this is an error of the terminal's clock, not of the server's. */
const MAX_CLOCK_ERROR_MS = 86_400_000;
/**
 * After this many fixes in a row that are ahead of their reception, but not rejected, the terminal's clock is known to
 * be fast. The terminal is then followed live, by its own times.
 */
const FIXES_OF_FAST_CLOCK = 3;

/** Decides which positions move their vehicle: by quality, order and jumps. */
export class PositionIntake {
  readonly #steps: FixSteps;
  readonly #late: LateIntervals;
  readonly #rejected = new Map<Rejection, number>();

  constructor(steps: FixSteps, late: LateIntervals) {
    this.#steps = steps;
    this.#late = late;
  }

  /** Number of rejected fixes since the last call, by reason. */
  takeRejected(): Map<Rejection, number> {
    const rejected = new Map(this.#rejected);
    this.#rejected.clear();
    return rejected;
  }

  /**
   * Processes the positions of one packet, and appends the resulting events to `events`.
   *
   * @param positions in the order of their fix times
   * @returns how many moved the vehicle
   */
  take(vehicle: VehicleState, positions: readonly Position[], receivedAtMs: number, events: FleetEvent[]): number {
    let accepted = 0;
    let { latest } = vehicle;
    // The speed changes with nearly every fix and is not read in between: it is stored once, after the loop.
    let { speedKmh } = vehicle;
    for (let i = 0; i < positions.length; i++) {
      const fix = positions[i] as Position;
      const { fixTimeMs } = fix;
      const rejection = rejectionOf(fix, receivedAtMs);
      if (rejection !== null) this.#countRejected(rejection);
      const isGood = fix.valid && rejection === null;
      if (fixTimeMs > receivedAtMs + MAX_AHEAD_LIVE_MS) {
        if (this.#noteAhead(vehicle, fix, isGood, receivedAtMs)) continue;
      } else if (fix.valid) vehicle.aheadFixes = 0;
      if (!isGood) {
        if (latest !== null && fixTimeMs < Math.max(latest.fixTimeMs, vehicle.recordAtMs))
          if (isTimely(fix, receivedAtMs)) this.#late.note(vehicle.id, fixTimeMs, receivedAtMs);
        carry(vehicle, latest, fix, receivedAtMs, events);
        noteRecord(vehicle, fix, receivedAtMs);
        continue;
      }
      let isJump = false;
      if (latest !== null) {
        const elapsedMs = fixTimeMs - latest.fixTimeMs;
        // Older than the newest fix, or than an evaluated record that did not move the vehicle.
        if (elapsedMs < 0 || fixTimeMs < vehicle.recordAtMs) this.#late.note(vehicle.id, fixTimeMs, receivedAtMs);
        // The archive stores repeated records once, and so a recalculation sees only one.
        else if (fixTimeMs === vehicle.recordAtMs && isRepeat(vehicle, fix)) continue;
        if (elapsedMs <= 0) {
          if (elapsedMs === 0 && fixTimeMs >= vehicle.recordAtMs) besideFix(vehicle, latest, speedKmh, fix, events);
          noteRecord(vehicle, fix, receivedAtMs);
          continue;
        }
        isJump = impliesJump(latest.latitude, latest.longitude, fix.latitude, fix.longitude, elapsedMs);
        if (isJump) {
          vehicle.suspects = suspectsAfter(vehicle.suspects, fix);
          if (!outweighAnchor(vehicle.suspects) || vehicle.suspects.lastAtMs !== fixTimeMs) {
            this.#countRejected('jump');
            carry(vehicle, latest, fix, receivedAtMs, events);
            noteRecord(vehicle, fix, receivedAtMs);
            continue;
          }
        }
      }
      speedKmh = this.#steps.take(vehicle, latest, speedKmh, fix, !isJump, events);
      if (vehicle.suspects !== null) vehicle.suspects = null;
      latest = fix;
      // The selection of past shifts depends on it.
      vehicle.latest = fix;
      accepted++;
    }
    if (accepted > 0) vehicle.speedKmh = speedKmh;
    return accepted;
  }

  /**
   * Notes a fix that is more than a minute ahead of its reception. It becomes part of the history once its time has
   * come, and is ignored until then.
   *
   * @returns true where it does not move the vehicle
   */
  #noteAhead(vehicle: VehicleState, fix: Position, isGood: boolean, receivedAtMs: number): boolean {
    const { fixTimeMs } = fix;
    if (isGood && fixTimeMs > vehicle.aheadMs) vehicle.aheadFixes++;
    const isLate = !isGood || vehicle.aheadFixes < FIXES_OF_FAST_CLOCK;
    if (!isLate || fixTimeMs <= receivedAtMs + MAX_CLOCK_ERROR_MS) {
      if (isLate) this.#late.note(vehicle.id, fixTimeMs, receivedAtMs);
      vehicle.aheadMs = Math.max(vehicle.aheadMs, fixTimeMs);
    }
    if (isLate) noteRecord(vehicle, fix, receivedAtMs);
    return isLate;
  }

  #countRejected(reason: Rejection): void {
    this.#rejected.set(reason, (this.#rejected.get(reason) ?? 0) + 1);
  }
}
