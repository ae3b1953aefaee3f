import type { Geofence, LngLat, Position, User, UserId, Vehicle } from '@outrider/domain';
import {
  type CachedCell,
  GeofenceIndex,
  type InsideInterval as PassedThrough,
  type PreparedShape,
  prepareShape,
} from '@outrider/geo';
import { selectSmallest } from '../surplus.ts';

/** A geofence in the engine: one object from its creation to its deletion, across changes of its definition. */
export class Fence {
  readonly owner: OwnerFences;
  /** Its key in the owner's index. */
  readonly key: number;
  /** The definition in force. */
  definition: Geofence;
  // Frequently used fields of the definition, copied here to avoid an access to memory that is seldom cached.
  groupIds: Geofence['groupIds'];
  speedLimitKmh: number | null;
  minDwellMs: number;
  /** Why the geofence no longer applies; null while it does. */
  gone: 'geofence-deleted' | 'no-longer-watched' | null = null;
  /** Stamp of the last fix inside: each fix stamps the geofences that contain it with its own number. */
  stamp = 0;
  /** The same for the path to a fix that may cross the boundary. */
  wayStamp = 0;
  /** Order by id among the owner's geofences. Only set once {@link OwnerFences.keepOldest} was needed. */
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

  /** Puts the next version of the definition in force. */
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

  /** False where the bounding box of the shape excludes the place. */
  mayContain(longitude: number, latitude: number): boolean {
    const [west, south, east, north] = this.#prepared().bbox;
    if (latitude < south || latitude > north) return false;
    // West is greater than east where the box crosses the antimeridian.
    return west > east || (longitude >= west && longitude <= east);
  }

  /**
   * The fraction of the path between two fixes at which the boundary is first crossed; null where both are on one side
   * of it.
   */
  crossing(from: Position, to: Position): number | null {
    const quick = this.owner.quickCrossing(this, from, to);
    return Number.isNaN(quick) ? this.#prepared().crossing(placeOf(from), placeOf(to)) : quick;
  }

  /**
   * For a path between two fixes that are both outside: where it first enters and last leaves; null where it passes by.
   */
  passage(from: Position, to: Position): PassedThrough | null {
    return this.#prepared().passage(placeOf(from), placeOf(to));
  }

  /** Prepared on first use: few of many geofences are ever crossed. */
  #prepared(): PreparedShape {
    this.#shape ??= prepareShape(this.definition.shape);
    return this.#shape;
  }
}

/** One owner's geofences with their index. */
export class OwnerFences {
  readonly id: UserId;
  /** The account; null where it is not known (yet, or any more): nothing is watched then. */
  user: User | null;
  #index = new GeofenceIndex();
  readonly #byKey: (Fence | null)[] = [];
  readonly #freeKeys: number[] = [];
  #keys = new Int32Array(64);
  /** By {@link Fence.rank}, in the order of their ids; null where unknown. */
  #byRank: (Fence | null)[] | null = null;

  constructor(id: UserId, user: User | null) {
    this.id = id;
    this.user = user;
  }

  get size(): number {
    return this.#byKey.length - this.#freeKeys.length;
  }

  /** Fills an owner that has no geofences. The index is built in one pass. */
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

  /** Ids grow with time, so that an added geofence nearly always comes last. */
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
   * Writes the geofences that contain a place into `hits`, starting at index `at`, in no particular order.
   *
   * @param cached receives the cell of the place, for {@link isUnchanged}
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
   * Moves the `most` oldest of this owner's geofences in `hits`, by their ids, to the front of the range from index
   * `from` to before `to`. Returns the index after the last one of those.
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

  /** As {@link Fence.crossing}, where the index can compute it cheaply; else NaN. */
  quickCrossing(fence: Fence, from: Position, to: Position): number {
    return this.#index.crossing(fence.key, from.longitude, from.latitude, to.longitude, to.latitude);
  }

  /** Writes the geofences whose boundary the path between two fixes may cross into `hits`, as {@link find} does. */
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
 * Whether the geofence watches a vehicle that its owner may see. It may be limited to groups (see `watches` of the
 * domain).
 */
export function appliesTo({ groupIds }: Pick<Geofence, 'groupIds'>, vehicle: Pick<Vehicle, 'groupIds'>): boolean {
  return groupIds === null || vehicle.groupIds.some((groupId) => groupIds.includes(groupId));
}

function placeOf(position: Position): LngLat {
  return [position.longitude, position.latitude];
}
