import type { terminals } from '../../words/en/terminals.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the pages of terminals. */
export const terminalWords = pageWords(
  import.meta.glob<typeof terminals>('../../words/*/terminals.ts', { import: 'terminals' }),
);
