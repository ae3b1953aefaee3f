import {
  ACCOUNT_RIGHTS,
  type AccountRight,
  DEFAULT_RIGHTS,
  SERVICES,
  type ServiceName,
  type SessionId,
  type User,
  type UserId,
} from '@outrider/domain';
import { dealersOfUser } from '../audit/audit-notes.ts';
import { newCustomFields, requireFreeExternalId, type WithCustomFields } from '../fleet/custom-fields.ts';
import { dropTakenGeofenceIds } from '../fleet/geofences.ts';
import { freeGroupName, insertGroup } from '../fleet/groups.ts';
import { setGroups, sortedSet, withSortedGroups } from '../fleet/memberships.ts';
import { deleteShareLinksOf } from '../fleet/share-links.ts';
import { restSchedulesOf } from '../reports/report-schedules.ts';
import { ConflictError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import { revised } from '../store/resource.ts';
import type { Reader, Store, Writer } from '../store/store.ts';
import { noteNotice } from './account-notice-rows.ts';
import { requireDealer } from './dealers.ts';
import { deleteAccount } from './delete-account.ts';
import { DEFAULT_ERASURE_GRACE_MS, planErasure } from './erasures.ts';
import { hashPassword, isOutdated, verifyNothing, verifyPassword } from './password.ts';
import { endSessionsOf } from './sessions.ts';
import { type Blocks, idsOf, loginKey, toUserRow, USERS, usersOf } from './user-rows.ts';

/** Fields of an account that its creator provides; the registry assigns the others. */
export type UserFields = WithCustomFields<Omit<User, 'kind' | 'id' | 'version' | 'services' | 'rights'>> & {
  /** Default: none. */
  services?: readonly ServiceName[];
  /** Default: {@link DEFAULT_RIGHTS}. */
  rights?: readonly AccountRight[];
};

/** Fields of an account that can change: the role cannot. */
export type UserPatch = Partial<Omit<UserFields, 'role'>>;

/** Matches users for which every given field holds. */
export interface UserFilter {
  /** The dealer and the dealer's users. */
  ofDealer?: UserId;
  id?: UserId;
}

/** Accounts and their passwords. */
export class Users {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Creates an account. For a user, also creates a group that is named like the login: the user has access to it, and
   * it belongs to the user's dealer. Operators and dealers need none.
   *
   * @throws {ConflictError} when the login is taken
   * @throws {UnknownReferenceError} when the dealer or a group does not exist
   * @throws {PasswordsBusyError} when too many passwords are being worked on
   */
  async create(fields: UserFields, password: string): Promise<User> {
    const passwordHash = await hashPassword(password);
    return this.#store.write(async (writer) => {
      const id = writer.newId() as UserId;
      const own = fields.blocked;
      const byDealer = await isBlockedDealer(writer, fields.dealerId);
      const draft: User = {
        ...fields,
        ...newCustomFields(fields),
        blocked: own || byDealer,
        kind: 'user',
        id,
        version: 1,
        services: inOrder(SERVICES, fields.services ?? []),
        rights: inOrder(ACCOUNT_RIGHTS, fields.rights ?? DEFAULT_RIGHTS),
      };
      await check(writer, draft);
      const ownGroup =
        fields.role === 'user'
          ? await insertGroup(writer, {
              name: await freeGroupName(writer, fields.login, fields.dealerId),
              dealerId: fields.dealerId,
            })
          : null;
      const user: User = {
        ...draft,
        groupIds: sortedSet(ownGroup ? [...fields.groupIds, ownGroup.id] : fields.groupIds),
      };
      await writer.tx
        .insertInto('users')
        .values(toUserRow(user, { own, byDealer, expired: false }))
        .execute();
      await setGroups(writer, 'userGroupAccess', id, user.groupIds);
      await writer.tx
        .insertInto('credentials')
        .values({ userId: id, passwordHash: passwordHash, changedAtMs: writer.nowMs })
        .execute();
      writer.changed(user, null);
      return user;
    });
  }

  get(id: UserId): Promise<User | null> {
    return USERS.get(this.#store.db, id);
  }

  /** Logins are compared without regard to case. */
  async byLogin(login: string): Promise<User | null> {
    // PostgreSQL rejects NUL in a parameter, and no login contains it.
    if (login.includes('\u0000')) return null;
    const row = await this.#store.db
      .selectFrom('users')
      .selectAll()
      .where('loginKey', '=', loginKey(login))
      .executeTakeFirst();
    if (!row) return null;
    const [user] = await usersOf(this.#store.db, [row]);
    return user ?? null;
  }

  /** In the order of their ids, which is that of their creation. */
  async list(filter: UserFilter, paging: Paging): Promise<Page<User>> {
    let query = this.#store.db.selectFrom('users').selectAll();
    if (filter.id !== undefined) query = query.where('id', '=', filter.id);
    if (filter.ofDealer !== undefined) {
      const dealerId = filter.ofDealer;
      query = query.where((e) => e.or([e('id', '=', dealerId), e('dealerId', '=', dealerId)]));
    }
    return readPage(query, paging, (rows) => usersOf(this.#store.db, rows));
  }

  /**
   * Blocking an account ends its sessions in the same transaction. Blocking a dealer blocks its users too. Unblocking
   * the dealer unblocks them, except those that are blocked for another reason.
   *
   * @param expectedVersion version that the caller last saw; null: any
   * @param patch `role` only for accounts whose role an external service determines, and never for dealers
   * @returns the account as it now is; a patch that changes nothing makes no new version
   * @throws {NotFoundError} {StaleError} {ConflictError} {UnknownReferenceError}
   */
  update(id: UserId, expectedVersion: number | null, patch: UserPatch & { role?: 'operator' | 'user' }): Promise<User> {
    return this.#store.write(async (writer) => {
      const current = await USERS.expected(writer, id, expectedVersion);
      const was = await blocksOf(writer, id);
      const own = patch.blocked ?? was.own;
      const byDealer = patch.dealerId === undefined ? was.byDealer : await isBlockedDealer(writer, patch.dealerId);
      const user = revised(current, {
        ...withSortedGroups(patch),
        blocked: own || byDealer || was.expired,
        ...(patch.services && { services: inOrder(SERVICES, patch.services) }),
        ...(patch.rights && { rights: inOrder(ACCOUNT_RIGHTS, patch.rights) }),
      });
      if (user === current) {
        if (own !== was.own) await noteOwnBlock(writer, current, own);
        return current;
      }
      await check(writer, user);
      const { id: _, ...columns } = toUserRow(user, { own, byDealer, expired: was.expired });
      await writer.tx.updateTable('users').set(columns).where('id', '=', id).execute();
      if (user.groupIds !== current.groupIds) await setGroups(writer, 'userGroupAccess', id, user.groupIds);
      if (user.dealerId !== current.dealerId) await dropTakenGeofenceIds(writer, [id], user.dealerId);
      if (user.blocked && !current.blocked) await endUse(writer, id);
      writer.changed(user, current);
      if (user.role === 'dealer' && user.blocked !== current.blocked)
        await blockUsersOfDealer(writer, id, user.blocked);
      return user;
    });
  }

  /**
   * Deletes the account with its sessions and its geofences. Vehicles, groups and users of a deleted dealer become
   * the operator's own. Data about it that is stored elsewhere is erased later.
   *
   * @param graceMs until then the erasure can be cancelled
   * @throws {NotFoundError} {StaleError}
   */
  delete(id: UserId, expectedVersion: number | null, graceMs: number = DEFAULT_ERASURE_GRACE_MS): Promise<void> {
    return this.#store.write(async (writer) => {
      const user = await USERS.expected(writer, id, expectedVersion);
      await deleteAccount(writer, user);
      await planErasure(writer, 'user', id, graceMs);
    });
  }

  /**
   * The account with this login and password. A wrong login and a wrong password take the same time and return the
   * same. Does not check whether the account is blocked.
   *
   * @throws {PasswordsBusyError} when too many passwords are being worked on
   */
  async authenticate(login: string, password: string): Promise<User | null> {
    const user = await this.byLogin(login);
    const credential =
      user &&
      (await this.#store.db
        .selectFrom('credentials')
        .select('passwordHash')
        .where('userId', '=', user.id)
        .executeTakeFirst());
    if (!user || !credential) {
      await verifyNothing(password);
      return null;
    }
    if (!(await verifyPassword(password, credential.passwordHash))) return null;
    if (isOutdated(credential.passwordHash)) {
      const stronger = await hashPassword(password);
      await this.#store.db
        .updateTable('credentials')
        .set({ passwordHash: stronger })
        .where('userId', '=', user.id)
        // Unless the password was changed meanwhile.
        .where('passwordHash', '=', credential.passwordHash)
        .execute();
    }
    return user;
  }

  /** When the account expires; null: never. */
  async expiryOf(id: UserId): Promise<number | null> {
    const query = this.#store.db.selectFrom('accountExpiries').select('expiresAtMs').where('userId', '=', id);
    return (await query.executeTakeFirst())?.expiresAtMs ?? null;
  }

  /**
   * Sets when the account expires. From then on it is blocked, and a dealer's users with it.
   *
   * @param expiresAtMs null: never; a time that is past: at once
   * @throws {NotFoundError}
   */
  setExpiry(id: UserId, expiresAtMs: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const user = await USERS.expected(writer, id, null);
      const before = await tx.deleteFrom('accountExpiries').where('userId', '=', id).returningAll().executeTakeFirst();
      if (expiresAtMs !== null) await tx.insertInto('accountExpiries').values({ userId: id, expiresAtMs }).execute();
      const was = before?.expiresAtMs ?? null;
      if (was === expiresAtMs) return;
      writer.note({
        action: 'changed',
        subject: { kind: 'user', id, name: user.login },
        before: { expiresAtMs: was },
        after: { expiresAtMs },
        dealerIds: dealersOfUser(user),
      });
      await setExpired(writer, user, expiresAtMs !== null && expiresAtMs <= nowMs);
    });
  }

  /**
   * Blocks accounts that have expired.
   *
   * @param limit at most this many
   * @returns those that it blocked
   */
  expire(limit: number): Promise<UserId[]> {
    return this.#store.writeDue<UserId, UserId>(
      'expiry of accounts',
      async (db, nowMs) => {
        const rows = await dueExpiries(db)
          .where('expiresAtMs', '<=', nowMs)
          .orderBy('expiresAtMs')
          .limit(limit)
          .execute();
        return rows.map(({ userId }) => userId as UserId);
      },
      async (writer, ids) => {
        for (const user of await USERS.load(writer.tx, ids)) await setExpired(writer, user, true);
        return [...ids];
      },
      async () => {
        const next = await dueExpiries(this.#store.db).orderBy('expiresAtMs').limit(1).executeTakeFirst();
        return next?.expiresAtMs ?? null;
      },
    );
  }

  /**
   * Replaces the password of the account and ends its sessions.
   *
   * @param keep session that requested the change; it is not ended
   * @throws {NotFoundError}
   * @throws {PasswordsBusyError} when too many passwords are being worked on
   */
  async setPassword(id: UserId, password: string, keep: SessionId | null): Promise<void> {
    const passwordHash = await hashPassword(password);
    await this.#store.write(async (writer) => {
      const user = await USERS.expected(writer, id, null);
      writer.note({
        action: 'password-changed',
        subject: { kind: 'user', id, name: user.login },
        dealerIds: dealersOfUser(user),
      });
      await writer.tx
        .insertInto('credentials')
        .values({ userId: id, passwordHash, changedAtMs: writer.nowMs })
        .onConflict((conflict) => conflict.column('userId').doUpdateSet({ passwordHash, changedAtMs: writer.nowMs }))
        .execute();
      await endSessionsOf(writer.tx, id, keep);
      await noteNotice(writer, user, 'password-changed');
    });
  }
}

