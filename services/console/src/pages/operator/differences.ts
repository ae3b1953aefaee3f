export interface Difference {
  name: string;
  /** Undefined: the field did not exist. */
  before: unknown;
  after: unknown;
}

type Fields = Readonly<Record<string, unknown>> | null;

/** Fields that differ, in the order in which they are written. */
export function differencesOf(before: Fields, after: Fields): Difference[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .map((name) => ({ name, before: before?.[name], after: after?.[name] }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after));
}

const MOST_CHARACTERS = 300;

/** A value as text: strings unchanged, objects and lists as JSON. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null || value === '') return '–';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
