import type { sentences } from '../words/en/sentences.ts';
import { pageWords } from '../words/page-words.ts';

/** Texts of sentences about events. */
export const sentenceWords = pageWords(
  import.meta.glob<typeof sentences>('../words/*/sentences.ts', { import: 'sentences' }),
);
