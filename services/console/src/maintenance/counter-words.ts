import type { counters } from '../words/en/fleet/counters.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of custom counters. */
export const words = pageWords(
  import.meta.glob<typeof counters>('../words/*/fleet/counters.ts', { import: 'counters' }),
);
