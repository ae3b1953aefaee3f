import { writeFileSync } from 'node:fs';
import { CHANNEL_KINDS_FILE, channelKinds } from './channel-kinds.ts';

writeFileSync(CHANNEL_KINDS_FILE, channelKinds());
