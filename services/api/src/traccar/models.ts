import {
  type Alarm,
  alarmOf,
  type EventKind,
  type Geofence,
  type GroupId,
  isoTime,
  type Manoeuvre,
  positionJson,
  type User,
  type Vehicle,
  type VehicleGroup,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import { traccarArea } from '@outrider/geo';
import { traccarEndId, traccarId, traccarPositionId } from './ids.ts';

/** One knot in kilometres per hour: Traccar's speeds are in knots. */
const KMH_PER_KNOT = 1.852;
/** Speed above which a vehicle counts as moving. */
const MOVING_KMH = 2;
const MS_PER_SECOND = 1000;

const ALARMS: Readonly<Record<Alarm, string>> = {
  sos: 'sos',
  'power-cut': 'powerCut',
  'low-battery': 'lowBattery',
  tamper: 'tampering',
  overspeed: 'overspeed',
  crash: 'accident',
  'harsh-acceleration': 'hardAcceleration',
  'harsh-braking': 'hardBraking',
  'harsh-cornering': 'hardCornering',
  towing: 'tow',
  jamming: 'jamming',
  other: 'general',
  'terminal-conflict': 'general',
};

/** Types of Traccar events for the begin and the end of each kind; kinds unknown to Traccar are left out. */
const EVENT_TYPES: Partial<Record<EventKind, { begin?: string; end?: string }>> = {
  'geofence-visit': { begin: 'geofenceEnter', end: 'geofenceExit' },
  speeding: { begin: 'deviceOverspeed' },
  trip: { begin: 'deviceMoving', end: 'deviceStopped' },
  ignition: { begin: 'ignitionOn', end: 'ignitionOff' },
  alarm: { begin: 'alarm' },
  'power-cut': { begin: 'alarm' },
  'harsh-driving': { begin: 'alarm' },
  offline: { begin: 'deviceOffline', end: 'deviceOnline' },
  'maintenance-due': { begin: 'maintenance' },
  'driver-shift': { begin: 'driverChanged' },
  refuelling: { end: 'deviceFuelIncrease' },
  'fuel-drain': { end: 'deviceFuelDrop' },
};

/** Kinds of event that correspond to these Traccar types. */
export function kindsOfTypes(types: readonly string[]): EventKind[] {
  return (Object.keys(EVENT_TYPES) as EventKind[]).filter((kind) => {
    const { begin, end } = EVENT_TYPES[kind] ?? {};
    return types.some((type) => type === ALL_EVENTS || type === begin || type === end);
  });
}

/** Type that selects events of every type. */
export const ALL_EVENTS = 'allEvents';
export const TRACCAR_EVENT_TYPES: readonly string[] = [
  ...new Set(Object.values(EVENT_TYPES).flatMap((types) => Object.values(types))),
];

export interface TraccarEvent {
  id: number;
  type: string;
  eventTime: string;
  deviceId: number;
  positionId: number;
  geofenceId: number;
  maintenanceId: number;
  attributes: Record<string, unknown>;
}

/** A position as in the REST API: only known values. */
export interface PositionFields {
  vehicleId: VehicleId;
  fixTime: string;
  latitude: number;
  longitude: number;
  valid: boolean;
  speedKmh?: number;
  courseDeg?: number;
  altitudeM?: number;
  satellites?: number;
  ignition?: boolean;
  odometerM?: number;
  supplyV?: number;
  fuelL?: number;
  alarms?: readonly Alarm[];
  attributes?: Readonly<Record<string, unknown>>;
  receivedAt?: string;
}

/** An event as in the feed and the report of events. */
export interface EventFields {
  id: string;
  kind: EventKind;
  vehicleId: VehicleId;
  startedAt: string;
  endedAt: string | null;
  geofenceId?: string | null | undefined;
  planId?: string | null | undefined;
  alarm?: Alarm | null | undefined;
  manoeuvre?: Manoeuvre | null | undefined;
  limitKmh?: number | null | undefined;
  peakKmh?: number | null | undefined;
  volumeL?: number | null | undefined;
  driverCode?: string | null | undefined;
}

export function knots(speedKmh: number): number {
  return Number((speedKmh / KMH_PER_KNOT).toFixed(4));
}

/** @param groupIds groups of the vehicle that the caller may see; Traccar shows only one */
export function traccarDevice(vehicle: Vehicle, groupIds: readonly GroupId[], status: VehicleStatus | null) {
  const { id, name, terminalId, deviceModel, icon, suspension } = vehicle;
  const [groupId] = groupIds;
  const position = status?.position ?? null;
  return {
    id: traccarId(id),
    name,
    uniqueId: terminalId ?? id,
    status: statusOf(status),
    disabled: suspension !== null,
    lastUpdate: status && isoTime(status.lastContactAtMs),
    positionId: position === null ? 0 : traccarPositionId(id, position.fixTimeMs),
    groupId: groupId === undefined ? 0 : traccarId(groupId),
    phone: null,
    model: deviceModel,
    contact: null,
    category: icon,
    calendarId: 0,
    expirationTime: null,
    attributes: {},
  };
}

function statusOf(status: VehicleStatus | null): 'online' | 'offline' | 'unknown' {
  const state = status?.activity?.state ?? 'unknown';
  return state === 'unknown' || state === 'offline' ? state : 'online';
}

/** @param geofenceIds geofences around the position that the caller may see; null: unknown */
export function traccarPosition(
  position: PositionFields,
  protocol: string | null,
  geofenceIds: readonly string[] | null = null,
) {
  const { vehicleId, fixTime, latitude, longitude, valid, speedKmh, courseDeg, altitudeM, receivedAt } = position;
  return {
    id: traccarPositionId(vehicleId, Date.parse(fixTime)),
    deviceId: traccarId(vehicleId),
    protocol: protocol ?? 'unknown',
    serverTime: receivedAt ?? fixTime,
    deviceTime: fixTime,
    fixTime,
    outdated: false,
    valid,
    latitude,
    longitude,
    altitude: altitudeM ?? 0,
    speed: knots(speedKmh ?? 0),
    course: courseDeg ?? 0,
    address: null,
    accuracy: 0,
    network: null,
    geofenceIds: geofenceIds?.map(traccarId) ?? null,
    attributes: positionAttributes(position),
  };
}

function positionAttributes(position: PositionFields): Record<string, unknown> {
  const { attributes, satellites, ignition, odometerM, supplyV, fuelL, alarms, speedKmh } = position;
  const known = {
    sat: satellites,
    ignition,
    odometer: odometerM,
    power: supplyV,
    fuel: fuelL,
    alarm: alarms?.length ? alarms.map((alarm) => ALARMS[alarm] ?? 'general').join(',') : undefined,
    batteryLevel: attributes?.batteryPercent,
    motion: speedKmh === undefined ? undefined : speedKmh > MOVING_KMH,
  };
  return { ...attributes, ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) };
}

