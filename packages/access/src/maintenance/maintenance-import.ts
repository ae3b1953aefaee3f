import type { CounterCorrectionId, CounterKey, CustomCounter, MaintenancePlanId, VehicleId } from '@outrider/domain';
import type { NewCorrection, PlanFields } from '@outrider/registry';
import type { Faults } from '../faults.ts';
import { NamedVehicles } from '../fleet/sensor-import.ts';
import { bounded } from '../registry-refusals.ts';
import { rightToGroup, rightToVehicle } from '../rights.ts';
import { groupOfLine, type PlanLine, type ReadingLine, vehicleOfLine } from './import-lines.ts';
import {
  AHEAD_MS,
  counterCalled,
  isBuiltIn,
  type MaintenanceScope,
  NOT_CHECKED,
  NOT_COUNTED,
} from './maintenance-scope.ts';

/** Imports maintenance plans and counter readings from the rows of a file: all of them, or none. */
export class MaintenanceImport {
  readonly #scope: MaintenanceScope;

  constructor(scope: MaintenanceScope) {
    this.#scope = scope;
  }

  /**
   * @param read returns the rows; not called if the caller may not make plans
   * @param faults faults already found in the rows
   * @returns the plans in the order of the rows, without ids in a dry run
   * @throws {Problem} with all faults
   */
  async importPlans(
    read: () => readonly PlanLine[],
    faults: Faults,
    dryRun: boolean,
  ): Promise<{ row: number; id: MaintenancePlanId | null }[]> {
    this.#scope.requireMaintainer();
    const lines = read();
    const named = this.#namedVehicles();
    const custom = await this.#customOfLines(lines, named);
    const groups = [...this.#scope.sources.directory.groups.values()].filter(
      (group) => rightToGroup(this.#scope.caller, group) !== 'none',
    );
    const all = lines.flatMap((line): PlanFields[] => {
      const { name, description, counterName, every, warning, startsAtMs } = line;
      const vehicle = line.vehicle && vehicleOfLine({ ...line, vehicle: line.vehicle }, named, faults);
      const group = line.vehicle === null ? groupOfLine(line, groups, faults) : null;
      const about = vehicle ?? group;
      if (about === null) return [];
      if (vehicle && counterName !== null && !counterCalled(counterName, custom.get(vehicle.id) ?? []))
        faults.add({ row: line.row, column: 'counter', detail: 'The vehicle has no such counter.' });
      const target = { vehicleId: vehicle?.id ?? null, groupId: group?.id ?? null, dealerId: about.dealerId };
      return [
        { name, description, counterName, every, warning, ...target, ...(startsAtMs !== null && { startsAtMs }) },
      ];
    });
    faults.throwIfAny();
    const limits = await this.#scope.limitsOf(
      all.flatMap(({ vehicleId }) => (vehicleId === null ? [] : [{ vehicleId }])),
    );
    all.forEach(({ vehicleId, startsAtMs }, nth) => {
      if (vehicleId === null || startsAtMs === undefined) return;
      const detail = limits.fault(vehicleId, startsAtMs, NOT_COUNTED);
      if (detail !== null) faults.add({ row: lines[nth]?.row ?? 0, column: 'startsAt', detail });
    });
    faults.throwIfAny();
    if (dryRun) return lines.map(({ row }) => ({ row, id: null }));
    const plans = await bounded(this.#scope.sources.registry.maintenance.createPlans(all));
    await this.#scope.changed();
    return lines.map(({ row }, nth) => ({ row, id: plans[nth]?.id ?? null }));
  }

  /** As {@link importPlans}, for counter readings. */
  async importReadings(
    read: () => readonly ReadingLine[],
    faults: Faults,
    dryRun: boolean,
    nowMs: number,
  ): Promise<{ row: number; vehicleId: VehicleId; id: CounterCorrectionId | null }[]> {
    this.#scope.requireMaintainer();
    const lines = read();
    const named = this.#namedVehicles();
    const custom = await this.#customOfLines(lines, named);
    const all = lines.flatMap((line): NewCorrection[] => {
      const { row, value, note, atMs } = line;
      if (atMs !== null && atMs > nowMs + AHEAD_MS)
        faults.add({ row, column: 'at', detail: 'It must not be in the future.' });
      const vehicle = vehicleOfLine(line, named, faults);
      if (vehicle === null) return [];
      const own = isBuiltIn(line.counter) ? null : counterCalled(line.counter, custom.get(vehicle.id) ?? []);
      if (own === undefined) faults.add({ row, column: 'counter', detail: 'The vehicle has no such counter.' });
      const counter = own?.id ?? (line.counter as CounterKey);
      return [{ vehicleId: vehicle.id, counter, value, note, atMs: atMs ?? nowMs, createdBy: this.#scope.caller.id }];
    });
    faults.throwIfAny();
    const limits = await this.#scope.limitsOf(all);
    all.forEach(({ vehicleId, atMs }, nth) => {
      const detail = limits.fault(vehicleId, atMs, NOT_CHECKED);
      if (detail !== null) faults.add({ row: lines[nth]?.row ?? 0, column: 'at', detail });
    });
    faults.throwIfAny();
    const made = dryRun ? [] : await this.#scope.sources.registry.counters.correctAll(all);
    if (!dryRun) await this.#scope.changed([...new Set(all.map(({ vehicleId }) => vehicleId))]);
    return all.map(({ vehicleId }, nth) => ({ row: lines[nth]?.row ?? 0, vehicleId, id: made[nth]?.id ?? null }));
  }

  /** The custom counters of the vehicles that rows name. */
  #customOfLines(
    lines: readonly (Pick<PlanLine, 'vehicle'> & { counter?: string; counterName?: string | null })[],
    named: NamedVehicles,
  ): Promise<ReadonlyMap<VehicleId, readonly CustomCounter[]>> {
    const ids = lines.flatMap(({ vehicle, counter = 'odometer', counterName = null }) => {
      if (vehicle === null || (isBuiltIn(counter) && counterName === null)) return [];
      const found = named.find(vehicle);
      return 'detail' in found ? [] : [found.id];
    });
    return this.#scope.sources.registry.customCounters.of([...new Set(ids)]);
  }

  #namedVehicles(): NamedVehicles {
    return new NamedVehicles(
      this.#scope.sources.directory,
      (vehicle) => rightToVehicle(this.#scope.caller, vehicle) !== 'none',
    );
  }
}
