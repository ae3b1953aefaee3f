import type { eco } from '../words/en/fleet/eco.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of scores. */
export const ecoWords = pageWords(import.meta.glob<typeof eco>('../words/*/fleet/eco.ts', { import: 'eco' }));
