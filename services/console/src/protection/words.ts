import type { protection } from '../words/en/accounts/protection.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of the export and the erasure of data. */
export const protectionWords = pageWords(
  import.meta.glob<typeof protection>('../words/*/accounts/protection.ts', { import: 'protection' }),
);
