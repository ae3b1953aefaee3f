import { type accessVariables, videoStoreOf, type videoStoreVariables } from '@outrider/backing';
import { type Config, secret, type Variables, whole } from '@outrider/runtime';
import type { ApiConfig } from './api.ts';

/** What the REST API is set up by. */
export const apiVariables = {
  ADMIN_PASSWORD: secret(
    'Password of the operator `admin`, read at the first start only; generated and printed once where unset.',
  ),
  LIMIT_FAILED_LOGINS_PER_MINUTE: whole(1, 1_000_000_000, 10, 'Failed logins per IP address.'),
  LIMIT_AUTHORIZED_PER_MINUTE: whole(1, 1_000_000_000, 180, 'Authorized calls per user.'),
  LIMIT_UNAUTHORIZED_PER_MINUTE: whole(
    1,
    1_000_000_000,
    60,
    'Unauthorized calls per IP address; pages, documentation, health and metrics are not counted.',
  ),
  BLOCK_SECONDS: whole(1, 86_400, 60, 'How long a user or an address that went over a limit is blocked.'),
  AUDIT_RETENTION_DAYS: whole(1, 36_500, 365, 'How long the audit trail is kept.'),
  REPORT_RETENTION_DAYS: whole(1, 30, 7, 'How long the files of reports are kept that were asked for as jobs.'),
  REPORT_QUOTA_MB: whole(
    1,
    100_000_000,
    10_240,
    'How much room all of these files together may take up; beyond it the oldest of whoever has the most go first.',
  ),
  REPORT_MAX_MB: whole(1, 1_000_000, 1024, 'How large one of them may become.'),
  VIDEO_TASK_HOURS: whole(1, 720, 24, 'How long a task that fetches video is tried.'),
} satisfies Variables;

/** The API's configuration as it stands in the settings. */
export function apiConfigOf(
  config: Config<typeof apiVariables & typeof accessVariables & typeof videoStoreVariables>,
): ApiConfig {
  return {
    sessionTtlSeconds: config.SESSION_TTL_SECONDS,
    limits: {
      failedLoginsPerMinute: config.LIMIT_FAILED_LOGINS_PER_MINUTE,
      authorizedPerMinute: config.LIMIT_AUTHORIZED_PER_MINUTE,
      unauthorizedPerMinute: config.LIMIT_UNAUTHORIZED_PER_MINUTE,
      blockSeconds: config.BLOCK_SECONDS,
    },
    trustedProxies: config.TRUSTED_PROXIES,
    allowPrivateWebhooks: config.WEBHOOK_ALLOW_PRIVATE === 'yes',
    video: { taskHours: config.VIDEO_TASK_HOURS, ...videoStoreOf(config) },
    reports: { retentionDays: config.REPORT_RETENTION_DAYS },
  };
}

const BYTES_PER_MB = 1_000_000;

/** How reports are made as files, as it stands in the settings. */
export function reportsConfigOf(config: Config<typeof apiVariables>) {
  return {
    retentionDays: config.REPORT_RETENTION_DAYS,
    quotaBytes: config.REPORT_QUOTA_MB * BYTES_PER_MB,
    maxFileBytes: config.REPORT_MAX_MB * BYTES_PER_MB,
  };
}
