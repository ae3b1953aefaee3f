import type { Definition, DefinitionChange, Geofence, User, Vehicle, VehicleGroup } from './definitions.ts';
import type { GeofenceId, GroupId, NotificationRuleId, TerminalId, UserId, VehicleId, VideoProfileId } from './ids.ts';
import type { NotificationRule } from './notification-rule.ts';
import { phoneAddress, terminalIdsOfAddress } from './terminal-number.ts';
import type { VideoProfile, VideoProtocol } from './video.ts';

/**
 * All definitions, built from the records of topic `definitions`: the view that gateway, rules and notifier
 * each keep. Applying the same change twice, or an older one late, changes nothing.
 */
export class Directory {
  readonly users = new Map<UserId, User>();
  readonly vehicles = new Map<VehicleId, Vehicle>();
  readonly groups = new Map<GroupId, VehicleGroup>();
  readonly geofences = new Map<GeofenceId, Geofence>();
  readonly notificationRules = new Map<NotificationRuleId, NotificationRule>();
  readonly videoProfiles = new Map<VideoProfileId, VideoProfile>();
  readonly #videoProfileByAddress = new Map<string, VideoProfile>();
  readonly #vehicleByTerminal = new Map<TerminalId, Vehicle>();
  readonly #versions = new Map<string, number>();

  /** The vehicle that the terminal is fitted to now, if any. */
  vehicleOfTerminal(terminalId: TerminalId): Vehicle | undefined {
    return this.#vehicleByTerminal.get(terminalId);
  }

  /** The account that owns it, where both exist. */
  ownerOf(owned: { ownerId: UserId } | null | undefined): User | undefined {
    return owned ? this.users.get(owned.ownerId) : undefined;
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
   * The vehicle whose terminal the profile's address is, if any. Where it is not the profile's vehicle, the profile is
   * from before addresses were checked, or its terminal was moved since: nothing may be fetched by it.
   */
  vehicleOfVideoAddress({ protocol, address }: Pick<VideoProfile, 'protocol' | 'address'>): Vehicle | undefined {
    if (protocol !== 'jt1078') return undefined;
    for (const terminalId of terminalIdsOfAddress(address)) {
      const vehicle = this.#vehicleByTerminal.get(terminalId);
      if (vehicle !== undefined) return vehicle;
    }
    return undefined;
  }

  /** Is the profile's address the terminal of another vehicle? */
  isOfAnotherVehicle(profile: Pick<VideoProfile, 'protocol' | 'address' | 'vehicleId'>): boolean {
    const vehicle = this.vehicleOfVideoAddress(profile);
    return vehicle !== undefined && vehicle.id !== profile.vehicleId;
  }

  /** Every definition. */
  *all(): Generator<Definition> {
    yield* this.users.values();
    yield* this.groups.values();
    yield* this.vehicles.values();
    yield* this.geofences.values();
    yield* this.notificationRules.values();
    yield* this.videoProfiles.values();
  }

  /**
   * Takes one change in.
   *
   * @returns what stood there before, or null where nothing did; undefined when the change is not news and was left out
   */
  apply(change: DefinitionChange): Definition | null | undefined {
    const known = this.#versions.get(change.id);
    if (known !== undefined && change.version <= known) return undefined;
    this.#versions.set(change.id, change.version);

    const { definition } = change;
    switch (change.kind) {
      case 'user':
        return replace(this.users, change.id as UserId, definition as User | null);
      case 'group':
        return replace(this.groups, change.id as GroupId, definition as VehicleGroup | null);
      case 'geofence':
        return replace(this.geofences, change.id as GeofenceId, definition as Geofence | null);
      case 'notification-rule':
        return replace(this.notificationRules, change.id as NotificationRuleId, definition as NotificationRule | null);
      case 'video-profile': {
        const profile = definition as VideoProfile | null;
        const before = replace(this.videoProfiles, change.id as VideoProfileId, profile);
        // As with terminals: an address may already be another profile's.
        if (before) {
          const key = addressKey(before.protocol, before.address);
          if (this.#videoProfileByAddress.get(key)?.id === before.id) this.#videoProfileByAddress.delete(key);
        }
        if (profile) this.#videoProfileByAddress.set(addressKey(profile.protocol, profile.address), profile);
        return before;
      }
      case 'vehicle': {
        const vehicle = definition as Vehicle | null;
        const before = replace(this.vehicles, change.id as VehicleId, vehicle);
        // A terminal may already have moved on to another vehicle: only the vehicle that holds it gives it up.
        if (before?.terminalId && this.#vehicleByTerminal.get(before.terminalId)?.id === before.id)
          this.#vehicleByTerminal.delete(before.terminalId);
        if (vehicle?.terminalId) this.#vehicleByTerminal.set(vehicle.terminalId, vehicle);
        return before;
      }
    }
  }
}

function addressKey(protocol: VideoProtocol, address: string): string {
  return `${protocol} ${protocol === 'jt1078' ? phoneAddress(address) : address}`;
}

function replace<Id, T>(map: Map<Id, T>, id: Id, value: T | null): T | null {
  const before = map.get(id) ?? null;
  if (value === null) map.delete(id);
  else map.set(id, value);
  return before;
}
