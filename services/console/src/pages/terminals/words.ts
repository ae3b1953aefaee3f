import type { terminals } from '../../words/en/fleet/terminals.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the pages of terminals. */
export const terminalWords = pageWords(
  import.meta.glob<typeof terminals>('../../words/*/fleet/terminals.ts', { import: 'terminals' }),
);