async function blocksOf({ tx }: Writer, id: UserId): Promise<Blocks> {
  const columns = ['blocked', 'dealerBlocked', 'expired'] as const;
  const row = await tx.selectFrom('users').select(columns).where('id', '=', id).executeTakeFirst();
  return { own: row?.blocked === 1, byDealer: row?.dealerBlocked === 1, expired: row?.expired === 1 };
}

async function isBlockedDealer({ tx }: Writer, id: UserId | null): Promise<boolean> {
  if (id === null) return false;
  const row = await tx.selectFrom('users').select(['blocked', 'expired']).where('id', '=', id).executeTakeFirst();
  return row?.blocked === 1 || row?.expired === 1;
}

/** Ends the sessions of a blocked account, switches its report schedules off and deletes its share links. */
async function endUse(writer: Writer, id: UserId): Promise<void> {
  await endSessionsOf(writer.tx, id);
  await restSchedulesOf(writer, id);
  await deleteShareLinksOf(writer, id);
}

/** Expiries that have not blocked their account yet. */
function dueExpiries(db: Reader) {
  return db
    .selectFrom('accountExpiries')
    .innerJoin('users', 'users.id', 'accountExpiries.userId')
    .select(['userId', 'expiresAtMs'])
    .where('users.expired', '=', 0);
}

