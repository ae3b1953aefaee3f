import type { signIn } from '../words/en/accounts/sign-in.ts';
import { pageWords } from '../words/page-words.ts';

/** Texts about ways to log in other than login and password. */
export const signInWords = pageWords(
  import.meta.glob<typeof signIn>('../words/*/accounts/sign-in.ts', { import: 'signIn' }),
);
