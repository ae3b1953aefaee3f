import { DRIVER_DEFAULTS, type Driver, type DriverId, pagesOf } from '@outrider/domain';
import { type DriverFields, type DriverWrite, presentCodes } from '@outrider/registry';
import type { Faults } from '../faults.ts';
import { dealerOf, isOperator, rightToDriver } from '../rights.ts';
import { type BulkScope, collectingFaults, groupsOf, type Imported, type ImportedLine, paired } from './bulk-scope.ts';

/** Drivers that an export reads at once. */
const PAGE = 500;

/** A driver as a row of a CSV. */
export interface DriverLine extends ImportedLine {
  id: DriverId | null;
  fields: Partial<Omit<DriverFields, 'dealerId' | 'groupIds'>>;
}

/** Exports all drivers of a caller, and imports new and changed ones from a file. */
export class DriverImport {
  readonly #scope: BulkScope;

  constructor(scope: BulkScope) {
    this.#scope = scope;
  }

  /** All drivers that the caller may see, in pages. */
  async *all(): AsyncGenerator<Driver[]> {
    const { drivers } = this.#scope.access;
    for await (const { items } of pagesOf((after: string | null) => drivers.page({ limit: PAGE, after }))) yield items;
  }

  /**
   * Adds and changes drivers: all of them, or none.
   *
   * @param read returns the rows; not called if the caller may not add drivers
   * @param faults faults already found in the rows
   * @throws {Problem} with all faults
   */
  async import(
    read: () => readonly DriverLine[],
    faults: Faults,
    dryRun: boolean,
  ): Promise<Imported<DriverLine, Driver>[]> {
    this.#scope.requireManager();
    const lines = read();
    const groups = this.#scope.groupNames();
    const rowOf = new Map<DriverId, number>();
    const byExternalId = this.#scope.byExternalId(lines, this.#scope.sources.directory.drivers.values());
    const writes = lines.map((line): DriverWrite => {
      const { row, fields } = line;
      const current = this.#driverOf(line, byExternalId.get(this.#scope.externalKey(line)), faults);
      const groupIds = groupsOf(line, groups, faults);
      const dealerId = this.#scope.dealerOf(line, current ?? undefined, faults);
      if (!current) {
        if (fields.name === undefined && current !== null && !line.isWrong)
          faults.add({ row, column: 'name', detail: 'A new driver needs a name.' });
        const blank = { ...DRIVER_DEFAULTS, name: '', codes: [] };
        return { id: null, fields: { ...blank, ...fields, groupIds: groupIds ?? [], dealerId } };
      }
      const earlier = rowOf.get(current.id);
      if (earlier !== undefined) faults.add({ row, detail: `Row ${earlier} is about the same driver.` });
      rowOf.set(current.id, row);
      const unseen = current.groupIds.filter((id) => !this.#scope.seesGroup(id));
      const patch = { ...fields, dealerId, ...(groupIds && { groupIds: [...groupIds, ...unseen] }) };
      return { id: current.id, expectedVersion: current.version, patch };
    });
    faults.throwIfAny();
    const writing = this.#scope.sources.registry.drivers.writeAll(writes, dryRun);
    const outcomes = await collectingFaults(writing, faults, (index, field) => ({
      row: lines[index]?.row ?? 0,
      ...(field === null ? {} : { column: field === 'groupIds' ? 'groups' : field }),
    }));
    return paired(lines, outcomes);
  }

  /** The driver that a row names; null if that driver does not exist, undefined if the row is about a new one. */
  #driverOf(
    { row, id, dealerId, fields }: DriverLine,
    known: Driver | undefined,
    faults: Faults,
  ): Driver | null | undefined {
    const { directory } = this.#scope.sources;
    if (id !== null) {
      const driver = directory.drivers.get(id);
      if (driver !== undefined && rightToDriver(this.#scope.caller, driver) === 'write') return driver;
      faults.add({ row, column: 'id', detail: 'There is no such driver.' });
      return null;
    }
    if (known !== undefined && rightToDriver(this.#scope.caller, known) === 'write') return known;
    const scope = isOperator(this.#scope.caller) ? (dealerId ?? null) : dealerOf(this.#scope.caller);
    for (const code of fields.codes ?? []) {
      const holder = directory.driversOfCode(scope, code).find((driver) => presentCodes(driver).includes(code));
      if (holder !== undefined) return holder;
    }
    return undefined;
  }
}
