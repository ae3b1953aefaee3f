import type { Position } from '@outrider/domain';
import {
  type DemoVehicle,
  type Driver,
  type DriverState,
  type RoadNetwork,
  resumeDriver,
  type TankChange,
} from '@outrider/simulator';

const MINUTE_MS = 60_000;
/** From this long before the start on, a vehicle stays at the first stop that it comes to, … */
const LOOKS_FOR_STOP_MS = 45 * MINUTE_MS;
/** … at the latest where it is this long before the start, … */
const STANDS_AT_LATEST_MS = 25 * MINUTE_MS;
/** … and leaves this long after the start. */
const LEAVES_AFTER_MS = 20 * MINUTE_MS;
/** Longer than a vehicle stands for its scene, in seconds. */
const LONGEST_HALT_S = 7200;

/** The rules need some minutes to detect a change: both begin before the start and are detected soon after it. */
const THEFT = { beforeMs: 6.6 * MINUTE_MS, minutes: 8, litres: 95 };
const REFUELLING = { beforeMs: 5.6 * MINUTE_MS, minutes: 4 };
/** Until this long before the start, the engine of the robbed vehicle idles: its level before the theft is at rest. */
const IDLES_UNTIL_MS = 14 * MINUTE_MS;
/** A vehicle with at least this much fuel is robbed rather than refuelled. */
const RATHER_ROBBED_L = 200;
const LEAST_ROBBED_L = 130;
const LEAST_FILLED_L = 60;

export interface Actor {
  vehicle: DemoVehicle;
  driver: Driver;
}

/**
 * Stages a fuel theft and a refuelling around the start of the demo, on two of the vehicles with the largest tanks.
 * Their fuel levels decide which of them is robbed.
 *
 * @param actors vehicles and their drivers until now
 * @returns drivers of the vehicles that may take part, by vehicle; they continue into the present
 */
export function stageScenes(network: RoadNetwork, actors: readonly Actor[], nowMs: number): Map<DemoVehicle, Driver> {
  const largest = Math.max(...actors.map(({ vehicle }) => vehicle.plan.tankL));
  const able = actors.filter(
    ({ vehicle, driver }) =>
      vehicle.plan.tankL === largest &&
      vehicle.plan.robbery === undefined &&
      driver.state().clockMs <= nowMs - LOOKS_FOR_STOP_MS,
  );
  const roles = rolesFrom(nowMs);
  return new Map(able.map((actor) => [actor.vehicle, new StagedDriver(network, actor, nowMs, roles)]));
}

/** Chooses the change of a standing vehicle's fuel; null for none. Each role is assigned once. */
type Roles = (fuelL: number, tankL: number) => TankChange | null;

function rolesFrom(nowMs: number): Roles {
  let isRobbed = false;
  let isFilled = false;
  return (fuelL, tankL) => {
    const mayBeRobbed = !isRobbed && fuelL >= LEAST_ROBBED_L;
    const mayBeFilled = !isFilled && tankL - fuelL >= LEAST_FILLED_L;
    if (mayBeRobbed && (fuelL >= RATHER_ROBBED_L || !mayBeFilled)) {
      isRobbed = true;
      return { fromMs: nowMs - THEFT.beforeMs, minutes: THEFT.minutes, litres: -THEFT.litres };
    }
    if (!mayBeFilled) return null;
    isFilled = true;
    return { fromMs: nowMs - REFUELLING.beforeMs, minutes: REFUELLING.minutes, litres: tankL - fuelL };
  };
}

/** Drives like another driver, stands for its scene, and drives on. */
class StagedDriver implements Driver {
  readonly #network: RoadNetwork;
  readonly #vehicle: DemoVehicle;
  readonly #nowMs: number;
  readonly #roles: Roles;
  #driver: Driver;
  #change: TankChange | null = null;
  #phase: 'before' | 'idling' | 'standing' | 'after' = 'before';

  constructor(network: RoadNetwork, { vehicle, driver }: Actor, nowMs: number, roles: Roles) {
    this.#network = network;
    this.#vehicle = vehicle;
    this.#driver = driver;
    this.#nowMs = nowMs;
    this.#roles = roles;
  }

  advanceTo(timeMs: number): Position[] {
    const positions: Position[] = [];
    if (this.#phase === 'before') {
      const fromMs = this.#nowMs - LOOKS_FOR_STOP_MS;
      positions.push(...this.#driver.advanceTo(Math.min(timeMs, fromMs)));
      for (let atMs = fromMs; atMs < timeMs && this.#phase === 'before'; atMs += MINUTE_MS) {
        positions.push(...this.#driver.advanceTo(Math.min(timeMs, atMs)));
        this.#standIfItMay(atMs);
      }
    }
    if (this.#phase === 'idling') {
      const untilMs = this.#nowMs - IDLES_UNTIL_MS;
      positions.push(...this.#driver.advanceTo(Math.min(timeMs, untilMs)));
      if (timeMs > untilMs) this.#stand(this.#change);
    }
    if (this.#phase === 'standing') {
      const leavesMs = this.#nowMs + LEAVES_AFTER_MS;
      positions.push(...this.#driver.advanceTo(Math.min(timeMs, leavesMs)));
      if (timeMs > leavesMs) {
        this.#driver = resumeDriver(this.#network, this.#vehicle.plan, this.#driver.state());
        this.#phase = 'after';
      }
    }
    if (this.#phase === 'after') positions.push(...this.#driver.advanceTo(timeMs));
    return positions;
  }

  state(): DriverState {
    return this.#driver.state();
  }

  #standIfItMay(atMs: number): void {
    const state = this.#driver.state();
    const isAtStop = !state.ignition && state.haltedUntilMs > state.clockMs;
    if (!isAtStop && atMs < this.#nowMs - STANDS_AT_LATEST_MS) return;
    const { plan } = this.#vehicle;
    this.#change = this.#roles(state.fuelL, plan.tankL);
    if (this.#change === null) this.#phase = 'after';
    else this.#stand(this.#change.litres < 0 ? null : this.#change);
  }

  /** @param tankChange null while the engine idles before the change */
  #stand(tankChange: TankChange | null): void {
    const { plan } = this.#vehicle;
    const halted = { ...plan, dwellSeconds: [0, LONGEST_HALT_S] as const, ...(tankChange && { tankChange }) };
    const haltedUntilMs = this.#nowMs + LEAVES_AFTER_MS;
    const state = { ...this.#driver.state(), speed: 0, ignition: tankChange === null, haltedUntilMs };
    this.#driver = resumeDriver(this.#network, halted, state);
    this.#phase = tankChange === null ? 'idling' : 'standing';
  }
}
