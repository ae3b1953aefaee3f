import type { groups } from '../../words/en/fleet/groups.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the pages of groups. */
export const groupWords = pageWords(
  import.meta.glob<typeof groups>('../../words/*/fleet/groups.ts', { import: 'groups' }),
);
