import type { UserId } from './ids.ts';

/**
 * Resources limited for an account, or for a dealer together with all its accounts. `storageBytes` counts files: the
 * reports of accounts, and for a dealer the videos of its vehicles as well.
 */
export const QUOTA_KINDS = [
  'geofences',
  'geofenceVertices',
  'notificationRules',
  'users',
  'vehicleGroups',
  'vehicles',
  'drivers',
  'reportSchedules',
  'shareLinks',
  'storageBytes',
] as const;
export type QuotaKind = (typeof QUOTA_KINDS)[number];

/**
 * `account`: what one account owns. `dealer`: what a dealer and its accounts own together, with the dealer's vehicles.
 */
export const QUOTA_SCOPES = ['account', 'dealer'] as const;
export type QuotaScope = (typeof QUOTA_SCOPES)[number];

/** Resources that belong to dealers: a single account owns none of them. */
export const DEALER_QUOTA_KINDS = ['users', 'vehicleGroups', 'vehicles', 'drivers'] as const;
export type DealerQuotaKind = (typeof DEALER_QUOTA_KINDS)[number];
export type AccountQuotaKind = Exclude<QuotaKind, DealerQuotaKind>;

export function isOfDealers(kind: QuotaKind): kind is DealerQuotaKind {
  return (DEALER_QUOTA_KINDS as readonly QuotaKind[]).includes(kind);
}

export type KindIn<S extends QuotaScope> = S extends 'account' ? AccountQuotaKind : QuotaKind;

/** Limits of all kinds. */
export interface QuotaLimits {
  account: Readonly<Record<AccountQuotaKind, number>>;
  dealer: Readonly<Record<QuotaKind, number>>;
}

/** Limits of accounts and dealers for which no others are set. */
export const DEFAULT_QUOTAS: QuotaLimits = {
  account: {
    geofences: 10_000,
    geofenceVertices: 500_000,
    notificationRules: 1000,
    reportSchedules: 50,
    shareLinks: 100,
    storageBytes: 10_000_000_000,
  },
  dealer: {
    geofences: 100_000,
    geofenceVertices: 2_000_000,
    notificationRules: 20_000,
    users: 5000,
    vehicleGroups: 10_000,
    vehicles: 20_000,
    drivers: 20_000,
    reportSchedules: 2000,
    shareLinks: 5000,
    storageBytes: 100_000_000_000,
  },
};

/** How much of one quota is used. */
export interface QuotaUse {
  scope: QuotaScope;
  kind: QuotaKind;
  used: number;
  limit: number;
  /** True where the limit was set for this account or dealer; false: the default applies. */
  isSet: boolean;
}

/** Kinds of quota that exist in a scope. */
export function kindsOf(scope: QuotaScope): readonly QuotaKind[] {
  return scope === 'dealer' ? QUOTA_KINDS : QUOTA_KINDS.filter((kind) => !isOfDealers(kind));
}

/** The limit that applies where none was set. */
export function defaultLimit(limits: QuotaLimits, scope: QuotaScope, kind: QuotaKind): number {
  if (scope === 'dealer') return limits.dealer[kind];
  return isOfDealers(kind) ? 0 : limits.account[kind];
}

/** One limit of one account or dealer; null: the default applies. */
export interface QuotaSetting {
  userId: UserId;
  scope: QuotaScope;
  kind: QuotaKind;
  limit: number | null;
}
