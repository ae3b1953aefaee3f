import {
  accessAfter,
  type CustomAttributes,
  type GroupId,
  LEARNING_ACCESS,
  pagesOf,
  type TerminalAccessPatch,
  type UserId,
  VEHICLE_DEFAULTS,
  type Vehicle,
  type VehicleFieldValues,
  type VehicleId,
} from '@outrider/domain';
import type { VehicleWrite } from '@outrider/registry';
import type { Faults } from '../faults.ts';
import {
  type ImportedSensor,
  importedSensors,
  NamedVehicles,
  type SensorLine,
  type SensorTerms,
  sensorWrites,
  vehicleWriteOf,
} from '../fleet/sensor-import.ts';
import { operatorOnly } from '../problem.ts';
import { requireNotHeld, requireRight, rightToVehicle } from '../rights.ts';
import { type BulkScope, collectingFaults, groupsOf, type Imported, type ImportedLine, paired } from './bulk-scope.ts';

/** Refusal of another `dealerId` in a change or an import of a vehicle. */
export const MOVED_BY =
  'To move a vehicle to another dealer, call POST /api/v1/vehicles/move, which also decides about its history.';

/** Vehicles that an export reads at once. */
const PAGE = 500;

/** A vehicle as a row of a CSV. */
export interface VehicleLine extends ImportedLine {
  id: VehicleId | null;
  fields: Partial<VehicleFieldValues> & { customAttributes?: CustomAttributes };
  /** Terminal access settings; empty cells are left out. */
  access: TerminalAccessPatch;
}

/** Exports all vehicles of a caller, and imports new and changed ones from a file, and also their sensors. */
export class VehicleImport {
  readonly #scope: BulkScope;

  constructor(scope: BulkScope) {
    this.#scope = scope;
  }

  /** All vehicles that the caller may see, in pages. */
  async *all(groupId: GroupId | undefined): AsyncGenerator<Vehicle[]> {
    const { vehicles } = this.#scope.access;
    for await (const { items } of pagesOf((after: string | null) => vehicles.page({ groupId }, { limit: PAGE, after })))
      yield items;
  }

