import { deriveEventId, type EventId, type FleetEvent, type GeofenceVisit } from '@outrider/domain';
import type { Fence } from './fences.ts';
import { atFix, crossingOf, isWayKnown, passageOf, type Step } from './step.ts';
import type { Moment, Stay, VehicleState } from './vehicle-state.ts';

/** A stay that begins with this fix, which is inside while the one before was not. */
export function enter(fence: Fence, step: Step): Stay {
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
 * A stay that nobody saw begin: the vehicle's first fix is inside, or the geofence (or the right to watch) came to a
 * vehicle that was inside already. What is told of it is its end, if the vehicle is seen to leave.
 *
 * @param known where the vehicle was when it was found, and from when on that is known: time of the fix, or of the change
 * @param fromFixTimeMs time of the fix that was found to be inside
 */
export function foundInside(fence: Fence, known: Moment, fromFixTimeMs: number): Stay {
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
 * What a step makes of a geofence that neither of its fixes is inside of, and that the vehicle has no stay in: where it
 * passed through, a visit too, inferred. The geofence's `minDwellSeconds` holds for it as for any.
 *
 * @returns the stay that goes on, its absence being too short yet to end it; null where nothing does
 */
export function passThrough(vehicle: VehicleState, fence: Fence, step: Step, events: FleetEvent[]): Stay | null {
  const passage = passageOf(fence, step);
  if (passage === null) return null;
  const stay: Stay = {
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
  return leave(vehicle, stay, passage.exit, step.to.fixTimeMs, events);
}

/**
 * What one more fix makes of a stay (semantics, "Geofences"). The geofence's `minDwellSeconds` delays both ends: the stay,
 * or the absence, is measured between crossings, and up to this fix while it lasts.
 *
 * @param mayPass whether the way to the fix may meet the boundary
 * @returns the stay that goes on (another one, where an absence was long enough to end the visit and the vehicle is back),
 *   or null where it is over
 */
export function advanceStay(
  vehicle: VehicleState,
  stay: Stay,
  inside: boolean,
  mayPass: boolean,
  step: Step,
  events: FleetEvent[],
): Stay | null {
  const fixTimeMs = step.to.fixTimeMs;
  const { fence } = stay;
  if (inside) {
    switch (stay.phase) {
      case 'inside':
        return stay;
      case 'entering':
        return confirmEntry(vehicle, stay, fixTimeMs, fixTimeMs, events);
      case 'leaving': {
        const back = enter(fence, step);
        if (stay.exit === null || back.entry.atMs - stay.exit.atMs < fence.minDwellMs) {
          stay.phase = 'inside';
          stay.exit = null;
          stay.inferred = false;
          return stay;
        }
        events.push(visitEnd(vehicle, stay, stay.exit, 'left', fixTimeMs, fence.definition.version));
        return confirmEntry(vehicle, back, fixTimeMs, fixTimeMs, events);
      }
    }
  }
  if (stay.phase !== 'leaving' || stay.exit === null)
    return leave(vehicle, stay, crossingOf(fence, step).moment, fixTimeMs, events);
  const passage = mayPass && isWayKnown(step) ? passageOf(fence, step) : null;
  if (passage === null) return leave(vehicle, stay, stay.exit, fixTimeMs, events);
  // It was back for a moment, between two fixes.
  if (passage.entry.atMs - stay.exit.atMs < fence.minDwellMs)
    return leave(vehicle, stay, passage.exit, fixTimeMs, events);
  events.push(visitEnd(vehicle, stay, stay.exit, 'left', fixTimeMs, fence.definition.version));
  return passThrough(vehicle, fence, step, events);
}

/** A stay that was left at `exit`, the fix in hand being outside. Returns it while the absence is too short to end it. */
function leave(vehicle: VehicleState, stay: Stay, exit: Moment, fixTimeMs: number, events: FleetEvent[]): Stay | null {
  if (stay.phase === 'entering') {
    confirmEntry(vehicle, stay, exit.atMs, fixTimeMs, events);
    // It left too soon to have been there. (The call above changes the phase of a stay that was long enough.)
    if ((stay.phase as Stay['phase']) === 'entering') return null;
  }
  stay.phase = 'leaving';
  stay.exit = exit;
  if (fixTimeMs - exit.atMs < stay.fence.minDwellMs) return stay;
  events.push(visitEnd(vehicle, stay, exit, 'left', fixTimeMs, stay.fence.definition.version));
  return null;
}

/** Tells the begin of a stay that has lasted up to `untilMs` if that is long enough. Returns the stay. */
export function confirmEntry(
  vehicle: VehicleState,
  stay: Stay,
  untilMs: number,
  fixTimeMs: number,
  events: FleetEvent[],
): Stay {
  const { entry, fence } = stay;
  if (untilMs - entry.atMs < fence.minDwellMs) return stay;
  stay.phase = 'inside';
  events.push(visitBegin(vehicle, stay, fixTimeMs));
  return stay;
}

/**
 * Ends a stay because a definition changed, at the moment of the change; tells it only where its begin was told.
 *
 * @param version of the geofence's definition under which the vehicle was inside
 */
export function endStayByDefinition(
  vehicle: VehicleState,
  stay: Stay,
  reason: Exclude<GeofenceVisit['endReason'], null | 'left'>,
  atMs: number,
  version: number,
  events: FleetEvent[],
): void {
  if (stay.silent || stay.phase === 'entering') return;
  const last = lastMoment(vehicle);
  const exit = { ...last, atMs: Math.max(atMs, stay.entry.atMs) };
  events.push(visitEnd(vehicle, stay, exit, reason, last.atMs, version));
}

function lastMoment(vehicle: VehicleState): Moment {
  if (vehicle.latest === null) throw new Error(`vehicle ${vehicle.id} has a stay but no fix`);
  return atFix(vehicle.latest, vehicle.speedKmh);
}

function visitBegin(vehicle: VehicleState, stay: Stay, fixTimeMs: number): GeofenceVisit {
  const { entry } = stay;
  return {
    kind: 'geofence-visit',
    id: visitId(vehicle, stay),
    phase: 'begin',
    vehicleId: vehicle.id,
    startedAtMs: entry.atMs,
    endedAtMs: null,
    latitude: entry.latitude,
    longitude: entry.longitude,
    speedKmh: entry.speedKmh,
    fixTimeMs,
    geofenceId: stay.fence.definition.id,
    fromFixTimeMs: stay.fromFixTimeMs,
    definitionVersion: stay.fence.definition.version,
    origin: vehicle.origin,
    inferred: stay.inferred,
    startLatitude: entry.latitude,
    startLongitude: entry.longitude,
    endReason: null,
  };
}

function visitEnd(
  vehicle: VehicleState,
  stay: Stay,
  exit: Moment,
  endReason: GeofenceVisit['endReason'],
  fixTimeMs: number,
  geofenceVersion: number,
): GeofenceVisit {
  return {
    kind: 'geofence-visit',
    id: visitId(vehicle, stay),
    phase: 'end',
    vehicleId: vehicle.id,
    // A change is timed by the server, a fix by its receiver: one that was found inside may have left before it was found.
    startedAtMs: Math.min(stay.entry.atMs, exit.atMs),
    endedAtMs: exit.atMs,
    latitude: exit.latitude,
    longitude: exit.longitude,
    speedKmh: exit.speedKmh,
    fixTimeMs,
    geofenceId: stay.fence.definition.id,
    fromFixTimeMs: stay.fromFixTimeMs,
    definitionVersion: geofenceVersion,
    origin: vehicle.origin,
    inferred: stay.inferred,
    startLatitude: stay.entry.latitude,
    startLongitude: stay.entry.longitude,
    endReason,
  };
}

/** A silent stay may begin at the moment of a change, which may be that of a fix: it has a name of its own. */
export function visitId(vehicle: VehicleState, stay: Stay): EventId {
  if (stay.id === null) {
    const geofenceId = stay.fence.definition.id;
    const subject = stay.silent ? `${geofenceId} found` : geofenceId;
    stay.id = deriveEventId('geofence-visit', vehicle.id, subject, stay.beganAtMs);
  }
  return stay.id;
}
