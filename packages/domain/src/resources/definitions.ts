import type { Driver } from './driver.ts';
import type { Geofence } from './geofence.ts';
import type { VehicleGroup } from './group.ts';
import type { NotificationRule } from './notification-rule.ts';
import type { User } from './user.ts';
import type { Vehicle } from './vehicle.ts';
import type { VideoProfile } from './video-profile.ts';

export type Definition = User | Vehicle | VehicleGroup | Geofence | NotificationRule | VideoProfile | Driver;
export type DefinitionKind = Definition['kind'];

/** The record of topic `definitions`: the current definition, or null when it was deleted. */
export interface DefinitionChange {
  kind: DefinitionKind;
  id: string;
  /** Grows by one with each change of this definition, including its deletion: see {@link changeVersionOf}. */
  version: number;
  changedAtMs: number;
  definition: Definition | null;
}

/** The version of a definition's last change, by which changes of one definition are ordered. */
export function changeVersionOf(definition: Definition): number {
  return definition.kind === 'vehicle' ? definition.version + definition.terminalAccess.revision : definition.version;
}

/** The definition as the change that produced it. */
export function asChange(definition: Definition, changedAtMs: number): DefinitionChange {
  return { kind: definition.kind, id: definition.id, version: changeVersionOf(definition), changedAtMs, definition };
}
