import { type Config, type Variables, whole } from '@outrider/runtime';

/** What whoever is asked for videos and whoever fetches them must agree about. */
export const videoStoreVariables = {
  VIDEO_RETENTION_DAYS: whole(1, 3650, 30, 'How long videos are kept.'),
  VIDEO_QUOTA_MB: whole(
    1,
    100_000_000,
    20_480,
    'How much room all videos together may take up; beyond it the oldest go first.',
  ),
} satisfies Variables;

const BYTES_PER_MB = 1_000_000;

/** How long videos are kept, and how much of them, as it stands in the settings. */
export function videoStoreOf(config: Config<typeof videoStoreVariables>): {
  retentionDays: number;
  quotaBytes: number;
} {
  return { retentionDays: config.VIDEO_RETENTION_DAYS, quotaBytes: config.VIDEO_QUOTA_MB * BYTES_PER_MB };
}
