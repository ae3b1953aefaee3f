import type { Position, Vehicle } from '@outrider/domain';
import { CachedCell } from '@outrider/geo';
import type { Caps } from '../caps.ts';
import { isWayKnown, type Step } from '../step.ts';
import type { VehicleState } from '../vehicle-state.ts';
import { appliesTo, type Fence, type OwnerFences } from './fences.ts';

/**
 * Finds the geofences around a fix, and those whose boundary the path to it may cross. One object is used for all
 * fixes, so that a query allocates nothing.
 */
export class FenceFinder {
  readonly #caps: Caps;
  /** The first `hitCount` entries watch the vehicle and contain the last queried place, in no particular order. */
  readonly hits: Fence[] = [];
  hitCount = 0;
  /** The {@link Fence.stamp} of the geofences in `hits`; -1, which no geofence has, where none exist. */
  hitStamp = -1;
  /** The first `onWayCount` entries watch the vehicle, and the last queried path may cross their boundary. */
  readonly onWay: Fence[] = [];
  onWayCount = 0;
  /** The {@link Fence.wayStamp} of the geofences in `onWay`, where there are any. */
  wayStamp = -1;
  #stamp = 0;

  constructor(caps: Caps) {
    this.#caps = caps;
  }

  /**
   * @param way the step that leads to the place, to find boundaries that it may cross; null where there can be none
   * @param isSettled whether the vehicle's steady state is from the current epoch, see `steady-state.ts`
   */
  look(vehicle: VehicleState, place: Position, way: Step | null, isSettled: boolean): void {
    this.hitCount = 0;
    this.hitStamp = -1;
    this.onWayCount = 0;
    const { watchers, definition, cachedCells } = vehicle;
    if (watchers.length === 0 || definition === null) return;
    const { longitude, latitude } = place;
    const from = way !== null && isWayKnown(way) ? way.from : null;
    while (cachedCells.length < watchers.length) cachedCells.push(new CachedCell());
    let found = 0;
    let onWay = 0;
    for (let i = 0; i < watchers.length; i++) {
      const owner = watchers[i] as OwnerFences;
      const cached = cachedCells[i] as CachedCell;
      const before = found;
      if (way === null || from === null) {
        found = owner.find(longitude, latitude, this.hits, found, cached);
        found = this.#withinCap(vehicle, owner, before, found, place);
        continue;
      }
      // Most paths stay in cells without a boundary, or cross no boundary of this owner. (With a single owner, such a
      // step was handled before this call.)
      const wasClear = isSettled && owner.isClear(cached);
      const isUnchanged = isSettled && watchers.length > 1 && owner.isUnchanged(cached, way.to);
      const { column, row } = cached;
      found = owner.find(longitude, latitude, this.hits, found, cached);
      found = this.#withinCap(vehicle, owner, before, found, place);
      if (isUnchanged || (wasClear && owner.isClear(cached) && cached.isBeside(column, row))) continue;
      onWay = owner.findOnWay(from, way.to, this.onWay, onWay);
    }
    if (onWay > 0) this.#markOnWay(definition, onWay);
    if (found > 0) this.#markHits(definition, found);
  }

  /** Keeps and stamps those of the first `found` geofences in `hits` that watch the vehicle. */
  #markHits(definition: Vehicle, found: number): void {
    const { hits } = this;
    const stamp = ++this.#stamp;
    let kept = 0;
    for (let i = 0; i < found; i++) {
      const fence = hits[i] as Fence;
      if (fence.groupIds !== null && !appliesTo(fence, definition)) continue;
      fence.stamp = stamp;
      hits[kept++] = fence;
    }
    this.hitCount = kept;
    this.hitStamp = stamp;
  }

  /** The same for `onWay`. */
  #markOnWay(definition: Vehicle, found: number): void {
    const { onWay } = this;
    const stamp = ++this.#stamp;
    let kept = 0;
    for (let i = 0; i < found; i++) {
      const fence = onWay[i] as Fence;
      if (fence.groupIds !== null && !appliesTo(fence, definition)) continue;
      fence.wayStamp = stamp;
      onWay[kept++] = fence;
    }
    this.onWayCount = kept;
    this.wayStamp = stamp;
  }

  /**
   * Limits an owner's geofences in `hits`, from index `from` to before `to`, to the cap. Returns the index after the
   * last one that counts.
   */
  #withinCap(vehicle: VehicleState, owner: OwnerFences, from: number, to: number, { fixTimeMs }: Position): number {
    const most = this.#caps.maxGeofencesAtOnce;
    if (to - from <= most) return to;
    const { definition } = vehicle;
    const { hits } = this;
    let end = from;
    for (let i = from; i < to; i++) {
      const fence = hits[i] as Fence;
      if (definition === null || appliesTo(fence, definition)) hits[end++] = fence;
    }
    const surplus = end - from - most;
    if (surplus <= 0) return end;
    this.#caps.leaveOutGeofences(vehicle, owner.id, surplus, fixTimeMs);
    return owner.keepOldest(hits, from, end, most);
  }
}
