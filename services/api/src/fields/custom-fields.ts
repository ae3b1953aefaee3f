import type { CustomFilter } from '@outrider/access';
import {
  ATTRIBUTE_NAME,
  type CustomAttributes,
  EXTERNAL_ID,
  MAX_ATTRIBUTE_TEXT,
  MAX_CUSTOM_ATTRIBUTES,
} from '@outrider/domain';
import { z } from 'zod';
import { line, severalOf } from './plain-fields.ts';

export const CUSTOM_EXAMPLE = {
  externalId: EXTERNAL_ID.example,
  customAttributes: { costCentre: '4711', leased: true },
};

const name = z
  .string()
  .regex(ATTRIBUTE_NAME, 'It must be 1 to 64 letters, digits, _ or -, beginning with a letter or a digit.');
const value = z.union([line(MAX_ATTRIBUTE_TEXT), z.number(), z.boolean()], {
  error: `It must be a text of 1 to ${MAX_ATTRIBUTE_TEXT} characters, a number, true or false.`,
});
const shown = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

export const externalId = line(EXTERNAL_ID.maxCharacters)
  .nullable()
  .meta({ description: EXTERNAL_ID.description, examples: [EXTERNAL_ID.example] });
const described = `Attributes for clients: at most ${MAX_CUSTOM_ATTRIBUTES} names, each with a text, a number, true or false. The service only stores them.`;

/** All custom attributes of an object. */
export const customAttributes = z
  .record(name, value)
  .refine((attributes) => Object.keys(attributes).length <= MAX_CUSTOM_ATTRIBUTES, {
    message: `It must have at most ${MAX_CUSTOM_ATTRIBUTES} names.`,
  })
  .transform(sorted)
  .meta({ description: described, examples: [CUSTOM_EXAMPLE.customAttributes] });
/** Merge patch of custom attributes. */
export const customAttributesPatch = z
  .record(name, value.nullable())
  .refine((patch) => Object.keys(patch).length <= 2 * MAX_CUSTOM_ATTRIBUTES, {
    message: `It must have at most ${2 * MAX_CUSTOM_ATTRIBUTES} names.`,
  })
  .meta({
    description: `${described} Names that are left out are kept; null removes a name.`,
    examples: [{ costCentre: '4712', leased: null }],
  });

/** Custom fields in a request that creates something. */
export const NEW_CUSTOM_FIELDS = {
  externalId: externalId.default(null),
  customAttributes: customAttributes.default({}),
};
/** Custom fields in a merge patch. */
export const CUSTOM_FIELDS_PATCH = { externalId, customAttributes: customAttributesPatch };
/** Custom fields in a response. */
export const CUSTOM_FIELDS_OUT = {
  externalId: z.string().nullable().meta({ description: 'Identifier in another system.' }),
  customAttributes: shown.meta({ description: 'Attributes for clients, which the service only stores.' }),
};

const ATTRIBUTE_ASKED = /^([A-Za-z0-9][A-Za-z0-9_-]{0,63}):([^,]{1,500})$/;

const MAX_ATTRIBUTES_ASKED = 5;

/** Query parameters of lists whose items have custom fields. */
export const customQuery = {
  externalId: z
    .string()
    .min(1)
    .max(EXTERNAL_ID.maxCharacters)
    .optional()
    .meta({ description: 'Return only items with this `externalId`.', examples: [CUSTOM_EXAMPLE.externalId] }),
  attribute: severalOf(
    z
      .string()
      .regex(ATTRIBUTE_ASKED, 'It must be the name of an attribute, a colon and a value.')
      .meta({ examples: ['costCentre:4711'] }),
    MAX_ATTRIBUTES_ASKED,
  )
    .optional()
    .meta({
      description:
        'Return only items with this custom attribute: its name, a colon and its value, as in `costCentre:4711`. If ' +
        'several are given, all must match. Values that contain a comma cannot be searched for.',
    }),
};

export function customAsked(query: {
  externalId?: string | undefined;
  attribute?: readonly string[] | undefined;
}): CustomFilter {
  const attributes = query.attribute?.map((text) => {
    const [, name = '', value = ''] = ATTRIBUTE_ASKED.exec(text) ?? [];
    return { name, value };
  });
  return { externalId: query.externalId, attributes };
}

/** The attributes as a cell of a CSV: JSON; empty without attributes. */
export function attributesCell(attributes: CustomAttributes): string {
  return Object.keys(attributes).length === 0 ? '' : JSON.stringify(attributes);
}

/**
 * Reads a cell that {@link attributesCell} wrote.
 *
 * @param wrong receives what is wrong with it
 */
export function readAttributesCell(cell: string, wrong: (detail: string) => void): CustomAttributes {
  if (cell === '') return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(cell);
  } catch {
    wrong('It must be a JSON object such as {"costCentre":"4711"}.');
    return {};
  }
  const result = customAttributes.safeParse(parsed);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) wrong([...path.map(String), message].join(': '));
  return {};
}

/** Sorts the attributes by name, so that equal sets compare as equal. */
function sorted(attributes: Record<string, string | number | boolean>): CustomAttributes {
  return Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
}
