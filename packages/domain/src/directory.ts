import { phoneAddress, terminalIdsOfAddress } from './commands/terminal-number.ts';
import type {
  DriverId,
  GeofenceId,
  GroupId,
  NotificationRuleId,
  TerminalId,
  UserId,
  VehicleId,
  VideoProfileId,
} from './ids.ts';
import type { Definition, DefinitionChange, DefinitionKind } from './resources/definitions.ts';
import { type Driver, type DriverAssignment, holderOf } from './resources/driver.ts';
import type { Geofence } from './resources/geofence.ts';
import type { VehicleGroup } from './resources/group.ts';
import type { NotificationRule } from './resources/notification-rule.ts';
import type { User } from './resources/user.ts';
import type { Vehicle } from './resources/vehicle.ts';
import type { VideoProfile, VideoProtocol } from './resources/video-profile.ts';

/**
 * All definitions, built from the records of topic `definitions`. Gateway, rules and notifier each keep such a view.
 * Applying a change twice, or an older one late, changes nothing.
 */
export class Directory {
  readonly users = new Map<UserId, User>();
  readonly vehicles = new Map<VehicleId, Vehicle>();
  readonly groups = new Map<GroupId, VehicleGroup>();
  readonly geofences = new Map<GeofenceId, Geofence>();
  readonly notificationRules = new Map<NotificationRuleId, NotificationRule>();
  readonly videoProfiles = new Map<VideoProfileId, VideoProfile>();
  readonly drivers = new Map<DriverId, Driver>();
  readonly #byKind: Readonly<Record<DefinitionKind, Map<string, Definition>>> = {
    user: this.users,
    vehicle: this.vehicles,
    group: this.groups,
    geofence: this.geofences,
    'notification-rule': this.notificationRules,
    'video-profile': this.videoProfiles,
    driver: this.drivers,
  };
  readonly #videoProfileByAddress = new Map<string, VideoProfile>();
  readonly #vehicleByTerminal = new Map<TerminalId, Vehicle>();
  readonly #driversByCode = new Map<string, readonly Driver[]>();
  readonly #versions = new Map<string, number>();

  /** The vehicle that the terminal is fitted to now, if any. */
  vehicleOfTerminal(terminalId: TerminalId): Vehicle | undefined {
    return this.#vehicleByTerminal.get(terminalId);
  }

  /** The owner's account, where both exist. */
  ownerOf(owned: { ownerId: UserId } | null | undefined): User | undefined {
    return owned ? this.users.get(owned.ownerId) : undefined;
  }

  /** The account of a client or a job, where both exist. */
  userOf({ userId }: { readonly userId: UserId | null }): User | undefined {
    return userId === null ? undefined : this.users.get(userId);
  }

  /**
   * The profile of the video terminal that has this address, if any.
   *
   * @param address phone number as a terminal writes it, or the text of the profile
   */
  videoProfileOfAddress(protocol: VideoProtocol, address: string): VideoProfile | undefined {
    return this.#videoProfileByAddress.get(addressKey(protocol, address));
  }

  /**
   * The vehicle whose terminal has the profile's address, if any. It can differ from the profile's vehicle where the
   * profile was created before addresses were checked, or where the terminal was moved since. Then no video may be
   * fetched by this profile.
   */
  vehicleOfVideoAddress({ protocol, address }: Pick<VideoProfile, 'protocol' | 'address'>): Vehicle | undefined {
    if (protocol !== 'jt1078') return undefined;
    for (const terminalId of terminalIdsOfAddress(address)) {
      const vehicle = this.#vehicleByTerminal.get(terminalId);
      if (vehicle !== undefined) return vehicle;
    }
    return undefined;
  }

  /** Drivers of a dealer (null: the operator) who have or had a code. */
  driversOfCode(dealerId: UserId | null, code: string): readonly Driver[] {
    return this.#driversByCode.get(`${dealerId} ${code}`) ?? [];
  }

  /**
   * The driver of a vehicle at a moment: the one assigned manually, else the holder of the code that the terminal sent.
   *
   * @param code null: the terminal sent none
   * @param assignments those of the vehicle around that moment
   */
  driverAt(
    vehicleId: VehicleId,
    { atMs, code }: { atMs: number; code: string | null },
    assignments: readonly DriverAssignment[],
  ): Driver | undefined {
    const assigned = assignments.find(({ fromMs, toMs }) => fromMs <= atMs && (toMs === null || atMs < toMs));
    if (assigned !== undefined) return this.drivers.get(assigned.driverId);
    if (code === null) return undefined;
    return holderOf(this.driversOfCode(this.vehicles.get(vehicleId)?.dealerId ?? null, code), code, atMs);
  }

  /** Whether the profile's address belongs to the terminal of another vehicle. */
  isOfAnotherVehicle(profile: Pick<VideoProfile, 'protocol' | 'address' | 'vehicleId'>): boolean {
    const vehicle = this.vehicleOfVideoAddress(profile);
    return vehicle !== undefined && vehicle.id !== profile.vehicleId;
  }

  /** The definition of this kind and id, or null. */
  get(kind: DefinitionKind, id: string): Definition | null {
    return this.#byKind[kind].get(id) ?? null;
  }

  *all(): Generator<Definition> {
    yield* this.users.values();
    yield* this.groups.values();
    yield* this.vehicles.values();
    yield* this.geofences.values();
    yield* this.notificationRules.values();
    yield* this.videoProfiles.values();
    yield* this.drivers.values();
  }

  /**
   * Applies one change.
   *
   * @returns the previous definition, or null where none existed; undefined when the change is outdated and was ignored
   */
  apply(change: DefinitionChange): Definition | null | undefined {
    const known = this.#versions.get(change.id);
    if (known !== undefined && change.version <= known) return undefined;
    this.#versions.set(change.id, change.version);

    const { kind, id, definition } = change;
    const definitions = this.#byKind[kind];
    const before = definitions.get(id) ?? null;
    if (definition === null) definitions.delete(id);
    else definitions.set(id, definition);
    if (kind === 'vehicle') this.#terminalMoved(before as Vehicle | null, definition as Vehicle | null);
    if (kind === 'video-profile') this.#addressMoved(before as VideoProfile | null, definition as VideoProfile | null);
    if (kind === 'driver') this.#codesMoved(before as Driver | null, definition as Driver | null);
    return before;
  }

  /** Another vehicle may hold the terminal already: then the entry stays with that vehicle. */
  #terminalMoved(before: Vehicle | null, after: Vehicle | null): void {
    if (before?.terminalId && this.#vehicleByTerminal.get(before.terminalId)?.id === before.id)
      this.#vehicleByTerminal.delete(before.terminalId);
    if (after?.terminalId) this.#vehicleByTerminal.set(after.terminalId, after);
  }

  #codesMoved(before: Driver | null, after: Driver | null): void {
    for (const [key, driver] of codeKeys(before)) {
      const others = this.#driversByCode.get(key)?.filter(({ id }) => id !== driver.id) ?? [];
      if (others.length === 0) this.#driversByCode.delete(key);
      else this.#driversByCode.set(key, others);
    }
    for (const [key, driver] of codeKeys(after))
      this.#driversByCode.set(key, [...(this.#driversByCode.get(key) ?? []), driver]);
  }

  /** As with terminals: another profile may hold the address already. */
  #addressMoved(before: VideoProfile | null, after: VideoProfile | null): void {
    if (before) {
      const key = addressKey(before.protocol, before.address);
      if (this.#videoProfileByAddress.get(key)?.id === before.id) this.#videoProfileByAddress.delete(key);
    }
    if (after) this.#videoProfileByAddress.set(addressKey(after.protocol, after.address), after);
  }
}

function codeKeys(driver: Driver | null): Map<string, Driver> {
  return new Map(driver?.codes.map(({ code }) => [`${driver.dealerId} ${code}`, driver]));
}

function addressKey(protocol: VideoProtocol, address: string): string {
  return `${protocol} ${protocol === 'jt1078' ? phoneAddress(address) : address}`;
}
