import type { Definition, DefinitionChange } from './definitions.ts';
import type { TextField } from './fields.ts';

/** What a client keeps with a thing: texts, numbers and flags under names of its own. */
export type CustomAttributes = Readonly<Record<string, string | number | boolean>>;

/** A change of {@link CustomAttributes}: null takes a name away, names that are not in it stay. */
export type CustomAttributesPatch = Readonly<Record<string, string | number | boolean | null>>;

/** What the systems of a client know a vehicle, user, group, geofence or driver by. The service only stores it. */
export interface CustomFields {
  /** Unique among the things of this kind of one dealer (or the operator). Null: none. */
  externalId: string | null;
  customAttributes: CustomAttributes;
}

/** `externalId`, as a field of a table. */
export const EXTERNAL_ID = {
  type: 'text',
  maxCharacters: 100,
  default: null,
  description: 'What another system knows it by: unique among those of a dealer. Null: none.',
  example: 'FLEET-0012',
  since: 5,
} as const satisfies TextField;
export const MAX_CUSTOM_ATTRIBUTES = 20;
/** Longest text of an attribute. */
export const MAX_ATTRIBUTE_TEXT = 500;
/** Names of attributes. They begin with a letter or a digit, so that none is `__proto__`. */
export const ATTRIBUTE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export const NO_CUSTOM_FIELDS: CustomFields = { externalId: null, customAttributes: {} };

/** The attributes with the patch made, in the order of their names, so that equal ones compare as equal. */
export function attributesAfter(current: CustomAttributes, patch: CustomAttributesPatch): CustomAttributes {
  const after = Object.entries({ ...current, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(after.sort(([a], [b]) => (a < b ? -1 : 1))) as CustomAttributes;
}

/** The change without {@link CustomFields}, for readers that compute with definitions and show them to nobody. */
export function withoutCustomFields(change: DefinitionChange): DefinitionChange {
  const { definition } = change;
  if (definition === null || !hasCustomFields(definition)) return change;
  return { ...change, definition: { ...definition, ...NO_CUSTOM_FIELDS } };
}

function hasCustomFields(definition: Definition): boolean {
  if (!('customAttributes' in definition)) return false;
  return definition.externalId !== null || Object.keys(definition.customAttributes).length > 0;
}
