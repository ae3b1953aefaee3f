import createBidi, { type Bidi } from 'bidi-js';

/** A piece of text in one direction, as it is drawn from left to right. */
export interface Run {
  text: string;
  isRightToLeft: boolean;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const bidi = (createBidi as unknown as () => Bidi)();

/**
 * The runs of a line in visual order (Unicode, UAX 9): a Hebrew name with a number in it has three. Brackets within a
 * right-to-left run are mirrored; the font reverses its letters.
 */
export function runsOf(text: string, base: 'ltr' | 'rtl'): Run[] {
  if (!RIGHT_TO_LEFT.test(text)) return text === '' ? [] : [{ text, isRightToLeft: false }];
  const { levels } = bidi.getEmbeddingLevels(text, base);
  const runs: { text: string; level: number }[] = [];
  for (let at = 0; at < text.length; at++) {
    const level = levels[at] ?? 0;
    const character = (level % 2 === 1 && bidi.getMirroredCharacter(text[at] ?? '')) || text[at];
    const last = runs.at(-1);
    if (last !== undefined && last.level === level) last.text += character;
    else runs.push({ text: character ?? '', level });
  }
  return inVisualOrder(runs).map(({ text: part, level }) => ({ text: part, isRightToLeft: level % 2 === 1 }));
}

/** Rule L2: from the highest level down to 1, reverses each sequence of runs at that level or higher. */
function inVisualOrder<T extends { level: number }>(runs: readonly T[]): T[] {
  const ordered = [...runs];
  for (let level = Math.max(...runs.map((run) => run.level)); level >= 1; level--)
    for (let from = 0; from < ordered.length; from++) {
      if ((ordered[from]?.level ?? 0) < level) continue;
      let to = from;
      while ((ordered[to]?.level ?? 0) >= level) to++;
      ordered.splice(from, to - from, ...ordered.slice(from, to).reverse());
      from = to;
    }
  return ordered;
}
