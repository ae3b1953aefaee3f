import { messageChannels as de } from '../../words/de/message-channels.ts';
import { messageChannels as en } from '../../words/en/message-channels.ts';
import { messageChannels as es } from '../../words/es/message-channels.ts';
import { messageChannels as he } from '../../words/he/message-channels.ts';
import { pageWords } from '../../words/page-words.ts';
import { messageChannels as ru } from '../../words/ru/message-channels.ts';

/** Words of channels for messages, and of the rules that use them. */
export const channelWords = pageWords({ en, ru, de, es, he });
