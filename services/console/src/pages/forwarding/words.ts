import type { forwarding } from '../../words/en/forwarding.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the pages of forwarding. */
export const forwardingWords = pageWords(
  import.meta.glob<typeof forwarding>('../../words/*/forwarding.ts', { import: 'forwarding' }),
);
