import type { operator } from '../../words/en/operator.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the operator’s pages. */
export const operatorWords = pageWords(
  import.meta.glob<typeof operator>('../../words/*/operator.ts', { import: 'operator' }),
);
