import {
  type Definition,
  defaultLimit,
  kindsOf,
  QUOTA_SCOPES,
  type QuotaKind,
  type QuotaLimits,
  type QuotaScope,
  type QuotaSetting,
  type QuotaUse,
  type User,
  type UserId,
  verticesOf,
} from '@outrider/domain';
import { dealersOfUser } from '../audit/audit-notes.ts';
import { NotFoundError, QuotaExceededError } from './errors.ts';
import { inChunks } from './lists.ts';
import type { Reader, Store, Writer } from './store.ts';

/** Kinds counted at every write. Files are stored by other services, which call {@link Quotas.use}. */
type Counted = Exclude<QuotaKind, 'storageBytes'>;
type Counts = Partial<Record<Counted, number>>;

/** Kinds of definitions that belong to dealers, with the quota that they count towards. */
const KINDS_OF_DEALERS = {
  user: 'users',
  group: 'vehicleGroups',
  vehicle: 'vehicles',
  driver: 'drivers',
} as const satisfies Partial<Record<Definition['kind'], Counted>>;

/** Changes that a transaction makes to the amounts that accounts and dealers use. */
export class QuotaGrowth {
  readonly #ofOwner = new Map<UserId, Counts>();
  readonly #ofDealer = new Map<UserId, Counts>();
  /** Accounts that moved to a dealer, with everything that they own. */
  readonly #moved = new Map<UserId, UserId>();

  /** Counts a change of a definition. Null: it does not exist before, or after it. */
  note(before: Definition | null, after: Definition | null): void {
    if (before !== null) this.#count(before, -1);
    if (after !== null) this.#count(after, 1);
    if (after?.kind !== 'user' || before?.kind !== 'user') return;
    if (after.dealerId !== null && after.dealerId !== before.dealerId) this.#moved.set(after.id, after.dealerId);
  }

  /** Counts `by` more of a kind that an account owns and that is not a definition. */
  add(ownerId: UserId, kind: Counted, by: number): void {
    const counts = this.#ofOwner.get(ownerId) ?? {};
    counts[kind] = (counts[kind] ?? 0) + by;
    this.#ofOwner.set(ownerId, counts);
  }

  #count(definition: Definition, by: 1 | -1): void {
    switch (definition.kind) {
      case 'geofence':
        this.add(definition.ownerId, 'geofences', by);
        this.add(definition.ownerId, 'geofenceVertices', by * verticesOf(definition.shape));
        break;
      case 'notification-rule':
        this.add(definition.ownerId, 'notificationRules', by);
        break;
      case 'user':
      case 'group':
      case 'vehicle':
      case 'driver':
        if (definition.dealerId !== null)
          addTo(this.#ofDealer, definition.dealerId, { [KINDS_OF_DEALERS[definition.kind]]: by });
        break;
    }
  }

