import { hash } from 'node:crypto';
import { tenantOf, type User, type UserId } from '@outrider/domain';
import { type AuditAction, dealersOfUser } from '../audit/audit-notes.ts';
import type { AccountLinkRow } from '../store/schema.ts';
import type { Reader, Store, Writer } from '../store/store.ts';
import { type Lease, Leases } from '../work/leases.ts';
import { deleteAccountNoticesOf, noteNotice } from './account-notice-rows.ts';
import { keyOf } from './mail-address-rows.ts';
import { hashPassword } from './password.ts';
import { endSessionsOf } from './sessions.ts';
import { loginKey, USERS } from './user-rows.ts';

/** Purpose of a link in an e-mail. Both let its reader set the password of an account. */
export type AccountLinkPurpose = 'reset' | 'invitation';

/** An e-mail with a link, leased by the caller for sending. */
export interface LeasedAccountLink extends Lease {
  purpose: AccountLinkPurpose;
  user: User;
  tenant: string;
  address: string;
  /** Language of the reader. */
  language: string;
  attempts: number;
}

/** How many of the accounts that share an address are each sent a mail. */
const MAX_ACCOUNTS_OF_ADDRESS = 5;

/**
 * E-mail addresses of accounts, and the links that are sent to them. An account has one link at a time. Its token is
 * made when the mail is sent and is stored as a hash, so that nobody who reads the database can use it.
 */
export class AccountLinks {
  readonly #store: Store;
  readonly #leases: Leases<'accountLinks'>;

  constructor(store: Store) {
    this.#store = store;
    const dueAt = 'nextAttemptAtMs';
    this.#leases = new Leases(store, { table: 'accountLinks', dueAt, leasedUntil: dueAt });
  }

  /** Address for mails about the account; null: none. */
  async emailOf(userId: UserId): Promise<string | null> {
    const query = this.#store.db.selectFrom('accountEmails').select('address').where('userId', '=', userId);
    return (await query.executeTakeFirst())?.address ?? null;
  }

