import { deriveEventId, type FleetEvent, type Offline, type Vehicle } from '@outrider/domain';
import { endSilentTrip, tripLastsUntilMs } from './motion.ts';
import type { VehicleState } from './vehicle-state.ts';

/**
 * Offline and online again (semantics, "Other events"), and the end of a silent vehicle's trip, by the times at which
 * the gateway had the packets. Everything in the event but its end is determined by the last packet before the silence.
 * So the vehicle's next packet and a periodic check produce the same event.
 */

/** Time at which a vehicle becomes offline without further packets, in Unix milliseconds. */
export function offlineFromMs(vehicle: VehicleState, { offlineAfterMinutes }: Vehicle): number {
  return vehicle.receivedLastAtMs + Math.round(offlineAfterMinutes * 60_000);
}

/** True where {@link reportSilence} would find something out. */
export function isSilent(vehicle: VehicleState, nowMs: number): boolean {
  return nowMs > tripLastsUntilMs(vehicle) || isOffline(vehicle, nowMs);
}

/** True where the vehicle is offline and was not known to be, nothing having come up to `nowMs`. */
function isOffline(vehicle: VehicleState, nowMs: number): boolean {
  const { definition, offline, receivedLastAtMs } = vehicle;
  if (offline || definition === null || receivedLastAtMs === 0) return false;
  return nowMs >= offlineFromMs(vehicle, definition);
}

/**
 * Publishes what no data up to `nowMs` means, where that is not published yet: the vehicle is offline, of which there
 * is an event where it has a place, and its trip is over. In the order in which both become known, at whatever time it
 * is called. Returns whether it changed anything.
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

/** Takes in that a packet came: where the vehicle was offline, it is online again. */
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
