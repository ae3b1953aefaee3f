import {
  accessAfter,
  type CustomAttributes,
  DRIVER_DEFAULTS,
  type Driver,
  type DriverId,
  type Geofence,
  type GeofenceId,
  type GroupId,
  LEARNING_ACCESS,
  type TerminalAccessPatch,
  type User,
  type UserId,
  VEHICLE_DEFAULTS,
  type Vehicle,
  type VehicleFieldValues,
  type VehicleGroup,
  type VehicleId,
} from '@outrider/domain';
import {
  BulkError,
  type BulkOutcome,
  type BulkWrite,
  ConflictError,
  type DriverFields,
  type DriverWrite,
  type GeofenceFields,
  type MemberChange,
  type MembersChanged,
  NotFoundError,
  OperatorOnlyError,
  presentCodes,
  StaleError,
  UnknownReferenceError,
  type VehicleMove,
  type VehiclePatch,
  type VehicleWrite,
} from '@outrider/registry';
import type { Access, Sources } from './access.ts';
import { type CustomPatch, mergedAttributes } from './custom-fields.ts';
import { Faults } from './faults.ts';
import { GroupNames } from './group-names.ts';
import { badField, type InputError, operatorOnly, Problem } from './problem.ts';
import {
  dealerOf,
  isOperator,
  mayManage,
  type Right,
  requireNotHeld,
  requireRight,
  rightToDriver,
  rightToGroup,
  rightToUser,
  rightToVehicle,
} from './rights.ts';
import {
  type ImportedSensor,
  importedSensors,
  NamedVehicles,
  type SensorLine,
  type SensorTerms,
  sensorWrites,
  vehicleWriteOf,
} from './sensor-import.ts';

/** Refusal of another `dealerId` in a change or an import of a vehicle. */
export const MOVED_BY =
  'A vehicle is moved to another dealer by POST /api/v1/vehicles/move, which asks what becomes of its history.';

/** Vehicles that an export holds at once. */
const PAGE = 500;
/** Geofences that it does: one may have ten thousand points. */
const GEOFENCE_PAGE = 50;

/** One vehicle as a row of a CSV says it; what has no column is not said. */
export interface VehicleLine {
  /** As a spreadsheet counts: 1 is the header. */
  row: number;
  id: VehicleId | null;
  /** Names or ids, as they were written. */
  groups: string | undefined;
  /** Null: nobody was named. */
  dealerId: UserId | null | undefined;
  /** It has a fault that is reported already, so a missing value may be part of the same fault. */
  isWrong: boolean;
  fields: Partial<VehicleFieldValues> & { customAttributes?: CustomAttributes };
  /** Empty cells say nothing. */
  access: TerminalAccessPatch;
}

/** One driver as a row of a CSV says it; what has no column is not said. */
export interface DriverLine extends Pick<VehicleLine, 'row' | 'groups' | 'dealerId' | 'isWrong'> {
  id: DriverId | null;
  fields: Partial<Omit<DriverFields, 'dealerId' | 'groupIds'>>;
}

/** A geofence of many: a known `id` of the caller's changes that one. */
export interface GeofenceItem {
  /** Which of those that were sent. */
  index: number;
  id: string | null;
  fields: Omit<GeofenceFields, 'ownerId'>;
}

/** What became of one of many. */
export interface Imported<From, T> {
  from: From;
  became: BulkOutcome<T>;
}

type BulkSources = Pick<Sources, 'registry' | 'directory'>;

/** What one caller can reach all at once: by the same rights as one by one. */
export class BulkAccess {
  readonly #access: Access;
  readonly #caller: User;
  readonly #sources: BulkSources;

  constructor(access: Access, caller: User, sources: BulkSources) {
    this.#access = access;
    this.#caller = caller;
    this.#sources = sources;
  }