  /** @param address null removes it; a link that was sent to an earlier address becomes invalid */
  setEmail(user: User, address: string | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const query = tx.deleteFrom('accountEmails').where('userId', '=', user.id).returning('address');
      const before = (await query.executeTakeFirst())?.address ?? null;
      if (address !== null)
        await tx
          .insertInto('accountEmails')
          .values({ userId: user.id, address, addressKey: keyOf(address) })
          .execute();
      if (before === address) return;
      await tx.deleteFrom('accountLinks').where('id', '=', user.id).execute();
      note(writer, 'email-changed', user, { email: before }, { email: address });
      // Notifies the previous address: somebody who took the account over may control the new one.
      if (before !== null) await noteNotice(writer, user, 'email-changed', null, before);
    });
  }

  /** Accounts with this login or this e-mail address that have an address. */
  async accountsOf(loginOrEmail: string): Promise<UserId[]> {
    // PostgreSQL rejects NUL in a parameter, and no login or address contains it.
    if (loginOrEmail.includes('\u0000')) return [];
    const rows = await this.#store.db
      .selectFrom('accountEmails')
      .innerJoin('users', 'users.id', 'accountEmails.userId')
      .select('users.id')
      .where((e) =>
        e.or([
          e('users.loginKey', '=', loginKey(loginOrEmail)),
          e('accountEmails.addressKey', '=', keyOf(loginOrEmail)),
        ]),
      )
      .orderBy('users.id')
      .limit(MAX_ACCOUNTS_OF_ADDRESS)
      .execute();
    return rows.map(({ id }) => id as UserId);
  }

  /**
   * Requests a link to be sent to the address of an account. An earlier link works until the new one is being sent.
   *
   * @returns false where the account has no address
   */
  request(user: User, purpose: AccountLinkPurpose, language: string): Promise<boolean> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const query = tx.selectFrom('accountEmails').select('address').where('userId', '=', user.id);
      const address = (await query.executeTakeFirst())?.address;
      if (address === undefined) return false;
      const asked = { purpose, address, language, nextAttemptAtMs: nowMs, attempts: 0, lease: null };
      await tx
        .insertInto('accountLinks')
        .values({ id: user.id, ...asked, tokenHash: null, expiresAtMs: null })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(asked))
        .execute();
      if (purpose === 'invitation') note(writer, 'invited', user, null, { email: address });
      return true;
    });
  }

  /** Leases links that are to be sent. */
  lease(limit: number, leaseMs: number): Promise<LeasedAccountLink[]> {
    return this.#store.due(
      'account links',
      [],
      async () => {
        const { db } = this.#store;
        const isDue = this.#leases.isDue(this.#store.now());
        const query = db.selectFrom('accountLinks').select('id').where(isDue).orderBy('nextAttemptAtMs').limit(limit);
        const rows = await this.#leases.take(
          db,
          (await query.execute()).map(({ id }) => id),
          leaseMs,
        );
        const users = new Map(
          (
            await USERS.load(
              db,
              rows.map(({ id }) => id),
            )
          ).map((user) => [user.id as string, user]),
        );
        return rows.flatMap((row) => {
          const user = users.get(row.id);
          return user === undefined ? [] : [fromRow(row, user, row.lease)];
        });
      },
      () => this.#leases.nextDueMs(),
    );
  }

  renew(leased: readonly Lease[], leaseMs: number): Promise<unknown> {
    return this.#leases.renew(leased, leaseMs);
  }

  /**
   * Makes the token of the mail that is about to be sent valid, in place of an earlier one.
   *
   * @returns false where the lease was lost: nothing was stored
   */
  async arm({ id, lease }: Lease, token: string, expiresAtMs: number): Promise<boolean> {
    const row = await this.#store.db
      .updateTable('accountLinks')
      .set({ tokenHash: hash('sha256', token), expiresAtMs })
      .where('id', '=', id)
      .where('lease', '=', lease)
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** @param retryAtMs null: it was sent, or is given up */
  settle(leased: Lease, retryAtMs: number | null): Promise<boolean> {
    return this.#leases.settle(this.#store.db, leased, { nextAttemptAtMs: retryAtMs });
  }

  /** The account whose link has this token; null for a token that was used, has expired or never existed. */
  async accountOf(token: string): Promise<{ user: User; purpose: AccountLinkPurpose } | null> {
    const { db, now } = this.#store;
    const row = await linkOf(db, token, now());
    const [user] = row === undefined ? [] : await USERS.load(db, [row.id]);
    return row === undefined || user === undefined ? null : { user, purpose: row.purpose as AccountLinkPurpose };
  }

  /**
   * Uses a link up: sets the password of its account and ends all its sessions.
   *
   * @returns the account; null where the link was used or has expired meanwhile
   * @throws {PasswordsBusyError} when too many passwords are being worked on
   */
  async setPassword(token: string, password: string): Promise<User | null> {
    const passwordHash = await hashPassword(password);
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const row = await linkOf(tx, token, nowMs);
      const [user] = row === undefined ? [] : await USERS.load(tx, [row.id]);
      if (user === undefined) return null;
      await deleteAccountLinkOf(tx, user.id);
      if (row?.purpose === 'reset') await noteNotice(writer, user, 'password-changed');
      const set = { passwordHash, changedAtMs: nowMs };
      await tx
        .insertInto('credentials')
        .values({ userId: user.id, ...set })
        .onConflict((conflict) => conflict.column('userId').doUpdateSet(set))
        .execute();
      await endSessionsOf(tx, user.id);
      note(writer, 'password-reset', user, null, null);
      return user;
    });
  }
}

export async function deleteAccountLinkOf(db: Reader, userId: UserId): Promise<void> {
  await db.deleteFrom('accountLinks').where('id', '=', userId).execute();
}

export async function deleteAccountMailsOf(db: Reader, userId: UserId): Promise<void> {
  await deleteAccountLinkOf(db, userId);
  await deleteAccountNoticesOf(db, userId);
  await db.deleteFrom('accountEmails').where('userId', '=', userId).execute();
}

function linkOf(db: Reader, token: string, nowMs: number): Promise<AccountLinkRow | undefined> {
  return db
    .selectFrom('accountLinks')
    .selectAll()
    .where('tokenHash', '=', hash('sha256', token))
    .where('expiresAtMs', '>', nowMs)
    .executeTakeFirst();
}

function note(writer: Writer, action: AuditAction, user: User, before: object | null, after: object | null): void {
  writer.note({
    action,
    subject: { kind: 'user', id: user.id, name: user.login },
    before: before as Record<string, unknown> | null,
    after: after as Record<string, unknown> | null,
    dealerIds: dealersOfUser(user),
  });
}

function fromRow(row: AccountLinkRow, user: User, lease: string): LeasedAccountLink {
  return {
    id: row.id,
    lease,
    purpose: row.purpose as AccountLinkPurpose,
    user,
    tenant: tenantOf(user),
    address: row.address,
    language: row.language,
    attempts: row.attempts,
  };
}
