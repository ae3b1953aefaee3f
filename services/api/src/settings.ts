import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GRANTABLE, type Grantable } from '@outrider/access';
import {
  type accessVariables,
  type commandVariables,
  dealerStorageBytes,
  dealerStorageVariables,
  engineBlockOf,
  publicUrlOf,
  pushHostsOf,
  pushKeysOf,
  type pushVariables,
  reportStoreOf,
  type reportStoreVariables,
  trustedAddresses,
  videoStoreOf,
  type videoStoreVariables,
} from '@outrider/backing';
import { DEFAULT_QUOTAS, defaultLimit, type QuotaKind, type QuotaLimits, type QuotaScope } from '@outrider/domain';
import { type Config, oneOf, secret, text, textOr, type Variables, whole } from '@outrider/runtime';
import type { ApiConfig } from './api.ts';
import { builtConsole } from './console.ts';
import { SPECIFIED_LIMITS } from './http/limits.ts';
import { onlineMapOf } from './maps/online-map.ts';
import type { ServiceLimits, UseName } from './operated-service.ts';
import { terminalPortsOf } from './terminal-listeners.ts';

const BYTES_PER_MB = 1_000_000;
const BYTES_PER_MIB = 1_048_576;

/** Default limit of a quota. The operator can set another for an account or dealer by the API. */
function quota(scope: QuotaScope, kind: QuotaKind, description: string) {
  return whole(0, 1_000_000_000, defaultLimit(DEFAULT_QUOTAS, scope, kind), description);
}

function quotaMb(scope: QuotaScope, description: string) {
  return whole(0, 1_000_000_000, defaultLimit(DEFAULT_QUOTAS, scope, 'storageBytes') / BYTES_PER_MB, description);
}