async function setExpired(writer: Writer, user: User, expired: boolean): Promise<void> {
  const { tx } = writer;
  await tx
    .updateTable('users')
    .set({ expired: expired ? 1 : 0 })
    .where('id', '=', user.id)
    .execute();
  const [after] = await USERS.load(tx, [user.id]);
  if (after === undefined || after.blocked === user.blocked) return;
  if (after.blocked) await endUse(writer, user.id);
  await USERS.touch(writer, [user]);
  if (user.role === 'dealer') await blockUsersOfDealer(writer, user.id, after.blocked);
}

/** Records that an account was itself blocked or unblocked while its dealer's block or its expiry blocks it anyway. */
async function noteOwnBlock(writer: Writer, user: User, own: boolean): Promise<void> {
  await writer.tx
    .updateTable('users')
    .set({ blocked: own ? 1 : 0 })
    .where('id', '=', user.id)
    .execute();
  writer.note({
    action: own ? 'blocked' : 'unblocked',
    subject: { kind: 'user', id: user.id, name: user.login },
    before: { blocked: !own },
    after: { blocked: own },
    dealerIds: dealersOfUser(user),
  });
}

/** Applies the dealer's block to its users, or lifts it. */
async function blockUsersOfDealer(writer: Writer, dealerId: UserId, isBlocked: boolean): Promise<void> {
  const { tx } = writer;
  const rows = await tx.selectFrom('users').select('id').where('dealerId', '=', dealerId).orderBy('id').execute();
  const before = await USERS.load(tx, idsOf(rows));
  await tx
    .updateTable('users')
    .set({ dealerBlocked: isBlocked ? 1 : 0 })
    .where('dealerId', '=', dealerId)
    .execute();
  const after = new Map((await USERS.load(tx, idsOf(rows))).map((user) => [user.id, user.blocked]));
  const changed = before.filter(({ id, blocked }) => after.get(id) !== blocked);
  if (isBlocked) for (const { id } of changed) await endUse(writer, id);
  await USERS.touch(writer, changed);
}

async function check(writer: Writer, user: User): Promise<void> {
  const { tx } = writer;
  await requireDealer(tx, user.dealerId);
  await requireFreeExternalId(writer, user, user.dealerId);
  const other = await tx
    .selectFrom('users')
    .select('id')
    .where('loginKey', '=', loginKey(user.login))
    .where('id', '!=', user.id)
    .executeTakeFirst();
  if (other) throw new ConflictError('user', 'login', user.login);
}

/** Each of the names once, in the order of the list. */
function inOrder<Name extends string>(list: readonly Name[], names: readonly Name[]): Name[] {
  return list.filter((name) => names.includes(name));
}
