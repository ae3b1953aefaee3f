import type { users } from '../../words/en/accounts/users.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the pages of users. */
export const userWords = pageWords(
  import.meta.glob<typeof users>('../../words/*/accounts/users.ts', { import: 'users' }),
);
