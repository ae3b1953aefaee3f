import type { finder } from '../words/en/finder.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of the search for everything. */
export const finderWords = pageWords(import.meta.glob<typeof finder>('../words/*/finder.ts', { import: 'finder' }));
