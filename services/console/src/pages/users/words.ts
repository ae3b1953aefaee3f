import type { users } from '../../words/en/users.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the pages of users. */
export const userWords = pageWords(import.meta.glob<typeof users>('../../words/*/users.ts', { import: 'users' }));
