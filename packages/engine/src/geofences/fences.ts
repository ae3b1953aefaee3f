import type { Geofence, LngLat, Position, User, UserId, Vehicle } from '@outrider/domain';
import {
  type CachedCell,
  GeofenceIndex,
  type InsideInterval as PassedThrough,
  type PreparedShape,
  prepareShape,
} from '@outrider/geo';
import { selectSmallest } from '../surplus.ts';

/** A geofence as the engine works with it: one object from its creation to its end, whatever its definition becomes. */
export class Fence {
  readonly owner: OwnerFences;
  /** Its number in the owner's index. */
  readonly key: number;
  /** As it is in force. */
  definition: Geofence;
  // Of the definition, what is asked for again and again: to have it here saves a look into memory that is seldom at
  // hand.
  groupIds: Geofence['groupIds'];
  speedLimitKmh: number | null;
  minDwellMs: number;
  /** Why it is no more; null while it is. */
  gone: 'geofence-deleted' | 'no-longer-watched' | null = null;
  /** The engine's stamp of the last fix that was inside: a fix marks what contains it by its own number. */
  stamp = 0;
  /** The same for the way to a fix, where the boundary may be met. */
  wayStamp = 0;
  /** Grows with the id among the owner's geofences, where {@link OwnerFences.keepOldest} was needed. */
  rank = 0;
  #shape: PreparedShape | null = null;

  constructor(owner: OwnerFences, key: number, definition: Geofence) {
    this.owner = owner;
    this.key = key;
    this.definition = definition;
    this.groupIds = definition.groupIds;
    this.speedLimitKmh = definition.speedLimitKmh;
    this.minDwellMs = definition.minDwellSeconds * 1000;
  }

  /** Takes the next version of the definition in force. */
  become(definition: Geofence): void {
    this.definition = definition;
    this.groupIds = definition.groupIds;
    this.speedLimitKmh = definition.speedLimitKmh;
    this.minDwellMs = definition.minDwellSeconds * 1000;
    this.#shape = null;
  }

  contains(longitude: number, latitude: number): boolean {
    return this.#prepared().contains(longitude, latitude);
  }

  /** False where a look at the box around the shape is enough to say that it does not contain a place. */
  mayContain(longitude: number, latitude: number): boolean {
    const [west, south, east, north] = this.#prepared().bbox;
    if (latitude < south || latitude > north) return false;
    // West is greater than east where the box crosses the antimeridian.
    return west > east || (longitude >= west && longitude <= east);
  }

  /**
   * The fraction of the way between two fixes at which the boundary is first met; null where both are on one side of
   * it.
   */
  crossing(from: Position, to: Position): number | null {
    const quick = this.owner.quickCrossing(this, from, to);
    return Number.isNaN(quick) ? this.#prepared().crossing(placeOf(from), placeOf(to)) : quick;
  }

  /**
   * For a way between two fixes that are both outside: where it first enters and last leaves; null where it passes by.
   */
  passage(from: Position, to: Position): PassedThrough | null {
    return this.#prepared().passage(placeOf(from), placeOf(to));
  }

  /** Prepared when first asked for: of many geofences few are ever crossed. */
  #prepared(): PreparedShape {
    this.#shape ??= prepareShape(this.definition.shape);
    return this.#shape;
  }
}

/** One owner's geofences, with their index: two owners' geofences never meet. */
export class OwnerFences {
  readonly id: UserId;
  /** The account; null where it is not known (yet, or any more): then nothing is watched. */
  user: User | null;
  #index = new GeofenceIndex();
  readonly #byKey: (Fence | null)[] = [];
  readonly #freeKeys: number[] = [];
  #keys = new Int32Array(64);
  /** By {@link Fence.rank}, in the order of their ids; null where it is not known. */
  #byRank: (Fence | null)[] | null = null;

  constructor(id: UserId, user: User | null) {
    this.id = id;
    this.user = user;
  }

  get size(): number {
    return this.#byKey.length - this.#freeKeys.length;
  }

  /** Fills an owner without geofences: the index is built at once. */
  load(geofences: readonly Geofence[]): Fence[] {
    const fences = geofences.map((geofence, key) => new Fence(this, key, geofence));
    for (const fence of fences) this.#byKey.push(fence);
    this.#index = GeofenceIndex.build(fences.map(({ key, definition }) => ({ key, shape: definition.shape })));
    return fences;
  }

