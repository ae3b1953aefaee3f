import { deriveEventId, type FleetEvent, type Offline, type Vehicle } from '@outrider/domain';
import type { VehicleState } from './vehicle-state.ts';

/**
 * Offline and online again (semantics, "Other events"), by the times at which the gateway had the packets. All of the event
 * but its end is settled by the last packet before the silence: it is the same whoever finds out, the vehicle's next packet
 * or somebody who looks in between.
 */

/** From when on a vehicle of which nothing more is heard is offline, in Unix milliseconds. */
export function offlineFromMs(vehicle: VehicleState, { offlineAfterMinutes }: Vehicle): number {
  return vehicle.heardAtMs + Math.round(offlineAfterMinutes * 60_000);
}

/** True where it is to be told that the vehicle is offline, nothing having come up to `nowMs`. */
export function isSilent(vehicle: VehicleState, nowMs: number): boolean {
  const { definition, offline, latest, heardAtMs } = vehicle;
  // Without a fix there is no place to tell of.
  if (offline || definition === null || latest === null || heardAtMs === 0) return false;
  return nowMs >= offlineFromMs(vehicle, definition);
}

/** Tells that no data came up to `nowMs`, where that is so and was not told yet. Returns whether it did. */
export function tellSilence(vehicle: VehicleState, nowMs: number, events: FleetEvent[]): boolean {
  const { definition } = vehicle;
  if (definition === null || !isSilent(vehicle, nowMs)) return false;
  vehicle.offline = true;
  events.push(offlineEvent(vehicle, definition.version, null, null, offlineFromMs(vehicle, definition)));
  return true;
}

/** Takes in that a packet came: where the vehicle was offline, it is online again. */
export function hear(vehicle: VehicleState, receivedAtMs: number, events: FleetEvent[]): void {
  const { definition } = vehicle;
  if (definition !== null) {
    tellSilence(vehicle, receivedAtMs, events);
    if (vehicle.offline) endSilence(vehicle, definition.version, receivedAtMs, 'online', events);
  }
  // Clocks of several gateways may differ a little.
  if (receivedAtMs > vehicle.heardAtMs) vehicle.heardAtMs = receivedAtMs;
}

export function endSilence(
  vehicle: VehicleState,
  version: number,
  atMs: number,
  endReason: Exclude<Offline['endReason'], null>,
  events: FleetEvent[],
): void {
  const endedAtMs = Math.max(atMs, vehicle.heardAtMs);
  events.push(offlineEvent(vehicle, version, endedAtMs, endReason, endedAtMs));
  vehicle.offline = false;
}

function offlineEvent(
  vehicle: VehicleState,
  definitionVersion: number,
  endedAtMs: number | null,
  endReason: Offline['endReason'],
  fixTimeMs: number,
): Offline {
  const { id, latest, heardAtMs } = vehicle;
  if (latest === null) throw new Error(`vehicle ${id} is offline but has no fix`);
  return {
    kind: 'offline',
    id: deriveEventId('offline', id, '', heardAtMs),
    phase: endedAtMs === null ? 'begin' : 'end',
    vehicleId: id,
    startedAtMs: heardAtMs,
    endedAtMs,
    latitude: latest.latitude,
    longitude: latest.longitude,
    speedKmh: null,
    fromFixTimeMs: latest.fixTimeMs,
    fixTimeMs,
    definitionVersion,
    origin: vehicle.origin,
    inferred: false,
    startLatitude: latest.latitude,
    startLongitude: latest.longitude,
    endReason,
  };
}
