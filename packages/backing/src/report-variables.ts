import { type Config, type Variables, whole } from '@outrider/runtime';

const BYTES_PER_MB = 1_000_000;

/** Retention and size of stored reports: the API shows them, the reporter enforces them. */
export const reportStoreVariables = {
  REPORT_RETENTION_DAYS: whole(1, 30, 7, 'How long files of report jobs are kept.'),
  REPORT_QUOTA_MB: whole(
    1,
    100_000_000,
    10_240,
    'Space for files of report jobs. Beyond it, the oldest files of the account that uses the most are deleted first.',
  ),
  REPORT_MAX_MB: whole(1, 1_000_000, 1024, 'Maximum size of one such file.'),
} satisfies Variables;

/** The limits of report files, in days and bytes. */
export function reportStoreOf(config: Config<typeof reportStoreVariables>) {
  return {
    retentionDays: config.REPORT_RETENTION_DAYS,
    quotaBytes: config.REPORT_QUOTA_MB * BYTES_PER_MB,
    maxFileBytes: config.REPORT_MAX_MB * BYTES_PER_MB,
  };
}
