import type { SessionId, UserId } from '@outrider/domain';
import { type AuditAction, dealersOfUser } from '../audit/audit-notes.ts';
import { NotFoundError } from '../store/errors.ts';
import type { SessionRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { loginKey, USERS } from './user-rows.ts';

/** Beyond it, the least recently used session ends: a client that logs in for every call must not fill the disk. */
export const MAX_SESSIONS_PER_USER = 100;
const MAX_USER_AGENT_CHARACTERS = 200;
/** Per account; the least recently used source is forgotten. */
const MAX_SOURCES = 20;

/** Grace period after a token was replaced: parallel calls may still refresh with it. */
const PARALLEL_CALLS_MS = 60_000;

/** A login that tokens refer to. It is deleted when it ends. */
export interface Session {
  id: SessionId;
  userId: UserId;
  createdAtMs: number;
  lastUsedAtMs: number;
  expiresAtMs: number;
  /** IP address of the last use. */
  address: string;
  userAgent: string;
}

/** Logins that are neither expired nor ended. */
export class Sessions {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @param ttlMs maximum lifetime */
  async create(userId: UserId, ttlMs: number, address: string, userAgent: string): Promise<Session> {
    const nowMs = this.#store.now();
    const session: Session = {
      id: this.#store.newId() as SessionId,
      userId,
      createdAtMs: nowMs,
      lastUsedAtMs: nowMs,
      expiresAtMs: nowMs + ttlMs,
      address,
      userAgent: userAgent.slice(0, MAX_USER_AGENT_CHARACTERS),
    };
    await this.#store.write(async (writer) => {
      const { tx } = writer;
      await tx.deleteFrom('sessions').where('userId', '=', userId).where('expiresAtMs', '<=', nowMs).execute();
      const surplus = await tx
        .selectFrom('sessions')
        .select('id')
        .where('userId', '=', userId)
        .orderBy('lastUsedAtMs', 'desc')
        .orderBy('id', 'desc')
        .offset(MAX_SESSIONS_PER_USER - 1)
        // SQLite takes an offset only after a limit.
        .limit(MAX_SESSIONS_PER_USER)
        .execute();
      const ids = surplus.map((row) => row.id);
      if (ids.length > 0) await tx.deleteFrom('sessions').where('id', 'in', ids).execute();
      await tx.insertInto('sessions').values(toRow(session)).execute();
      const [user] = await USERS.load(tx, [userId]);
      if (!user) return;
      writer.actor = { ...writer.actor, user, sessionId: session.id };
      writer.note({
        action: 'login',
        subject: { kind: 'user', id: userId, name: user.login },
        after: { sessionId: session.id, userAgent: session.userAgent },
        dealerIds: dealersOfUser(user),
      });
    });
    return session;
  }

  /**
   * Records the source of a login.
   *
   * @param source key by which the address is counted
   */
  async noteSource(userId: UserId, source: string): Promise<void> {
    const lastLoginAtMs = this.#store.now();
    await this.#store.write(async ({ tx }) => {
      await tx
        .insertInto('loginSources')
        .values({ userId, source, lastLoginAtMs })
        .onConflict((conflict) => conflict.columns(['userId', 'source']).doUpdateSet({ lastLoginAtMs }))
        .execute();
      const oldest = await tx
        .selectFrom('loginSources')
        .select('source')
        .where('userId', '=', userId)
        .orderBy('lastLoginAtMs', 'desc')
        .orderBy('source')
        .offset(MAX_SOURCES)
        // SQLite takes an offset only after a limit.
        .limit(MAX_SOURCES)
        .execute();
      const sources = oldest.map((row) => row.source);
      if (sources.length > 0)
        await tx.deleteFrom('loginSources').where('userId', '=', userId).where('source', 'in', sources).execute();
    });
  }

  /**
   * Whether the account of this login has logged in from the source before. Logins that do not exist cause the same
   * query.
   */
  async knowsSource(login: string, source: string): Promise<boolean> {
    // PostgreSQL rejects NUL in a parameter, and no login contains it.
    if (login.includes('\u0000')) return false;
    const row = await this.#store.db
      .selectFrom('loginSources')
      .innerJoin('users', 'users.id', 'loginSources.userId')
      .select('loginSources.source')
      .where('users.loginKey', '=', loginKey(login))
      .where('loginSources.source', '=', source)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Null for an unknown or ended session. */
  async get(id: SessionId): Promise<Session | null> {
    const row = await this.#store.db
      .selectFrom('sessions')
      .selectAll()
      .where('id', '=', id)
      .where('expiresAtMs', '>', this.#store.now())
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /** Sessions among these that exist and have not expired. */
  async liveAmong(ids: readonly SessionId[]): Promise<Set<SessionId>> {
    const live = new Set<SessionId>();
    for (const some of inChunks(ids)) {
      const rows = await this.#store.db
        .selectFrom('sessions')
        .select('id')
        .where('id', 'in', some)
        .where('expiresAtMs', '>', this.#store.now())
        .execute();
      for (const { id } of rows) live.add(id as SessionId);
    }
    return live;
  }

  /** The user's sessions, the last used first. */
  async listOf(userId: UserId): Promise<Session[]> {
    const rows = await this.#store.db
      .selectFrom('sessions')
      .selectAll()
      .where('userId', '=', userId)
      .where('expiresAtMs', '>', this.#store.now())
      .orderBy('lastUsedAtMs', 'desc')
      .orderBy('id', 'desc')
      .execute();
    return rows.map(fromRow);
  }

  /**
   * Sessions of all users, the last used first.
   *
   * @param after the last one of the page before
   */
  async list(limit: number, after: Pick<Session, 'id' | 'lastUsedAtMs'> | null): Promise<Session[]> {
    let query = this.#store.db.selectFrom('sessions').selectAll().where('expiresAtMs', '>', this.#store.now());
    if (after !== null)
      query = query.where((e) =>
        e.or([
          e('lastUsedAtMs', '<', after.lastUsedAtMs),
          e.and([e('lastUsedAtMs', '=', after.lastUsedAtMs), e('id', '<', after.id)]),
        ]),
      );
    const rows = await query.orderBy('lastUsedAtMs', 'desc').orderBy('id', 'desc').limit(limit).execute();
    return rows.map(fromRow);
  }

  /** Notes that the session was used, and from where. */
  async touch(id: SessionId, address: string): Promise<void> {
    await this.#store.db
      .updateTable('sessions')
      .set({ lastUsedAtMs: this.#store.now(), address })
      .where('id', '=', id)
      .execute();
  }

  /** Records that a token was used. Tokens of earlier generations count as replaced from then on. */
  async noteToken(id: SessionId, generation: number): Promise<void> {
    await this.#store.db
      .updateTable('sessions')
      .set({ usedGeneration: generation, usedAtMs: this.#store.now() })
      .where('id', '=', id)
      .where('usedGeneration', '<', generation)
      .execute();
  }

  /**
   * Records a refresh of the session, and its address. A replaced token whose successor was used more than a minute ago
   * must come from somebody else, so the session ends. The token of the login itself can be refreshed any number of
   * times, as the specification requires.
   *
   * @param given generation of the token that is refreshed; null: a token that is for refreshing alone
   * @returns the generation of the next token; `reused` where the session was ended, null where it was over before
   */
  refresh(id: SessionId, given: number | null, address: string): Promise<number | 'reused' | null> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const row = await tx
        .selectFrom('sessions')
        .selectAll()
        .where('id', '=', id)
        .where('expiresAtMs', '>', nowMs)
        .executeTakeFirst();
      if (row === undefined) return null;
      const isReplaced = given !== null && given > 0 && given < row.usedGeneration;
      if (isReplaced && nowMs - (row.usedAtMs ?? 0) > PARALLEL_CALLS_MS) {
        await endOne(writer, row, 'token-reused', address);
        return 'reused';
      }
      const generation = row.generation + 1;
      await tx.updateTable('sessions').set({ generation, lastUsedAtMs: nowMs, address }).where('id', '=', id).execute();
      return generation;
    });
  }

  /** @throws {NotFoundError} when it was over already */
  end(id: SessionId): Promise<void> {
    return this.#store.write(async (writer) => {
      const row = await writer.tx.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row) throw new NotFoundError('session', id);
      await endOne(writer, row, writer.actor.sessionId === id ? 'logout' : 'session-ended', null);
    });
  }

  /**
   * Forgets sessions that are over.
   *
   * @param limit at most this many
   * @returns how many they were
   */
  async clean(limit: number): Promise<number> {
    const { db } = this.#store;
    const rows = await db
      .selectFrom('sessions')
      .select('id')
      .where('expiresAtMs', '<=', this.#store.now())
      .limit(limit)
      .execute();
    for (const some of inChunks(rows.map((row) => row.id)))
      await db.deleteFrom('sessions').where('id', 'in', some).execute();
    return rows.length;
  }
}

/** @param reusedFrom the address from which a replaced token came */
async function endOne(writer: Writer, row: SessionRow, action: AuditAction, reusedFrom: string | null): Promise<void> {
  await writer.tx.deleteFrom('sessions').where('id', '=', row.id).execute();
  const [user] = await USERS.load(writer.tx, [row.userId]);
  writer.note({
    action,
    subject: { kind: 'user', id: row.userId, name: user?.login ?? '' },
    before: { sessionId: row.id, address: row.address, userAgent: row.userAgent },
    after: reusedFrom === null ? null : { reusedFrom },
    dealerIds: user ? dealersOfUser(user) : [],
  });
}

export async function forgetSourcesOf(db: Reader, userId: UserId): Promise<void> {
  await db.deleteFrom('loginSources').where('userId', '=', userId).execute();
}

/** Ends all sessions of a user but one. */
export async function endSessionsOf(db: Reader, userId: UserId, keep: SessionId | null = null): Promise<void> {
  let query = db.deleteFrom('sessions').where('userId', '=', userId);
  if (keep !== null) query = query.where('id', '!=', keep);
  await query.execute();
}

function fromRow(row: SessionRow): Session {
  return {
    id: row.id as SessionId,
    userId: row.userId as UserId,
    createdAtMs: row.createdAtMs,
    lastUsedAtMs: row.lastUsedAtMs,
    expiresAtMs: row.expiresAtMs,
    address: row.address,
    userAgent: row.userAgent,
  };
}

function toRow(session: Session): SessionRow {
  return {
    id: session.id,
    userId: session.userId,
    createdAtMs: session.createdAtMs,
    lastUsedAtMs: session.lastUsedAtMs,
    expiresAtMs: session.expiresAtMs,
    address: session.address,
    userAgent: session.userAgent,
    ...{ generation: 0, usedGeneration: 0, usedAtMs: null },
  };
}
