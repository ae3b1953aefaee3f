import { blankPosition, type FleetEvent, type Position } from '@outrider/domain';
import type { Caps } from './caps.ts';
import { hasAlarm, observe, saysNothingNew } from './conditions.ts';
import type { Definitions } from './definitions.ts';
import type { FenceFinder } from './geofences/fence-finder.ts';
import { advancePresences, findPresences } from './geofences/presences.ts';
import { harshBetween, NOTHING_HARSH } from './harsh-driving.ts';
import { advanceMotion, continueMotion } from './motion.ts';
import { follow, judgeDriver, judgeFuel } from './records.ts';
import { judgeSpeed } from './speeding.ts';
import { isInPlace, isSteady, keepsOn, settle, settleMotion } from './steady-state.ts';
import { atFix, repeatsSpeed, Step } from './step.ts';
import type { VehicleState } from './vehicle-state.ts';

/** Applies a good fix to its vehicle: motion, geofences, speed and the other subjects in order. */
export class FixSteps {
  readonly #definitions: Definitions;
  readonly #finder: FenceFinder;
  readonly #caps: Caps;
  readonly #step = new Step(blankPosition(0, 0, 0));

  constructor(definitions: Definitions, finder: FenceFinder, caps: Caps) {
    this.#definitions = definitions;
    this.#finder = finder;
    this.#caps = caps;
  }

  /**
   * Moves a vehicle to its next good fix, and appends the resulting events to `events`.
   *
   * @param latest the previous good fix; null: this is the first
   * @param speedKmh at the previous fix
   * @param isWay false where the previous fix turned out to be wrong
   * @returns the speed at the fix
   */
  take(
    vehicle: VehicleState,
    latest: Position | null,
    speedKmh: number | null,
    fix: Position,
    isWay: boolean,
    events: FleetEvent[],
  ): number | null {
    judgeDriver(vehicle, fix, events);
    const speedNowKmh =
      latest === null ? this.#begin(vehicle, fix, events) : this.#move(vehicle, latest, speedKmh, fix, isWay, events);
    if (vehicle.gauge !== null) judgeFuel(vehicle, vehicle.gauge, latest, fix, events);
    if (vehicle.sensors !== null) follow(vehicle, fix, fix, speedNowKmh, events);
    return speedNowKmh;
  }

  #begin(vehicle: VehicleState, fix: Position, events: FleetEvent[]): number | null {
    const step = this.#step;
    step.set(null, false, null, fix, 0);
    this.#finder.look(vehicle, fix, null, false);
    findPresences(vehicle, this.#finder, step);
    return this.#judge(vehicle, events);
  }

  #move(
    vehicle: VehicleState,
    latest: Position,
    speedKmh: number | null,
    fix: Position,
    isWay: boolean,
    events: FleetEvent[],
  ): number | null {
    const step = this.#step;
    const elapsedMs = fix.fixTimeMs - latest.fixTimeMs;
    const isSettled = vehicle.steadyEpoch === this.#definitions.epoch;
    const inPlace = isWay && isSettled && isInPlace(vehicle, fix);
    if (inPlace && isSteady(vehicle, fix) && !repeatsSpeed(latest, fix, elapsedMs)) {
      const { motion, definition, ignition } = vehicle;
      const speedNowKmh = fix.speedKmh as number;
      if (motion !== null && keepsOn(vehicle, speedNowKmh, fix, elapsedMs))
        continueMotion(motion, latest, fix, elapsedMs);
      else if (definition !== null) {
        step.set(latest, true, speedKmh, fix, elapsedMs);
        advanceMotion(vehicle, definition, step, speedNowKmh, ignition, events);
        settleMotion(vehicle);
      }
      return speedNowKmh;
    }
    step.set(latest, isWay, speedKmh, fix, elapsedMs);
    this.#finder.look(vehicle, fix, inPlace ? null : step, isSettled);
    advancePresences(vehicle, this.#finder, this.#caps, step, events);
    return this.#judge(vehicle, events);
  }

  /** Judges the current step: its speed, the other data of its fix, and its movement. */
  #judge(vehicle: VehicleState, events: FleetEvent[]): number | null {
    const step = this.#step;
    const speedKmh = step.speedKmh();
    judgeSpeed(vehicle, this.#finder, speedKmh, step, events);
    const { definition, ignition, harsh: limits } = vehicle;
    if (definition !== null) {
      const harsh = limits === null || step.from === null ? NOTHING_HARSH : harshBetween(limits, step.from, step.to);
      if (harsh.length > 0 || !saysNothingNew(vehicle, step.to) || hasAlarm(vehicle))
        observe(vehicle, definition.version, step.to, atFix(step.to, speedKmh), events, harsh);
      advanceMotion(vehicle, definition, step, speedKmh, ignition, events);
    }
    settle(vehicle, this.#definitions.epoch);
    return speedKmh;
  }
}
