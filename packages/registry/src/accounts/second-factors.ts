import type { User, UserId } from '@outrider/domain';
import { NotFoundError } from '../store/errors.ts';
import type { SecretPlace } from '../store/secrets.ts';
import type { Reader, Store } from '../store/store.ts';
import { countPasskeysOf, hasApp } from './passkeys.ts';
import { deleteRecoveryCodesOf, noteOfSignIn, recoveryCodeHash, replaceRecoveryCodes } from './recovery-codes.ts';
import { endSessionsOf } from './sessions.ts';
import { USERS } from './user-rows.ts';

/** The second factor of an account: an app that makes codes, or passkeys, and recovery codes for when they are lost. */
export interface SecondFactor {
  /** When the authenticator app was confirmed; null: the account has none. */
  confirmedAtMs: number | null;
  passkeys: number;
  /** Recovery codes that were not used yet. */
  recoveryCodes: number;
}

/**
 * Second factors of accounts. A secret is valid once confirmed. Until then it is a proposal, which another proposal
 * replaces. Codes are verified by the caller (`packages/auth`).
 */
export class SecondFactors {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Null: the account has none. */
  async get(userId: UserId): Promise<SecondFactor | null> {
    const { db } = this.#store;
    const row = await db
      .selectFrom('secondFactors')
      .select('confirmedAtMs')
      .where('userId', '=', userId)
      .executeTakeFirst();
    const confirmedAtMs = row?.confirmedAtMs ?? null;
    const passkeys = await countPasskeysOf(db, userId);
    if (confirmedAtMs === null && passkeys === 0) return null;
    const codes = db.selectFrom('recoveryCodes').select((e) => e.fn.countAll().as('count'));
    const { count } = await codes.where('userId', '=', userId).executeTakeFirstOrThrow();
    return { confirmedAtMs, passkeys, recoveryCodes: Number(count) };
  }

