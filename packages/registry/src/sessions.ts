import type { SessionId, UserId } from '@outrider/domain';
import { NotFoundError } from './errors.ts';
import type { SessionRow } from './schema.ts';
import type { Reader, Store } from './store.ts';

/** Further ones end the longest unused: a client that logs in for every call must not fill the disk. */
export const MAX_SESSIONS_PER_USER = 100;
const MAX_USER_AGENT_CHARACTERS = 200;

/** A login: what a token stands on. It is gone when it is over. */
export interface Session {
  id: SessionId;
  userId: UserId;
  createdAtMs: number;
  lastUsedAtMs: number;
  /** From then on it is over. */
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

  /** @param ttlMs how long it lives at most */
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
    await this.#store.db.transaction().execute(async (tx) => {
      await tx.deleteFrom('sessions').where('user_id', '=', userId).where('expires_at_ms', '<=', nowMs).execute();
      const surplus = await tx
        .selectFrom('sessions')
        .select('id')
        .where('user_id', '=', userId)
        .orderBy('last_used_at_ms', 'desc')
        .orderBy('id', 'desc')
        .offset(MAX_SESSIONS_PER_USER - 1)
        // SQLite takes an offset only after a limit.
        .limit(MAX_SESSIONS_PER_USER)
        .execute();
      const ids = surplus.map((row) => row.id);
      if (ids.length > 0) await tx.deleteFrom('sessions').where('id', 'in', ids).execute();
      await tx.insertInto('sessions').values(toRow(session)).execute();
    });
    return session;
  }

  /** Null when there is none, or when it is over. */
  async get(id: SessionId): Promise<Session | null> {
    const row = await this.#store.db
      .selectFrom('sessions')
      .selectAll()
      .where('id', '=', id)
      .where('expires_at_ms', '>', this.#store.now())
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /** The user's sessions, the last used first. */
  async listOf(userId: UserId): Promise<Session[]> {
    const rows = await this.#store.db
      .selectFrom('sessions')
      .selectAll()
      .where('user_id', '=', userId)
      .where('expires_at_ms', '>', this.#store.now())
      .orderBy('last_used_at_ms', 'desc')
      .orderBy('id', 'desc')
      .execute();
    return rows.map(fromRow);
  }

  /** Notes that the session was used, and from where. */
  async touch(id: SessionId, address: string): Promise<void> {
    await this.#store.db
      .updateTable('sessions')
      .set({ last_used_at_ms: this.#store.now(), address })
      .where('id', '=', id)
      .execute();
  }

  /** @throws {NotFoundError} when it was over already */
  async end(id: SessionId): Promise<void> {
    const [result] = await this.#store.db.deleteFrom('sessions').where('id', '=', id).execute();
    if (result?.numDeletedRows !== 1n) throw new NotFoundError('session', id);
  }
}

/** Ends all sessions of a user but one. */
export async function endSessionsOf(db: Reader, userId: UserId, keep: SessionId | null = null): Promise<void> {
  let query = db.deleteFrom('sessions').where('user_id', '=', userId);
  if (keep !== null) query = query.where('id', '!=', keep);
  await query.execute();
}

function fromRow(row: SessionRow): Session {
  return {
    id: row.id as SessionId,
    userId: row.user_id as UserId,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
    expiresAtMs: row.expires_at_ms,
    address: row.address,
    userAgent: row.user_agent,
  };
}

function toRow(session: Session): SessionRow {
  return {
    id: session.id,
    user_id: session.userId,
    created_at_ms: session.createdAtMs,
    last_used_at_ms: session.lastUsedAtMs,
    expires_at_ms: session.expiresAtMs,
    address: session.address,
    user_agent: session.userAgent,
  };
}
