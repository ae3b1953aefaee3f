import { operator as de } from '../../words/de/operator.ts';
import { operator as en } from '../../words/en/operator.ts';
import { operator as es } from '../../words/es/operator.ts';
import { operator as he } from '../../words/he/operator.ts';
import { pageWords } from '../../words/page-words.ts';
import { operator as ru } from '../../words/ru/operator.ts';

/** Words of the operator’s pages. */
export const operatorWords = pageWords({ en, ru, de, es, he });