  add(geofence: Geofence): Fence {
    const key = this.#freeKeys.pop() ?? this.#byKey.length;
    const fence = new Fence(this, key, geofence);
    this.#byKey[key] = fence;
    this.#index.put(key, geofence.shape);
    this.#rank(fence);
    return fence;
  }

  /** Ids grow with time: one that is added comes last nearly always. */
  #rank(fence: Fence): void {
    const last = this.#byRank?.at(-1);
    if (this.#byRank === null || !last || last.definition.id > fence.definition.id) this.#byRank = null;
    else fence.rank = this.#byRank.push(fence) - 1;
  }

  replace(fence: Fence, geofence: Geofence, shapeChanged: boolean): void {
    fence.become(geofence);
    if (shapeChanged) this.#index.put(fence.key, geofence.shape);
  }

  remove(fence: Fence): void {
    this.#index.remove(fence.key);
    this.#byKey[fence.key] = null;
    if (this.#byRank !== null) this.#byRank[fence.rank] = null;
    this.#freeKeys.push(fence.key);
  }

  /**
   * Writes the geofences that contain a place into `hits`, from `at` on, in no particular order.
   *
   * @param cached filled in with the cell of the place, for {@link isUnchanged}
   * @returns the index after the last one written
   */
  find(longitude: number, latitude: number, hits: Fence[], at: number, cached: CachedCell): number {
    let found = this.#index.query(longitude, latitude, this.#keys, cached);
    while (found > this.#keys.length) {
      this.#keys = new Int32Array(2 * found);
      found = this.#index.query(longitude, latitude, this.#keys, cached);
    }
    let end = at;
    for (let i = 0; i < found; i++) {
      const fence = this.#byKey[this.#keys[i] as number];
      if (fence) hits[end++] = fence;
    }
    return end;
  }

  /**
   * Moves the `most` oldest, by their ids, of those geofences of this owner that are in `hits` from one index to before
   * another to the front of them. Returns the index after the last one of those.
   */
  keepOldest(hits: Fence[], from: number, to: number, most: number): number {
    this.#byRank ??= this.#ranked();
    const count = to - from;
    const ranks = Int32Array.from({ length: count }, (_, nth) => (hits[from + nth] as Fence).rank);
    selectSmallest(ranks, count, most);
    for (let nth = 0; nth < most; nth++) hits[from + nth] = this.#byRank[ranks[nth] as number] as Fence;
    return from + most;
  }

  #ranked(): Fence[] {
    const fences = this.#byKey.filter((fence) => fence !== null);
    fences.sort((a, b) => (a.definition.id < b.definition.id ? -1 : 1));
    for (const [rank, fence] of fences.entries()) fence.rank = rank;
    return fences;
  }

  /** As {@link Fence.crossing}, where the index has it at hand; else NaN. */
  quickCrossing(fence: Fence, from: Position, to: Position): number {
    return this.#index.crossing(fence.key, from.longitude, from.latitude, to.longitude, to.latitude);
  }

  /** Writes the geofences whose boundary the way between two fixes may meet into `hits`, as {@link find} does. */
  findOnWay(from: Position, to: Position, hits: Fence[], at: number): number {
    const { longitude, latitude } = from;
    let found = this.#index.queryWay(longitude, latitude, to.longitude, to.latitude, this.#keys);
    while (found > this.#keys.length) {
      this.#keys = new Int32Array(2 * found);
      found = this.#index.queryWay(longitude, latitude, to.longitude, to.latitude, this.#keys);
    }
    let end = at;
    for (let i = 0; i < found; i++) {
      const fence = this.#byKey[this.#keys[i] as number];
      if (fence) hits[end++] = fence;
    }
    return end;
  }

  /** See `GeofenceIndex.isClear`. */
  isClear(cached: CachedCell): boolean {
    return this.#index.isClear(cached);
  }

  /** See `GeofenceIndex.isUnchanged`. */
  isUnchanged(cached: CachedCell, { longitude, latitude }: Position): boolean {
    return this.#index.isUnchanged(cached, longitude, latitude);
  }
}

/**
 * Of a vehicle that its owner may see: does the geofence watch it? It may name groups (see `watches` of the domain).
 */
export function appliesTo({ groupIds }: Pick<Geofence, 'groupIds'>, vehicle: Pick<Vehicle, 'groupIds'>): boolean {
  return groupIds === null || vehicle.groupIds.some((groupId) => groupIds.includes(groupId));
}

function placeOf(position: Position): LngLat {
  return [position.longitude, position.latitude];
}
