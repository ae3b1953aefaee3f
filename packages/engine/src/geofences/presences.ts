import type { FleetEvent, UserId } from '@outrider/domain';
import type { Caps } from '../caps.ts';
import { atFix, type Step } from '../step.ts';
import { orderOf, type Presence, type VehicleState } from '../vehicle-state.ts';
import type { FenceFinder } from './fence-finder.ts';
import type { Fence, OwnerFences } from './fences.ts';
import { advancePresence, confirmEntry, enter, foundInside, passThrough } from './visits.ts';

/** Creates the presences at a vehicle's first fix: it is found inside, and its entry was not observed. */
export function findPresences(vehicle: VehicleState, finder: FenceFinder, step: Step): void {
  const here = atFix(step.to, step.speedKmh());
  for (let i = 0; i < finder.hitCount; i++)
    vehicle.presences.push(foundInside(finder.hits[i] as Fence, here, step.to.fixTimeMs));
  if (finder.hitCount > 1) vehicle.presences.sort((a, b) => orderOf(a.fence, b.fence));
}

/** Advances the presences by a step, and begins those in the geofences that the finder found around its end. */
export function advancePresences(
  vehicle: VehicleState,
  finder: FenceFinder,
  caps: Caps,
  step: Step,
  events: FleetEvent[],
): void {
  const { presences } = vehicle;
  const { hitCount, hitStamp, onWayCount, wayStamp } = finder;
  if (hitCount === 0 && onWayCount === 0 && presences.length === 0) return;
  let kept = 0;
  let known = 0;
  for (let i = 0; i < presences.length; i++) {
    const presence = presences[i] as Presence;
    const { fence } = presence;
    const inside = fence.stamp === hitStamp;
    if (inside) known++;
    const mayPass = onWayCount > 0 && fence.wayStamp === wayStamp;
    const next = advancePresence(vehicle, presence, inside, mayPass, step, events);
    // The path is dealt with for this geofence.
    if (mayPass) fence.wayStamp = -1;
    if (next !== null) presences[kept++] = next;
  }
  presences.length = kept;
  if (onWayCount > 0) beginPassages(vehicle, finder, caps, step, events);
  if (known < hitCount) beginPresences(vehicle, finder, step, events);
}

export function hasPresence(presences: readonly Presence[], fence: Fence): boolean {
  for (let i = 0; i < presences.length; i++) if (presences[i]?.fence === fence) return true;
  return false;
}

/** Handles geofences on the path that had no presence and do not contain the vehicle now. */
function beginPassages(vehicle: VehicleState, finder: FenceFinder, caps: Caps, step: Step, events: FleetEvent[]): void {
  const { onWay, onWayCount, wayStamp, hitStamp } = finder;
  let passed: Fence[] | null = null;
  for (let i = 0; i < onWayCount; i++) {
    const fence = onWay[i] as Fence;
    if (fence.wayStamp !== wayStamp || fence.stamp === hitStamp) continue;
    passed ??= [];
    passed.push(fence);
  }
  if (passed === null) return;
  if (passed.length > 1) passed.sort(orderOf);
  const most = caps.maxGeofencesAtOnce;
  const counts = passed.length > most ? new Map<OwnerFences, number>() : null;
  for (const fence of passed) {
    const count = counts?.get(fence.owner) ?? 0;
    if (count === most) {
      caps.leaveOutGeofences(vehicle, fence.owner.id, 1, step.to.fixTimeMs);
      continue;
    }
    const before = events.length;
    const presence = passThrough(vehicle, fence, step, events);
    if (presence !== null) addPresence(vehicle.presences, presence);
    if (presence !== null || events.length > before) counts?.set(fence.owner, count + 1);
  }
}

/** Begins presences in the geofences around the vehicle that have none. */
function beginPresences(vehicle: VehicleState, finder: FenceFinder, step: Step, events: FleetEvent[]): void {
  let entered: Fence | null = null;
  let more: Fence[] | null = null;
  for (let i = 0; i < finder.hitCount; i++) {
    const fence = finder.hits[i] as Fence;
    if (hasPresence(vehicle.presences, fence)) continue;
    if (entered === null) entered = fence;
    else if (more === null) more = [fence];
    else more.push(fence);
  }
  if (entered === null) return;
  if (more === null) beginPresence(vehicle, entered, step, events);
  else for (const fence of [entered, ...more].sort(orderOf)) beginPresence(vehicle, fence, step, events);
}

/**
 * Begins a presence. A geofence that contained the vehicle before, but exceeded the cap until another was left, is
 * found and not entered.
 */
function beginPresence(vehicle: VehicleState, fence: Fence, step: Step, events: FleetEvent[]): void {
  const { from, to } = step;
  const wasLeftOut =
    from !== null && hasNoteOf(vehicle, fence.owner.id) && fence.contains(from.longitude, from.latitude);
  const presence = wasLeftOut
    ? foundInside(fence, atFix(to, step.speedKmh()), to.fixTimeMs)
    : confirmEntry(vehicle, enter(fence, step), to.fixTimeMs, to.fixTimeMs, events);
  addPresence(vehicle.presences, presence);
}

/** Whether geofences of an owner exceeded the cap for a vehicle recently. */
function hasNoteOf({ surplus }: VehicleState, ownerId: UserId): boolean {
  return surplus?.notes.some(({ owner }) => owner === ownerId) ?? false;
}

/** Inserts a presence in order. */
function addPresence(presences: Presence[], presence: Presence): void {
  let at = presences.length;
  while (at > 0 && orderOf((presences[at - 1] as Presence).fence, presence.fence) > 0) at--;
  if (at === presences.length) presences.push(presence);
  else presences.splice(at, 0, presence);
}
