import { protection as de } from '../words/de/protection.ts';
import { protection as en } from '../words/en/protection.ts';
import { protection as es } from '../words/es/protection.ts';
import { protection as he } from '../words/he/protection.ts';
import { pageWords } from '../words/page-words.ts';
import { protection as ru } from '../words/ru/protection.ts';

/** Words of the export and the erasure of data. */
export const protectionWords = pageWords({ en, ru, de, es, he });
