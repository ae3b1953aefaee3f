import { deriveEventId, type FleetEvent, type GeofenceId, type UserId, type VehicleId } from '@outrider/domain';
import {
  sampleGeofenceFields,
  sampleRuleFields,
  sampleUserFields,
  sampleVehicleFields,
} from '@outrider/domain/samples';
import type { GeofenceFields, NotificationRuleFields, UserFields, VehicleFields } from '../index.ts';

/** An id that nothing has. */
export const ABSENT = '00000000-0000-7000-8000-000000000000';
/** The whole of a list that is not long. */
export const ALL = { limit: 1000, after: null };
export const PASSWORD = 'a long password';

export function userFields(login: string, more: Partial<UserFields> = {}): UserFields {
  return sampleUserFields({ login, name: `Name of ${login}`, role: 'user', ...more });
}

export function vehicleFields(name: string, more: Partial<VehicleFields> = {}): VehicleFields {
  return { ...sampleVehicleFields({ name }), ...more };
}

export function geofenceFields(name: string, ownerId: UserId, more: Partial<GeofenceFields> = {}): GeofenceFields {
  return sampleGeofenceFields({
    name,
    ownerId,
    shape: { type: 'circle', center: [30.25, 59.93], radiusM: 150.5 },
    ...more,
  });
}

/** A rule of visits of everything there is. */
export function ruleFields(
  name: string,
  ownerId: UserId,
  more: Partial<NotificationRuleFields> = {},
): NotificationRuleFields {
  return sampleRuleFields({ name, ownerId, ...more });
}

export const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;

/** A vehicle enters or leaves a geofence so many minutes after the clock of tests begins. */
export function visit(minute: number, phase: FleetEvent['phase'] = 'begin', vehicleId = CAR): FleetEvent {
  const atMs = Date.UTC(2026, 0, 15, 12, minute);
  return {
    id: deriveEventId('geofence-visit', vehicleId, '', atMs),
    kind: 'geofence-visit',
    phase,
    vehicleId,
    startedAtMs: atMs,
    endedAtMs: phase === 'begin' ? null : atMs + 1000,
    latitude: 52.5,
    longitude: 13.4,
    speedKmh: 40,
    fixTimeMs: atMs,
    geofenceId: ABSENT as GeofenceId,
    fromFixTimeMs: atMs,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: null,
  };
}