  /** The groups that the caller may see, by name. */
  groupNames(): GroupNames {
    return new GroupNames([...this.#sources.directory.groups.values()].filter((group) => this.#sees(group)));
  }

  /** All vehicles that the caller may see, some at a time. */
  async *vehicles(groupId: GroupId | undefined): AsyncGenerator<Vehicle[]> {
    for (let after: string | null = null; ; ) {
      const page = await this.#access.vehicles.page({ groupId }, { limit: PAGE, after });
      yield page.items;
      if (page.next === null) return;
      after = page.next;
    }
  }

  /**
   * Adds and changes vehicles: all of them, or none.
   *
   * @param read gives the rows; not called where the caller may add none
   * @param faults what was wrong with the rows already; every one is looked at before anything is refused
   * @throws {Problem} with all that is wrong
   */
  async importVehicles(
    read: () => readonly VehicleLine[],
    faults: Faults,
    dryRun: boolean,
  ): Promise<Imported<VehicleLine, Vehicle>[]> {
    this.#requireManager();
    const lines = read();
    const groups = this.groupNames();
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
        const dealerId = this.#dealerOf(line, undefined, faults);
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
        requireNotHeld(this.#caller, current, 'fit another terminal');
      // What the caller does not see, the caller can't mean to take away.
      const unseen = current.groupIds.filter((id) => !this.#seesGroup(id));
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
    for (const { terminalId, field } of await this.#access.vehicles.unclaimable(wanted))
      faults.add({ row: lines[wanted.indexOf(terminalId)]?.row ?? 0, column: field, detail: operatorOnly(field) });
    faults.throwIfAny();
    const outcomes = await collectingFaults(
      this.#sources.registry.vehicles.writeAll(writes, dryRun),
      faults,
      (index, field) => ({
        row: lines[index]?.row ?? 0,
        ...(field === null ? {} : { column: field === 'groupIds' ? 'groups' : field }),
      }),
    );
    return paired(lines, outcomes);
  }

  /**
   * Adds and changes sensors of vehicles: all of them, or none. Sensors that no row names stay.
   *
   * @param read gives the rows; not called where the caller may change none
   * @param faults what was wrong with the rows already
   * @throws {Problem} with all that is wrong
   */
  async importSensors(
    read: () => readonly SensorLine[],
    terms: SensorTerms,
    faults: Faults,
    dryRun: boolean,
  ): Promise<ImportedSensor[]> {
    requireRight(this.#caller, 'edit-vehicles');
    const lines = read();
    const { registry, directory } = this.#sources;
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

  /**
   * Makes the same change to many vehicles: to all of them, or to none.
   *
   * @param ids of different vehicles
   * @throws {Problem} naming those that can't be changed
   */
  async changeVehicles(
    ids: readonly VehicleId[],
    { customAttributes, ...patch }: CustomPatch<Omit<VehiclePatch, 'terminalId' | 'terminalAccess' | 'dealerId'>>,
    dryRun: boolean,
  ): Promise<{ updated: number; unchanged: number; items: { id: VehicleId; outcome: 'updated' | 'unchanged' }[] }> {
    requireRight(this.#caller, 'edit-vehicles');
    const { registry, directory } = this.#sources;
    const vehicles = this.#changeable(ids, '/ids', 'vehicle', directory.vehicles, rightToVehicle);
    const { groupIds } = patch;
    if (groupIds !== undefined) this.#requireManager();
    for (const [nth, id] of (groupIds ?? []).entries())
      if (!this.#seesGroup(id)) throw badField(`/patch/groupIds/${nth}`, 'There is no such group.');
    const writes = vehicles.map((current): VehicleWrite => {
      if (groupIds === undefined && customAttributes === undefined)
        return { id: current.id, expectedVersion: null, patch };
      const merged: VehiclePatch = { ...patch };
      if (customAttributes !== undefined)
        merged.customAttributes = mergedAttributes(
          current.customAttributes,
          customAttributes,
          '/patch/customAttributes',
        );
      if (groupIds !== undefined)
        merged.groupIds = [...groupIds, ...current.groupIds.filter((id) => !this.#seesGroup(id))];
      return { id: current.id, expectedVersion: current.version, patch: merged };
    });
    const outcomes = await collectingFaults(
      registry.vehicles.writeAll(writes, dryRun),
      new Faults(),
      (index, field) => ({
        pointer: field === null ? `/ids/${index}` : `/patch/${field}`,
      }),
    );
    const items = outcomes.map(({ definition: { id }, outcome }) => ({
      id,
      outcome: outcome === 'updated' ? ('updated' as const) : ('unchanged' as const),
    }));
    const updated = items.filter(({ outcome }) => outcome === 'updated').length;
    return { updated, unchanged: items.length - updated, items };
  }

  /**
   * Gives vehicles to another dealer: all of them, or none.
   *
   * @returns by the ids of the vehicles, those that the dealer has now
   * @throws {Problem} naming those that can't be moved
   */
  async moveVehicles(move: VehicleMove): Promise<Map<VehicleId, Vehicle>> {
    this.#access.requireOperator();
    const { registry, directory } = this.#sources;
    this.#changeable(move.ids, '/ids', 'vehicle', directory.vehicles, rightToVehicle);
    const { dealerId } = move;
    if (dealerId !== null && directory.users.get(dealerId)?.role !== 'dealer')
      throw badField('/dealerId', 'There is no such dealer.');
    return collectingFaults(registry.moveVehicles(move), new Faults(), (index) => ({ pointer: `/ids/${index}` }));
  }

  /** Puts vehicles into a group and takes others out: all of them, or none. */
  async changeVehiclesOfGroup(
    groupId: GroupId,
    change: MemberChange<VehicleId>,
    dryRun: boolean,
  ): Promise<MembersChanged> {
    const { registry, directory } = this.#sources;
    await this.#requireGroup(groupId);
    for (const list of ['add', 'remove'] as const)
      this.#changeable(change[list], `/${list}`, 'vehicle', directory.vehicles, rightToVehicle);
    return registry.groups.changeVehicles(groupId, change, dryRun);
  }

  /** Gives accounts access to a group and takes it from others: all of them, or none. */
  async changeUsersOfGroup(groupId: GroupId, change: MemberChange<UserId>, dryRun: boolean): Promise<MembersChanged> {
    const { registry, directory } = this.#sources;
    await this.#requireGroup(groupId);
    for (const list of ['add', 'remove'] as const)
      this.#changeable(change[list], `/${list}`, 'account', directory.users, rightToUser);
    return registry.groups.changeUsers(groupId, change, dryRun);
  }

  #requireManager(): void {
    if (!mayManage(this.#caller)) throw new Problem('forbidden', 'Only operators and dealers may do that.');
  }

  async #requireGroup(id: GroupId): Promise<void> {
    this.#requireManager();
    if (rightToGroup(this.#caller, await this.#access.groups.get(id)) !== 'write') throw seenOnly('the group');
  }

  /**
   * What a request names.
   *
   * @throws {Problem} when the caller does not see some of it, or may not change it
   */
  #changeable<Id extends string, T>(
    ids: readonly Id[],
    pointer: string,
    noun: string,
    known: { get(id: Id): T | undefined },
    rightTo: (caller: User, thing: T) => Right,
  ): T[] {
    const faults = new Faults();
    const things = ids.flatMap((id, nth) => {
      const thing = known.get(id);
      if (thing !== undefined && rightTo(this.#caller, thing) !== 'none') return [thing];
      faults.add({ pointer: `${pointer}/${nth}`, detail: `There is no such ${noun}.` });
      return [];
    });
    faults.throwIfAny();
    if (things.some((thing) => rightTo(this.#caller, thing) !== 'write')) throw seenOnly(`each ${noun}`);
    return things;
  }

  /** Geofences, some at a time: the caller's own, or all that the caller may see. */
  async *geofences(ownOnly: boolean): AsyncGenerator<Geofence[]> {
    for (let after: string | null = null; ; ) {
      const page = await this.#access.geofences.page({ limit: GEOFENCE_PAGE, after }, ownOnly);
      yield page.items;
      if (page.next === null) return;
      after = page.next;
    }
  }

  /**
   * Adds and changes geofences of the caller: all of them, or none.
   *
   * @param faults what was wrong with the items already
   * @throws {Problem} with all that is wrong
   */
  async importGeofences(
    items: readonly GeofenceItem[],
    faults: Faults,
    dryRun: boolean,
  ): Promise<Imported<GeofenceItem, Geofence>[]> {
    requireRight(this.#caller, 'edit-geofences');
    const indexOf = new Map<string, number>();
    const writes = items.map(({ index, id, fields }): BulkWrite<GeofenceId, Omit<GeofenceFields, 'ownerId'>> => {
      const at = `/features/${index}`;
      for (const list of ['groupIds', 'sharedGroupIds'] as const)
        for (const [nth, groupId] of (fields[list] ?? []).entries())
          if (!this.#seesGroup(groupId))
            faults.add({ pointer: `${at}/properties/${list}/${nth}`, detail: 'There is no such group.' });
      const known = id === null ? undefined : this.#sources.directory.geofences.get(id as GeofenceId);
      if (known?.ownerId !== this.#caller.id) return { id: null, fields };
      const earlier = indexOf.get(known.id);
      if (earlier !== undefined) faults.add({ pointer: `${at}/id`, detail: `Feature ${earlier} has it too.` });
      indexOf.set(known.id, index);
      const unseen = fields.groupIds ? (known.groupIds ?? []).filter((group) => !this.#seesGroup(group)) : [];
      const groupIds = fields.groupIds && [...fields.groupIds, ...unseen];
      const unseenShares = known.sharedGroupIds.filter((group) => !this.#seesGroup(group));
      const sharedGroupIds = [...fields.sharedGroupIds, ...unseenShares];
      return { id: known.id, expectedVersion: known.version, patch: { ...fields, groupIds, sharedGroupIds } };
    });
    faults.throwIfAny();
    const writing = this.#sources.registry.geofences.writeAll(this.#caller.id, writes, dryRun);
    const outcomes = await collectingFaults(writing, faults, (nth, field) => ({
      pointer: `/features/${items[nth]?.index}${field === null ? '' : `/properties/${field}`}`,
    }));
    return paired(items, outcomes);
  }

  /** All drivers that the caller may see, some at a time. */
  async *drivers(): AsyncGenerator<Driver[]> {
    for (let after: string | null = null; ; ) {
      const page = await this.#access.drivers.page({ limit: PAGE, after });
      yield page.items;
      if (page.next === null) return;
      after = page.next;
    }
  }

  /**
   * Adds and changes drivers: all of them, or none.
   *
   * @param read gives the rows; not called where the caller may add none
   * @param faults what was wrong with the rows already
   * @throws {Problem} with all that is wrong
   */
  async importDrivers(
    read: () => readonly DriverLine[],
    faults: Faults,
    dryRun: boolean,
  ): Promise<Imported<DriverLine, Driver>[]> {
    this.#requireManager();
    const lines = read();
    const groups = this.groupNames();
    const rowOf = new Map<DriverId, number>();
    const byExternalId = this.#byExternalId(lines, this.#sources.directory.drivers.values());
    const writes = lines.map((line): DriverWrite => {
      const { row, fields } = line;
      const current = this.#driverOf(line, byExternalId.get(this.#externalKey(line)), faults);
      const groupIds = groupsOf(line, groups, faults);
      const dealerId = this.#dealerOf(line, current ?? undefined, faults);
      if (!current) {
        if (fields.name === undefined && current !== null && !line.isWrong)
          faults.add({ row, column: 'name', detail: 'A new driver needs a name.' });
        const blank = { ...DRIVER_DEFAULTS, name: '', codes: [] };
        return { id: null, fields: { ...blank, ...fields, groupIds: groupIds ?? [], dealerId } };
      }
      const earlier = rowOf.get(current.id);
      if (earlier !== undefined) faults.add({ row, detail: `Row ${earlier} is about the same driver.` });
      rowOf.set(current.id, row);
      const unseen = current.groupIds.filter((id) => !this.#seesGroup(id));
      const patch = { ...fields, dealerId, ...(groupIds && { groupIds: [...groupIds, ...unseen] }) };
      return { id: current.id, expectedVersion: current.version, patch };
    });
    faults.throwIfAny();
    const writing = this.#sources.registry.drivers.writeAll(writes, dryRun);
    const outcomes = await collectingFaults(writing, faults, (index, field) => ({
      row: lines[index]?.row ?? 0,
      ...(field === null ? {} : { column: field === 'groupIds' ? 'groups' : field }),
    }));
    return paired(lines, outcomes);
  }

  /** The driver that a row is about; null where it names one that is not there, undefined where it is a new one. */
  #driverOf(
    { row, id, dealerId, fields }: DriverLine,
    known: Driver | undefined,
    faults: Faults,
  ): Driver | null | undefined {
    const { directory } = this.#sources;
    if (id !== null) {
      const driver = directory.drivers.get(id);
      if (driver !== undefined && rightToDriver(this.#caller, driver) === 'write') return driver;
      faults.add({ row, column: 'id', detail: 'There is no such driver.' });
      return null;
    }
    if (known !== undefined && rightToDriver(this.#caller, known) === 'write') return known;
    const scope = isOperator(this.#caller) ? (dealerId ?? null) : dealerOf(this.#caller);
    for (const code of fields.codes ?? []) {
      const holder = directory.driversOfCode(scope, code).find((driver) => presentCodes(driver).includes(code));
      if (holder !== undefined) return holder;
    }
    return undefined;
  }

  /** The vehicle that each row is about: null where it names one that is not there, undefined where it is a new one. */
  #vehiclesOf(lines: readonly VehicleLine[]): (Vehicle | null | undefined)[] {
    const byExternalId = this.#byExternalId(lines, this.#sources.directory.vehicles.values());
    return lines.map((line) => this.#vehicleOf(line, byExternalId.get(this.#externalKey(line))));
  }

  #vehicleOf({ id, fields }: VehicleLine, known: Vehicle | undefined): Vehicle | null | undefined {
    const { directory } = this.#sources;
    if (id !== null) return this.#writable(directory.vehicles.get(id)) ?? null;
    if (known !== undefined) return this.#writable(known);
    // A terminal of a vehicle that the caller does not see is taken, as it is for one that is added.
    return fields.terminalId ? this.#writable(directory.vehicleOfTerminal(fields.terminalId)) : undefined;
  }

  /** By {@link #externalKey}; empty where no row names an external id. */
  #byExternalId<T extends Vehicle | Driver>(
    lines: readonly (VehicleLine | DriverLine)[],
    things: Iterable<T>,
  ): Map<string | null, T> {
    if (lines.every(({ fields }) => !fields.externalId)) return new Map();
    const found = new Map<string | null, T>();
    for (const thing of things)
      if (thing.externalId !== null) found.set(`${thing.dealerId} ${thing.externalId}`, thing);
    return found;
  }

  #externalKey({ dealerId, fields: { externalId } }: VehicleLine | DriverLine): string | null {
    const dealer = isOperator(this.#caller) ? (dealerId ?? null) : dealerOf(this.#caller);
    return externalId ? `${dealer} ${externalId}` : null;
  }

  #writable(vehicle: Vehicle | undefined): Vehicle | undefined {
    return vehicle && rightToVehicle(this.#caller, vehicle) === 'write' ? vehicle : undefined;
  }

  /** For a row about an existing vehicle: its dealer stays, and another one is a fault. */
  #sameDealerOf(line: VehicleLine, current: Vehicle, faults: Faults): UserId | null {
    const dealerId = this.#dealerOf(line, current, faults);
    if (dealerId !== current.dealerId) faults.add({ row: line.row, column: 'dealerId', detail: MOVED_BY });
    return current.dealerId;
  }

  #dealerOf(
    { row, dealerId }: Pick<VehicleLine, 'row' | 'dealerId'>,
    current: Pick<Vehicle, 'dealerId'> | undefined,
    faults: Faults,
  ): UserId | null {
    const own = current ? current.dealerId : dealerOf(this.#caller);
    if (isOperator(this.#caller)) return dealerId === undefined ? own : dealerId;
    if (dealerId && dealerId !== own)
      faults.add({ row, column: 'dealerId', detail: 'Only operators say which dealer something belongs to.' });
    return own;
  }

  #sees(group: VehicleGroup): boolean {
    return rightToGroup(this.#caller, group) !== 'none';
  }

  #seesGroup(id: GroupId): boolean {
    const group = this.#sources.directory.groups.get(id);
    return group !== undefined && this.#sees(group);
  }
}

function seenOnly(what: string): Problem {
  return new Problem('forbidden', `This account may see ${what}, and may not change it.`);
}

function groupsOf(
  { row, groups }: Pick<VehicleLine, 'row' | 'groups'>,
  names: GroupNames,
  faults: Faults,
): GroupId[] | undefined {
  if (groups === undefined) return undefined;
  const { groupIds, wrong } = names.read(groups);
  for (const detail of wrong) faults.add({ row, column: 'groups', detail });
  return groupIds;
}

function paired<From, T>(from: readonly From[], outcomes: readonly BulkOutcome<T>[]): Imported<From, T>[] {
  return outcomes.flatMap((became, nth) => {
    const one = from[nth];
    return one === undefined ? [] : [{ from: one, became }];
  });
}

/** Turns the registry's refusals of a bulk write into faults that name rows and fields of the request. */
async function collectingFaults<T>(
  writing: Promise<T>,
  faults: Faults,
  place: (index: number, field: string | null) => Omit<InputError, 'detail'>,
): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if (!(error instanceof BulkError)) throw error;
    for (const { index, error: why } of error.failures) {
      if (why instanceof ConflictError)
        faults.add({ ...place(index, why.field), detail: 'Another one has it.' }, 'conflict');
      else if (why instanceof OperatorOnlyError)
        faults.add({ ...place(index, why.field), detail: operatorOnly(why.field) });
      else if (why instanceof UnknownReferenceError)
        faults.add({ ...place(index, why.field), detail: `${why.id} does not exist.` });
      else if (why instanceof StaleError || why instanceof NotFoundError)
        faults.add({ ...place(index, null), detail: 'It was changed meanwhile: import again.' }, 'conflict');
    }
    faults.throwIfAny();
    throw error;
  }
}
