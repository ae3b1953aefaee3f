import type { messageChannels } from '../../words/en/accounts/message-channels.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of channels for messages, and of the rules that use them. */
export const channelWords = pageWords(
  import.meta.glob<typeof messageChannels>('../../words/*/accounts/message-channels.ts', { import: 'messageChannels' }),
);
