import { channelVariables } from '@outrider/channels';
import { type Config, type Variables, whole } from '@outrider/runtime';
import type { NotifierConfig } from './live/notifier.ts';

/** Environment variables of the notifier. */
export const notifierVariables = {
  MAX_LIVE_CONNECTIONS: {
    ...whole(1, 1_000_000, 10_000, 'Maximum number of open WebSockets of the live API. Further ones are refused.'),
    allowsConnections: true,
  },
  MAX_LIVE_CONNECTIONS_PER_USER: whole(1, 1_000_000, 100, 'The same per account.'),
  MAX_LIVE_CONNECTIONS_PER_ADDRESS: whole(
    1,
    1_000_000,
    1000,
    'The same per address. Does not apply to connections from this machine.',
  ),
  LIVE_UNSENT_MB: whole(
    16,
    65_536,
    256,
    'Memory for unsent messages of all slow clients of the live API together. Beyond it, the clients with the most are disconnected.',
  ),
  NOTIFICATION_RETENTION_DAYS: whole(
    7,
    3650,
    90,
    'How long notifications and their deliveries are kept. At most the newest 10,000 are kept for each user.',
  ),
  ...channelVariables,
  MESSAGE_CHANNEL_HOURLY: whole(
    1,
    1_000_000,
    60,
    'Maximum number of messages per hour to one chat, or to one HTTP API. Further ones are not sent.',
  ),
  MESSAGE_CHANNEL_DAILY: whole(1, 1_000_000, 500, 'The same per day.'),
  COMMAND_RETENTION_DAYS: whole(1, 3650, 90, 'How long finished commands to terminals are kept.'),
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
