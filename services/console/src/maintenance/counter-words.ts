import { de } from '../words/de/counters.ts';
import { en } from '../words/en/counters.ts';
import { es } from '../words/es/counters.ts';
import { he } from '../words/he/counters.ts';
import { pageWords } from '../words/page-words.ts';
import { ru } from '../words/ru/counters.ts';

/** Words of custom counters. */
export const words = pageWords({ en, ru, de, es, he });
