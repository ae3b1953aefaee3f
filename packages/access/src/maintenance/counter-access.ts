import {
  type CounterCorrection,
  type CounterCorrectionId,
  type CounterKey,
  type CustomCounterId,
  counterNameKey,
  HOURS_UNIT,
  type ShownCounter,
  type Vehicle,
  type VehicleCounters,
  type VehicleId,
} from '@outrider/domain';
import type { CustomCounterFields } from '@outrider/registry';
import { badField, notFound } from '../problem.ts';
import { bounded, current } from '../registry-refusals.ts';
import { AHEAD_MS, isBuiltIn, type MaintenanceScope, NOT_CHECKED, NOT_COUNTED } from './maintenance-scope.ts';

/** A custom counter as requested by a caller. Without a unit, it takes that of its source. */
export type CounterWish = Omit<CustomCounterFields, 'unit' | 'startsAtMs'> & {
  unit: string | null;
  startsAtMs: number | null;
};

/** Corrections shown for one vehicle. */
const SHOWN_CORRECTIONS = 200;

/** Counters of the vehicles that one caller may see. */
export class CounterAccess {
  readonly #scope: MaintenanceScope;

  constructor(scope: MaintenanceScope) {
    this.#scope = scope;
  }

  async counters(vehicle: Vehicle): Promise<{ counters: VehicleCounters; corrections: CounterCorrection[] }> {
    const { counters } = this.#scope.sources.registry;
    const known = await this.shown(vehicle.id);
    return {
      counters: known ?? { vehicleId: vehicle.id, atMs: 0, odometerM: 0, engineMs: 0, custom: [], settled: true },
      corrections: (await counters.corrections(vehicle.id)).slice(0, SHOWN_CORRECTIONS),
    };
  }

  /**
   * Definition and current value of a custom counter of the vehicle.
   *
   * @throws {Problem} when the vehicle has no such counter
   */
  async customCounter(vehicle: Vehicle, id: CustomCounterId): Promise<ShownCounter> {
    const { counters } = await this.counters(vehicle);
    const counter = counters.custom.find((each) => each.id === id);
    if (counter === undefined) throw notFound();
    return counter;
  }

  async addCounter(vehicle: Vehicle, wish: CounterWish, nowMs: number): Promise<ShownCounter> {
    this.#scope.requireMaintainer();
    const { startsAtMs, unit, ...fields } = wish;
    if (startsAtMs !== null && startsAtMs > nowMs + AHEAD_MS)
      throw badField('/startsAt', 'It must not be in the future.');
    if (startsAtMs !== null) await this.#scope.requireHistory(vehicle.id, '/startsAt', startsAtMs, NOT_COUNTED);
    requireSource(vehicle, { ...fields, unit });
    const { customCounters } = this.#scope.sources.registry;
    const { id } = await bounded(
      customCounters.create(vehicle.id, {
        ...fields,
        unit: unit ?? (fields.source === 'sensor-hours' ? HOURS_UNIT : unitOf(vehicle, fields.sensorId)),
        ...(startsAtMs === null ? {} : { startsAtMs }),
      }),
    );
    await this.#scope.changed([vehicle.id]);
    return this.customCounter(vehicle, id);
  }

  async changeCounter(
    vehicle: Vehicle,
    id: CustomCounterId,
    ifMatch: number | null,
    patch: Partial<Omit<CustomCounterFields, 'startsAtMs'>>,
  ): Promise<ShownCounter> {
    this.#scope.requireMaintainer();
    const before = await this.customCounter(vehicle, id);

    const isOther = patch.source !== undefined || patch.sensorId !== undefined || patch.unit !== undefined;
    if (isOther) requireSource(vehicle, { ...before, ...patch });
    await current(this.#scope.sources.registry.customCounters.change(vehicle.id, id, ifMatch ?? before.version, patch));
    await this.#scope.changed([vehicle.id]);
    return this.customCounter(vehicle, id);
  }

  async removeCounter(vehicle: Vehicle, id: CustomCounterId, ifMatch: number | null): Promise<void> {
    this.#scope.requireMaintainer();
    await current(this.#scope.sources.registry.customCounters.remove(vehicle.id, id, ifMatch));
    await this.#scope.changed([vehicle.id]);
  }

  /** Counters of a vehicle that the caller may see (already checked); null: nothing was counted. */
  async shown(vehicleId: VehicleId): Promise<VehicleCounters | null> {
    this.#scope.sources.countersRead?.();
    return (await this.#scope.sources.registry.counters.of([vehicleId]))[0] ?? null;
  }

  async correct(
    vehicle: Vehicle,
    wish: { counter: CounterKey; value: number; atMs: number | null; note: string | null },
    nowMs: number,
  ): Promise<CounterCorrection> {
    this.#scope.requireMaintainer();
    if (wish.atMs !== null && wish.atMs > nowMs + AHEAD_MS) throw badField('/at', 'It must not be in the future.');
    if (wish.atMs !== null) await this.#scope.requireHistory(vehicle.id, '/at', wish.atMs, NOT_CHECKED);
    if (!isBuiltIn(wish.counter) && !(await this.#scope.customOf(vehicle)).some(({ id }) => id === wish.counter))
      throw badField('/counter', 'The vehicle has no such counter.');
    const correction = await this.#scope.sources.registry.counters.correct({
      ...wish,
      atMs: wish.atMs ?? nowMs,
      vehicleId: vehicle.id,
      createdBy: this.#scope.caller.id,
    });
    await this.#scope.changed([vehicle.id]);
    return correction;
  }

  async removeCorrection(vehicle: Vehicle, id: CounterCorrectionId): Promise<void> {
    this.#scope.requireMaintainer();
    await this.#scope.sources.registry.counters.removeCorrection(vehicle.id, id);
    await this.#scope.changed([vehicle.id]);
  }
}

/** A counter needs a sensor of its vehicle as source. To count hours, it must be a digital one. */
function requireSource(
  { sensors }: Vehicle,
  { name, source, sensorId, unit }: Pick<CounterWish, 'name' | 'source' | 'sensorId' | 'unit'>,
): void {
  if (isBuiltIn(counterNameKey(name)))
    throw badField('/name', 'This name is reserved: every vehicle has a counter with it.');
  if (source === 'manual') {
    if (sensorId !== null) throw badField('/sensorId', 'It must be null: a manual counter has no sensor.');
    return;
  }
  const sensor = sensors.find(({ id }) => id === sensorId);
  if (sensor === undefined)
    throw badField('/sensorId', sensorId === null ? 'This counter needs a sensor.' : 'The vehicle has no such sensor.');
  if (source === 'sensor-total') return;
  if (sensor.kind !== 'digital') throw badField('/sensorId', 'Hours can be counted only with a digital sensor.');
  if (unit !== null && unit !== HOURS_UNIT)
    throw badField('/unit', `It must be ${HOURS_UNIT}: this counter counts hours.`);
}

function unitOf({ sensors }: Vehicle, sensorId: CounterWish['sensorId']): string {
  return sensors.find(({ id }) => id === sensorId)?.unit ?? '';
}
