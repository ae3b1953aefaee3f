import { DEFAULT_QUOTAS } from '@outrider/domain';
import { type Config, type Variables, whole } from '@outrider/runtime';

const BYTES_PER_MB = 1_000_000;

/** Storage limit of a dealer: the API shows it, the video service enforces it. */
export const dealerStorageVariables = {
  QUOTA_DEALER_STORAGE_MB: whole(
    0,
    1_000_000_000,
    DEFAULT_QUOTAS.dealer.storageBytes / BYTES_PER_MB,
    'Space for stored videos and report files of a dealer and all its accounts. Beyond it, the oldest videos of the dealer are deleted first.',
  ),
} satisfies Variables;

export function dealerStorageBytes(config: Config<typeof dealerStorageVariables>): number {
  return config.QUOTA_DEALER_STORAGE_MB * BYTES_PER_MB;
}

/** Settings that the API and the video service must share. */
export const videoStoreVariables = {
  VIDEO_RETENTION_DAYS: whole(1, 3650, 30, 'How long videos are kept.'),
  VIDEO_QUOTA_MB: whole(
    1,
    100_000_000,
    20_480,
    'Space for all videos. Beyond it, the oldest videos of the dealer that uses the most are deleted first.',
  ),
} satisfies Variables;

/** Retention and storage limits of videos, from the settings. */
export function videoStoreOf(config: Config<typeof videoStoreVariables>): {
  retentionDays: number;
  quotaBytes: number;
} {
  return { retentionDays: config.VIDEO_RETENTION_DAYS, quotaBytes: config.VIDEO_QUOTA_MB * BYTES_PER_MB };
}
