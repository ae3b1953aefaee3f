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
  /** See {@link MAX_GEOFENCES_AT_ONCE}, which is the default; another number is for tests. */
  maxGeofencesAtOnce?: number;
  /** See {@link MAX_EVENTS_PER_MINUTE}, which is the default; another number is for tests. */
  maxEventsPerMinute?: number;
}

/** What one vehicle may have of geofences around it and of events, and how much was left out. */
export class Caps {
  readonly maxGeofencesAtOnce: number;
  readonly #maxEventsPerMinute: number;
  readonly #ownerOf: (geofenceId: GeofenceId) => UserId | undefined;
  #surplus: SurplusCount = { geofences: 0, events: 0, vehicles: new Set() };

  /** @param ownerOf whose a geofence is, as far as it is known */
  constructor(options: CapOptions, ownerOf: (geofenceId: GeofenceId) => UserId | undefined) {
    const { maxGeofencesAtOnce = MAX_GEOFENCES_AT_ONCE, maxEventsPerMinute = MAX_EVENTS_PER_MINUTE } = options;
    this.maxGeofencesAtOnce = maxGeofencesAtOnce;
    this.#maxEventsPerMinute = maxEventsPerMinute;
    this.#ownerOf = ownerOf;
  }

  /** What was left out since the last call. */
  take(): SurplusCount {
    const surplus = this.#surplus;
    if (surplus.vehicles.size > 0) this.#surplus = { geofences: 0, events: 0, vehicles: new Set() };
    return surplus;
  }

  /** Notes that so many geofences of an owner did not count at a fix of this time. */
  leaveOutGeofences(vehicle: VehicleState, ownerId: UserId, geofences: number, atMs: number): void {
    vehicle.surplus ??= noSurplus();
    noteGeofences(vehicle.surplus, ownerId, atMs, geofences);
    this.#surplus.geofences += geofences;
    this.#surplus.vehicles.add(vehicle.id);
  }

  /** Takes out those events from an index on that are beyond the cap, and the ends of those whose begin was. */
  admit(vehicle: VehicleState, events: FleetEvent[], from: number): void {
    let kept = from;
    for (let i = from; i < events.length; i++) {
      const event = events[i] as FleetEvent;
      if (this.admits(vehicle, event)) events[kept++] = event;
    }
    events.length = kept;
  }

  /** False where an event is to be left out. To be asked once for each event. */
  admits(vehicle: VehicleState, event: FleetEvent): boolean {
    // Silence is bounded by itself: one event between two packets.
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
