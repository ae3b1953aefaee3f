import {
  attributesAfter,
  type CustomAttributes,
  type CustomAttributesPatch,
  type CustomFields,
  MAX_CUSTOM_ATTRIBUTES,
} from '@outrider/domain';
import { badField } from '../problem.ts';

/** A change of a definition, as its callers write it: of custom attributes, what is not named stays. */
export type CustomPatch<Patch extends Partial<CustomFields>> = Omit<Patch, 'customAttributes'> & {
  customAttributes?: CustomAttributesPatch | undefined;
};

/** Custom fields that a list is filtered by; all that is set holds. */
export interface CustomFilter {
  externalId?: string | undefined;
  /** Names of attributes and their values as text. */
  attributes?: readonly { name: string; value: string }[] | undefined;
}

/** Null where nothing is asked for. */
export function customMatcher({
  externalId,
  attributes = [],
}: CustomFilter): ((thing: CustomFields) => boolean) | null {
  if (externalId === undefined && attributes.length === 0) return null;
  return (thing) =>
    (externalId === undefined || thing.externalId === externalId) &&
    attributes.every(({ name, value }) => {
      const held = Object.hasOwn(thing.customAttributes, name) ? thing.customAttributes[name] : undefined;
      return held !== undefined && String(held) === value;
    });
}

/**
 * @param pointer of the attributes in the request
 * @throws {Problem} where there would be too many
 */
export function mergedAttributes(
  current: CustomAttributes,
  patch: CustomAttributesPatch,
  pointer: string,
): CustomAttributes {
  const after = attributesAfter(current, patch);
  if (Object.keys(after).length > MAX_CUSTOM_ATTRIBUTES)
    throw badField(pointer, `There would be more than ${MAX_CUSTOM_ATTRIBUTES} attributes.`);
  return after;
}

/**
 * The patch with the attributes that there are after it, and the version that they were merged with: another change in
 * between must not be lost.
 *
 * @param ifMatch the version that the caller expects; null: whatever it is
 */
export function customMerged<Patch extends Partial<CustomFields>>(
  current: CustomFields & { version: number },
  ifMatch: number | null,
  { customAttributes, ...patch }: CustomPatch<Patch>,
): { patch: Patch; version: number | null } {
  if (customAttributes === undefined) return { patch: patch as unknown as Patch, version: ifMatch };
  const merged = mergedAttributes(current.customAttributes, customAttributes, '/customAttributes');
  return { patch: { ...patch, customAttributes: merged } as unknown as Patch, version: ifMatch ?? current.version };
}
