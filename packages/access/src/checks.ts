import type {
  Driver,
  DriverId,
  Geofence,
  GeofenceId,
  GroupId,
  User,
  UserId,
  Vehicle,
  VehicleGroup,
} from '@outrider/domain';
import type { Page } from '@outrider/registry';
import type { Sources } from './access.ts';
import type { VehicleKey } from './fleet/vehicle-access.ts';
import { badField, notFound, Problem } from './problem.ts';
import {
  dealerOf,
  isOperator,
  mayManage,
  type Right,
  requireRight,
  rightToDriver,
  rightToGeofence,
  rightToGroup,
  rightToUser,
  rightToVehicle,
} from './rights.ts';
import type { SearchPage } from './search.ts';

/** Checks of one caller's rights, and the visible form of definitions, for the parts of `Access`. */
export class Checks {
  readonly #caller: User;
  readonly #sources: Pick<Sources, 'directory' | 'registry'>;

  constructor(caller: User, sources: Pick<Sources, 'directory' | 'registry'>) {
    this.#caller = caller;
    this.#sources = sources;
  }

  async vehicle(key: VehicleKey, needed: Right): Promise<Vehicle> {
    const { directory, registry } = this.#sources;
    const vehicle =
      'id' in key
        ? (directory.vehicles.get(key.id) ?? (await registry.vehicles.get(key.id)))
        : directory.vehicleOfTerminal(key.terminalId);
    const right = rightToVehicle(this.#caller, vehicle);
    if (right === 'read' && needed === 'write') requireRight(this.#caller, 'edit-vehicles');
    return permitted(vehicle, right, needed);
  }

  async group(id: GroupId, needed: Right): Promise<VehicleGroup> {
    const { directory, registry } = this.#sources;
    const group = directory.groups.get(id) ?? (await registry.groups.get(id));
    return permitted(group, rightToGroup(this.#caller, group), needed);
  }

  async user(id: UserId, needed: Right): Promise<User> {
    const { directory, registry } = this.#sources;
    const user = directory.users.get(id) ?? (await registry.users.get(id));
    return permitted(user, rightToUser(this.#caller, user), needed);
  }

  async geofence(id: GeofenceId, needed: Right): Promise<Geofence> {
    const { directory, registry } = this.#sources;
    const geofence = directory.geofences.get(id) ?? (await registry.geofences.get(id));
    const right = this.rightToGeofence(geofence);
    if (right === 'read' && needed === 'write') requireRight(this.#caller, 'edit-geofences');
    return permitted(geofence, right, needed);
  }

  async driver(id: DriverId, needed: Right): Promise<Driver> {
    const { directory, registry } = this.#sources;
    const driver = directory.drivers.get(id) ?? (await registry.drivers.get(id));
    return permitted(driver, rightToDriver(this.#caller, driver), needed);
  }

  rightToGeofence(geofence: Geofence | null | undefined): Right {
    const owner = this.#sources.directory.ownerOf(geofence ?? undefined);
    return rightToGeofence(this.#caller, geofence, owner);
  }

  requireManager(): void {
    if (!mayManage(this.#caller)) throw new Problem('forbidden', 'Only operators and dealers may do that.');
  }

  requireOperator(detail: string): void {
    if (!isOperator(this.#caller)) throw new Problem('forbidden', detail);
  }

  /** Dealer of a new definition: chosen by operators; dealers get their own. */
  dealerFor(wanted: UserId | null | undefined): UserId | null {
    if (isOperator(this.#caller)) return wanted ?? null;
    const own = dealerOf(this.#caller);
    if (wanted !== undefined && wanted !== own)
      throw new Problem('forbidden', 'Only operators may set the dealer to whom something belongs.');
    return own;
  }

  requireSameDealer(current: UserId | null, wanted: UserId | null | undefined): void {
    if (wanted !== undefined && (wanted !== current || !mayManage(this.#caller)))
      this.requireOperator('Only operators may set the dealer to whom something belongs.');
  }

  /**
   * Groups after a change: the requested ones, all of which the caller must see, and the existing ones that the caller
   * does not see and so cannot intend to remove. Empty if the request names no groups.
   */
  async groupsFrom(
    current: readonly GroupId[],
    wanted: readonly GroupId[] | null | undefined,
    pointer: string,
  ): Promise<{ groupIds?: readonly GroupId[] }> {
    if (!wanted) return {};
    await this.requireGroups(wanted, pointer);
    return { groupIds: [...wanted, ...current.filter((id) => !this.seesGroup(id))] };
  }

  async requireGroups(groupIds: readonly GroupId[], pointer: string): Promise<void> {
    for (const [nth, id] of groupIds.entries())
      await this.named(`${pointer}/${nth}`, 'group', () => this.group(id, 'read'));
  }

  /** Finds what a field of a request names. If the caller does not see it, the error names the field. */
  async named<T>(pointer: string, noun: string, find: () => Promise<T>): Promise<T> {
    try {
      return await find();
    } catch (error) {
      if (error instanceof Problem && error.kind === 'not-found') throw badField(pointer, `There is no such ${noun}.`);
      throw error;
    }
  }

  /** All vehicles that the caller may see, including suspended ones, whose data is hidden. */
  visibleVehicles(): Vehicle[] {
    return [...this.#sources.directory.vehicles.values()].filter(
      (vehicle) => rightToVehicle(this.#caller, vehicle) !== 'none',
    );
  }

  seesGroup(id: GroupId): boolean {
    if (isOperator(this.#caller)) return true;
    return rightToGroup(this.#caller, this.#sources.directory.groups.get(id)) !== 'none';
  }

  /** A definition as shown to the caller: without groups that the caller may not see. */
  shown<T extends { groupIds: readonly GroupId[] | null; sharedGroupIds?: readonly GroupId[] }>(thing: T): T {
    if (isOperator(this.#caller)) return thing;
    const { groupIds, sharedGroupIds } = thing;
    return {
      ...thing,
      ...(groupIds && { groupIds: groupIds.filter((id) => this.seesGroup(id)) }),
      ...(sharedGroupIds && { sharedGroupIds: sharedGroupIds.filter((id) => this.seesGroup(id)) }),
    };
  }

  found<T extends { groupIds: readonly GroupId[] | null }>(page: SearchPage<T>): SearchPage<T> {
    return { ...page, items: page.items.map((item) => this.shown(item)) };
  }

  /** The queries already select only what the caller may see. This filter is a safeguard in case one selects more. */
  page<T extends { groupIds: readonly GroupId[] | null }>(page: Page<T>, right: (item: T) => Right): Page<T> {
    const items = page.items.filter((item) => right(item) !== 'none').map((item) => this.shown(item));
    return { ...page, items };
  }
}

/** Base class of the parts of `Access`. */
export abstract class AccessPart {
  protected readonly caller: User;
  protected readonly sources: Sources;
  protected readonly checks: Checks;

  constructor(caller: User, sources: Sources) {
    this.caller = caller;
    this.sources = sources;
    this.checks = new Checks(caller, sources);
  }
}

function permitted<T>(thing: T | null | undefined, right: Right, needed: Right): T {
  if (!thing || right === 'none') throw notFound();
  if (needed === 'write' && right !== 'write')
    throw new Problem('forbidden', 'This account may see it, but may not change it.');
  return thing;
}
