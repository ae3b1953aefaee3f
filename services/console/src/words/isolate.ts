export type Direction = 'ltr' | 'rtl';

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/**
 * Isolates a name, a plate or a number within a text: it keeps its own direction, and the text around it keeps its
 * order. Nothing is added if the name has only the direction of the text.
 */
export function isolated(text: string, direction: Direction): string {
  if (text === '' || (direction === 'ltr' && !RIGHT_TO_LEFT.test(text))) return text;
  return FIRST_STRONG_ISOLATE + text + POP_ISOLATE;
}

/** Removes the invisible isolation characters from a text of `isolating` that becomes a value, such as a name. */
export function unisolated(text: string): string {
  return text.replaceAll(/[\u2068\u2069]/g, '');
}

/** The texts, with functions that isolate each of their arguments. */
export function isolating<Words>(words: Words, direction: Direction): Words {
  if (typeof words === 'function')
    return ((...given: unknown[]) =>
      words(...given.map((one) => (typeof one === 'string' ? isolated(one, direction) : one)))) as Words;
  if (typeof words !== 'object' || words === null || Array.isArray(words)) return words;
  return Object.fromEntries(
    Object.entries(words).map(([name, part]) => [name, isolating(part as unknown, direction)]),
  ) as Words;
}
