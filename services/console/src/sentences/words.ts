import type { sentences } from '../words/en/sentences.ts';
import { pageWords } from '../words/page-words.ts';

/** What sentences about events say. */
export const sentenceWords = pageWords(
  import.meta.glob<typeof sentences>('../words/*/sentences.ts', { import: 'sentences' }),
);
