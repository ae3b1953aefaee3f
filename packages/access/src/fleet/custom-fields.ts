import {
  attributesAfter,
  type CustomAttributes,
  type CustomAttributesPatch,
  type CustomFields,
  MAX_CUSTOM_ATTRIBUTES,
} from '@outrider/domain';
import { badField } from '../problem.ts';

/** A patch of a definition. Custom attributes that it does not name are kept. */
export type CustomPatch<Patch extends Partial<CustomFields>> = Omit<Patch, 'customAttributes'> & {
  customAttributes?: CustomAttributesPatch | undefined;
};

/** Filter of a list by custom fields; all given conditions must match. */
export interface CustomFilter {
  externalId?: string | undefined;
  /** Names of attributes and their values as text. */
  attributes?: readonly { name: string; value: string }[] | undefined;
}

/** Null if the filter is empty. */
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
 * @throws {Problem} when the result would have too many attributes
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
 * The patch with the merged attributes, and the version that they were merged with, so that a concurrent change is not
 * lost.
 *
 * @param ifMatch the version that the caller expects; null: any
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
