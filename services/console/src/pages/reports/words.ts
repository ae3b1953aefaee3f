import { reports as de } from '../../words/de/reports.ts';
import { reports as en } from '../../words/en/reports.ts';
import { reports as es } from '../../words/es/reports.ts';
import { reports as he } from '../../words/he/reports.ts';
import { pageWords } from '../../words/page-words.ts';
import { reports as ru } from '../../words/ru/reports.ts';

/** Words of the reports. */
export const reportWords = pageWords({ en, ru, de, es, he });
