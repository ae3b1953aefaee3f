import { de } from '../words/de/eco.ts';
import { en } from '../words/en/eco.ts';
import { es } from '../words/es/eco.ts';
import { he } from '../words/he/eco.ts';
import { pageWords } from '../words/page-words.ts';
import { ru } from '../words/ru/eco.ts';

/** Words of scores. */
export const ecoWords = pageWords({ en, ru, de, es, he });
