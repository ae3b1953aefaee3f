import type { eco } from '../words/en/eco.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of scores. */
export const ecoWords = pageWords(import.meta.glob<typeof eco>('../words/*/eco.ts', { import: 'eco' }));