/** Settings of the REST API. */
export const apiVariables = {
  ADMIN_PASSWORD: secret(
    'Password of the operator `admin`, read at the first start only. If unset, a password is generated and printed once.',
  ),
  TERMINAL_HOST: text(
    'Host name or address that terminals connect to, shown in the console for installers. If unset, the host name under which the console was opened.',
  ),
  CONSOLE_DIR: text('Folder of a built console, served at `/`. If unset, the console of this installation.'),
  MAP_TILES_URL: text(
    'URL of the tiles of an online map for the console, with `{z}`, `{x}` and `{y}`. Vector tiles if the name ends in `.pbf` or `.mvt`, otherwise raster tiles. Browsers load them from that server, whose origin is added to the content security policy. If unset, there is no online map.',
  ),
  MAP_STYLE_URL: text(
    'URL of the style of an online map, instead of `MAP_TILES_URL`. Its tiles must have the same origin as the style.',
  ),
  MAP_ATTRIBUTION: text('Attribution shown on the online map.'),
  OIDC_ISSUER: text(
    'URL of an OpenID Connect provider for signing in to the console, exactly as in `iss` of its ID tokens. Register `PUBLIC_URL/auth/oidc/callback` there as redirect URI.',
  ),
  OIDC_CLIENT_ID: text('Client id of this service at the provider.'),
  OIDC_CLIENT_SECRET: secret('Client secret of this service at the provider.'),
  OIDC_CLIENT_SECRET_FILE: text('File with the client secret, instead of `OIDC_CLIENT_SECRET`.'),
  OIDC_NAME: textOr('OpenID Connect', 'Name of the provider on the login page.'),
  OIDC_SCOPES: textOr('openid profile email', 'Scopes requested from the provider, separated by spaces.'),
  OIDC_ROLE_CLAIM: text(
    'Claim that determines the role, such as `realm_access.roles`: operator by `OIDC_OPERATOR_VALUES`, dealer by `OIDC_DEALER_VALUES`. If unset, new accounts are users, and roles are not changed.',
  ),
  OIDC_OPERATOR_VALUES: textOr('', 'Values of that claim for operators, separated by commas.'),
  OIDC_DEALER_VALUES: textOr(
    '',
    'Values of that claim for dealers, separated by commas. They create a dealer’s account at the first sign-in. Later sign-ins of this account without such a value are refused.',
  ),
  OIDC_DEALER_CLAIM: text('Claim with the login of the dealer that a user belongs to.'),
  OIDC_GROUPS_CLAIM: text(
    'Claim with the names of all vehicle groups that the user has access to. If unset, groups are assigned in this service.',
  ),
  OIDC_RIGHTS_CLAIM: text(
    'Claim with all rights and services of the user, by `OIDC_RIGHTS_VALUES` or by their own names. If unset, they are granted in this service.',
  ),
  OIDC_RIGHTS_VALUES: textOr(
    '',
    `Rights and services that values of that claim grant, such as \`dispatchers=edit-geofences+commands,mechanics=maintenance\`: ${GRANTABLE.map((name) => `\`${name}\``).join(', ')}. Where unset, values of the claim are these names.`,
  ),
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
  LIMIT_API_KEY_PER_MINUTE: whole(
    1,
    1_000_000_000,
    SPECIFIED_LIMITS.apiKeyPerMinute,
    'Calls per API key. They do not count for its user.',
  ),
  LIMIT_UNAUTHORIZED_PER_MINUTE: whole(
    1,
    1_000_000_000,
    SPECIFIED_LIMITS.unauthorizedPerMinute,
    'Unauthorized calls per IP address. Pages, documentation, health and metrics are not counted.',
  ),
  BLOCK_SECONDS: whole(
    1,
    86_400,
    SPECIFIED_LIMITS.blockSeconds,
    'How long a user or an address is blocked after exceeding a limit.',
  ),
  AUDIT_RETENTION_DAYS: whole(1, 36_500, 365, 'How long the audit trail is kept.'),
  ERASURE_GRACE_DAYS: whole(
    0,
    365,
    7,
    'How long stored data is kept after the deletion of a vehicle or an account. Until then the erasure can be cancelled.',
  ),
  QUOTA_ACCOUNT_GEOFENCES: quota('account', 'geofences', 'Maximum number of geofences of an account.'),
  QUOTA_ACCOUNT_VERTICES: quota(
    'account',
    'geofenceVertices',
    'Maximum number of points of all geofences of an account together.',
  ),
  QUOTA_ACCOUNT_RULES: quota('account', 'notificationRules', 'Maximum number of notification rules of an account.'),
  QUOTA_ACCOUNT_SCHEDULES: quota('account', 'reportSchedules', 'Maximum number of report schedules of an account.'),
  QUOTA_ACCOUNT_SHARE_LINKS: quota('account', 'shareLinks', 'Maximum number of share links of an account.'),
  QUOTA_ACCOUNT_STORAGE_MB: quotaMb('account', 'Space for stored report files of an account.'),
  QUOTA_DEALER_GEOFENCES: quota('dealer', 'geofences', 'Geofences of a dealer and all its accounts together.'),
  QUOTA_DEALER_VERTICES: quota('dealer', 'geofenceVertices', 'Points of all of these geofences together.'),
  QUOTA_DEALER_RULES: quota('dealer', 'notificationRules', 'Notification rules of a dealer and all its accounts.'),
  QUOTA_DEALER_USERS: quota('dealer', 'users', 'Accounts of one dealer.'),
  QUOTA_DEALER_GROUPS: quota('dealer', 'vehicleGroups', 'Vehicle groups of one dealer.'),
  QUOTA_DEALER_DRIVERS: quota('dealer', 'drivers', 'Drivers of one dealer.'),
  QUOTA_DEALER_VEHICLES: quota('dealer', 'vehicles', 'Vehicles of one dealer.'),
  QUOTA_DEALER_SCHEDULES: quota('dealer', 'reportSchedules', 'Report schedules of a dealer and all its accounts.'),
  QUOTA_DEALER_SHARE_LINKS: quota('dealer', 'shareLinks', 'Share links of a dealer and all its accounts.'),
  ...dealerStorageVariables,
  SHARE_LINK_MAX_DAYS: whole(1, 3650, 30, 'Maximum lifetime of a share link.'),
  SHARE_LINK_VIEWS_PER_MINUTE: whole(
    1,
    1_000_000_000,
    300,
    'Calls for the data of share links per IP address. An open page makes 12 to 20 calls a minute.',
  ),
  COMMAND_EXPIRY_HOURS: whole(1, 720, 24, 'How long a command waits for its terminal by default.'),
  COMMAND_MAX_EXPIRY_HOURS: whole(1, 720, 168, 'Longest time that a command may wait for its terminal.'),
  COMMANDS_PER_MINUTE: whole(1, 100_000, 30, 'Maximum number of commands to terminals per account.'),
  HISTORY_IMPORTS_PER_MINUTE: whole(
    1,
    100_000,
    30,
    'Calls that import vehicle history (up to 20,000 positions each) per dealer with all its accounts.',
  ),
  TRACCAR_API: oneOf(
    ['on', 'off'],
    'on',
    'Whether clients of Traccar, such as Home Assistant, are served under `/api/`: read-only, with the rights of their accounts.',
  ),
  VIDEO_TASK_HOURS: whole(1, 720, 24, 'How long a video task is retried.'),
} satisfies Variables;

/** The API's configuration from the settings. */
export function apiConfigOf(
  config: Config<
    typeof apiVariables &
      typeof commandVariables &
      typeof accessVariables &
      typeof pushVariables &
      typeof videoStoreVariables &
      typeof reportStoreVariables
  >,
): ApiConfig {
  const consoleDir = config.CONSOLE_DIR ?? builtConsole();
  return {
    sessionTtlSeconds: config.SESSION_TTL_SECONDS,
    openId: openIdOf(config),
    publicUrl: config.PUBLIC_URL,
    limits: {
      failedLoginsPerMinute: config.LIMIT_FAILED_LOGINS_PER_MINUTE,
      authorizedPerMinute: config.LIMIT_AUTHORIZED_PER_MINUTE,
      apiKeyPerMinute: config.LIMIT_API_KEY_PER_MINUTE,
      unauthorizedPerMinute: config.LIMIT_UNAUTHORIZED_PER_MINUTE,
      blockSeconds: config.BLOCK_SECONDS,
    },
    trustedProxies: config.TRUSTED_PROXIES,
    corsOrigins: config.CORS_ORIGINS,
    consoleDir,
    terminals: { host: config.TERMINAL_HOST, ...terminalPortsOf(config) },
    mapFolders: [join(config.DATA_DIR, 'maps'), ...(consoleDir === null ? [] : [join(consoleDir, 'maps')])],
    onlineMap: onlineMapOf(config),
    allowPrivateWebhooks: config.WEBHOOK_ALLOW_PRIVATE === 'yes',
    push: { hosts: pushHostsOf(config), keys: pushKeysOf(config) },
    isTrustedAddress: trustedAddresses(config),
    video: { taskHours: config.VIDEO_TASK_HOURS, ...videoStoreOf(config) },
    commands: {
      ...engineBlockOf(config),
      defaultExpirySeconds: Math.min(config.COMMAND_EXPIRY_HOURS, config.COMMAND_MAX_EXPIRY_HOURS) * 3600,
      maxExpirySeconds: config.COMMAND_MAX_EXPIRY_HOURS * 3600,
      perMinute: config.COMMANDS_PER_MINUTE,
    },
    share: { maxDays: config.SHARE_LINK_MAX_DAYS, viewsPerMinute: config.SHARE_LINK_VIEWS_PER_MINUTE },
    history: { importsPerMinute: config.HISTORY_IMPORTS_PER_MINUTE },
    reports: reportStoreOf(config),
    erasure: { graceMs: config.ERASURE_GRACE_DAYS * 86_400_000 },
    serviceLimits: serviceLimitsOf(config),
    traccarApi: config.TRACCAR_API === 'on',
  };
}

/** @throws {Error} when the settings of a provider are incomplete, or its URL is neither HTTPS nor of this machine */
export function openIdOf(
  config: Pick<Config<typeof apiVariables>, `OIDC_${string}` & keyof typeof apiVariables> &
    Parameters<typeof publicUrlOf>[0],
): NonNullable<ApiConfig['openId']> | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET_FILE: file } = config;
  if (issuer === null) return null;
  const { protocol, hostname } = URL.canParse(issuer) ? new URL(issuer) : { protocol: '', hostname: '' };
  if (protocol !== 'https:' && !(protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)))
    throw new Error('OIDC_ISSUER must be an https:// URL');
  const clientSecret = file === null ? config.OIDC_CLIENT_SECRET : readFileSync(file, 'utf8').trim();
  if (clientId === null || !clientSecret)
    throw new Error('OIDC_ISSUER needs OIDC_CLIENT_ID, and OIDC_CLIENT_SECRET or OIDC_CLIENT_SECRET_FILE');
  return {
    issuer,
    clientId,
    clientSecret,
    scopes: config.OIDC_SCOPES,
    name: config.OIDC_NAME,
    publicUrl: publicUrlOf(config),
    mapping: {
      roleClaim: config.OIDC_ROLE_CLAIM,
      operatorValues: valuesOf(config.OIDC_OPERATOR_VALUES),
      dealerValues: valuesOf(config.OIDC_DEALER_VALUES),
      dealerClaim: config.OIDC_DEALER_CLAIM,
      groupsClaim: config.OIDC_GROUPS_CLAIM,
      rightsClaim: config.OIDC_RIGHTS_CLAIM,
      rightsValues: rightsValuesOf(config),
    },
  };
}

/** @throws {Error} when a value grants an unknown right, or no claim is set for the values */
function rightsValuesOf({
  OIDC_RIGHTS_CLAIM: claim,
  OIDC_RIGHTS_VALUES: text,
}: Pick<Config<typeof apiVariables>, 'OIDC_RIGHTS_CLAIM' | 'OIDC_RIGHTS_VALUES'>): ReadonlyMap<
  string,
  readonly Grantable[]
> | null {
  const entries = valuesOf(text);
  if (entries.length === 0) return null;
  if (claim === null) throw new Error('OIDC_RIGHTS_VALUES needs OIDC_RIGHTS_CLAIM');
  const granted = new Map<string, Grantable[]>();
  for (const entry of entries) {
    // Names of rights have no `=`; values may.
    const at = entry.lastIndexOf('=');
    const value = entry.slice(0, Math.max(at, 0)).trim();
    const names = entry.slice(at + 1).split('+');
    const rights = names.flatMap((name) => GRANTABLE.find((each) => each === name.trim()) ?? []);
    if (value === '' || rights.length < names.length)
      throw new Error(
        `OIDC_RIGHTS_VALUES has "${entry}", which is not as "value=right+right" with rights of ${GRANTABLE.join(', ')}`,
      );
    granted.set(value, [...(granted.get(value) ?? []), ...rights]);
  }
  return granted;
}

function valuesOf(text: string): string[] {
  return text.split(',').flatMap((value) => value.trim() || []);
}

/** Limits from the settings of this process. On servers, those of other services are unknown here. */
function serviceLimitsOf(config: Readonly<Record<string, unknown>>): ServiceLimits {
  const limits = {
    liveClients: ['MAX_LIVE_CONNECTIONS', 1],
    logBytes: ['TELEMETRY_RETENTION_MB', BYTES_PER_MIB],
    videoBytes: ['VIDEO_QUOTA_MB', BYTES_PER_MB],
    reportBytes: ['REPORT_QUOTA_MB', BYTES_PER_MB],
  } as const satisfies Partial<Record<UseName, readonly [setting: string, unit: number]>>;
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, [setting, unit]]) => {
      const value = config[setting];
      // 0 means no limit.
      return typeof value === 'number' && value > 0 ? [[name, value * unit]] : [];
    }),
  );
}

/** Default limits of accounts and dealers, from the settings. */
export function quotasOf(config: Config<typeof apiVariables>): QuotaLimits {
  return {
    account: {
      geofences: config.QUOTA_ACCOUNT_GEOFENCES,
      geofenceVertices: config.QUOTA_ACCOUNT_VERTICES,
      notificationRules: config.QUOTA_ACCOUNT_RULES,
      reportSchedules: config.QUOTA_ACCOUNT_SCHEDULES,
      shareLinks: config.QUOTA_ACCOUNT_SHARE_LINKS,
      storageBytes: config.QUOTA_ACCOUNT_STORAGE_MB * BYTES_PER_MB,
    },
    dealer: {
      geofences: config.QUOTA_DEALER_GEOFENCES,
      geofenceVertices: config.QUOTA_DEALER_VERTICES,
      notificationRules: config.QUOTA_DEALER_RULES,
      users: config.QUOTA_DEALER_USERS,
      vehicleGroups: config.QUOTA_DEALER_GROUPS,
      vehicles: config.QUOTA_DEALER_VEHICLES,
      drivers: config.QUOTA_DEALER_DRIVERS,
      reportSchedules: config.QUOTA_DEALER_SCHEDULES,
      shareLinks: config.QUOTA_DEALER_SHARE_LINKS,
      storageBytes: dealerStorageBytes(config),
    },
  };
}