  /**
   * Checks the amounts that grew, by the tables as the transaction leaves them. Writers are serialized, so parallel
   * requests and instances can't exceed a limit together. Amounts that do not grow pass, even where the limit was
   * lowered below what is used.
   *
   * @throws {QuotaExceededError}
   */
  async check({ tx, quotas }: Pick<Writer, 'tx' | 'quotas'>): Promise<void> {
    const growing = [...this.#ofOwner].filter(([, counts]) => Object.values(counts).some((by) => by > 0));
    const ofDealer = new Map<UserId, Counts>();
    if (growing.length > 0) {
      const dealers = await dealersOf(tx, [...this.#ofOwner.keys()]);
      for (const [ownerId, counts] of growing) await require(tx, quotas, 'account', ownerId, counts);
      for (const [ownerId, counts] of this.#ofOwner) {
        const dealerId = dealers.get(ownerId) ?? null;
        if (dealerId !== null) addTo(ofDealer, dealerId, counts);
      }
    }
    for (const [dealerId, counts] of this.#ofDealer) addTo(ofDealer, dealerId, counts);
    for (const [userId, dealerId] of this.#moved) {
      const owned: Counts = {};
      for (const kind of kindsOf('account'))
        if (kind !== 'storageBytes') owned[kind as Counted] = await usedOf(tx, 'account', userId, kind);
      addTo(ofDealer, dealerId, owned);
    }
    for (const [dealerId, counts] of ofDealer) await require(tx, quotas, 'dealer', dealerId, counts);
  }
}

function addTo(all: Map<UserId, Counts>, id: UserId, more: Counts): void {
  const counts = all.get(id) ?? {};
  for (const [kind, by] of Object.entries(more) as [Counted, number][]) counts[kind] = (counts[kind] ?? 0) + by;
  all.set(id, counts);
}

async function require(
  db: Reader,
  quotas: QuotaLimits,
  scope: QuotaScope,
  userId: UserId,
  counts: Counts,
): Promise<void> {
  for (const [kind, by] of Object.entries(counts) as [Counted, number][]) {
    if (by <= 0) continue;
    const { limit } = await limitOf(db, quotas, scope, userId, kind);
    const used = await usedOf(db, scope, userId, kind);
    if (used > limit) throw new QuotaExceededError({ scope, kind, limit, used: used - by, requested: by });
  }
}

/** Limits of accounts and dealers, and the amounts used. */
export class Quotas {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The quotas of an account; of a dealer also those of the dealer as a whole. */
  async ofUser(user: Pick<User, 'id' | 'role'>): Promise<QuotaUse[]> {
    const uses: QuotaUse[] = [];
    for (const scope of QUOTA_SCOPES)
      if (scope === 'account' || user.role === 'dealer')
        for (const kind of kindsOf(scope)) uses.push(await this.use(user.id, scope, kind));
    return uses;
  }

  /** One quota of one account or dealer. */
  async use(userId: UserId, scope: QuotaScope, kind: QuotaKind): Promise<QuotaUse> {
    const { db, quotas } = this.#store;
    const limit = await limitOf(db, quotas, scope, userId, kind);
    return { scope, kind, used: await usedOf(db, scope, userId, kind), ...limit };
  }

  /**
   * Sets limits of one account, or resets them to the defaults. What is used already stays.
   *
   * @param check called in the transaction, with a lookup of the limits of the account's dealer; may throw
   * @throws {NotFoundError}
   */
  set(
    userId: UserId,
    settings: readonly Omit<QuotaSetting, 'userId'>[],
    check: (limitOfDealer: (kind: QuotaKind) => Promise<number | null>) => Promise<void>,
  ): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx, quotas } = writer;
      const user = await tx
        .selectFrom('users')
        .select(['id', 'login', 'role', 'dealerId'])
        .where('id', '=', userId)
        .executeTakeFirst();
      if (!user) throw new NotFoundError('user', userId);
      const dealerId = user.dealerId as UserId | null;
      await check(async (kind) =>
        dealerId === null ? null : (await limitOf(tx, quotas, 'dealer', dealerId, kind)).limit,
      );
      const before: Record<string, number> = {};
      const after: Record<string, number> = {};
      for (const { scope, kind, limit } of settings) {
        const was = await limitOf(tx, quotas, scope, userId, kind);
        const is = limit ?? defaultLimit(quotas, scope, kind);
        if (was.limit === is && was.isSet === (limit !== null)) continue;
        before[`${scope}.${kind}`] = was.limit;
        after[`${scope}.${kind}`] = is;
        await tx
          .deleteFrom('quotaLimits')
          .where('userId', '=', userId)
          .where('scope', '=', scope)
          .where('kind', '=', kind)
          .execute();
        if (limit !== null)
          await tx.insertInto('quotaLimits').values({ userId, scope, kind, maxValue: limit }).execute();
      }
      if (Object.keys(after).length === 0) return;
      writer.note({
        action: 'quotas-changed',
        subject: { kind: 'user', id: userId, name: user.login },
        before,
        after,
        dealerIds: dealersOfUser({ id: userId, role: user.role as User['role'], dealerId }),
      });
    });
  }
}

/**
 * Checks that a file fits into the quotas, in the transaction that records it.
 *
 * @param owners the account that uploads it, and the dealer that it belongs to
 * @throws {QuotaExceededError}
 */
export async function requireStorage(
  { tx, quotas }: Pick<Writer, 'tx' | 'quotas'>,
  owners: { account: UserId; dealer: UserId | null },
  requested: number,
): Promise<void> {
  for (const scope of QUOTA_SCOPES) {
    const userId = owners[scope];
    if (userId === null) continue;
    const { limit } = await limitOf(tx, quotas, scope, userId, 'storageBytes');
    const used = await usedOf(tx, scope, userId, 'storageBytes');
    if (used + requested > limit) throw new QuotaExceededError({ scope, kind: 'storageBytes', limit, used, requested });
  }
}

export async function deleteQuotasOf(tx: Reader, userId: UserId): Promise<void> {
  await tx.deleteFrom('quotaLimits').where('userId', '=', userId).execute();
}

