import { hash } from 'node:crypto';
import type { UserId } from '@outrider/domain';
import type { Kysely, Transaction } from 'kysely';
import { hashPassword, verifyPassword } from '../accounts/password.ts';
import { AlreadyClaimedError } from './errors.ts';
import { inChunks } from './lists.ts';
import type { Tables } from './schema.ts';
import { type SecretPlace, SecretsKeyError } from './secrets.ts';
import type { Store } from './store.ts';

/** How long a key is remembered. */
const KEPT_MS = 86_400_000;
/** Further keys replace the oldest ones. So do answers beyond {@link MAX_BYTES_PER_USER}. */
export const MAX_KEYS_PER_USER = 1000;
const MAX_BYTES_PER_USER = 16 * 1024 * 1024;

/** A request that its client may repeat with the same key. */
export interface RepeatableRequest {
  userId: UserId;
  /** Chosen by the client. */
  key: string;
  /** Everything that distinguishes this request from others. */
  content: string;
  /** Whether it contains a password. Its fingerprint is then as hard to guess from as a password hash. */
  holdsSecret: boolean;
}

/** A stored response. */
export interface KeptAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/**
 * State of a request: `new`; `other`: another request used this key; `unanswered`: it was made, and its answer does not
 * exist yet, or was lost with the process or the key; or its answer.
 */
export type Known = 'new' | 'other' | 'unanswered' | KeptAnswer;

/**
 * A request's claim of its key. It is taken in the transaction of the first thing that is written for the request.
 * Therefore only one of several concurrent requests takes effect, and a failed one leaves nothing behind.
 */
export interface Claim {
  readonly userId: UserId;
  readonly key: string;
  readonly fingerprint: string;
  /** Whether the claim is committed. */
  taken: boolean;
}

/** Keys of requests that wrote something within the last day, with their answers. */
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

  /** Null where the key that sealed it is gone: an answer lasts for a day, and is not resealed when keys change. */
  #opened(body: string, { userId, key }: Pick<RepeatableRequest, 'userId' | 'key'>): string | null {
    try {
      return this.#store.secrets.open(body, placeOf(userId, key));
    } catch (error) {
      if (error instanceof SecretsKeyError) return null;
      throw error;
    }
  }

  /**
   * Claim that the registry takes with the first change: see `Registry.as`.
   *
   * @throws {PasswordsBusyError} when the request holds a secret and too many are being worked on
   */
  async claim(request: RepeatableRequest): Promise<Claim> {
    const { userId, key, content, holdsSecret } = request;
    const fingerprint = holdsSecret ? await hashPassword(content) : digest(content);
    return { userId, key, fingerprint, taken: false };
  }

  /** Stores the answer to a request whose key was claimed, and deletes the oldest beyond the user's share. */
  async answered({ userId, key }: Claim, { status, headers, body }: KeptAnswer): Promise<void> {
    await this.#store.db.transaction().execute(async (tx) => {
      await tx
        .updateTable('idempotency')
        // Sealed, because an answer may contain a secret, such as that of a new webhook.
        .set({
          status,
          headers: JSON.stringify(headers),
          body: this.#store.secrets.seal(body, placeOf(userId, key)),
          bytes: Buffer.byteLength(body),
        })
        .where('userId', '=', userId)
        .where('key', '=', key)
        .execute();
      // Totals first: reading the rows takes some milliseconds, and is seldom needed.
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
 * Takes the key, in the transaction of what the request writes.
 *
 * @throws {AlreadyClaimedError} when another request has it
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
