import type { Driver } from './driver.ts';
import type { Geofence } from './geofence.ts';
import type { VehicleGroup } from './group.ts';
import type { NotificationRule } from './notification-rule.ts';
import type { User } from './user.ts';
import type { Vehicle } from './vehicle.ts';
import type { VideoProfile } from './video-profile.ts';

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
