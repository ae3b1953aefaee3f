import { join } from 'node:path';
import {
  type accessVariables,
  dealerStorageBytes,
  dealerStorageVariables,
  reportStoreOf,
  type reportStoreVariables,
  trustedAddresses,
  videoStoreOf,
  type videoStoreVariables,
} from '@outrider/backing';
import { DEFAULT_QUOTAS, defaultLimit, type QuotaKind, type QuotaLimits, type QuotaScope } from '@outrider/domain';
import { type Config, secret, text, type Variables, whole } from '@outrider/runtime';
import type { ApiConfig } from './api.ts';
import { builtConsole } from './console.ts';
import { SPECIFIED_LIMITS } from './limits.ts';

const BYTES_PER_MB = 1_000_000;

/** The default limit of a quota; of a single account or dealer the operator sets another by the API. */
function quota(scope: QuotaScope, kind: QuotaKind, description: string) {
  return whole(0, 1_000_000_000, defaultLimit(DEFAULT_QUOTAS, scope, kind), description);
}

function quotaMb(scope: QuotaScope, description: string) {
  return whole(0, 1_000_000_000, defaultLimit(DEFAULT_QUOTAS, scope, 'storageBytes') / BYTES_PER_MB, description);
}

/** What the REST API is set up by. */
export const apiVariables = {
  ADMIN_PASSWORD: secret(
    'Password of the operator `admin`, read at the first start only; generated and printed once where unset.',
  ),
  CONSOLE_DIR: text('Folder of a built console, served at `/`; where unset, that of this installation.'),
  LIMIT_FAILED_LOGINS_PER_MINUTE: whole(
    1,
    1_000_000_000,
    SPECIFIED_LIMITS.failedLoginsPerMinute,
    'Failed logins per IP address.',
  ),
  LIMIT_AUTHORIZED_PER_MINUTE: whole(
    1,
    1_000_000_000,
    SPECIFIED_LIMITS.authorizedPerMinute,
    'Authorized calls per user.',
  ),
  LIMIT_UNAUTHORIZED_PER_MINUTE: whole(
    1,
    1_000_000_000,
    SPECIFIED_LIMITS.unauthorizedPerMinute,
    'Unauthorized calls per IP address; pages, documentation, health and metrics are not counted.',
  ),
  BLOCK_SECONDS: whole(
    1,
    86_400,
    SPECIFIED_LIMITS.blockSeconds,
    'How long a user or an address that went over a limit is blocked.',
  ),
  AUDIT_RETENTION_DAYS: whole(1, 36_500, 365, 'How long the audit trail is kept.'),
  ERASURE_GRACE_DAYS: whole(
    0,
    365,
    7,
    'How long after the deletion of a vehicle or an account its stored data is kept; until then the erasure can be cancelled.',
  ),
  QUOTA_ACCOUNT_GEOFENCES: quota('account', 'geofences', 'Geofences that one account may have.'),
  QUOTA_ACCOUNT_VERTICES: quota('account', 'geofenceVertices', 'Points of all geofences of one account together.'),
  QUOTA_ACCOUNT_RULES: quota('account', 'notificationRules', 'Notification rules that one account may have.'),
  QUOTA_ACCOUNT_SCHEDULES: quota('account', 'reportSchedules', 'Report schedules that one account may have.'),
  QUOTA_ACCOUNT_STORAGE_MB: quotaMb('account', 'Stored files of reports of one account.'),
  QUOTA_DEALER_GEOFENCES: quota('dealer', 'geofences', 'Geofences of a dealer and all its accounts together.'),
  QUOTA_DEALER_VERTICES: quota('dealer', 'geofenceVertices', 'Points of all of these geofences together.'),
  QUOTA_DEALER_RULES: quota('dealer', 'notificationRules', 'Notification rules of a dealer and all its accounts.'),
  QUOTA_DEALER_VEHICLES: quota('dealer', 'vehicles', 'Vehicles of one dealer.'),
  QUOTA_DEALER_SCHEDULES: quota('dealer', 'reportSchedules', 'Report schedules of a dealer and all its accounts.'),
  ...dealerStorageVariables,
  VIDEO_TASK_HOURS: whole(1, 720, 24, 'How long a task that fetches video is tried.'),
} satisfies Variables;

/** The API's configuration as it stands in the settings. */
export function apiConfigOf(
  config: Config<
    typeof apiVariables & typeof accessVariables & typeof videoStoreVariables & typeof reportStoreVariables
  >,
): ApiConfig {
  const consoleDir = config.CONSOLE_DIR ?? builtConsole();
  return {
    sessionTtlSeconds: config.SESSION_TTL_SECONDS,
    limits: {
      failedLoginsPerMinute: config.LIMIT_FAILED_LOGINS_PER_MINUTE,
      authorizedPerMinute: config.LIMIT_AUTHORIZED_PER_MINUTE,
      unauthorizedPerMinute: config.LIMIT_UNAUTHORIZED_PER_MINUTE,
      blockSeconds: config.BLOCK_SECONDS,
    },
    trustedProxies: config.TRUSTED_PROXIES,
    consoleDir,
    mapFolders: [join(config.DATA_DIR, 'maps'), ...(consoleDir === null ? [] : [join(consoleDir, 'maps')])],
    allowPrivateWebhooks: config.WEBHOOK_ALLOW_PRIVATE === 'yes',
    isTrustedAddress: trustedAddresses(config),
    video: { taskHours: config.VIDEO_TASK_HOURS, ...videoStoreOf(config) },
    reports: reportStoreOf(config),
    erasure: { graceMs: config.ERASURE_GRACE_DAYS * 86_400_000 },
  };
}

/** The limits of accounts and dealers for which no others are set, as they stand in the settings. */
export function quotasOf(config: Config<typeof apiVariables>): QuotaLimits {
  return {
    account: {
      geofences: config.QUOTA_ACCOUNT_GEOFENCES,
      geofenceVertices: config.QUOTA_ACCOUNT_VERTICES,
      notificationRules: config.QUOTA_ACCOUNT_RULES,
      reportSchedules: config.QUOTA_ACCOUNT_SCHEDULES,
      storageBytes: config.QUOTA_ACCOUNT_STORAGE_MB * BYTES_PER_MB,
    },
    dealer: {
      geofences: config.QUOTA_DEALER_GEOFENCES,
      geofenceVertices: config.QUOTA_DEALER_VERTICES,
      notificationRules: config.QUOTA_DEALER_RULES,
      vehicles: config.QUOTA_DEALER_VEHICLES,
      reportSchedules: config.QUOTA_DEALER_SCHEDULES,
      storageBytes: dealerStorageBytes(config),
    },
  };
}
