import { rulePlaces } from '@outrider/access';
import type {
  DefinitionChange,
  Driver,
  FleetEvent,
  Geofence,
  GeofenceId,
  GroupId,
  NotificationRule,
  NotificationRuleId,
  OwnedGeofence,
  RuleContext,
  User,
  UserId,
  Vehicle,
  VehicleId,
} from '@outrider/domain';
import { asksForDriver, type Directory, geofenceOf, type Happening, minDurationMs, mismatchOf } from '@outrider/domain';

/** The part of a geofence that rules need. The shape, by far the largest part, is omitted. */
type KnownGeofence = OwnedGeofence & Pick<Geofence, 'name'>;

type KnownVehicle = Pick<Vehicle, 'name' | 'dealerId' | 'groupIds' | 'suspension'>;

/** A rule that matches an event, with the names that its notification will carry. */
export interface Match {
  rule: NotificationRule;
  vehicleName: string;
  geofenceName: string | null;
  /**
   * Time in Unix milliseconds at which the event has lasted long enough for the rule. Null if the rule does not wait,
   * or the event has ended.
   */
  dueMs: number | null;
}

/**
 * All rules, indexed by the vehicles that they can apply to: by the vehicles and groups that a rule names or, if it
 * names none, by what its owner may see. An event costs only as much as the rules that can apply to its vehicle,
 * however many other rules exist.
 */
export class RuleBook {
  readonly #directory: Pick<Directory, 'geofences' | 'ownerOf'>;
  readonly #users = new Map<UserId, User>();
  readonly #vehicles = new Map<VehicleId, KnownVehicle>();
  readonly #geofences = new Map<GeofenceId, KnownGeofence>();
  readonly #rules = new Map<NotificationRuleId, NotificationRule>();
  readonly #versions = new Map<string, number>();
  readonly #rulesOfOwner = new Map<UserId, Set<NotificationRule>>();
  readonly #durations = new Set<NotificationRuleId>();
  readonly #driverRules = new Set<NotificationRuleId>();
  /** Active rules by the id of a vehicle, a group or a dealer, or by {@link EVERYWHERE}. */
  readonly #places = new Map<string, Set<NotificationRule>>();

  /** @param directory has the shapes of geofences */
  constructor(directory: Pick<Directory, 'geofences' | 'ownerOf'>) {
    this.#directory = directory;
  }

  get size(): number {
    return this.#rules.size;
  }

  /** Whether any rule waits for events to last. */
  get hasDurations(): boolean {
    return this.#durations.size > 0;
  }

