import type { Vehicle } from '@outrider/client';

export type CustomAttributes = Readonly<Vehicle['customAttributes']>;
/** Part of a form's draft: external id and custom attributes of a fleet object. */
export interface CustomDraft {
  externalId: string | null;
  customAttributes: CustomAttributes;
}

const LINE = /^\s*([A-Za-z0-9][A-Za-z0-9_-]{0,63})\s*=\s*(\S.*?)\s*$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** Formats attributes as text, one per line, as {@link attributesIn} parses it. */
export function attributesText(attributes: CustomAttributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name} = ${typeof value === 'string' && isAmbiguous(value) ? `"${value}"` : value}`)
    .join('\n');
}

/** @returns the attributes of all lines, or the number of the first line that cannot be read */
export function attributesIn(text: string): { attributes: CustomAttributes } | { wrongLine: number } {
  const attributes: Record<string, string | number | boolean> = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return { wrongLine: index + 1 };
    attributes[name] = valueIn(value);
  }
  return { attributes };
}

/** Patch for the API that turns the first attributes into the second. Removed names are set to null. */
export function attributesPatch(
  before: CustomAttributes,
  after: CustomAttributes,
): Record<string, string | number | boolean | null> {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return { ...Object.fromEntries(gone.map((name) => [name, null])), ...after };
}

/** Changed custom fields of a draft, as a patch for the API. */
export function customPatch<Fields extends Partial<CustomDraft>>(
  before: CustomAttributes,
  { customAttributes, ...fields }: Fields,
): Omit<Fields, 'customAttributes'> & { customAttributes?: ReturnType<typeof attributesPatch> } {
  return customAttributes === undefined
    ? fields
    : { ...fields, customAttributes: attributesPatch(before, customAttributes) };
}

function valueIn(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  if (NUMBER.test(text)) return Number(text);
  return isQuoted(text) ? text.slice(1, -1) : text;
}

function isAmbiguous(text: string): boolean {
  return text === 'true' || text === 'false' || NUMBER.test(text) || isQuoted(text) || text !== text.trim();
}

function isQuoted(text: string): boolean {
  return text.length > 2 && text.startsWith('"') && text.endsWith('"');
}
