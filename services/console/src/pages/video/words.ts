import type { video } from '../../words/en/video.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of videos. */
export const videoWords = pageWords(import.meta.glob<typeof video>('../../words/*/video.ts', { import: 'video' }));
