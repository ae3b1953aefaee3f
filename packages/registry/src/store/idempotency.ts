import { hash } from 'node:crypto';
import type { UserId } from '@outrider/domain';
import type { Kysely, Transaction } from 'kysely';
import { hashPassword, verifyPassword } from '../accounts/password.ts';
import { AlreadyClaimedError } from './errors.ts';
import { inChunks } from './lists.ts';
import type { Tables } from './schema.ts';
import { type SecretPlace, SecretsKeyError } from './secrets.ts';
import type { Store } from './store.ts';

/** From then on a key is as good as new. */
const KEPT_MS = 86_400_000;
/** Further ones push the oldest out, and so do answers beyond {@link MAX_BYTES_PER_USER}. */
export const MAX_KEYS_PER_USER = 1000;
const MAX_BYTES_PER_USER = 16 * 1024 * 1024;

/** A request that its client may send again. */
export interface RepeatableRequest {
  userId: UserId;
  /** Chosen by the client. */
  key: string;
  /** Everything that makes it this request and no other. */
  content: string;
  /** Does it hold a password? What is kept of it is then as hard to guess from as a password's hash. */
  holdsSecret: boolean;
}

/** An answer as it was given. */
export interface KeptAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/**
 * What is known of a request: nothing; that another request had this key; that it was made and its answer is not there
 * yet (or was lost with the process that gave it); or its answer.
 */
export type Known = 'new' | 'other' | 'unanswered' | KeptAnswer;

/**
 * A key as the request takes it: with the first thing that is written for it, in one transaction, so
 * that of several who make it at once one does, and none has made anything where it failed.
 */
export interface Claim {
  readonly userId: UserId;
  readonly key: string;
  readonly fingerprint: string;
  /** Set when it is committed. */
  taken: boolean;
}

/** Keys of requests that made something within the last day, and how they were answered. */
export class Idempotency {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws {PasswordsBusyError} when the request holds a secret and too many are being worked on */
  async find(request: RepeatableRequest): Promise<Known> {
    const row = await this.#store.db
      .selectFrom('idempotency')
      .selectAll()
      .where('userId', '=', request.userId)
      .where('key', '=', request.key)
      .where('createdAtMs', '>', this.#store.now() - KEPT_MS)
      .executeTakeFirst();
    if (!row) return 'new';
    if (!(await isOf(request, row.fingerprint))) return 'other';
    if (row.status === null) return 'unanswered';
    const body = this.#opened(row.body ?? '', request);
    return body === null ? 'unanswered' : { status: row.status, headers: JSON.parse(row.headers ?? '{}'), body };
  }

  /** Null where its key is gone: an answer lasts for a day, and is not sealed again when keys change. */
  #opened(body: string, { userId, key }: Pick<RepeatableRequest, 'userId' | 'key'>): string | null {
    try {
      return this.#store.secrets.open(body, placeOf(userId, key));
    } catch (error) {
      if (error instanceof SecretsKeyError) return null;
      throw error;
    }
  }

  /**
   * What the registry is to take with the first change: see `Registry.as`.
   *
   * @throws {PasswordsBusyError} when the request holds a secret and too many are being worked on
   */
  async claim(request: RepeatableRequest): Promise<Claim> {
    const { userId, key, content, holdsSecret } = request;
    const fingerprint = holdsSecret ? await hashPassword(content) : digest(content);
    return { userId, key, fingerprint, taken: false };
  }

  /** Keeps the answer to a request whose key was claimed, and pushes out what goes beyond the user's share. */
  async answered({ userId, key }: Claim, { status, headers, body }: KeptAnswer): Promise<void> {
    await this.#store.db.transaction().execute(async (tx) => {
      await tx
        .updateTable('idempotency')
        // An answer may show a secret, such as that of a new webhook.
        .set({
          status,
          headers: JSON.stringify(headers),
          body: this.#store.secrets.seal(body, placeOf(userId, key)),
          bytes: Buffer.byteLength(body),
        })
        .where('userId', '=', userId)
        .where('key', '=', key)
        .execute();
      // Reading them one by one takes some milliseconds, and is seldom needed.
      const all = await tx
        .selectFrom('idempotency')
        .select(({ fn }) => [fn.countAll().as('keys'), fn.sum('bytes').as('bytes')])
        .where('userId', '=', userId)
        .executeTakeFirstOrThrow();
      if (Number(all.keys) <= MAX_KEYS_PER_USER && Number(all.bytes) <= MAX_BYTES_PER_USER) return;
      const rows = await tx
        .selectFrom('idempotency')
        .select(['key', 'bytes'])
        .where('userId', '=', userId)
        .orderBy('createdAtMs', 'desc')
        .orderBy('key')
        .execute();
      let bytes = 0;
      const surplus = rows.filter((row, nth) => {
        bytes += row.bytes;
        return row.key !== key && (nth >= MAX_KEYS_PER_USER || bytes > MAX_BYTES_PER_USER);
      });
      for (const some of inChunks(surplus.map((row) => row.key)))
        await tx.deleteFrom('idempotency').where('userId', '=', userId).where('key', 'in', some).execute();
    });
  }

  /**
   * Forgets keys that are older than a day.
   *
   * @param limit at most this many
   * @returns how many they were
   */
  async clean(limit: number): Promise<number> {
    const { db } = this.#store;
    const rows = await db
      .selectFrom('idempotency')
      .select(['userId', 'key'])
      .where('createdAtMs', '<=', this.#store.now() - KEPT_MS)
      .orderBy('createdAtMs')
      .limit(limit)
      .execute();
    for (const { userId, key } of rows)
      await db.deleteFrom('idempotency').where('userId', '=', userId).where('key', '=', key).execute();
    return rows.length;
  }
}

/**
 * Takes the key within the transaction of what is made under it.
 *
 * @throws {AlreadyClaimedError} when somebody else has it
 */
export async function takeClaim(tx: Transaction<Tables>, claim: Claim, nowMs: number): Promise<void> {
  const { userId, key, fingerprint } = claim;
  await tx
    .deleteFrom('idempotency')
    .where('userId', '=', userId)
    .where('key', '=', key)
    .where('createdAtMs', '<=', nowMs - KEPT_MS)
    .execute();
  const existing = await tx
    .selectFrom('idempotency')
    .select('key')
    .where('userId', '=', userId)
    .where('key', '=', key)
    .executeTakeFirst();
  if (existing) throw new AlreadyClaimedError(key);
  await tx
    .insertInto('idempotency')
    .values({
      userId,
      key,
      fingerprint,
      status: null,
      headers: null,
      body: null,
      bytes: 0,
      createdAtMs: nowMs,
    })
    .execute();
}

/** Forgets the keys of an account. */
export async function forgetKeysOf(db: Kysely<Tables>, userId: UserId): Promise<void> {
  await db.deleteFrom('idempotency').where('userId', '=', userId).execute();
}

function placeOf(userId: UserId, key: string): SecretPlace {
  return { table: 'idempotency', id: `${userId} ${key}` };
}

function digest(content: string): string {
  return `sha256:${hash('sha256', content, 'base64')}`;
}

async function isOf({ content }: RepeatableRequest, fingerprint: string): Promise<boolean> {
  return fingerprint.startsWith('sha256:') ? digest(content) === fingerprint : verifyPassword(content, fingerprint);
}
