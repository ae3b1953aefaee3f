import type { replay } from '../../words/en/track.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of tracks. */
export const trackWords = pageWords(import.meta.glob<typeof replay>('../../words/*/track.ts', { import: 'replay' }));
