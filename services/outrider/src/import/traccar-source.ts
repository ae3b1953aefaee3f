import { type Alarm, blankPosition, rejectionOf } from '@outrider/domain';
import { decimal, type HistoryRows } from './history.ts';

/** Traccar's responses, limited to the fields that are used. */
export interface SourceGroup {
  id: number;
  name: string;
  groupId?: number | null;
}
export interface SourceDevice {
  id: number;
  name: string;
  uniqueId: string;
  groupId?: number | null;
  attributes?: Record<string, unknown>;
}
export interface SourceUser {
  id: number;
  name: string;
  email: string;
  login?: string | null;
  administrator?: boolean;
  disabled?: boolean;
}
export interface SourceGeofence {
  id: number;
  name: string;
  description?: string | null;
  area: string;
  attributes?: Record<string, unknown>;
}
export interface SourceDriver {
  id: number;
  name: string;
  uniqueId: string;
}
export interface SourceNotification {
  id: number;
  type: string;
  /** Whether the notification applies to all devices, regardless of its links. */
  always?: boolean;
  calendarId?: number | null;
  attributes?: Record<string, unknown>;
}
export interface SourceMaintenance {
  id: number;
  name: string;
  /** Attribute that determines when maintenance is due, such as `totalDistance`. */
  type: string;
  start: number;
  period: number;
}
export interface SourceComputed {
  id: number;
  description: string;
  attribute: string;
  expression: string;
  /** Type of the value: `number`, `boolean` or `string`. */
  type: string;
}
export interface SourcePosition {
  fixTime: string;
  latitude: number;
  longitude: number;
  valid?: boolean;
  altitude?: number;
  speed?: number;
  course?: number;
  attributes?: Record<string, unknown>;
}

export const KMH_PER_KNOT = 1.852;
const MAX_TEXT = 200;
const MAX_ATTRIBUTES = 96;
/** Traccar's alarms with an equivalent here; all others become `other`. */
export const ALARMS: Readonly<Record<string, Alarm>> = {
  sos: 'sos',
  powerCut: 'power-cut',
  lowBattery: 'low-battery',
  tampering: 'tamper',
  overspeed: 'overspeed',
  accident: 'crash',
  hardAcceleration: 'harsh-acceleration',
  hardBraking: 'harsh-braking',
  hardCornering: 'harsh-cornering',
  tow: 'towing',
  jamming: 'jamming',
};
/** Traccar's attributes that have fields in a position. */
const FIELDS: ReadonlySet<string> = new Set(['sat', 'ignition', 'odometer', 'power', 'fuel', 'alarm']);

/** Lists of definitions, by their names in Traccar's REST API. */
export type SourceList =
  | 'groups'
  | 'devices'
  | 'users'
  | 'geofences'
  | 'drivers'
  | 'notifications'
  | 'maintenance'
  | 'attributes/computed';
/** Definitions that apply to the devices and groups that they are linked to. */
export type LinkedList = 'notifications' | 'maintenance' | 'attributes/computed';

/** Ids of directly linked devices and groups. */
export interface SourceLinks {
  deviceIds: number[];
  groupIds: number[];
}

/** Positions of one device, in the order of their fixes. */
export interface SourcePage {
  positions: SourcePosition[];
  /** Unix milliseconds before which all positions have been read. */
  reachedMs: number;
}

/** Read access to a Traccar, over its REST API or its database. All methods throw {@link StartError} on failure. */
export interface TraccarSource {
  /** Identifies the source, without secrets. */
  readonly name: string;
  list<T>(name: SourceList): Promise<T[]>;
  /** Groups and devices directly granted to a user. */
  grants(userId: number): Promise<SourceLinks>;
  /** Links by the ids of the definitions; definitions without links are missing. */
  links(name: LinkedList, to: SourceLinks): Promise<Map<number, SourceLinks>>;
  /** Positions from a moment on, in Unix milliseconds. */
  positions(deviceId: number, fromMs: number): AsyncIterable<SourcePage>;
  close(): Promise<void>;
}

const HEADER = [
  ...['fixTime', 'latitude', 'longitude', 'valid', 'speedKmh', 'courseDeg', 'altitudeM', 'satellites', 'ignition'],
  ...['odometerM', 'supplyV', 'fuelL', 'alarms', 'attributes'],
];

/**
 * Traccar's positions as rows of history.
 *
 * @returns also the number of omitted positions: invalid coordinates, 0/0, or an impossible time
 */
export function traccarHistory(
  positions: readonly SourcePosition[],
  nowMs: number,
): HistoryRows & { rows: string[][]; leftOut: number } {
  const good = positions.filter(({ fixTime, latitude, longitude }) => {
    const position = blankPosition(Date.parse(fixTime), latitude, longitude);
    return rejectionOf(position, nowMs) === null;
  });
  return { header: HEADER, rows: good.map(rowOf), leftOut: positions.length - good.length };
}

function rowOf(position: SourcePosition): string[] {
  const { fixTime, latitude, longitude, valid = true, speed, course, altitude, attributes = {} } = position;
  const { sat, ignition, odometer, power, fuel, alarm, ...others } = attributes;
  const alarms =
    typeof alarm === 'string' && alarm !== '' ? alarm.split(',').map((each) => ALARMS[each] ?? 'other') : [];
  return [
    ...[new Date(fixTime).toISOString(), decimal(latitude), decimal(longitude), String(valid)],
    ...[within(speed === undefined ? undefined : speed * KMH_PER_KNOT, 0, 1000), within(course, 0, 360)],
    ...[within(altitude, -1000, 20_000), within(sat, 0, 255)],
    ...[typeof ignition === 'boolean' ? String(ignition) : '', within(odometer, 0, 1e10), within(power, 0, 1000)],
    ...[within(fuel, 0, 100_000), alarms.length === 0 ? '' : JSON.stringify([...new Set(alarms)])],
    attributesCell(others),
  ];
}

function within(value: unknown, least: number, most: number): string {
  return typeof value === 'number' && value >= least && value <= most ? decimal(value) : '';
}

function attributesCell(attributes: Record<string, unknown>): string {
  const kept = Object.entries(attributes).filter(
    ([name, value]) =>
      !FIELDS.has(name) &&
      name !== '' &&
      name.length <= 64 &&
      (typeof value === 'boolean' ||
        (typeof value === 'number' && Number.isFinite(value)) ||
        (typeof value === 'string' && value.length <= MAX_TEXT)),
  );
  return kept.length === 0 ? '' : JSON.stringify(Object.fromEntries(kept.slice(0, MAX_ATTRIBUTES)));
}