async function limitOf(
  db: Reader,
  quotas: QuotaLimits,
  scope: QuotaScope,
  userId: UserId,
  kind: QuotaKind,
): Promise<{ limit: number; isSet: boolean }> {
  const row = await db
    .selectFrom('quotaLimits')
    .select('maxValue')
    .where('userId', '=', userId)
    .where('scope', '=', scope)
    .where('kind', '=', kind)
    .executeTakeFirst();
  return row === undefined
    ? { limit: defaultLimit(quotas, scope, kind), isSet: false }
    : { limit: Number(row.maxValue), isSet: true };
}

/** The dealer that each account is or belongs to; null where it is the operator's. */
async function dealersOf(db: Reader, ids: readonly UserId[]): Promise<Map<UserId, UserId | null>> {
  const dealers = new Map<UserId, UserId | null>();
  for (const some of inChunks(ids)) {
    const rows = await db.selectFrom('users').select(['id', 'role', 'dealerId']).where('id', 'in', some).execute();
    for (const { id, role, dealerId } of rows)
      dealers.set(id as UserId, (role === 'dealer' ? id : dealerId) as UserId | null);
  }
  return dealers;
}

/** Amount of a kind that exists now. It is counted and never stored, so it cannot drift. Each count uses an index. */
async function usedOf(db: Reader, scope: QuotaScope, userId: UserId, kind: QuotaKind): Promise<number> {
  const owners = () => {
    const query = db.selectFrom('users').select('users.id');
    return scope === 'account'
      ? query.where('users.id', '=', userId)
      : query.where((e) => e.or([e('users.id', '=', userId), e('users.dealerId', '=', userId)]));
  };
  switch (kind) {
    case 'geofences':
    case 'notificationRules':
    case 'reportSchedules':
    case 'shareLinks': {
      const table = (
        {
          geofences: 'geofences',
          notificationRules: 'notificationRules',
          reportSchedules: 'reportSchedules',
          shareLinks: 'shareLinks',
        } as const
      )[kind];
      const row = await db
        .selectFrom(table)
        .select((e) => e.fn.countAll<number>().as('used'))
        .where('ownerId', 'in', owners())
        .executeTakeFirstOrThrow();
      return Number(row.used);
    }
    case 'geofenceVertices': {
      const row = await db
        .selectFrom('geofences')
        .select((e) => e.fn.sum<number | null>('vertices').as('used'))
        .where('ownerId', 'in', owners())
        .executeTakeFirstOrThrow();
      return Number(row.used ?? 0);
    }
    case 'users':
    case 'vehicleGroups':
    case 'vehicles':
    case 'drivers': {
      if (scope === 'account') return 0;
      const row = await db
        .selectFrom(kind)
        .select((e) => e.fn.countAll<number>().as('used'))
        .where('dealerId', '=', userId)
        .executeTakeFirstOrThrow();
      return Number(row.used);
    }
    case 'storageBytes': {
      const reports = await db
        .selectFrom('reportFiles')
        .select((e) => e.fn.sum<number | null>('bytes').as('used'))
        .where('userId', 'in', owners())
        .executeTakeFirstOrThrow();
      const others = scope === 'dealer' ? [videoBytesOf, serviceBytesOf] : [serviceBytesBy];
      let used = Number(reports.used ?? 0);
      for (const bytesOf of others) used += await bytesOf(db, userId);
      return used;
    }
  }
}

/** Bytes of the videos of a dealer's vehicles. */
async function videoBytesOf(db: Reader, dealerId: UserId): Promise<number> {
  const row = await db
    .selectFrom('videoTasks')
    .innerJoin('vehicles', 'vehicles.id', 'videoTasks.vehicleId')
    .select((e) => e.fn.sum<number | null>('videoTasks.fileBytes').as('used'))
    .where('vehicles.dealerId', '=', dealerId)
    .where('videoTasks.fileBytes', '>', 0)
    .executeTakeFirstOrThrow();
  return Number(row.used ?? 0);
}

/** Bytes of service files of a dealer's vehicles. */
async function serviceBytesOf(db: Reader, dealerId: UserId): Promise<number> {
  const row = await db
    .selectFrom('serviceFiles')
    .innerJoin('vehicles', 'vehicles.id', 'serviceFiles.vehicleId')
    .select((e) => e.fn.sum<number | null>('serviceFiles.bytes').as('used'))
    .where('vehicles.dealerId', '=', dealerId)
    .executeTakeFirstOrThrow();
  return Number(row.used ?? 0);
}

/** Bytes of service files that an account uploaded. */
async function serviceBytesBy(db: Reader, userId: UserId): Promise<number> {
  const row = await db
    .selectFrom('serviceFiles')
    .select((e) => e.fn.sum<number | null>('bytes').as('used'))
    .where('createdBy', '=', userId)
    .executeTakeFirstOrThrow();
  return Number(row.used ?? 0);
}
