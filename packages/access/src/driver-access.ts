import {
  type Directory,
  DRIVER_ASSIGNMENT_CHANNEL,
  type Driver,
  type DriverAssignment,
  type DriverAssignmentId,
  type DriverId,
  driverCodeOf,
  type GroupId,
  maySeeDriver,
  maySeeVehicle,
  type User,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { DriverFields, Page, Paging, Registry } from '@outrider/registry';
import type { ReportArchive } from '@outrider/reports';
import { type CustomPatch, customMerged } from './custom-fields.ts';
import { badField, notFound, Problem, rightNeeded } from './problem.ts';
import { dealerOf, isOperator, mayManage, ofBoth, type Right, rightToGroup, rightToVehicle } from './rights.ts';
import { type Search, type SearchPage, searched } from './search.ts';
import { type DrivenMoment, whoDrove } from './who-drove.ts';

export interface DriverSources {
  directory: Directory;
  registry: Pick<Registry, 'drivers' | 'driverAssignments'>;
  hub: Pick<Hub, 'publish'>;
  reportArchive: Pick<ReportArchive, 'overlappingEvents'>;
}

/** Somebody who drove, as a caller may know it. */
export interface NamedDriver {
  id: DriverId;
  name: string;
}

/** A code that no driver has, and where it was last read. */
export interface UnknownCode {
  code: string;
  vehicleId: VehicleId;
  vehicleName: string;
  /** Unix milliseconds. */
  firstSeenMs: number;
  lastSeenMs: number;
  shifts: number;
}

export function rightToDriver(caller: User, driver: Pick<Driver, 'dealerId' | 'groupIds'>): Right {
  if (!maySeeDriver(caller, driver)) return 'none';
  return caller.role === 'user' ? 'read' : 'write';
}

/** Is the text in what a driver is known by: name, phone, number of the licence, a code? */
function isNamed({ name, phone, licenceNumber, externalId, codes }: Driver, text: string): boolean {
  const wanted = text.toLowerCase();
  if ([name, phone, licenceNumber, externalId].some((known) => known?.toLowerCase().includes(wanted))) return true;
  const code = driverCodeOf(text);
  return code !== '' && codes.some((held) => held.untilMs === null && held.code.includes(code));
}

/** Shifts that are looked through for codes that nobody has. */
const MAX_SHIFTS = 20_000;
const PAGE_SHIFTS = 5000;
const VEHICLES_AT_ONCE = 500;

/** Drivers of one caller: who they are, and who drove what. */
export class DriverAccess {
  readonly #caller: User;
  readonly #sources: Omit<DriverSources, 'reportArchive'>;

  constructor(caller: User, sources: Omit<DriverSources, 'reportArchive'>) {
    this.#caller = caller;
    this.#sources = sources;
  }

  driver(id: DriverId): Driver {
    return this.#shown(this.#driver(id, 'read'));
  }

  /** @throws {Problem} where the caller does not keep the driver */
  keptDriver(id: DriverId): Driver {
    return this.#driver(id, 'write');
  }

  /** Drivers that the caller may see, searched and sorted, or in the order of their creation. */
  find(search: Search<'name' | 'externalId'>, matches: (driver: Driver) => boolean = () => true): SearchPage<Driver> {
    const visible = [...this.#sources.directory.drivers.values()].filter(
      (driver) => rightToDriver(this.#caller, driver) !== 'none' && matches(driver) && isNamed(driver, search.text),
    );
    const page = searched(visible, ['name', 'externalId'], { ...search, text: '' });
    return { ...page, items: page.items.map((driver) => this.#shown(driver)) };
  }

  async list(paging: Paging): Promise<Page<Driver>> {
    const filter = ofBoth(
      this.#caller,
      ({ role, id, groupIds }) => ({ operator: {}, dealer: { dealerId: id }, user: { anyOfGroups: groupIds } })[role],
    );
    const page = await this.#sources.registry.drivers.list(filter, paging);
    const visible = page.items.filter((driver) => rightToDriver(this.#caller, driver) !== 'none');
    return { ...page, items: visible.map((driver) => this.#shown(driver)) };
  }

  async add(fields: Omit<DriverFields, 'dealerId'> & { dealerId?: UserId | null | undefined }): Promise<Driver> {
    return this.#shown(await this.#sources.registry.drivers.create(this.#checked(fields)));
  }

  /** Groups that the caller does not see stay. */
  async change(
    id: DriverId,
    ifMatch: number | null,
    asked: CustomPatch<Partial<Omit<DriverFields, 'dealerId'>>>,
  ): Promise<Driver> {
    const driver = this.#driver(id, 'write');
    const { patch, version } = customMerged<Partial<Omit<DriverFields, 'dealerId'>>>(driver, ifMatch, asked);
    const { groupIds } = patch;
    if (groupIds !== undefined) this.#requireGroups(groupIds);
    const hidden = driver.groupIds.filter((each) => !this.#seesGroup(each));
    const groups = groupIds === undefined ? {} : { groupIds: [...groupIds, ...hidden] };
    return this.#shown(await this.#sources.registry.drivers.update(driver.id, version, { ...patch, ...groups }));
  }

  async remove(id: DriverId, ifMatch: number | null): Promise<void> {
    await this.#sources.registry.drivers.delete(this.#driver(id, 'write').id, ifMatch);
  }

  /** Who was said to drive a vehicle in a time range, the newest first. */
  async assignments(question: {
    vehicleId?: VehicleId | undefined;
    driverId?: DriverId | undefined;
    fromMs: number;
    toMs: number;
  }): Promise<DriverAssignment[]> {
    const { vehicleId, driverId, fromMs, toMs } = question;
    if (vehicleId !== undefined) this.#vehicle(vehicleId, 'read');
    if (driverId !== undefined) this.#driver(driverId, 'read');
    const found = await this.#sources.registry.driverAssignments.list({
      fromMs,
      toMs,
      limit: 5000,
      vehicleIds: vehicleId === undefined ? this.#visibleVehicles() : [vehicleId],
      ...(driverId !== undefined && { driverIds: [driverId] }),
    });
    return found.filter((each) => this.#sees(each));
  }

  async assign(fields: Omit<DriverAssignment, 'id'>): Promise<DriverAssignment> {
    this.#vehicle(fields.vehicleId, 'write', '/vehicleId');
    const driver = this.#sources.directory.drivers.get(fields.driverId);
    if (driver === undefined || rightToDriver(this.#caller, driver) === 'none')
      throw badField('/driverId', 'There is no such driver.');
    return this.#announced(await this.#sources.registry.driverAssignments.create(fields));
  }

  async endAssignment(id: DriverAssignmentId, toMs: number | null): Promise<DriverAssignment> {
    const assignment = await this.#assignment(id);
    if (toMs !== null && toMs <= assignment.fromMs) throw badField('/to', 'It must be later than `from`.');
    return this.#announced(await this.#sources.registry.driverAssignments.setEnd(id, toMs));
  }

  async removeAssignment(id: DriverAssignmentId): Promise<void> {
    const assignment = await this.#assignment(id);
    await this.#sources.registry.driverAssignments.delete(id);
    await this.#announced(assignment);
  }

  /** The live API shows the new driver at once. */
  async #announced(assignment: DriverAssignment): Promise<DriverAssignment> {
    const { vehicleId } = assignment;
    await this.#sources.hub.publish(DRIVER_ASSIGNMENT_CHANNEL, JSON.stringify({ vehicleId })).catch(() => {});
    return assignment;
  }

  /**
   * Who drove at each moment: who was assigned by hand then, else who had the code that the terminal sent. Null where
   * nobody is known, or nobody that the caller may see.
   */
  async driversAt(moments: readonly DrivenMoment[]): Promise<(NamedDriver | null)[]> {
    return (await whoDrove(this.#sources, moments)).map((driver) =>
      driver !== null && rightToDriver(this.#caller, driver) !== 'none' ? { id: driver.id, name: driver.name } : null,
    );
  }

  /** Codes that terminals of the caller's vehicles sent in a time range, and nobody has or had; the newest first. */
  async unknownCodes(
    archive: DriverSources['reportArchive'],
    fromMs: number,
    toMs: number,
    signal: AbortSignal,
  ): Promise<UnknownCode[]> {
    this.#requireManager();
    const { directory } = this.#sources;
    const unknown = new Map<string, UnknownCode>();
    const ids = [...directory.vehicles.values()]
      .filter((vehicle) => maySeeVehicle(this.#caller, vehicle))
      .map(({ id }) => id);
    let shifts = 0;
    for (let from = 0; from < ids.length && shifts < MAX_SHIFTS; from += VEHICLES_AT_ONCE)
      for (let after: Parameters<typeof archive.overlappingEvents>[0]['after'] = null; shifts < MAX_SHIFTS; ) {
        const vehicleIds = ids.slice(from, from + VEHICLES_AT_ONCE);
        const question = { vehicleIds, kinds: ['driver-shift'] as const, fromMs, toMs, limit: PAGE_SHIFTS, signal };
        const page = await archive.overlappingEvents({ ...question, after });
        shifts += page.events.length;
        for (const event of page.events) {
          if (event.kind !== 'driver-shift') continue;
          const { driverCode: code, vehicleId, startedAtMs } = event;
          const vehicle = directory.vehicles.get(vehicleId);
          if (vehicle === undefined || directory.driversOfCode(vehicle.dealerId, code).length > 0) continue;
          const key = `${vehicle.dealerId} ${code}`;
          const known = unknown.get(key);
          const last = known === undefined || known.lastSeenMs <= startedAtMs;
          unknown.set(key, {
            code,
            vehicleId: last ? vehicleId : known.vehicleId,
            vehicleName: last ? vehicle.name : known.vehicleName,
            firstSeenMs: Math.min(startedAtMs, known?.firstSeenMs ?? startedAtMs),
            lastSeenMs: Math.max(startedAtMs, known?.lastSeenMs ?? startedAtMs),
            shifts: (known?.shifts ?? 0) + 1,
          });
        }
        after = page.next;
        if (after === null) break;
      }
    return [...unknown.values()].sort((a, b) => b.lastSeenMs - a.lastSeenMs);
  }

  #checked({ dealerId, ...fields }: Omit<DriverFields, 'dealerId'> & { dealerId?: UserId | null | undefined }) {
    this.#requireManager();
    this.#requireGroups(fields.groupIds);
    if (dealerId !== undefined && dealerId !== dealerOf(this.#caller) && !isOperator(this.#caller))
      throw new Problem('forbidden', 'Another dealer is said by operators alone.');
    const codes = [...new Set(fields.codes.map(driverCodeOf))];
    return { ...fields, codes, dealerId: dealerId === undefined ? dealerOf(this.#caller) : dealerId };
  }

  #requireManager(): void {
    if (!mayManage(this.#caller)) throw new Problem('forbidden', 'Drivers are kept by dealers and operators.');
  }

  #requireGroups(groupIds: readonly GroupId[]): void {
    for (const [nth, id] of groupIds.entries())
      if (!this.#seesGroup(id)) throw badField(`/groupIds/${nth}`, 'There is no such group.');
  }

  #seesGroup(id: GroupId): boolean {
    const group = this.#sources.directory.groups.get(id);
    return group !== undefined && rightToGroup(this.#caller, group) !== 'none';
  }

  #shown(driver: Driver): Driver {
    return { ...driver, groupIds: driver.groupIds.filter((id) => this.#seesGroup(id)) };
  }

  #driver(id: DriverId, needed: 'read' | 'write'): Driver {
    const driver = this.#sources.directory.drivers.get(id);
    const right = driver === undefined ? 'none' : rightToDriver(this.#caller, driver);
    if (driver === undefined || right === 'none') throw notFound();
    if (needed === 'write' && right !== 'write')
      throw new Problem('forbidden', 'Drivers are kept by dealers and operators.');
    return driver;
  }

  #vehicle(id: VehicleId, needed: 'read' | 'write', pointer: string | null = null): void {
    const vehicle = this.#sources.directory.vehicles.get(id);
    const right = vehicle === undefined ? 'none' : rightToVehicle(this.#caller, vehicle);
    if (right === 'none') throw pointer === null ? notFound() : badField(pointer, 'There is no such vehicle.');
    if (needed === 'write' && right !== 'write') throw rightNeeded('edit-vehicles');
  }

  #visibleVehicles(): VehicleId[] {
    return [...this.#sources.directory.vehicles.values()]
      .filter((vehicle) => rightToVehicle(this.#caller, vehicle) !== 'none')
      .map(({ id }) => id);
  }

  #sees({ vehicleId, driverId }: DriverAssignment): boolean {
    const { directory } = this.#sources;
    const [vehicle, driver] = [directory.vehicles.get(vehicleId), directory.drivers.get(driverId)];
    return (
      vehicle !== undefined &&
      driver !== undefined &&
      rightToVehicle(this.#caller, vehicle) !== 'none' &&
      rightToDriver(this.#caller, driver) !== 'none'
    );
  }

  async #assignment(id: DriverAssignmentId): Promise<DriverAssignment> {
    const assignment = await this.#sources.registry.driverAssignments.get(id);
    if (assignment === null || !this.#sees(assignment)) throw notFound();
    this.#vehicle(assignment.vehicleId, 'write');
    return assignment;
  }
}
