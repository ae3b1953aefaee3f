import { NO_CUSTOM_FIELDS } from './custom-fields.ts';
import { DEFAULT_RIGHTS, type Definition, type DefinitionChange, type DefinitionKind } from './definitions.ts';
import { OPEN_ACCESS } from './terminal-access.ts';
import { VEHICLE_FIELD_LIST } from './vehicle-fields.ts';

/** A definition as some version stored it. */
type Stored = Record<string, unknown> & { kind: DefinitionKind };

/**
 * By format: how a definition of the format before it becomes one of this format. Fields of `VEHICLE_FIELDS` need no
 * entry.
 */
const UPGRADES: Readonly<Record<number, (definition: Stored) => Stored>> = {
  // Terminals were not bound: any connection with the id was accepted, and still is until somebody binds the terminal.
  2: (definition) => (definition.kind === 'vehicle' ? { ...definition, terminalAccess: OPEN_ACCESS } : definition),
  // What was learnt of a terminal raised the version of its vehicle.
  3: (definition) =>
    definition.kind === 'vehicle'
      ? { ...definition, terminalAccess: { revision: 0, ...(definition.terminalAccess as object) } }
      : definition,
  // Rules did not distinguish alarms; geofences had no colour and no description.
  4: (definition) => {
    if (definition.kind === 'notification-rule') return { ...definition, alarms: null };
    return definition.kind === 'geofence' ? { ...definition, color: null, description: null } : definition;
  },
  // Rules sent no commands, and had no minimum duration, no sensors, no place and no driver; vehicles had no sensors;
  // geofences had no category, and were their owner's alone; groups limited no history. Nothing had an external id or
  // attributes of clients. All users could change what is theirs, and no vehicles; none of those was suspended or
  // in the place of another.
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
        ...definition,
      };
    if (definition.kind === 'video-profile') return definition;
    if (definition.kind === 'vehicle')
      return { ...definition, ...NO_CUSTOM_FIELDS, sensors: [], suspension: null, predecessor: null };
    if (definition.kind === 'user') return { ...definition, ...NO_CUSTOM_FIELDS, rights: DEFAULT_RIGHTS };
    if (definition.kind === 'group') return { ...definition, ...NO_CUSTOM_FIELDS, retentionDays: null };
    if (definition.kind !== 'geofence') return { ...definition, ...NO_CUSTOM_FIELDS };
    const own = { category: null, sharedWithOrganisation: false, sharedGroupIds: [] };
    return { ...definition, ...NO_CUSTOM_FIELDS, ...own };
  },
};

/**
 * Version of the form in which definitions are stored: in topic `definitions` (where a schema of `schemas/` goes with
 * each), in checkpoints, in the outbox. It grows when a field is added, is renamed or changes its meaning;
 * CONTRIBUTING.md has the recipe.
 */
export const DEFINITION_FORMAT = Math.max(
  ...Object.keys(UPGRADES).map(Number),
  ...VEHICLE_FIELD_LIST.map(([, field]) => field.since ?? 1),
);

/** Stored by a version of the program that is newer than this one. */
export class NewerFormatError extends Error {
  override name = 'NewerFormatError';
}

/**
 * @param format in which the definition was stored
 * @returns the definition as this version knows it
 * @throws {NewerFormatError} where a newer version stored it
 */
export function upgradeDefinition(definition: unknown, format: number): Definition {
  if (format > DEFINITION_FORMAT)
    throw new NewerFormatError(`a definition has format ${format}, and this version reads up to ${DEFINITION_FORMAT}`);
  let upgraded = definition as Stored;
  for (let next = format + 1; next <= DEFINITION_FORMAT; next++) upgraded = UPGRADES[next]?.(upgraded) ?? upgraded;
  if (upgraded.kind === 'vehicle')
    for (const [name, field] of VEHICLE_FIELD_LIST)
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