  /**
   * Proposes a secret, in place of an earlier proposal.
   *
   * @returns false where the account has an app already: nothing changed
   */
  async propose(userId: UserId, secret: string): Promise<boolean> {
    const sealed = this.#store.secrets.seal(secret, placeOf(userId));
    const row = await this.#store.db
      .insertInto('secondFactors')
      .values({ userId, secret: sealed, confirmedAtMs: null, lastStep: 0 })
      .onConflict((conflict) =>
        conflict.column('userId').doUpdateSet({ secret: sealed }).where('secondFactors.confirmedAtMs', 'is', null),
      )
      .returning('userId')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** The secret that was proposed and not confirmed; null: nothing is proposed. */
  async proposed(userId: UserId): Promise<string | null> {
    return this.#secret(userId, (row) => row.confirmedAtMs === null);
  }

  /** The secret by which codes are checked; null: the account has no app, or no key opens the secret any more. */
  async secret(userId: UserId): Promise<string | null> {
    return this.#secret(userId, (row) => row.confirmedAtMs !== null);
  }

  /**
   * Makes the proposed secret valid.
   *
   * @param step time step of the code that confirmed it; the code counts as used
   * @throws {NotFoundError} when the proposal was replaced or confirmed meanwhile
   */
  confirm(user: User, secret: string, step: number, recoveryCodes: readonly string[]): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const row = await tx
        .selectFrom('secondFactors')
        .select(['secret', 'confirmedAtMs'])
        .where('userId', '=', user.id)
        .executeTakeFirst();
      const isProposed = row != null && row.confirmedAtMs === null && row.secret !== null;
      if (!isProposed || this.#store.secrets.open(row.secret ?? '', placeOf(user.id)) !== secret)
        throw new NotFoundError('second-factor', user.id);
      await tx
        .updateTable('secondFactors')
        .set({ confirmedAtMs: nowMs, lastStep: step })
        .where('userId', '=', user.id)
        .execute();
      await replaceRecoveryCodes(writer, user.id, recoveryCodes);
      await noteOfSignIn(writer, 'second-factor-enabled', user);
    });
  }

  /**
   * Marks the code of a time step as used.
   *
   * @returns false where it, or a later one, was used already
   */
  async use(userId: UserId, step: number): Promise<boolean> {
    const row = await this.#store.db
      .updateTable('secondFactors')
      .set({ lastStep: step })
      .where('userId', '=', userId)
      .where('confirmedAtMs', 'is not', null)
      .where('lastStep', '<', step)
      .returning('userId')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Uses a recovery code up. @returns false where the account has no such code (any more) */
  useRecoveryCode(userId: UserId, code: string): Promise<boolean> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const row = await tx
        .deleteFrom('recoveryCodes')
        .where('userId', '=', userId)
        .where('codeHash', '=', recoveryCodeHash(code))
        .returning('userId')
        .executeTakeFirst();
      const [user] = row === undefined ? [] : await USERS.load(tx, [userId]);
      if (user !== undefined) await noteOfSignIn(writer, 'recovery-code-used', user);
      return user !== undefined;
    });
  }

  /** @throws {NotFoundError} when the account has no second factor */
  renewRecoveryCodes(user: User, recoveryCodes: readonly string[]): Promise<void> {
    return this.#store.write(async (writer) => {
      if (!(await hasApp(writer.tx, user.id)) && (await countPasskeysOf(writer.tx, user.id)) === 0)
        throw new NotFoundError('second-factor', user.id);
      await replaceRecoveryCodes(writer, user.id, recoveryCodes);
      await noteOfSignIn(writer, 'recovery-codes-renewed', user);
    });
  }

  /**
   * Removes the app. The recovery codes stay where the account has passkeys.
   *
   * @throws {NotFoundError} when the account has no app
   */
  remove(user: User): Promise<void> {
    return this.#store.write(async (writer) => {
      if (!(await deleteAppOf(writer.tx, user.id))) throw new NotFoundError('second-factor', user.id);
      if ((await countPasskeysOf(writer.tx, user.id)) === 0) await deleteRecoveryCodesOf(writer.tx, user.id);
      await noteOfSignIn(writer, 'second-factor-removed', user);
    });
  }

  /**
   * Removes the app and all passkeys. If there were passkeys, the sessions end, as one may have been started with them.
   *
   * @throws {NotFoundError} when the account has no second factor
   */
  removeAll(user: User): Promise<void> {
    return this.#store.write(async (writer) => {
      const removed = await deleteSecondFactorOf(writer.tx, user.id);
      if (!removed.app && removed.passkeys === 0) throw new NotFoundError('second-factor', user.id);
      if (removed.passkeys > 0) await endSessionsOf(writer.tx, user.id);
      const { passkeys } = removed;
      await noteOfSignIn(writer, 'second-factor-removed', user, passkeys === 0 ? {} : { before: { passkeys } });
    });
  }

  async #secret(userId: UserId, isWanted: (row: { confirmedAtMs: number | null }) => boolean): Promise<string | null> {
    const row = await this.#store.db
      .selectFrom('secondFactors')
      .select(['secret', 'confirmedAtMs'])
      .where('userId', '=', userId)
      .executeTakeFirst();
    if (row === undefined || row.secret === null || !isWanted(row)) return null;
    return this.#store.secrets.open(row.secret, placeOf(userId));
  }
}

/** @returns the factors that the account had */
export async function deleteSecondFactorOf(db: Reader, userId: UserId): Promise<{ app: boolean; passkeys: number }> {
  await deleteRecoveryCodesOf(db, userId);
  const passkeys = await db.deleteFrom('passkeys').where('userId', '=', userId).returning('id').execute();
  return { app: await deleteAppOf(db, userId), passkeys: passkeys.length };
}

/** @returns whether the account had a confirmed app */
async function deleteAppOf(db: Reader, userId: UserId): Promise<boolean> {
  const rows = await db.deleteFrom('secondFactors').where('userId', '=', userId).returning('confirmedAtMs').execute();
  return rows.some(({ confirmedAtMs }) => confirmedAtMs !== null);
}

function placeOf(userId: UserId): SecretPlace {
  return { table: 'second_factors', id: userId };
}