  /**
   * Adds and changes vehicles: all of them, or none.
   *
   * @param read returns the rows; not called if the caller may not add vehicles
   * @param faults faults already found in the rows; every row is checked before anything is refused
   * @throws {Problem} with all faults
   */
  async import(
    read: () => readonly VehicleLine[],
    faults: Faults,
    dryRun: boolean,
  ): Promise<Imported<VehicleLine, Vehicle>[]> {
    this.#scope.requireManager();
    const lines = read();
    const groups = this.#scope.groupNames();
    const rowOf = new Map<VehicleId, number>();
    const currents = this.#vehiclesOf(lines);
    const writes = lines.map((line, nth): VehicleWrite => {
      const { row } = line;
      const current = currents[nth];
      if (current === null) faults.add({ row, column: 'id', detail: 'There is no such vehicle.' });
      const groupIds = groupsOf(line, groups, faults);
      if (!current) {
        const { name } = line.fields;
        if (name === undefined && current !== null && !line.isWrong)
          faults.add({ row, column: 'name', detail: 'A new vehicle needs a name.' });
        const dealerId = this.#scope.dealerOf(line, undefined, faults);
        return {
          id: null,
          fields: {
            ...VEHICLE_DEFAULTS,
            ...line.fields,
            name: name ?? '',
            groupIds: groupIds ?? [],
            dealerId,
            terminalAccess: accessAfter(LEARNING_ACCESS, line.access, false),
          },
        };
      }
      const earlier = rowOf.get(current.id);
      if (earlier !== undefined) faults.add({ row, detail: `Row ${earlier} is about the same vehicle.` });
      rowOf.set(current.id, row);
      if (line.fields.terminalId !== undefined && line.fields.terminalId !== current.terminalId)
        requireNotHeld(this.#scope.caller, current, 'fit another terminal');
      // The caller cannot intend to remove groups that they do not see.
      const unseen = current.groupIds.filter((id) => !this.#scope.seesGroup(id));
      return {
        id: current.id,
        expectedVersion: current.version,
        patch: {
          ...line.fields,
          terminalAccess: line.access,
          dealerId: this.#sameDealerOf(line, current, faults),
          ...(groupIds ? { groupIds: [...groupIds, ...unseen] } : {}),
        },
      };
    });
    const wanted = lines.map(({ fields }, nth) => {
      const { terminalId = null } = fields;
      return terminalId === currents[nth]?.terminalId ? null : terminalId;
    });
    for (const { terminalId, field } of await this.#scope.access.vehicles.unclaimable(wanted))
      faults.add({ row: lines[wanted.indexOf(terminalId)]?.row ?? 0, column: field, detail: operatorOnly(field) });
    faults.throwIfAny();
    const outcomes = await collectingFaults(
      this.#scope.sources.registry.vehicles.writeAll(writes, dryRun),
      faults,
      (index, field) => ({
        row: lines[index]?.row ?? 0,
        ...(field === null ? {} : { column: field === 'groupIds' ? 'groups' : field }),
      }),
    );
    return paired(lines, outcomes);
  }

  /**
   * Adds and changes sensors of vehicles: all of them, or none. Sensors that no row names are kept.
   *
   * @param read returns the rows; not called if the caller may not change sensors
   * @param faults faults already found in the rows
   * @throws {Problem} with all faults
   */
  async importSensors(
    read: () => readonly SensorLine[],
    terms: SensorTerms,
    faults: Faults,
    dryRun: boolean,
  ): Promise<ImportedSensor[]> {
    requireRight(this.#scope.caller, 'edit-vehicles');
    const lines = read();
    const { registry, directory } = this.#scope.sources;
    const vehicles = new NamedVehicles(directory, (vehicle) => this.#writable(vehicle) !== undefined);
    const writes = sensorWrites(lines, vehicles, terms, faults);
    faults.throwIfAny();
    const outcomes = await collectingFaults(
      registry.vehicles.writeAll(writes.map(vehicleWriteOf), dryRun),
      faults,
      (index) => ({ row: writes[index]?.lines[0]?.row ?? 0 }),
    );
    return importedSensors(writes, outcomes);
  }

  /** The vehicle that each row names; null if it does not exist, undefined if the row is about a new one. */
  #vehiclesOf(lines: readonly VehicleLine[]): (Vehicle | null | undefined)[] {
    const byExternalId = this.#scope.byExternalId(lines, this.#scope.sources.directory.vehicles.values());
    return lines.map((line) => this.#vehicleOf(line, byExternalId.get(this.#scope.externalKey(line))));
  }

  #vehicleOf({ id, fields }: VehicleLine, known: Vehicle | undefined): Vehicle | null | undefined {
    const { directory } = this.#scope.sources;
    if (id !== null) return this.#writable(directory.vehicles.get(id)) ?? null;
    if (known !== undefined) return this.#writable(known);
    // If the caller does not see the terminal's vehicle, the terminal counts as taken, as for a new vehicle.
    return fields.terminalId ? this.#writable(directory.vehicleOfTerminal(fields.terminalId)) : undefined;
  }

  #writable(vehicle: Vehicle | undefined): Vehicle | undefined {
    return vehicle && rightToVehicle(this.#scope.caller, vehicle) === 'write' ? vehicle : undefined;
  }

  /** Dealer for a row about an existing vehicle: it cannot change, and naming another one is a fault. */
  #sameDealerOf(line: VehicleLine, current: Vehicle, faults: Faults): UserId | null {
    const dealerId = this.#scope.dealerOf(line, current, faults);
    if (dealerId !== current.dealerId) faults.add({ row: line.row, column: 'dealerId', detail: MOVED_BY });
    return current.dealerId;
  }
}
