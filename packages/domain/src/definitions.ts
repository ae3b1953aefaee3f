import type { GeofenceId, GroupId, UserId, VehicleId } from './ids.ts';
import type { NotificationRule } from './notification-rule.ts';
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
export type Shape = PolygonShape | CircleShape | LineShape;

/** Points that a shape is drawn by, all rings together: what it costs to store and to check grows with them. */
export function verticesOf(shape: Shape): number {
  if (shape.type === 'polygon') return shape.rings.reduce((sum, ring) => sum + ring.length, 0);
  return shape.type === 'line' ? shape.path.length : 1;
}

/** What a user may use beyond the vehicles themselves; operators and dealers may by their role. */
export const SERVICES = ['video'] as const;
export type ServiceName = (typeof SERVICES)[number];

export type Role = 'operator' | 'dealer' | 'user';

/** An account. Its `dealerId` is null for operators and dealers, and for users that the operator keeps. */
export interface User {
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
  /** Groups whose vehicles the user may see. */
  groupIds: readonly GroupId[];
}

/** A vehicle profile: without one, a terminal's data is refused. Its plain fields are in {@link VEHICLE_FIELDS}. */
export interface Vehicle extends VehicleFieldValues {
  kind: 'vehicle';
  id: VehicleId;
  version: number;
  /** What the terminal must show for its data to be taken. */
  terminalAccess: TerminalAccess;
  /** The dealer that the vehicle belongs to; null when the operator's own. */
  dealerId: UserId | null;
  groupIds: readonly GroupId[];
}

export interface VehicleGroup {
  kind: 'group';
  id: GroupId;
  version: number;
  name: string;
  /** The dealer that the group belongs to; null when the operator's own. */
  dealerId: UserId | null;
}

export interface Geofence {
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
}

export type Definition = User | Vehicle | VehicleGroup | Geofence | NotificationRule | VideoProfile;
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
