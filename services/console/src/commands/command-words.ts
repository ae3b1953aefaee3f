import type { commands } from '../words/en/commands.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of commands to terminals. */
export const commandWords = pageWords(
  import.meta.glob<typeof commands>('../words/*/commands.ts', { import: 'commands' }),
);
