/** A name in braces is a placeholder. Any other brace is plain text, so that JSON templates need no escapes. */
const PLACEHOLDER = /\{([A-Za-z][A-Za-z0-9]*)\}/g;

/** A fault of a template: a placeholder that does not exist, and its index, counted from 0. */
export interface TemplateFault {
  placeholder: string;
  at: number;
}

/** Null where all placeholders are among the names. */
export function templateFault(template: string, names: readonly string[]): TemplateFault | null {
  for (const match of template.matchAll(PLACEHOLDER)) {
    const [, name = ''] = match;
    if (!names.includes(name)) return { placeholder: name, at: match.index };
  }
  return null;
}

/** The fault as a sentence for the template's author. */
export function faultText({ placeholder, at }: TemplateFault, names: readonly string[]): string {
  return `There is no placeholder {${placeholder}} (character ${at + 1}). Known placeholders: ${names.map((name) => `{${name}}`).join(', ')}.`;
}

/** @param escaped escapes a value for its place */
export function fillTemplate(
  template: string,
  values: Readonly<Record<string, string>>,
  escaped: (value: string) => string = (value) => value,
): string {
  return template.replace(PLACEHOLDER, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : escaped(value);
  });
}
