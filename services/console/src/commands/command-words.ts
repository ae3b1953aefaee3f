import type { commands } from '../words/en/fleet/commands.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of commands to terminals. */
export const commandWords = pageWords(
  import.meta.glob<typeof commands>('../words/*/fleet/commands.ts', { import: 'commands' }),
);
