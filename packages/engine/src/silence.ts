import { deriveEventId, type FleetEvent, type Offline, type Vehicle } from '@outrider/domain';
import { endSilentTrip, tripLastsUntilMs } from './motion.ts';
import type { VehicleState } from './vehicle-state.ts';

/**
 * Offline and online again (semantics, "Other events"), and the end of a silent vehicle's trip, by the times at which
 * the gateway received the packets. The last packet before the silence determines everything in the event but its end.
 * So the vehicle's next packet and a periodic check produce the same event.
 */

/** Time at which a vehicle becomes offline without further packets, in Unix milliseconds. */
export function offlineFromMs(vehicle: VehicleState, { offlineAfterMinutes }: Vehicle): number {
  return vehicle.receivedLastAtMs + Math.round(offlineAfterMinutes * 60_000);
}

/** Whether {@link reportSilence} would change anything. */
export function isSilent(vehicle: VehicleState, nowMs: number): boolean {
  return nowMs > tripLastsUntilMs(vehicle) || isOffline(vehicle, nowMs);
}

/** Whether the vehicle went offline without being marked as such, if nothing came up to `nowMs`. */
function isOffline(vehicle: VehicleState, nowMs: number): boolean {
  const { definition, offline, receivedLastAtMs } = vehicle;
  if (offline || definition === null || receivedLastAtMs === 0) return false;
  return nowMs >= offlineFromMs(vehicle, definition);
}

/**
 * Publishes the consequences of no data up to `nowMs`, unless published already: the vehicle is offline (with an event
 * if it has a place), and its trip has ended. Their order is that in which both become known, regardless of when this
 * is called. Returns whether anything changed.
 */
export function reportSilence(vehicle: VehicleState, nowMs: number, events: FleetEvent[]): boolean {
  const { definition } = vehicle;
  if (definition === null) return false;
  const isTripFirst = tripLastsUntilMs(vehicle) < offlineFromMs(vehicle, definition);
  let reports = isTripFirst && endSilentTrip(vehicle, nowMs, events);
  if (isOffline(vehicle, nowMs)) {
    vehicle.offline = true;
    if (vehicle.latest !== null)
      events.push(offlineEvent(vehicle, definition.version, null, null, offlineFromMs(vehicle, definition)));
    reports = true;
  }
  return (!isTripFirst && endSilentTrip(vehicle, nowMs, events)) || reports;
}

/** Records the arrival of a packet: an offline vehicle is online again. */
export function receive(vehicle: VehicleState, receivedAtMs: number, events: FleetEvent[]): void {
  const { definition } = vehicle;
  if (definition !== null) {
    reportSilence(vehicle, receivedAtMs, events);
    if (vehicle.offline) endSilence(vehicle, definition.version, receivedAtMs, 'online', events);
  }
  // Clocks of several gateways may differ a little.
  if (receivedAtMs > vehicle.receivedLastAtMs) vehicle.receivedLastAtMs = receivedAtMs;
}

export function endSilence(
  vehicle: VehicleState,
  version: number,
  atMs: number,
  endReason: Exclude<Offline['endReason'], null>,
  events: FleetEvent[],
): void {
  const endedAtMs = Math.max(atMs, vehicle.receivedLastAtMs);
  if (vehicle.latest !== null) events.push(offlineEvent(vehicle, version, endedAtMs, endReason, endedAtMs));
  vehicle.offline = false;
}

function offlineEvent(
  vehicle: VehicleState,
  definitionVersion: number,
  endedAtMs: number | null,
  endReason: Offline['endReason'],
  fixTimeMs: number,
): Offline {
  const { id, latest, receivedLastAtMs } = vehicle;
  if (latest === null) throw new Error(`vehicle ${id} is offline but has no fix`);
  return {
    kind: 'offline',
    id: deriveEventId('offline', id, '', receivedLastAtMs),
    phase: endedAtMs === null ? 'begin' : 'end',
    vehicleId: id,
    startedAtMs: receivedLastAtMs,
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
