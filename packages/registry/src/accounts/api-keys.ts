import { hash, randomBytes } from 'node:crypto';
import {
  API_KEY_SCOPES,
  type ApiKeyGrant,
  type ApiKeyId,
  type ApiKeyScope,
  type GroupId,
  type UserId,
  writeApiKey,
} from '@outrider/domain';
import type { AuditNote } from '../audit/audit-notes.ts';
import { NotFoundError, StaleVersionError, TooManyApiKeysError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { ApiKeyRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';

/** An account with this many keys must revoke one before it creates another. */
export const MAX_API_KEYS_PER_USER = 50;

/** A key that stands for an account, without its secret. */
export interface ApiKey extends ApiKeyGrant {
  userId: UserId;
  name: string;
  createdAtMs: number;
  /** Null: it does not expire. */
  expiresAtMs: number | null;
  /** Time of the last recorded use; null: it was never used. */
  lastUsedAtMs: number | null;
  /** IP address of that use. */
  lastUsedAddress: string | null;
}

/** Fields of a key that its owner sets. */
export type ApiKeyFields = Pick<ApiKey, 'name' | 'scopes' | 'groupIds' | 'expiresAtMs'>;

/** What authentication needs to check a client's key. */
export interface StoredApiKey {
  grant: ApiKeyGrant;
  userId: UserId;
  /** SHA-256 of the secret, in hexadecimal digits. A fast hash suffices for 256 random bits. */
  secretHash: string;
  expiresAtMs: number | null;
}

const SECRET_BYTES = 32;

/** API keys that have not expired. Only hashes of their secrets are stored. */
export class ApiKeys {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @returns the key, and the text that its client sends: it is not stored, and can't be read again
   * @throws {TooManyApiKeysError}
   */
  create(userId: UserId, fields: ApiKeyFields): Promise<{ key: ApiKey; text: string }> {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    return this.#store.write(async (writer) => {
      const { tx, newId, nowMs } = writer;
      // Expired keys do not count towards the limit.
      await tx.deleteFrom('apiKeys').where('userId', '=', userId).where('expiresAtMs', '<=', nowMs).execute();
      const { count } = await tx
        .selectFrom('apiKeys')
        .select((e) => e.fn.countAll<number | string>().as('count'))
        .where('userId', '=', userId)
        .executeTakeFirstOrThrow();
      if (Number(count) >= MAX_API_KEYS_PER_USER) throw new TooManyApiKeysError(MAX_API_KEYS_PER_USER);
      const key: ApiKey = {
        ...fields,
        id: newId() as ApiKeyId,
        version: 1,
        userId,
        scopes: sorted(fields.scopes),
        createdAtMs: nowMs,
        lastUsedAtMs: null,
        lastUsedAddress: null,
      };
      await tx
        .insertInto('apiKeys')
        .values({
          ...{ id: key.id, userId, secretHash: hashOf(secret), createdAtMs: nowMs },
          ...{ lastUsedAtMs: null, lastUsedAddress: null },
          ...columnsOf(key),
        })
        .execute();
      writer.note(noteOf(null, key));
      return { key, text: writeApiKey(key.id, secret) };
    });
  }

  /** Null: it does not exist, or has expired. */
  async get(id: ApiKeyId): Promise<ApiKey | null> {
    const row = await this.#live().where('id', '=', id).executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /** What a client's key is checked against; null: it does not exist, or has expired. */
  async stored(id: ApiKeyId): Promise<StoredApiKey | null> {
    const row = await this.#live().where('id', '=', id).executeTakeFirst();
    if (!row) return null;
    const { userId, expiresAtMs, ...key } = fromRow(row);
    return { grant: grantOf(key), userId, secretHash: row.secretHash, expiresAtMs };
  }

  /** Current grants of the keys among these that exist and have not expired. */
  async grantsAmong(ids: readonly ApiKeyId[]): Promise<Map<ApiKeyId, ApiKeyGrant>> {
    const grants = new Map<ApiKeyId, ApiKeyGrant>();
    for (const some of inChunks(ids))
      for (const row of await this.#live().where('id', 'in', some).execute()) {
        const grant = grantOf(fromRow(row));
        grants.set(grant.id, grant);
      }
    return grants;
  }

  /** Keys of an account, in the order of their creation, without expired ones. */
  async list(userId: UserId, paging: Paging): Promise<Page<ApiKey>> {
    return readPage(this.#live().where('userId', '=', userId), paging, (rows) => rows.map(fromRow));
  }

  /**
   * @param expectedVersion version that the caller last saw; null: any
   * @throws {NotFoundError} {StaleVersionError}
   */
  update(id: ApiKeyId, expectedVersion: number | null, patch: Partial<ApiKeyFields>): Promise<ApiKey> {
    return this.#store.write(async (writer) => {
      const current = await requireKey(writer, id, expectedVersion);
      const { name, scopes, groupIds, expiresAtMs } = { ...current, ...patch };
      const wanted = { ...current, name, groupIds, expiresAtMs, scopes: sorted(scopes) };
      if (JSON.stringify(wanted) === JSON.stringify(current)) return current;
      const key = { ...wanted, version: current.version + 1 };
      await writer.tx.updateTable('apiKeys').set(columnsOf(key)).where('id', '=', id).execute();
      writer.note(noteOf(current, key));
      return key;
    });
  }

  /** @throws {NotFoundError} {StaleVersionError} */
  delete(id: ApiKeyId, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const key = await requireKey(writer, id, expectedVersion);
      await writer.tx.deleteFrom('apiKeys').where('id', '=', id).execute();
      writer.note(noteOf(key, null));
    });
  }

  /** Notes that the key was used, and from where. */
  async touch(id: ApiKeyId, address: string): Promise<void> {
    await this.#store.db
      .updateTable('apiKeys')
      .set({ lastUsedAtMs: this.#store.now(), lastUsedAddress: address })
      .where('id', '=', id)
      .execute();
  }

  /**
   * Forgets expired keys.
   *
   * @param limit at most this many
   * @returns how many they were
   */
  async clean(limit: number): Promise<number> {
    const { db } = this.#store;
    const rows = await db
      .selectFrom('apiKeys')
      .select('id')
      .where('expiresAtMs', '<=', this.#store.now())
      .limit(limit)
      .execute();
    // One may have been given another expiry meanwhile.
    for (const some of inChunks(rows.map(({ id }) => id)))
      await db.deleteFrom('apiKeys').where('id', 'in', some).where('expiresAtMs', '<=', this.#store.now()).execute();
    return rows.length;
  }

  #live() {
    return this.#store.db
      .selectFrom('apiKeys')
      .selectAll()
      .where((e) => e.or([e('expiresAtMs', 'is', null), e('expiresAtMs', '>', this.#store.now())]));
  }
}

export async function deleteApiKeysOf(db: Reader, userId: UserId): Promise<void> {
  await db.deleteFrom('apiKeys').where('userId', '=', userId).execute();
}

async function requireKey({ tx, nowMs }: Writer, id: ApiKeyId, expectedVersion: number | null): Promise<ApiKey> {
  const row = await tx.selectFrom('apiKeys').selectAll().where('id', '=', id).executeTakeFirst();
  const key = row && fromRow(row);
  if (key === undefined || (key.expiresAtMs !== null && key.expiresAtMs <= nowMs))
    throw new NotFoundError('api-key', id);
  if (expectedVersion !== null && expectedVersion !== key.version)
    throw new StaleVersionError('api-key', id, key.version);
  return key;
}

function grantOf({ id, scopes, groupIds, version }: ApiKeyGrant): ApiKeyGrant {
  return { id, scopes, groupIds, version };
}

function columnsOf({ version, name, scopes, groupIds, expiresAtMs }: ApiKey) {
  return { version, name, scopes: scopes.join(','), groupIds: groupIds && JSON.stringify(groupIds), expiresAtMs };
}

function fromRow(row: ApiKeyRow): ApiKey {
  return {
    id: row.id as ApiKeyId,
    version: row.version,
    userId: row.userId as UserId,
    name: row.name,
    scopes: row.scopes.split(',') as ApiKeyScope[],
    groupIds: row.groupIds === null ? null : (JSON.parse(row.groupIds) as GroupId[]),
    createdAtMs: row.createdAtMs,
    expiresAtMs: row.expiresAtMs,
    lastUsedAtMs: row.lastUsedAtMs,
    lastUsedAddress: row.lastUsedAddress,
  };
}

/** Fields of a key that are recorded in the audit trail. */
function fieldsOf({ userId, name, scopes, groupIds, expiresAtMs }: ApiKey) {
  return { ownerId: userId, name, scopes, groupIds, expiresAtMs };
}

function noteOf(before: ApiKey | null, after: ApiKey | null): AuditNote {
  const subject = after ?? before;
  if (subject === null) throw new Error('a change is of something');
  return {
    action: before === null ? 'created' : after === null ? 'deleted' : 'changed',
    subject: { kind: 'api-key', id: subject.id, name: subject.name },
    before: before && fieldsOf(before),
    after: after && fieldsOf(after),
    ownerIds: [subject.userId],
  };
}

function sorted(scopes: readonly ApiKeyScope[]): ApiKeyScope[] {
  return API_KEY_SCOPES.filter((scope) => scopes.includes(scope));
}

function hashOf(secret: string): string {
  return hash('sha256', secret);
}
