import { users as de } from '../../words/de/users.ts';
import { users as en } from '../../words/en/users.ts';
import { users as es } from '../../words/es/users.ts';
import { users as he } from '../../words/he/users.ts';
import { pageWords } from '../../words/page-words.ts';
import { users as ru } from '../../words/ru/users.ts';

/** Words of the pages of users. */
export const userWords = pageWords({ en, ru, de, es, he });
