import type { User, UserId } from '@outrider/domain';
import { NotFoundError } from '../store/errors.ts';
import type { ExternalIdentityRow } from '../store/schema.ts';
import type { Reader, Store } from '../store/store.ts';
import { noteOfSignIn } from './recovery-codes.ts';

/** Maps identities of external services (issuer, and the issuer's id of a person) to the accounts they sign in to. */
export class ExternalIdentities {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Null: nobody has signed in with the identity yet, or the account was deleted.
   *
   * @returns `isLinked`: the account existed before, and was linked by its user
   */
  async find(issuer: string, subject: string): Promise<{ userId: UserId; isLinked: boolean } | null> {
    const row = await this.#store.db
      .selectFrom('externalIdentities')
      .select(['userId', 'linkedAtMs'])
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .executeTakeFirst();
    return row === undefined ? null : { userId: row.userId as UserId, isLinked: row.linkedAtMs !== null };
  }

  /** Whether somebody can sign in to the account through this issuer. */
  async isKnown(issuer: string, userId: UserId): Promise<boolean> {
    const row = await this.#store.db
      .selectFrom('externalIdentities')
      .select('userId')
      .where('userId', '=', userId)
      .where('issuer', '=', issuer)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** For an account that was created for the identity. @returns false where another account has it already */
  add(issuer: string, subject: string, userId: UserId): Promise<boolean> {
    return insert(this.#store.db, { issuer, subject, userId, linkedAtMs: null });
  }

  /**
   * Links an existing account to the identity, in place of an earlier one of the same issuer.
   *
   * @returns false where an account has it already, which may be this one: nothing changed
   */
  link(issuer: string, subject: string, user: User): Promise<boolean> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      if (!(await insert(tx, { issuer, subject, userId: user.id, linkedAtMs: nowMs }))) return false;
      await tx
        .deleteFrom('externalIdentities')
        .where('userId', '=', user.id)
        .where('issuer', '=', issuer)
        .where('subject', '!=', subject)
        .execute();
      await noteOfSignIn(writer, 'sign-in-linked', user, { after: { issuer } });
      return true;
    });
  }

  /** @throws {NotFoundError} where nobody can sign in to the account through this issuer */
  unlink(issuer: string, user: User): Promise<void> {
    return this.#store.write(async (writer) => {
      const rows = await writer.tx
        .deleteFrom('externalIdentities')
        .where('userId', '=', user.id)
        .where('issuer', '=', issuer)
        .returning('subject')
        .execute();
      if (rows.length === 0) throw new NotFoundError('external-identity', user.id);
      await noteOfSignIn(writer, 'sign-in-unlinked', user, { before: { issuer } });
    });
  }
}

export async function deleteExternalIdentitiesOf(db: Reader, userId: UserId): Promise<void> {
  await db.deleteFrom('externalIdentities').where('userId', '=', userId).execute();
}

async function insert(db: Reader, row: ExternalIdentityRow): Promise<boolean> {
  const inserted = await db
    .insertInto('externalIdentities')
    .values(row)
    .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
    .returning('userId')
    .executeTakeFirst();
  return inserted !== undefined;
}
