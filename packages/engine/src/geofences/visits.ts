import { deriveEventId, type EventId, type FleetEvent, type GeofenceVisit } from '@outrider/domain';
import { atFix, crossingOf, isWayKnown, passageOf, type Step } from '../step.ts';
import type { Moment, Presence, VehicleState } from '../vehicle-state.ts';
import type { Fence } from './fences.ts';

/** A presence that begins with this fix, which is inside while the previous one was not. */
export function enter(fence: Fence, step: Step): Presence {
  const { moment, fromFixTimeMs } = crossingOf(fence, step);
  return {
    fence,
    phase: 'entering',
    silent: false,
    inferred: false,
    beganAtMs: step.to.fixTimeMs,
    fromFixTimeMs,
    id: null,
    entry: moment,
    exit: null,
  };
}

/**
 * A presence whose begin was not observed: the vehicle's first fix is inside, or the geofence (or the right to watch)
 * was added while the vehicle was inside. Only its end is published, if the vehicle is seen to leave.
 *
 * @param known place of the vehicle when it was found, with the time of the fix or of the change
 * @param fromFixTimeMs time of the fix that was found to be inside
 */
export function foundInside(fence: Fence, known: Moment, fromFixTimeMs: number): Presence {
  return {
    fence,
    phase: 'inside',
    silent: true,
    inferred: false,
    beganAtMs: known.atMs,
    fromFixTimeMs,
    id: null,
    entry: known,
    exit: null,
  };
}

/**
 * Evaluates a step whose fixes are both outside a geofence without a presence. Where the path passed through, there is
 * an inferred visit; `minDwellSeconds` of the geofence applies to it as to any.
 *
 * @returns the presence, where the absence is still too short to end it; else null
 */
export function passThrough(vehicle: VehicleState, fence: Fence, step: Step, events: FleetEvent[]): Presence | null {
  const passage = passageOf(fence, step);
  if (passage === null) return null;
  const presence: Presence = {
    fence,
    phase: 'entering',
    silent: false,
    inferred: true,
    beganAtMs: step.to.fixTimeMs,
    fromFixTimeMs: passage.fromFixTimeMs,
    id: null,
    entry: passage.entry,
    exit: null,
  };
  return leave(vehicle, presence, passage.exit, step.to.fixTimeMs, events);
}

/**
 * Advances a presence by one fix (semantics, "Geofences"). The geofence's `minDwellSeconds` delays both begin and end.
 * The time inside, or outside, is measured between crossings, or up to this fix if there is no further crossing.
 *
 * @param mayPass whether the path to the fix may cross the boundary
 * @returns the presence that continues (a new one, where the absence was long enough to end the visit and the vehicle
 *   is back), or null where it is over
 */
export function advancePresence(
  vehicle: VehicleState,
  presence: Presence,
  inside: boolean,
  mayPass: boolean,
  step: Step,
  events: FleetEvent[],
): Presence | null {
  const fixTimeMs = step.to.fixTimeMs;
  const { fence } = presence;
  if (inside) {
    switch (presence.phase) {
      case 'inside':
        return presence;
      case 'entering':
        return confirmEntry(vehicle, presence, fixTimeMs, fixTimeMs, events);
      case 'leaving': {
        const back = enter(fence, step);
        if (presence.exit === null || back.entry.atMs - presence.exit.atMs < fence.minDwellMs) {
          presence.phase = 'inside';
          presence.exit = null;
          presence.inferred = false;
          return presence;
        }
        events.push(visitEnd(vehicle, presence, presence.exit, 'left', fixTimeMs, fence.definition.version));
        return confirmEntry(vehicle, back, fixTimeMs, fixTimeMs, events);
      }
    }
  }
  if (presence.phase !== 'leaving' || presence.exit === null)
    return leave(vehicle, presence, crossingOf(fence, step).moment, fixTimeMs, events);
  const passage = mayPass && isWayKnown(step) ? passageOf(fence, step) : null;
  if (passage === null) return leave(vehicle, presence, presence.exit, fixTimeMs, events);
  // The vehicle was back for a moment, between two fixes.
  if (passage.entry.atMs - presence.exit.atMs < fence.minDwellMs)
    return leave(vehicle, presence, passage.exit, fixTimeMs, events);
  events.push(visitEnd(vehicle, presence, presence.exit, 'left', fixTimeMs, fence.definition.version));
  return passThrough(vehicle, fence, step, events);
}

/**
 * Marks a presence as left at `exit`; the current fix is outside. Returns it while the absence is too short to end it.
 */
