/** A page or an action that the search can find. */
export interface Entry<Group extends string = string> {
  /** Unique among all entries. */
  id: string;
  group: Group;
  label: string;
  /** Further searchable texts, shown beside the label, such as a plate and a terminal. */
  hints: readonly string[];
}

/** An entry with its texts prepared for comparison. */
export interface Indexed<E extends Entry> {
  entry: E;
  label: string;
  /** The label and the hints, each word after a space. */
  text: string;
}

export interface Found<E extends Entry> {
  /** The best entries of each group. The group with the best entry is first. */
  entries: E[];
  /** Number of matches by group. */
  counts: ReadonlyMap<E['group'], number>;
}

/** Normalises text: without case and accents, words separated by one space. */
export function folded(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[\s·,;]+/g, ' ')
    .trim();
}

export function indexed<E extends Entry>(entries: readonly E[]): Indexed<E>[] {
  return entries.map((entry) => {
    const label = folded(entry.label);
    return { entry, label, text: ` ${[label, ...entry.hints.map(folded)].join(' ')}` };
  });
}

/**
 * Scores how well a text matches all words: lower is better; null if a word is missing. The best match is the label
 * itself, then the beginning of the label, then beginnings of words.
 */
function scoreOf({ label, text }: Pick<Indexed<Entry>, 'label' | 'text'>, words: readonly string[]): number | null {
  let score = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return null;
    if (!label.startsWith(word)) score += text.includes(` ${word}`) ? 2 : 4;
  }
  const asked = words.join(' ');
  if (label === asked) return 0;
  return label.startsWith(asked) ? 1 + score : 2 + score;
}

/**
 * Finds the entries that have every word of a text in the label or a hint.
 *
 * @param perGroup maximum number of entries of one group
 */
export function find<E extends Entry>(all: readonly Indexed<E>[], asked: string, perGroup: number): Found<E> {
  const words = folded(asked)
    .split(' ')
    .filter((word) => word !== '');
  const groups = new Map<E['group'], { entry: E; label: string; score: number }[]>();
  if (words.length > 0)
    for (const one of all) {
      const score = scoreOf(one, words);
      if (score === null) continue;
      const own = groups.get(one.entry.group) ?? [];
      own.push({ entry: one.entry, label: one.label, score });
      groups.set(one.entry.group, own);
    }
  const collator = new Intl.Collator(undefined, { numeric: true });
  const sorted = [...groups].map(([group, own]) => {
    own.sort((a, b) => a.score - b.score || collator.compare(a.label, b.label));
    return { group, best: own[0]?.score ?? 0, own };
  });
  sorted.sort((a, b) => a.best - b.best);
  return {
    entries: sorted.flatMap(({ own }) => own.slice(0, perGroup).map(({ entry }) => entry)),
    counts: new Map(sorted.map(({ group, own }) => [group, own.length])),
  };
}
