import {
  type Directory,
  type GroupId,
  maySeeVehicle,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { type KeyEntry, KeyIndex } from './key-index.ts';
import type { Subscription } from './messages.ts';

/** A client, as far as the index needs it. */
export interface Listener {
  /** Null until the client is identified. */
  readonly userId: UserId | null;
  readonly subscription: Pick<Subscription, 'vehicles' | 'groups'> | null;
  /** The account with the rights of this client. Default: the account in the directory. */
  callerIn?(directory: Directory): User | undefined;
}

/** The audience of a vehicle, with the inputs of its computation. */
interface CachedAudience<L> {
  readonly vehicle: Vehicle;
  readonly sources: readonly { key: string; entry: KeyEntry<L> | undefined; version: number }[];
  readonly listeners: readonly L[];
}

/** Key of listeners that want every vehicle. No id is empty. */
const EVERY_VEHICLE = '';

/**
 * Finds the listeners that want a vehicle and may see it. A listener is indexed under keys that vehicles have: a
 * vehicle, a group, a dealer, or every vehicle. The cost of connecting, closing and subscribing is proportional to the
 * listener's keys, that of a changed user to the user's listeners. A changed vehicle costs nothing until its audience
 * is needed. The audience of a vehicle is cached until one of the keys that it was computed from changes.
 */
export class Audiences<L extends Listener> {
  readonly #directory: Directory;
  readonly #index = new KeyIndex<L>();
  readonly #cache = new Map<VehicleId, CachedAudience<L>>();

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  /** Indexes a listener again: it was identified, subscribed or unsubscribed, or its user changed. */
  update(listener: L): void {
    this.#index.file(listener, this.#keysFor(listener));
  }

  remove(listener: L): void {
    this.#index.remove(listener);
  }

  /**
   * Updates the audience of a vehicle that was changed or deleted.
   *
   * @returns listeners that were in the last audience and are no longer
   */
  vehicleChanged(vehicleId: VehicleId): readonly L[] {
    const before = this.#cache.get(vehicleId)?.listeners ?? [];
    if (before.length === 0) {
      this.#cache.delete(vehicleId);
      return [];
    }
    const now = this.of(vehicleId);
    if (now.length === 0) this.#cache.delete(vehicleId);
    if (now === before) return [];
    const still = new Set(now);
    return before.filter((listener) => !still.has(listener));
  }

  /** The listeners that want the vehicle and may see it now, each once. */
  of(vehicleId: VehicleId): readonly L[] {
    const vehicle = this.#directory.vehicles.get(vehicleId);
    if (vehicle === undefined) return [];
    const cached = this.#cache.get(vehicleId);
    if (cached !== undefined && isSameToViewers(cached.vehicle, vehicle) && this.#isCurrent(cached))
      return cached.listeners;
    const found = new Set<L>();
    const sources = keysOfVehicle(vehicle).map((key) => {
      const entry = this.#index.entry(key);
      for (const listener of entry?.members ?? []) {
        const user = this.#callerOf(listener);
        if (user !== undefined && maySeeVehicle(user, vehicle)) found.add(listener);
      }
      return { key, entry, version: entry?.version ?? 0 };
    });
    const listeners = [...found];
    this.#cache.set(vehicleId, { vehicle, sources, listeners });
    return listeners;
  }

  #callerOf(listener: L): User | undefined {
    return listener.callerIn === undefined ? this.#directory.userOf(listener) : listener.callerIn(this.#directory);
  }

  #isCurrent({ sources }: CachedAudience<L>): boolean {
    for (const { key, entry, version } of sources)
      if (this.#index.entry(key) !== entry || (entry !== undefined && entry.version !== version)) return false;
    return true;
  }

  /** Keys that lead to every vehicle that the listener wants and may see. Rights are checked again for each vehicle. */
  #keysFor(listener: L): readonly string[] {
    const user = this.#callerOf(listener);
    const { subscription } = listener;
    if (user === undefined || user.blocked || subscription === null) return [];
    const { vehicles, groups } = subscription;
    if (vehicles !== null || groups !== null) return [...(vehicles ?? []), ...(groups ?? [])];
    return { operator: [EVERY_VEHICLE], dealer: [user.id], user: user.groupIds }[user.role];
  }
}

function isSameToViewers(one: Vehicle, other: Vehicle): boolean {
  if (one === other) return true;
  const isSameGroup = (groupId: GroupId, nth: number) => groupId === other.groupIds[nth];
  return (
    one.dealerId === other.dealerId &&
    (one.suspension === null) === (other.suspension === null) &&
    one.groupIds.length === other.groupIds.length &&
    one.groupIds.every(isSameGroup)
  );
}

function keysOfVehicle({ id, dealerId, groupIds }: Vehicle): string[] {
  return dealerId === null ? [EVERY_VEHICLE, id, ...groupIds] : [EVERY_VEHICLE, id, dealerId, ...groupIds];
}
