import { forwarding as de } from '../../words/de/forwarding.ts';
import { forwarding as en } from '../../words/en/forwarding.ts';
import { forwarding as es } from '../../words/es/forwarding.ts';
import { forwarding as he } from '../../words/he/forwarding.ts';
import { pageWords } from '../../words/page-words.ts';
import { forwarding as ru } from '../../words/ru/forwarding.ts';

/** Words of the pages of forwarding. */
export const forwardingWords = pageWords({ en, ru, de, es, he });
