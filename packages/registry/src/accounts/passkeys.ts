import type { PasskeyId, SessionId, User, UserId } from '@outrider/domain';
import { NotFoundError, PasskeyRefusedError } from '../store/errors.ts';
import type { Reader, Store, Writer } from '../store/store.ts';
import { noteOfSignIn, replaceRecoveryCodes } from './recovery-codes.ts';
import { endSessionsOf } from './sessions.ts';

export const MAX_PASSKEYS_PER_USER = 10;
/** How long people may take to answer a challenge. */
export const CHALLENGE_TTL_S = 600;
/** How long used challenges are kept: longer than they are valid, as clocks of instances differ. */
const CHALLENGE_KEPT_MS = 2 * CHALLENGE_TTL_S * 1000;

/** A passkey of an account as it is listed. */
export interface Passkey {
  id: PasskeyId;
  userId: UserId;
  name: string;
  createdAtMs: number;
  /** Null: nobody signed in with it yet. */
  lastUsedAtMs: number | null;
}

/** Passkey as reported by the device that created it. */
export interface NewPasskey {
  /** Id that the device gave it: base64url. */
  credentialId: string;
  /** COSE key: base64url. */
  publicKey: string;
  /** Number of signatures that the device has made; 0: it does not count them. */
  counter: number;
}

/** Passkeys of accounts. Signatures are verified by the caller (`packages/auth`). */
export class Passkeys {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Passkeys of an account, in the order of their creation. */
  async list(userId: UserId): Promise<(Passkey & { credentialId: string })[]> {
    const rows = await this.#store.db
      .selectFrom('passkeys')
      .select([...SHOWN, 'credentialId'])
      .where('userId', '=', userId)
      .orderBy('id')
      .execute();
    return rows.map((row) => ({ ...fromRow(row), credentialId: row.credentialId }));
  }

  /** Public key for checking a signature; null: no account has the passkey. */
  async find(credentialId: string): Promise<{ id: PasskeyId; userId: UserId; publicKey: string } | null> {
    const row = await this.#store.db
      .selectFrom('passkeys')
      .select(['id', 'userId', 'publicKey'])
      .where('credentialId', '=', credentialId)
      .executeTakeFirst();
    return row === undefined ? null : { ...row, id: row.id as PasskeyId, userId: row.userId as UserId };
  }

  /**
   * @param recoveryCodes for an account without another second factor
   * @returns the passkey, and whether the recovery codes are in force now
   * @throws {PasskeyRefusedError} `challenge-used`, `known`, `too-many`
   */
  add(
    user: User,
    name: string,
    made: NewPasskey,
    challenge: string,
    recoveryCodes: readonly string[],
  ): Promise<{ passkey: Passkey; withCodes: boolean }> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      await useUp(writer, challenge);
      const known = await countPasskeysOf(tx, user.id);
      if (known >= MAX_PASSKEYS_PER_USER) throw new PasskeyRefusedError('too-many');
      const id = writer.newId() as PasskeyId;
      const shown = { id, userId: user.id, name, createdAtMs: nowMs, lastUsedAtMs: null };
      const row = await tx
        .insertInto('passkeys')
        .values({ ...shown, ...made })
        .onConflict((conflict) => conflict.column('credentialId').doNothing())
        .returning('id')
        .executeTakeFirst();
      if (row === undefined) throw new PasskeyRefusedError('known');
      const withCodes = known === 0 && !(await hasApp(tx, user.id));
      if (withCodes) await replaceRecoveryCodes(writer, user.id, recoveryCodes);
      await noteOfSignIn(writer, 'passkey-added', user, { after: { name } });
      return { passkey: shown, withCodes };
    });
  }

  /** @throws {NotFoundError} */
  async rename(user: User, id: PasskeyId, name: string): Promise<Passkey> {
    return this.#store.write(async (writer) => {
      const row = await requirePasskey(writer, user.id, id);
      await writer.tx.updateTable('passkeys').set({ name }).where('id', '=', id).execute();
      await noteOfSignIn(writer, 'changed', user, { before: { passkey: row.name }, after: { passkey: name } });
      return { ...fromRow(row), name };
    });
  }

  /**
   * Removes a passkey from an account and ends its sessions, as one of them may have been started with it.
   *
   * @param keep session that requested the removal; it is not ended
   * @throws {NotFoundError}
   */
  remove(user: User, id: PasskeyId, keep: SessionId): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const row = await requirePasskey(writer, user.id, id);
      await tx.deleteFrom('passkeys').where('id', '=', id).execute();
      if ((await countPasskeysOf(tx, user.id)) === 0 && !(await hasApp(tx, user.id)))
        await replaceRecoveryCodes(writer, user.id, []);
      await endSessionsOf(tx, user.id, keep);
      await noteOfSignIn(writer, 'passkey-removed', user, { before: { name: row.name } });
    });
  }

  /**
   * Records that a passkey signed a challenge. One transaction, so that two instances cannot both accept it.
   *
   * @throws {PasskeyRefusedError} `challenge-used`, `copied`
   */
  use(id: PasskeyId, counter: number, challenge: string): Promise<void> {
    return this.#store.write(async (writer) => {
      await useUp(writer, challenge);
      const row = await writer.tx
        .updateTable('passkeys')
        .set({ counter, lastUsedAtMs: writer.nowMs })
        .where('id', '=', id)
        // WebAuthn, 6.1.1: a counter in use grows with each signature.
        .where((e) => (counter === 0 ? e('counter', '=', 0) : e('counter', '<', counter)))
        .returning('id')
        .executeTakeFirst();
      if (row === undefined) throw new PasskeyRefusedError('copied');
    });
  }
}

const SHOWN = ['id', 'userId', 'name', 'createdAtMs', 'lastUsedAtMs'] as const;

export async function countPasskeysOf(db: Reader, userId: UserId): Promise<number> {
  const count = db.selectFrom('passkeys').select((e) => e.fn.countAll().as('count'));
  return Number((await count.where('userId', '=', userId).executeTakeFirstOrThrow()).count);
}

/** Whether the account has an authenticator app. */
export async function hasApp(db: Reader, userId: UserId): Promise<boolean> {
  const query = db.selectFrom('secondFactors').select('userId').where('userId', '=', userId);
  return (await query.where('confirmedAtMs', 'is not', null).executeTakeFirst()) !== undefined;
}

async function requirePasskey({ tx }: Writer, userId: UserId, id: PasskeyId) {
  const query = tx.selectFrom('passkeys').select(SHOWN).where('id', '=', id);
  const row = await query.where('userId', '=', userId).executeTakeFirst();
  if (row === undefined) throw new NotFoundError('passkey', id);
  return row;
}

/** Stores a used challenge until it is too old to be accepted, so that no signature is accepted twice. */
async function useUp({ tx, nowMs }: Writer, challenge: string): Promise<void> {
  await tx.deleteFrom('usedChallenges').where('expiresAtMs', '<=', nowMs).execute();
  const row = await tx
    .insertInto('usedChallenges')
    .values({ challenge, expiresAtMs: nowMs + CHALLENGE_KEPT_MS })
    .onConflict((conflict) => conflict.column('challenge').doNothing())
    .returning('challenge')
    .executeTakeFirst();
  if (row === undefined) throw new PasskeyRefusedError('challenge-used');
}

function fromRow(row: { id: string; userId: string; name: string; createdAtMs: number; lastUsedAtMs: number | null }) {
  const { name, createdAtMs, lastUsedAtMs } = row;
  return { id: row.id as PasskeyId, userId: row.userId as UserId, name, createdAtMs, lastUsedAtMs };
}
