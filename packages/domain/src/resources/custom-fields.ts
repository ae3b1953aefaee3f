import type { Definition, DefinitionChange } from './definitions.ts';
import type { TextField } from './fields.ts';

/** Attributes that clients store with a resource: texts, numbers and flags under names of their choice. */
export type CustomAttributes = Readonly<Record<string, string | number | boolean>>;

/** A change of {@link CustomAttributes}: null removes a name; names that are not in it are kept. */
export type CustomAttributesPatch = Readonly<Record<string, string | number | boolean | null>>;

/** External identifiers of a vehicle, user, group, geofence or driver. The service only stores them. */
export interface CustomFields {
  /** Unique among the resources of this kind of one dealer (or the operator). Null: none. */
  externalId: string | null;
  customAttributes: CustomAttributes;
}

/** `externalId`, as a field of a table. */
export const EXTERNAL_ID = {
  type: 'text',
  maxCharacters: 100,
  default: null,
  description:
    'Identifier in another system. Unique among the objects of the same kind of a dealer. Null if there is none.',
  example: 'FLEET-0012',
  since: 5,
} as const satisfies TextField;
export const MAX_CUSTOM_ATTRIBUTES = 20;
/** Maximum length of an attribute's text. */
export const MAX_ATTRIBUTE_TEXT = 500;
/** Valid attribute names. They begin with a letter or a digit, so that none is `__proto__`. */
export const ATTRIBUTE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export const NO_CUSTOM_FIELDS: CustomFields = { externalId: null, customAttributes: {} };

/** The attributes after the patch, sorted by name, so that equal ones compare as equal. */
export function attributesAfter(current: CustomAttributes, patch: CustomAttributesPatch): CustomAttributes {
  const after = Object.entries({ ...current, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(after.sort(([a], [b]) => (a < b ? -1 : 1))) as CustomAttributes;
}

/** The change without {@link CustomFields}, for components that never show definitions to people. */
export function withoutCustomFields(change: DefinitionChange): DefinitionChange {
  const { definition } = change;
  if (definition === null || !hasCustomFields(definition)) return change;
  return { ...change, definition: { ...definition, ...NO_CUSTOM_FIELDS } };
}

function hasCustomFields(definition: Definition): boolean {
  if (!('customAttributes' in definition)) return false;
  return definition.externalId !== null || Object.keys(definition.customAttributes).length > 0;
}
