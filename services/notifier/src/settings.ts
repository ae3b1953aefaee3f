import { channelVariables } from '@outrider/channels';
import { type Config, type Variables, whole } from '@outrider/runtime';
import type { NotifierConfig } from './live/notifier.ts';

/** Environment variables of the notifier. */
export const notifierVariables = {
  MAX_LIVE_CONNECTIONS: {
    ...whole(1, 1_000_000, 10_000, 'Open WebSockets of the live API; further ones are refused.'),
    allowsConnections: true,
  },
  MAX_LIVE_CONNECTIONS_PER_USER: whole(1, 1_000_000, 100, 'The same of one account.'),
  MAX_LIVE_CONNECTIONS_PER_ADDRESS: whole(
    1,
    1_000_000,
    1000,
    'The same of one address; the own machine is not bounded by it.',
  ),
  LIVE_UNSENT_MB: whole(
    16,
    65_536,
    256,
    'What may wait in memory for slow clients of the live API, all together; beyond it those with the most are disconnected.',
  ),
  NOTIFICATION_RETENTION_DAYS: whole(
    7,
    3650,
    90,
    'How long notifications and their deliveries are kept; of each user the newest 10,000 at most.',
  ),
  ...channelVariables,
  MESSAGE_CHANNEL_HOURLY: whole(
    1,
    1_000_000,
    60,
    'Messages an hour to one chat, or by one call of an HTTP API; the surplus is not sent.',
  ),
  MESSAGE_CHANNEL_DAILY: whole(1, 1_000_000, 500, 'The same a day.'),
  COMMAND_RETENTION_DAYS: whole(1, 3650, 90, 'How long commands to terminals are listed after they ended.'),
} satisfies Variables;

const BYTES_PER_MB = 1_000_000;

/** The limits of the live API from the settings. */
export function liveConfigOf(config: Config<typeof notifierVariables>): NotifierConfig {
  return {
    maxConnections: config.MAX_LIVE_CONNECTIONS,
    maxPerUser: config.MAX_LIVE_CONNECTIONS_PER_USER,
    maxPerAddress: config.MAX_LIVE_CONNECTIONS_PER_ADDRESS,
    maxUnsentBytes: config.LIVE_UNSENT_MB * BYTES_PER_MB,
  };
}
