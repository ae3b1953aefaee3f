import { type FleetEvent, type GeofenceId, geofenceOf, type UserId } from '@outrider/domain';
import {
  admit,
  MAX_EVENTS_PER_MINUTE,
  MAX_GEOFENCES_AT_ONCE,
  noSurplus,
  noteGeofences,
  type SurplusCount,
} from './surplus.ts';
import type { VehicleState } from './vehicle-state.ts';

export interface CapOptions {
  /** Default: {@link MAX_GEOFENCES_AT_ONCE}. Only tests set it. */
  maxGeofencesAtOnce?: number;
  /** Default: {@link MAX_EVENTS_PER_MINUTE}. Only tests set it. */
  maxEventsPerMinute?: number;
}

/** Enforces the caps on geofences around one vehicle and on its events, and counts what is left out. */
export class Caps {
  readonly maxGeofencesAtOnce: number;
  readonly #maxEventsPerMinute: number;
  readonly #ownerOf: (geofenceId: GeofenceId) => UserId | undefined;
  #surplus: SurplusCount = { geofences: 0, events: 0, vehicles: new Set() };

  /** @param ownerOf returns the owner of a geofence; undefined where unknown */
  constructor(options: CapOptions, ownerOf: (geofenceId: GeofenceId) => UserId | undefined) {
    const { maxGeofencesAtOnce = MAX_GEOFENCES_AT_ONCE, maxEventsPerMinute = MAX_EVENTS_PER_MINUTE } = options;
    this.maxGeofencesAtOnce = maxGeofencesAtOnce;
    this.#maxEventsPerMinute = maxEventsPerMinute;
    this.#ownerOf = ownerOf;
  }

  /** Counts of what was left out since the last call. */
  take(): SurplusCount {
    const surplus = this.#surplus;
    if (surplus.vehicles.size > 0) this.#surplus = { geofences: 0, events: 0, vehicles: new Set() };
    return surplus;
  }

  /** Records that this number of an owner's geofences did not count at a fix of this time. */
  leaveOutGeofences(vehicle: VehicleState, ownerId: UserId, geofences: number, atMs: number): void {
    vehicle.surplus ??= noSurplus();
    noteGeofences(vehicle.surplus, ownerId, atMs, geofences);
    this.#surplus.geofences += geofences;
    this.#surplus.vehicles.add(vehicle.id);
  }

  /** Removes the events from index `from` on that exceed the cap, and the ends of events whose begin was removed. */
  admit(vehicle: VehicleState, events: FleetEvent[], from: number): void {
    let kept = from;
    for (let i = from; i < events.length; i++) {
      const event = events[i] as FleetEvent;
      if (this.admits(vehicle, event)) events[kept++] = event;
    }
    events.length = kept;
  }

  /** False where an event must be left out. Call once for each event. */
  admits(vehicle: VehicleState, event: FleetEvent): boolean {
    // Offline events are bounded anyway: at most one between two packets.
    if (event.kind === 'offline') return true;
    if (vehicle.surplus === null) {
      if (event.phase === 'end') return true;
      vehicle.surplus = noSurplus();
    }
    const geofenceId = geofenceOf(event);
    const owner = geofenceId === null ? '' : (this.#ownerOf(geofenceId) ?? '');
    if (admit(vehicle.surplus, event, owner, this.#maxEventsPerMinute)) return true;
    if (event.phase === 'begin') {
      this.#surplus.events++;
      this.#surplus.vehicles.add(vehicle.id);
    }
    return false;
  }
}