/** Last position of a vehicle in the form of the REST API; null before the first. */
export function lastPositionOf({ vehicleId, position, receivedAtMs }: VehicleStatus): PositionFields | null {
  if (position === null) return null;
  const fields = positionJson(vehicleId, position) as unknown as PositionFields;
  return { ...fields, receivedAt: isoTime(receivedAtMs ?? position.fixTimeMs) };
}

/** Begin and end of an event, as far as Traccar has types for them. */
export function traccarEvents(event: EventFields): TraccarEvent[] {
  const { begin, end } = EVENT_TYPES[event.kind] ?? {};
  const { id, vehicleId, startedAt, endedAt, geofenceId, planId } = event;
  const common = {
    deviceId: traccarId(vehicleId),
    positionId: 0,
    geofenceId: geofenceId ? traccarId(geofenceId) : 0,
    maintenanceId: planId ? traccarId(planId) : 0,
    attributes: eventAttributes(event),
  };
  const events: TraccarEvent[] = [];
  if (begin !== undefined) events.push({ id: traccarId(id), type: begin, eventTime: startedAt, ...common });
  if (end !== undefined && endedAt !== null)
    events.push({ id: traccarEndId(id), type: end, eventTime: endedAt, ...common });
  return events;
}

function eventAttributes({ kind, alarm, manoeuvre, limitKmh, peakKmh, volumeL, driverCode }: EventFields) {
  const raised = kind === 'power-cut' ? kind : manoeuvre ? alarmOf(manoeuvre) : alarm;
  const known = {
    alarm: raised && (ALARMS[raised] ?? 'general'),
    speedLimit: kind === 'speeding' && limitKmh != null ? knots(limitKmh) : undefined,
    speed: kind === 'speeding' && peakKmh != null ? knots(peakKmh) : undefined,
    volume: volumeL,
    driverUniqueId: driverCode,
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value != null));
}

