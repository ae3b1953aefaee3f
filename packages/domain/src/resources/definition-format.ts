import { NO_CUSTOM_FIELDS } from './custom-fields.ts';
import type { Definition, DefinitionChange, DefinitionKind } from './definitions.ts';
import { DRIVER_FIELDS } from './driver.ts';
import { type FieldTable, fieldsIn } from './fields.ts';
import { GEOFENCE_FIELDS } from './geofence.ts';
import { GROUP_FIELDS } from './group.ts';
import { OPEN_ACCESS } from './terminal-access.ts';
import { DEFAULT_RIGHTS } from './user.ts';
import { VEHICLE_FIELDS } from './vehicle.ts';

/** A definition as some earlier version stored it. */
type Stored = Record<string, unknown> & { kind: DefinitionKind };

const FIELDS: Partial<Record<DefinitionKind, FieldTable>> = {
  vehicle: VEHICLE_FIELDS,
  group: GROUP_FIELDS,
  geofence: GEOFENCE_FIELDS,
  driver: DRIVER_FIELDS,
};

/**
 * Upgrade steps by format: each converts a definition from the preceding format. Fields of the tables above need no
 * entry.
 */
const UPGRADES: Readonly<Record<number, (definition: Stored) => Stored>> = {
  // Terminals had no access rules: any connection with the id was accepted, which stays so until somebody sets rules.
  2: (definition) => (definition.kind === 'vehicle' ? { ...definition, terminalAccess: OPEN_ACCESS } : definition),
  // Facts learnt from a terminal used to raise the version of its vehicle.
  3: (definition) =>
    definition.kind === 'vehicle'
      ? { ...definition, terminalAccess: { revision: 0, ...(definition.terminalAccess as object) } }
      : definition,
  // Rules did not filter by alarm.
  4: (definition) => (definition.kind === 'notification-rule' ? { ...definition, alarms: null } : definition),
  // Rules sent no commands, and had no minimum duration, sensors, places or drivers. Vehicles had no sensors.
  // Geofences could not be shared with groups. Nothing had an external id or custom attributes. All users could change
  // their own resources, but no vehicles. No vehicle was suspended or had a predecessor.
  5: (definition) => {
    if (definition.kind === 'notification-rule')
      return {
        command: null,
        minDurationMinutes: 0,
        sensors: null,
        insideGeofenceIds: null,
        outsideGeofenceIds: null,
        driver: null,
        driverIds: null,
        driverGroupIds: null,
        licenceWarningDays: 30,
        channelIds: [],
        messageTemplate: null,
        messageTemplates: {},
        language: null,
        push: false,
        severity: 'info',
        shared: false,
        escalateAfterMinutes: null,
        escalateTo: [],
        ...definition,
      };
    if (definition.kind === 'video-profile') return definition;
    const custom = { ...definition, ...NO_CUSTOM_FIELDS };
    if (custom.kind === 'vehicle') return { ...custom, sensors: [], suspension: null, predecessor: null };
    if (custom.kind === 'user') return { ...custom, rights: DEFAULT_RIGHTS };
    return custom.kind === 'geofence' ? { ...custom, sharedGroupIds: [] } : custom;
  },
};

/**
 * Version of the format in which definitions are stored: in topic `definitions` (together with a schema of `schemas/`),
 * in checkpoints and in the outbox. It grows when a field is added, renamed or changes its meaning; CONTRIBUTING.md
 * describes the steps.
 */
export const DEFINITION_FORMAT = Math.max(
  ...Object.keys(UPGRADES).map(Number),
  ...Object.values(FIELDS).flatMap((table) => fieldsIn(table).map(([, field]) => field.since ?? 1)),
);

/** The definition was stored by a newer version of the program. */
export class NewerFormatError extends Error {
  override name = 'NewerFormatError';
}

/**
 * @param format in which the definition was stored
 * @returns the definition in the format of this version
 * @throws {NewerFormatError} where a newer version stored it
 */
export function upgradeDefinition(definition: unknown, format: number): Definition {
  if (format > DEFINITION_FORMAT)
    throw new NewerFormatError(`a definition has format ${format}, and this version reads up to ${DEFINITION_FORMAT}`);
  let upgraded = definition as Stored;
  for (let next = format + 1; next <= DEFINITION_FORMAT; next++) upgraded = UPGRADES[next]?.(upgraded) ?? upgraded;
  for (const [name, field] of fieldsIn(FIELDS[upgraded.kind] ?? {}))
    if ((field.since ?? 1) > format) upgraded = { ...upgraded, [name]: field.default };
  return upgraded as unknown as Definition;
}

/** The definition as JSON with its format, for {@link readStoredDefinition}. */
export function storedDefinition(definition: Definition): string {
  return JSON.stringify({ format: DEFINITION_FORMAT, ...definition });
}

/** @throws {NewerFormatError} where a newer version stored it; {SyntaxError} where it is no JSON */
export function readStoredDefinition(text: string): Definition {
  const { format = 1, ...definition } = JSON.parse(text) as { format?: number };
  return upgradeDefinition(definition, format);
}

/** The change as JSON with the format of its definition, for {@link readStoredChange}. */
export function storedChange(change: DefinitionChange): string {
  return JSON.stringify({ format: DEFINITION_FORMAT, ...change });
}

/** @throws as {@link readStoredDefinition} does */
export function readStoredChange(text: string): DefinitionChange {
  const { format = 1, ...change } = JSON.parse(text) as DefinitionChange & { format?: number };
  return { ...change, definition: change.definition && upgradeDefinition(change.definition, format) };
}
