import type { CustomFields } from './custom-fields.ts';
import type { Driver } from './driver.ts';
import type { GeofenceId, GroupId, UserId, VehicleId } from './ids.ts';
import type { NotificationRule } from './notification-rule.ts';
import type { Sensor } from './sensor.ts';
import type { TerminalAccess } from './terminal-access.ts';
import type { VehicleFieldValues } from './vehicle-fields.ts';
import type { VideoProfile } from './video.ts';

/** Degrees as GeoJSON writes them: longitude, then latitude. */
export type LngLat = readonly [longitude: number, latitude: number];

/** Outer ring first, then holes. A ring is closed: its last point repeats its first. */
export interface PolygonShape {
  type: 'polygon';
  rings: readonly (readonly LngLat[])[];
}
/** Polygons that do not overlap; they may touch in single points, and lie within the holes of others. */
export interface MultiPolygonShape {
  type: 'multipolygon';
  /** Rings of each, as those of a {@link PolygonShape}. */
  polygons: readonly (readonly (readonly LngLat[])[])[];
}
export interface CircleShape {
  type: 'circle';
  center: LngLat;
  radiusM: number;
}
/** A path with a width: inside means within half of `widthM` of the path. */
export interface LineShape {
  type: 'line';
  path: readonly LngLat[];
  /** 10 to 1000. */
  widthM: number;
}
export type Shape = PolygonShape | MultiPolygonShape | CircleShape | LineShape;

/** All rings of a shape that is drawn by rings. */
export function ringsOf(shape: PolygonShape | MultiPolygonShape): readonly (readonly LngLat[])[] {
  return shape.type === 'polygon' ? shape.rings : shape.polygons.flat();
}

/** Points that a shape is drawn by, all rings together: what it costs to store and to check grows with them. */
export function verticesOf(shape: Shape): number {
  if (shape.type === 'polygon' || shape.type === 'multipolygon')
    return ringsOf(shape).reduce((sum, ring) => sum + ring.length, 0);
  return shape.type === 'line' ? shape.path.length : 1;
}

/** What a user may use beyond the vehicles themselves; operators and dealers may by their role. */
export const SERVICES = ['video', 'commands', 'command-text', 'maintenance'] as const;
export type ServiceName = (typeof SERVICES)[number];

/**
 * What a user may change beyond their own settings; operators and dealers may by their role. `edit-vehicles`: profiles
 * and sensors of vehicles of the user's groups. `edit-geofences`: geofences of the user's own. `edit-notifications`:
 * notification rules, message channels and report schedules. `share`: links that show vehicles to others.
 */
export const ACCOUNT_RIGHTS = ['edit-vehicles', 'edit-geofences', 'edit-notifications', 'share'] as const;
export type AccountRight = (typeof ACCOUNT_RIGHTS)[number];

/** What users may change where nothing else is said. Without any right an account is read-only. */
export const DEFAULT_RIGHTS = ['edit-geofences', 'edit-notifications', 'share'] as const satisfies AccountRight[];

export type Role = 'operator' | 'dealer' | 'user';

/** An account. Its `dealerId` is null for operators and dealers, and for users that the operator keeps. */
export interface User extends CustomFields {
  kind: 'user';
  id: UserId;
  version: number;
  login: string;
  name: string;
  role: Role;
  dealerId: UserId | null;
  blocked: boolean;
  /** The right to use the API, granted by an operator alone. */
  apiAccess: boolean;
  /** Services that the account was granted. */
  services: readonly ServiceName[];
  /** What a user may change. */
  rights: readonly AccountRight[];
  /** Groups whose vehicles the user may see. */
  groupIds: readonly GroupId[];
}

/** Why the data of a vehicle is shown to operators alone for now. Its terminal's data is still taken and stored. */
export interface Suspension {
  /** What people are shown, as in "invoice 1204 is unpaid". */
  reason: string;
  /** What an operator suspended, operators alone resume. */
  by: 'operator' | 'dealer';
  sinceMs: number;
}

/** The vehicle whose place another one took when it was moved to another dealer without its history. */
export interface Predecessor {
  id: VehicleId;
  /** Unix milliseconds. What the terminal recorded before is of the predecessor, whenever it comes. */
  untilMs: number;
}

/** A vehicle profile: without one, a terminal's data is refused. Its plain fields are in {@link VEHICLE_FIELDS}. */
export interface Vehicle extends VehicleFieldValues, CustomFields {
  kind: 'vehicle';
  id: VehicleId;
  version: number;
  /** What the terminal must show for its data to be taken. */
  terminalAccess: TerminalAccess;
  /** The dealer that the vehicle belongs to; null when the operator's own. */
  dealerId: UserId | null;
  groupIds: readonly GroupId[];
  /** In the order in which they are shown. */
  sensors: readonly Sensor[];
  /** Null: not suspended. */
  suspension: Suspension | null;
  /** Null: no other dealer had it before, or its history came along. */
  predecessor: Predecessor | null;
}

export interface VehicleGroup extends CustomFields {
  kind: 'group';
  id: GroupId;
  version: number;
  name: string;
  /** The dealer that the group belongs to; null when the operator's own. */
  dealerId: UserId | null;
  /** The history of its vehicles is erased when it is so many days old. Null: the group limits nothing. */
  retentionDays: number | null;
}

export interface Geofence extends CustomFields {
  kind: 'geofence';
  id: GeofenceId;
  version: number;
  name: string;
  ownerId: UserId;
  shape: Shape;
  /** Null: all vehicles that the owner may see. Otherwise those of them that are in one of these groups. */
  groupIds: readonly GroupId[] | null;
  /** Speeding inside this geofence is an event of its own above this. */
  speedLimitKmh: number | null;
  /** Delays both ends of a visit: a shorter stay, or a shorter absence, is no event. */
  minDwellSeconds: number;
  /** On maps, as `#1f5fc4`. Null: none of its own. */
  color: string | null;
  description: string | null;
  /** What people call this kind of place, as in `depot`; null: none. */
  category: string | null;
  /** The whole organisation of its owner may see it. */
  sharedWithOrganisation: boolean;
  /** Who was given one of these groups may see it as well. */
  sharedGroupIds: readonly GroupId[];
}

export type Definition = User | Vehicle | VehicleGroup | Geofence | NotificationRule | VideoProfile | Driver;
export type DefinitionKind = Definition['kind'];

/** The record of topic `definitions`: a definition as it now is, or null in its place when it was deleted. */
export interface DefinitionChange {
  kind: DefinitionKind;
  id: string;
  /** Grows by one with each change of this definition, its deletion included: see {@link changeVersionOf}. */
  version: number;
  changedAtMs: number;
  definition: Definition | null;
}

/** The version of the change that made a definition what it is: what orders changes of one definition. */
export function changeVersionOf(definition: Definition): number {
  return definition.kind === 'vehicle' ? definition.version + definition.terminalAccess.revision : definition.version;
}

/** The definition as the change that made it what it is. */
export function asChange(definition: Definition, changedAtMs: number): DefinitionChange {
  return { kind: definition.kind, id: definition.id, version: changeVersionOf(definition), changedAtMs, definition };
}
