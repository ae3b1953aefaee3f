import { groups as de } from '../../words/de/groups.ts';
import { groups as en } from '../../words/en/groups.ts';
import { groups as es } from '../../words/es/groups.ts';
import { groups as he } from '../../words/he/groups.ts';
import { pageWords } from '../../words/page-words.ts';
import { groups as ru } from '../../words/ru/groups.ts';

/** Words of the pages of groups. */
export const groupWords = pageWords({ en, ru, de, es, he });