export function traccarGroup({ id, name }: VehicleGroup) {
  return { id: traccarId(id), name, groupId: 0, attributes: {} };
}

export function traccarGeofence({ id, name, description, shape, speedLimitKmh, color }: Geofence) {
  const attributes = {
    ...(speedLimitKmh !== null && { speedLimit: knots(speedLimitKmh) }),
    ...(color !== null && { color }),
    ...(shape.type === 'line' && { polylineDistance: shape.widthM / 2 }),
  };
  return { id: traccarId(id), name, description, area: traccarArea(shape), calendarId: 0, attributes };
}

export function traccarUser({ id, login, name, role, blocked }: User) {
  return {
    id: traccarId(id),
    name: name === '' ? login : name,
    login,
    email: login,
    phone: null,
    readonly: true,
    administrator: role === 'operator',
    map: null,
    latitude: 0,
    longitude: 0,
    zoom: 0,
    password: null,
    coordinateFormat: null,
    disabled: blocked,
    expirationTime: null,
    deviceLimit: -1,
    userLimit: 0,
    deviceReadonly: true,
    limitCommands: true,
    fixedEmail: true,
    poiLayer: null,
    attributes: {},
  };
}

/** Description of the server, which needs no login: nothing in it is secret. */
export const TRACCAR_SERVER = {
  id: 1,
  registration: false,
  readonly: true,
  deviceReadonly: true,
  limitCommands: true,
  map: null,
  bingKey: null,
  mapUrl: null,
  poiLayer: null,
  latitude: 0,
  longitude: 0,
  zoom: 0,
  forceSettings: false,
  coordinateFormat: null,
  openIdEnabled: false,
  openIdForce: false,
  newServer: false,
  attributes: {},
};

/** A row of a report, by column name. */
type ReportRow = Readonly<Record<string, unknown>>;

export function traccarTrip(row: ReportRow) {
  return {
    ...reportedDevice(row),
    ...reportedDrive(row),
    distance: row.distanceM ?? 0,
    spentFuel: row.fuelUsedL ?? 0,
    duration: milliseconds(row.durationSeconds),
    startTime: row.startedAt,
    startAddress: row.startPlace ?? null,
    startLat: row.startLatitude,
    startLon: row.startLongitude,
    startOdometer: 0,
    startPositionId: 0,
    endTime: row.endedAt,
    endAddress: row.endPlace ?? null,
    endLat: row.endLatitude,
    endLon: row.endLongitude,
    endOdometer: 0,
    endPositionId: 0,
    driverUniqueId: row.driverCode ?? null,
    driverName: row.driverName ?? null,
  };
}

export function traccarStop(row: ReportRow) {
  return {
    ...reportedDevice(row),
    maxSpeed: 0,
    averageSpeed: 0,
    distance: 0,
    spentFuel: 0,
    duration: milliseconds(row.durationSeconds),
    engineHours: milliseconds(row.idlingSeconds),
    startTime: row.startedAt,
    endTime: row.endedAt,
    startOdometer: 0,
    endOdometer: 0,
    positionId: 0,
    address: row.startPlace ?? null,
    latitude: row.latitude,
    longitude: row.longitude,
  };
}

/** @param range used if the row is not about a period of its own */
export function traccarSummary(row: ReportRow, range: { from: string; to: string }) {
  return {
    ...reportedDevice(row),
    ...reportedDrive(row),
    distance: row.distanceM,
    spentFuel: 0,
    engineHours: milliseconds(row.engineOnSeconds),
    startTime: range.from,
    endTime: range.to,
    startOdometer: 0,
    endOdometer: 0,
  };
}

function reportedDevice({ vehicleId, vehicleName }: ReportRow) {
  return { deviceId: traccarId(String(vehicleId)), deviceName: vehicleName };
}

function reportedDrive({ maxKmh, meanKmh }: ReportRow) {
  return { maxSpeed: knots(Number(maxKmh ?? 0)), averageSpeed: knots(Number(meanKmh ?? 0)) };
}

function milliseconds(seconds: unknown): number {
  return Math.round(Number(seconds ?? 0) * MS_PER_SECOND);
}
