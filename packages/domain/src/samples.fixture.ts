import type { GeofenceId, NotificationRuleId, UserId, VehicleId } from './ids.ts';
import type { Position } from './position.ts';
import { NO_CUSTOM_FIELDS } from './resources/custom-fields.ts';
import { GEOFENCE_DEFAULTS, type Geofence } from './resources/geofence.ts';
import type { NotificationRule } from './resources/notification-rule.ts';
import type { Sensor, SensorId } from './resources/sensor.ts';
import { OPEN_ACCESS } from './resources/terminal-access.ts';
import { DEFAULT_RIGHTS, type User } from './resources/user.ts';
import type { Vehicle } from './resources/vehicle.ts';
import { VEHICLE_DEFAULTS } from './resources/vehicle.ts';
import type { VehicleStatus } from './vehicle-status.ts';

/** What a definition is made of before it has an id and a version. */
type Fields<Definition> = Omit<Definition, 'kind' | 'id' | 'version'>;
type RuleFields = Omit<Fields<NotificationRule>, 'inactiveReason'>;

/** Whose the samples are where nothing else is said. */
export const SAMPLE_OPERATOR_ID = '00000000-0000-7000-8000-0000000000aa' as UserId;

/** An operator who may use the API. */
export function sampleUserFields(more: Partial<Fields<User>> = {}): Fields<User> {
  return {
    login: 'operator',
    name: 'Operator',
    role: 'operator',
    dealerId: null,
    blocked: false,
    apiAccess: true,
    services: [],
    rights: DEFAULT_RIGHTS,
    groupIds: [],
    ...NO_CUSTOM_FIELDS,
    ...more,
  };
}

export function sampleUser(more: Partial<User> = {}): User {
  return { kind: 'user', id: SAMPLE_OPERATOR_ID, version: 1, ...sampleUserFields(), ...more };
}

/**
 * The operator's own, without a terminal, in no group; no speed limit, and the thresholds of vehicles that say none.
 */
export function sampleVehicleFields(more: Partial<Fields<Vehicle>> = {}): Fields<Vehicle> {
  return {
    name: 'Van',
    terminalAccess: OPEN_ACCESS,
    dealerId: null,
    groupIds: [],
    sensors: [],
    suspension: null,
    predecessor: null,
    ...VEHICLE_DEFAULTS,
    customAttributes: {},
    ...more,
  };
}

export function sampleVehicle(more: Partial<Vehicle> = {}): Vehicle {
  const id = '00000000-0000-7000-8000-000000000001' as VehicleId;
  return { kind: 'vehicle', id, version: 1, ...sampleVehicleFields(), ...more };
}

/** The first temperature, as it is, without thresholds. */
export function sampleSensor(more: Partial<Sensor> = {}): Sensor {
  return {
    id: '00000000-0000-7000-8000-0000000000e1' as SensorId,
    name: 'Cargo',
    kind: 'temperature',
    unit: '°C',
    source: 'temperature1C',
    calibration: [],
    outside: 'extrapolate',
    validMin: null,
    validMax: null,
    onlyWithIgnition: false,
    smoothing: 1,
    thresholds: [],
    ...more,
  };
}

/** A circle of 100 m that watches everything its owner may see, without a speed limit or a shortest stay. */
export function sampleGeofenceFields(more: Partial<Fields<Geofence>> = {}): Fields<Geofence> {
  return {
    name: 'Depot',
    ownerId: SAMPLE_OPERATOR_ID,
    shape: { type: 'circle', center: [30, 60], radiusM: 100 },
    groupIds: null,
    ...GEOFENCE_DEFAULTS,
    sharedGroupIds: [],
    ...NO_CUSTOM_FIELDS,
    ...more,
  };
}

export function sampleGeofence(more: Partial<Geofence> = {}): Geofence {
  const id = '00000000-0000-7000-8000-0000000000f1' as GeofenceId;
  return { kind: 'geofence', id, version: 1, ...sampleGeofenceFields(), ...more };
}

/** A rule of every visit of anything anywhere, at any time, that notifies in the inbox alone. */
export function sampleRuleFields(more: Partial<RuleFields> = {}): RuleFields {
  return {
    name: 'Rule',
    ownerId: SAMPLE_OPERATOR_ID,
    active: true,
    eventKinds: ['geofence-visit'],
    phases: ['begin'],
    minDurationMinutes: 0,
    alarms: null,
    sensors: null,
    vehicleIds: null,
    groupIds: null,
    geofenceIds: null,
    insideGeofenceIds: null,
    outsideGeofenceIds: null,
    driver: null,
    driverIds: null,
    driverGroupIds: null,
    licenceWarningDays: 30,
    days: { on: 'daily' },
    hours: null,
    timeZone: 'UTC',
    minIntervalMinutes: 0,
    maxDataAgeMinutes: null,
    emails: [],
    channelIds: [],
    messageTemplate: null,
    messageTemplates: {},
    language: null,
    push: false,
    webhookUrl: null,
    command: null,
    severity: 'info',
    shared: false,
    escalateAfterMinutes: null,
    escalateTo: [],
    ...more,
  };
}

export function sampleRule(more: Partial<NotificationRule> = {}): NotificationRule {
  const id = '00000000-0000-7000-8000-0000000000b1' as NotificationRuleId;
  return { kind: 'notification-rule', id, version: 1, inactiveReason: null, ...sampleRuleFields(), ...more };
}

/** A vehicle whose last record is its last position, of which nothing more is known. */
export function sampleStatus(
  vehicleId: VehicleId,
  position: Position,
  receivedAtMs = position.fixTimeMs,
  more: Partial<VehicleStatus> = {},
): VehicleStatus {
  return {
    vehicleId,
    asOfMs: receivedAtMs,
    position,
    receivedAtMs,
    record: position,
    recordReceivedAtMs: receivedAtMs,
    lastContactAtMs: receivedAtMs,
    protocol: null,
    activity: null,
    ...more,
  };
}
