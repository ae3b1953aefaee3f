import { type KindIn, QUOTA_SCOPES, type QuotaKind, type QuotaScope, type QuotaUse, type User } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { badField, type ExceededQuota, Problem } from './problem.ts';
import { isOperator } from './rights.ts';

/** New limits by scope and kind; null resets one to its default. */
export type QuotaPatch = { [S in QuotaScope]?: { [K in KindIn<S>]?: number | null | undefined } | undefined };

/**
 * Sets limits of an account that the caller may change. Dealers set those of their users, up to their own limits.
 *
 * @throws {Problem} when the caller may not set a limit
 */
export async function setQuotas(
  registry: Pick<Registry, 'quotas'>,
  caller: User,
  user: Pick<User, 'id' | 'role'>,
  patch: QuotaPatch,
): Promise<void> {
  if (patch.dealer !== undefined) {
    if (!isOperator(caller)) throw new Problem('forbidden', 'Only operators may set the quotas of dealers.');
    if (user.role !== 'dealer') throw badField('/dealer', 'This account is not a dealer.');
  }
  const settings = QUOTA_SCOPES.flatMap((scope) =>
    Object.entries(patch[scope] ?? {}).flatMap(([kind, limit]) =>
      limit === undefined ? [] : [{ scope, kind: kind as QuotaKind, limit }],
    ),
  );
  await registry.quotas.set(user.id, settings, async (limitOfDealer) => {
    if (isOperator(caller)) return;
    for (const { kind, limit } of settings) {
      const most = await limitOfDealer(kind);
      if (limit !== null && most !== null && limit > most)
        throw badField(`/account/${kind}`, `It must be at most ${most}, the limit of the dealer.`);
    }
  });
}

/** Quotas by scope and kind, in the form of a response. */
export function quotasBody(quotas: readonly QuotaUse[]) {
  const ofScope = (wanted: QuotaScope) => {
    const uses = quotas.filter(({ scope }) => scope === wanted);
    return uses.length === 0
      ? null
      : Object.fromEntries(uses.map(({ kind, used, limit, isSet }) => [kind, { used, limit, isSet }]));
  };
  return { account: ofScope('account'), dealer: ofScope('dealer') };
}

const NAMES = {
  geofences: 'geofences',
  geofenceVertices: 'points of geofences',
  notificationRules: 'notification rules',
  users: 'accounts',
  vehicleGroups: 'vehicle groups',
  vehicles: 'vehicles',
  drivers: 'drivers',
  reportSchedules: 'report schedules',
  shareLinks: 'share links',
  storageBytes: 'bytes of stored files',
} as const satisfies Record<QuotaKind, string>;

/** Refusal of a write that would exceed a quota. */
export function quotaExceeded({ scope, kind, limit, used, requested }: ExceededQuota): Problem {
  const owner = scope === 'account' ? 'The account' : 'The dealer with all its accounts';
  return new Problem(
    'quota-exceeded',
    `${owner} may have at most ${limit} ${NAMES[kind]}: ${used} exist, and ${requested} more are needed.`,
    { quota: { scope, kind, limit, used, requested } },
  );
}