function leave(
  vehicle: VehicleState,
  presence: Presence,
  exit: Moment,
  fixTimeMs: number,
  events: FleetEvent[],
): Presence | null {
  if (presence.phase === 'entering') {
    confirmEntry(vehicle, presence, exit.atMs, fixTimeMs, events);
    // The vehicle left too soon for a visit. (The call above changes the phase of a presence that was long enough.)
    if ((presence.phase as Presence['phase']) === 'entering') return null;
  }
  presence.phase = 'leaving';
  presence.exit = exit;
  if (fixTimeMs - exit.atMs < presence.fence.minDwellMs) return presence;
  events.push(visitEnd(vehicle, presence, exit, 'left', fixTimeMs, presence.fence.definition.version));
  return null;
}

/** Reports the begin of a presence if it has lasted long enough by `untilMs`. Returns the presence. */
export function confirmEntry(
  vehicle: VehicleState,
  presence: Presence,
  untilMs: number,
  fixTimeMs: number,
  events: FleetEvent[],
): Presence {
  const { entry, fence } = presence;
  if (untilMs - entry.atMs < fence.minDwellMs) return presence;
  presence.phase = 'inside';
  events.push(visitBegin(vehicle, presence, fixTimeMs));
  return presence;
}

/**
 * Ends a presence because a definition changed, at the time of the change. Reported only where its begin was.
 *
 * @param version of the geofence's definition under which the vehicle was inside
 */
export function endPresenceByDefinition(
  vehicle: VehicleState,
  presence: Presence,
  reason: Exclude<GeofenceVisit['endReason'], null | 'left'>,
  atMs: number,
  version: number,
  events: FleetEvent[],
): void {
  if (presence.silent || presence.phase === 'entering') return;
  const last = lastMoment(vehicle);
  const exit = { ...last, atMs: Math.max(atMs, presence.entry.atMs) };
  events.push(visitEnd(vehicle, presence, exit, reason, last.atMs, version));
}

function lastMoment(vehicle: VehicleState): Moment {
  if (vehicle.latest === null) throw new Error(`vehicle ${vehicle.id} has a stay but no fix`);
  return atFix(vehicle.latest, vehicle.speedKmh);
}

function visitBegin(vehicle: VehicleState, presence: Presence, fixTimeMs: number): GeofenceVisit {
  const { entry } = presence;
  return {
    kind: 'geofence-visit',
    id: visitId(vehicle, presence),
    phase: 'begin',
    vehicleId: vehicle.id,
    startedAtMs: entry.atMs,
    endedAtMs: null,
    latitude: entry.latitude,
    longitude: entry.longitude,
    speedKmh: entry.speedKmh,
    fixTimeMs,
    geofenceId: presence.fence.definition.id,
    fromFixTimeMs: presence.fromFixTimeMs,
    definitionVersion: presence.fence.definition.version,
    origin: vehicle.origin,
    inferred: presence.inferred,
    startLatitude: entry.latitude,
    startLongitude: entry.longitude,
    endReason: null,
  };
}

function visitEnd(
  vehicle: VehicleState,
  presence: Presence,
  exit: Moment,
  endReason: GeofenceVisit['endReason'],
  fixTimeMs: number,
  geofenceVersion: number,
): GeofenceVisit {
  return {
    kind: 'geofence-visit',
    id: visitId(vehicle, presence),
    phase: 'end',
    vehicleId: vehicle.id,
    // The server times a change, a receiver times a fix: a vehicle found inside may have left before the change by its
    // receiver's clock.
    startedAtMs: Math.min(presence.entry.atMs, exit.atMs),
    endedAtMs: exit.atMs,
    latitude: exit.latitude,
    longitude: exit.longitude,
    speedKmh: exit.speedKmh,
    fixTimeMs,
    geofenceId: presence.fence.definition.id,
    fromFixTimeMs: presence.fromFixTimeMs,
    definitionVersion: geofenceVersion,
    origin: vehicle.origin,
    inferred: presence.inferred,
    startLatitude: presence.entry.latitude,
    startLongitude: presence.entry.longitude,
    endReason,
  };
}

/** Id of the visit. A silent one may begin at the time of a fix that begins another: its subject differs. */
export function visitId(vehicle: VehicleState, presence: Presence): EventId {
  if (presence.id === null) {
    const geofenceId = presence.fence.definition.id;
    const subject = presence.silent ? `${geofenceId} found` : geofenceId;
    presence.id = deriveEventId('geofence-visit', vehicle.id, subject, presence.beganAtMs);
  }
  return presence.id;
}
