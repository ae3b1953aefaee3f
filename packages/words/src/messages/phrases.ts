import type { Said } from './words.ts';

/** ` after 5 min`, where it is known how long it lasted. */
export function after({ lasted }: Said, word: string): string {
  return lasted === null ? '' : ` ${word} ${lasted}`;
}

/** `: 72 km/h, limit 50 km/h`, of what is known. */
export function measures(...all: (string | null)[]): string {
  const known = all.filter((each) => each !== null);
  return known.length === 0 ? '' : `: ${known.join(', ')}`;
}
