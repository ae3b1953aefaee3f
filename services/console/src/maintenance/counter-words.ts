import type { counters } from '../words/en/counters.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of custom counters. */
export const words = pageWords(import.meta.glob<typeof counters>('../words/*/counters.ts', { import: 'counters' }));