  /** Whether a rule that may match the event depends on the driver. */
  needsDriver({ vehicleId }: FleetEvent): boolean {
    if (this.#driverRules.size === 0) return false;
    const vehicle = this.#vehicles.get(vehicleId);
    return vehicle !== undefined && this.#candidates(vehicleId, vehicle).some(({ id }) => this.#driverRules.has(id));
  }

  /** Null if the rule was deleted. */
  rule(id: NotificationRuleId): NotificationRule | null {
    return this.#rules.get(id) ?? null;
  }

  /** Applies a change. Older or repeated versions are ignored. */
  apply({ kind, id, version, definition }: DefinitionChange): void {
    const known = this.#versions.get(id);
    if (known !== undefined && version <= known) return;
    this.#versions.set(id, version);
    switch (kind) {
      case 'group':
      case 'video-profile':
      case 'driver':
        return;
      case 'vehicle': {
        const vehicle = definition as Vehicle | null;
        if (vehicle === null) this.#vehicles.delete(id as VehicleId);
        else {
          const { name, dealerId, groupIds, suspension } = vehicle;
          this.#vehicles.set(id as VehicleId, { name, dealerId, groupIds, suspension });
        }
        return;
      }
      case 'geofence': {
        const geofence = definition as Geofence | null;
        if (geofence === null) this.#geofences.delete(id as GeofenceId);
        else {
          const { name, ownerId, sharedWithOrganisation, sharedGroupIds } = geofence;
          this.#geofences.set(id as GeofenceId, { name, ownerId, sharedWithOrganisation, sharedGroupIds });
        }
        return;
      }
      case 'user': {
        const rules = this.#rulesOfOwner.get(id as UserId) ?? [];
        for (const rule of rules) this.#unplace(rule);
        if (definition === null) this.#users.delete(id as UserId);
        else this.#users.set(id as UserId, definition as User);
        for (const rule of rules) this.#place(rule);
        return;
      }
      case 'notification-rule':
        this.#applyRule(id as NotificationRuleId, definition as NotificationRule | null);
    }
  }

  /**
   * The rules that match an event. Minimum intervals of rules are applied later.
   *
   * @param driver the driver, if {@link needsDriver} is true for the event
   */
  matches(happening: Happening, driver: Driver | null): Match[] {
    if (this.#places.size === 0) return [];
    const { vehicleId } = happening.event;
    const vehicle = this.#vehicles.get(vehicleId);
    return vehicle === undefined
      ? []
      : this.#matching(this.#candidates(vehicleId, vehicle), vehicle, happening, driver);
  }

  /** The match of one rule and an event; null if the rule does not match. */
  match(rule: NotificationRule, happening: Happening, driver: Driver | null): Match | null {
    const vehicle = this.#vehicles.get(happening.event.vehicleId);
    return (vehicle && this.#matching([rule], vehicle, happening, driver)[0]) ?? null;
  }

  #matching(
    rules: readonly NotificationRule[],
    vehicle: KnownVehicle,
    happening: Happening,
    driver: Driver | null,
  ): Match[] {
    const { event, lastedMs } = happening;
    const geofenceId = geofenceOf(event);
    const geofence = geofenceId === null ? null : (this.#geofences.get(geofenceId) ?? null);
    const geofenceOwner = geofence === null ? null : (this.#users.get(geofence.ownerId) ?? null);
    const placeOf = rulePlaces(this.#directory, event);
    const context: RuleContext = { owner: null, vehicle, geofence, geofenceOwner, placeOf, driver };
    const matches: Match[] = [];
    for (const rule of rules) {
      context.owner = this.#users.get(rule.ownerId) ?? null;
      if (mismatchOf(rule, happening, context) !== null) continue;
      const isWaiting = lastedMs === undefined && rule.minDurationMinutes > 0;
      matches.push({
        rule,
        vehicleName: vehicle.name,
        geofenceName: geofence?.name ?? null,
        dueMs: isWaiting ? event.startedAtMs + minDurationMs(rule) : null,
      });
    }
    return matches;
  }

  /** Number of rules that are evaluated for an event of the vehicle. */
  candidateCount(vehicleId: VehicleId): number {
    const vehicle = this.#vehicles.get(vehicleId);
    return vehicle ? [...this.#candidates(vehicleId, vehicle)].length : 0;
  }

  /** Each rule once, ordered by id: the same events make the same notifications in the same order. */
  #candidates(vehicleId: VehicleId, vehicle: Pick<Vehicle, 'dealerId' | 'groupIds'>): NotificationRule[] {
    const { dealerId, groupIds } = vehicle;
    const found = new Set<NotificationRule>(this.#places.get(EVERYWHERE));
    for (const place of [vehicleId, dealerId, ...groupIds])
      if (place !== null) for (const rule of this.#places.get(place) ?? []) found.add(rule);
    return [...found].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  #applyRule(id: NotificationRuleId, rule: NotificationRule | null): void {
    const before = this.#rules.get(id);
    if (before) {
      this.#unplace(before);
      removeFrom(this.#rulesOfOwner, before.ownerId, before);
      this.#rules.delete(id);
      this.#durations.delete(id);
      this.#driverRules.delete(id);
    }
    if (rule === null) return;
    if (rule.minDurationMinutes > 0) this.#durations.add(id);
    if (asksForDriver(rule)) this.#driverRules.add(id);
    this.#rules.set(id, rule);
    addTo(this.#rulesOfOwner, rule.ownerId, rule);
    this.#place(rule);
  }

  #place(rule: NotificationRule): void {
    for (const place of this.#placesOf(rule)) addTo(this.#places, place, rule);
  }

  #unplace(rule: NotificationRule): void {
    for (const place of this.#placesOf(rule)) removeFrom(this.#places, place, rule);
  }

  /** Keys that lead to every vehicle that the rule can apply to. Rights are checked again for each event. */
  #placesOf(rule: NotificationRule): readonly string[] {
    const owner = this.#users.get(rule.ownerId);
    if (!rule.active || owner === undefined || owner.blocked) return [];
    if (rule.vehicleIds !== null || rule.groupIds !== null)
      return [...(rule.vehicleIds ?? []), ...(rule.groupIds ?? [])];
    switch (owner.role) {
      case 'operator':
        return [EVERYWHERE];
      case 'dealer':
        return [owner.id];
      case 'user':
        return owner.groupIds as readonly GroupId[];
    }
  }
}

/** Index key of rules for all vehicles. Never equal to an id, because no id is empty. */
const EVERYWHERE = '';

function addTo<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

function removeFrom<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  set?.delete(value);
  if (set?.size === 0) sets.delete(key);
}
