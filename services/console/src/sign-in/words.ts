import { signIn as de } from '../words/de/sign-in.ts';
import { signIn as en } from '../words/en/sign-in.ts';
import { signIn as es } from '../words/es/sign-in.ts';
import { signIn as he } from '../words/he/sign-in.ts';
import { pageWords } from '../words/page-words.ts';
import { signIn as ru } from '../words/ru/sign-in.ts';

/** Words of logging in beside login and password. */
export const signInWords = pageWords({ en, ru, de, es, he });
