import {
  asChange,
  DEFAULT_QUOTAS,
  type Definition,
  type DefinitionChange,
  type QuotaLimits,
  SYSTEM_CLOCK,
  storedChange,
  type UserId,
  withoutSecrets,
} from '@outrider/domain';
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { type Actor, SERVICE } from '../audit/actor.ts';
import { type AuditNote, insertNotes, noteOfChange } from '../audit/audit-notes.ts';
import type { NothingDue } from '../work/nothing-due.ts';
import { type Claim, takeClaim } from './idempotency.ts';
import { IDLE_IN_TRANSACTION_MS } from './idle-in-transaction.ts';
import { inChunks } from './lists.ts';
import { QuotaGrowth } from './quotas.ts';
import { appendRecentChanges } from './recent-changes.ts';
import type { Tables } from './schema.ts';
import { NO_SECRETS, type Secrets } from './secrets.ts';

export { CHUNK, differences, inChunks } from './lists.ts';

/** Advisory lock of writers. Any number will do, as long as nothing else in the database uses it. */
export const WRITERS_LOCK = 7_201_915_381;
const RELAY_LOCK = 7_201_915_382;
/** The server ends idle transactions, so a long one sends a statement at this interval. */
const SHOW_LIFE_EVERY_MS = IDLE_IN_TRANSACTION_MS / 4;
export type DialectName = 'sqlite' | 'postgres';
export type Reader = Kysely<Tables>;
export type ChangeListener = (changes: readonly DefinitionChange[]) => void;

/** A transaction that changes definitions, with its changes up to now. */
export class Writer {
  readonly tx: Transaction<Tables>;
  readonly nowMs: number;
  readonly newId: () => string;
  /** Author of the changes; a login makes its session the actor's. */
  actor: Actor;
  readonly changes: DefinitionChange[] = [];
  readonly notes: AuditNote[] = [];
  readonly quotas: QuotaLimits;
  /** Changes up to now to the amounts that accounts and dealers use. */
  readonly growth = new QuotaGrowth();

  constructor(tx: Transaction<Tables>, nowMs: number, newId: () => string, actor: Actor, quotas: QuotaLimits) {
    this.tx = tx;
    this.nowMs = nowMs;
    this.newId = newId;
    this.actor = actor;
    this.quotas = quotas;
  }

  /**
   * Notes a new or changed definition, in its state after this transaction.
   *
   * @param before its state before; null when it is new
   * @param dealerIds dealers that it concerns, where it does not name them itself
   */
  changed(definition: Definition, before: Definition | null, dealerIds: readonly UserId[] = []): void {
    this.#note(definition, definition);
    this.growth.note(before, definition);
    this.notes.push(noteOfChange(before, definition, dealerIds));
  }

  /** Notes a deleted definition. The deletion has a version one above its last version. */
  deleted(definition: Definition, dealerIds: readonly UserId[] = []): void {
    this.#note({ ...definition, version: definition.version + 1 }, null);
    this.growth.note(definition, null);
    this.notes.push(noteOfChange(definition, null, dealerIds));
  }

  /** Notes an action that changes no definition. */
  note(note: AuditNote): void {
    this.notes.push(note);
  }

  #note(last: Definition, definition: Definition | null): void {
    // Changes leave the registry, so they carry no secrets to followers and the log.
    const carried = definition && withoutSecrets(definition);
    this.changes.push({ ...asChange(last, this.nowMs), definition: carried });
  }
}

/**
 * Access to the database for all repositories. Writers are serialized, in PostgreSQL by a lock that each takes first.
 * This is cheap, as definitions change rarely. Checks made in a transaction still hold when it commits, and the
 * outbox's numbers grow in the order of the commits, which a sequence alone does not guarantee.
 */
export class Store {
  readonly db: Kysely<Tables>;
  readonly now: () => number;
  readonly newId: () => string;
  /** Limits of accounts without limits of their own. */
  readonly quotas: QuotaLimits;
  readonly #dialect: DialectName;
  /** Author of the changes. */
  readonly actor: Actor;
  /** Claim to take with the first change. */
  readonly #claim: Claim | null;
  readonly #nothingDue: NothingDue | null;
  /** Seals secrets that must not be stored in clear. */
  readonly secrets: Secrets;
  readonly #listeners: Set<ChangeListener>;

  constructor(
    db: Kysely<Tables>,
    dialect: DialectName,
    now: () => number,
    newId: () => string,
    nothingDue: NothingDue | null,
    quotas: QuotaLimits = DEFAULT_QUOTAS,
    secrets: Secrets = NO_SECRETS,
    actor: Actor = SERVICE,
    claim: Claim | null = null,
    listeners: Set<ChangeListener> = new Set(),
  ) {
    this.db = db;
    this.now = now;
    this.newId = newId;
    this.#dialect = dialect;
    this.actor = actor;
    this.#claim = claim;
    this.#nothingDue = nothingDue;
    this.quotas = quotas;
    this.secrets = secrets;
    this.#listeners = listeners;
  }

  /** SQL for a field of a column that holds a JSON object, as text; null where the object lacks it. */
  jsonText(column: string, field: string): RawBuilder<string | null> {
    const object = sql.ref(column);
    return this.#dialect === 'postgres'
      ? sql`${object}::json ->> ${sql.lit(field)}`
      : sql`json_extract(${object}, ${sql.lit(`$.${field}`)})`;
  }

  /** The same database, whose changes are ascribed to the actor. */
  as(actor: Actor, claim: Claim | null = null): Store {
    const { db, now, newId, quotas, secrets } = this;
    return new Store(db, this.#dialect, now, newId, this.#nothingDue, quotas, secrets, actor, claim, this.#listeners);
  }

  /**
   * Runs `work` in one transaction, and writes the outbox rows and audit entries of everything that it noted. Listeners
   * get the changes once they are durable. Where `work` throws, nothing is written.
   *
   * @throws {QuotaExceededError} where what it noted exceeds a quota: nothing is written
   */
  async write<T>(work: (writer: Writer) => Promise<T>): Promise<T> {
    const claim = this.#claim?.taken === false ? this.#claim : null;
    const { result, changes } = await this.db.transaction().execute(async (tx) => {
      if (this.#dialect === 'postgres') await sql`select pg_advisory_xact_lock(${WRITERS_LOCK})`.execute(tx);
      const writer = new Writer(tx, this.now(), this.newId, this.actor, this.quotas);
      if (claim) await takeClaim(tx, claim, writer.nowMs);
      const result = await work(writer);
      await writer.growth.check(writer);
      const rows = writer.changes.map((change) => ({
        kind: change.kind,
        id: change.id,
        version: change.version,
        change: storedChange(change),
      }));
      for (const some of inChunks(rows)) await tx.insertInto('outbox').values(some).execute();
      await appendRecentChanges(tx, rows);
      await insertNotes(tx, writer.notes, writer.actor, writer.nowMs, this.newId);
      return { result, changes: writer.changes };
    });
    if (claim) claim.taken = true;
    if (changes.length > 0) for (const listener of this.#listeners) notify(listener, changes);
    return result;
  }

  /**
   * Queries due work, skipping the query as {@link NothingDue.unlessKnown} does. PostgreSQL is queried each time, as
   * other processes write to it.
   */
  due<T extends object | null>(
    work: string,
    none: T,
    ask: () => Promise<T>,
    nextDueMs: () => Promise<number | null>,
  ): Promise<T> {
    return this.#nothingDue?.unlessKnown(work, this.now(), none, ask, nextDueMs) ?? ask();
  }

  /**
   * Runs `work` like {@link write} if something is due. Due items are first chosen without the writers' lock, so that
   * an empty poll blocks no writer, and then again in the transaction.
   *
   * @param choose has no side effects
   */
  async writeDue<C, R>(
    name: string,
    choose: (db: Reader, nowMs: number) => Promise<readonly C[]>,
    work: (writer: Writer, chosen: readonly C[]) => Promise<R[]>,
    nextDueMs: () => Promise<number | null>,
  ): Promise<R[]> {
    const due = await this.due<readonly C[]>(name, [], () => choose(this.db, this.now()), nextDueMs);
    if (due.length === 0) return [];
    return this.write(async (writer) => work(writer, await choose(writer.tx, writer.nowMs)));
  }

  /**
   * Runs `work` exclusively among all instances that share the database. Exclusivity ends when the process ends, or
   * when the connection to the database has been silent for some seconds.
   *
   * @returns null where another instance is running it: nothing was done
   */
  async alone<T>(work: () => Promise<T>): Promise<T | null> {
    // An embedded database belongs to one process.
    if (this.#dialect !== 'postgres') return work();
    return this.db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_xact_lock(${RELAY_LOCK}) as mine`.execute(
        tx,
      );
      if (rows[0]?.mine !== true) return null;
      const life = SYSTEM_CLOCK.every(SHOW_LIFE_EVERY_MS, () => {
        // If the lock is lost, the end of the transaction fails.
        sql`select 1`.execute(tx).catch(() => {});
      });
      try {
        return await work();
      } finally {
        life.cancel();
      }
    });
  }

  /** @returns call it to unsubscribe */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** A listener's error is rethrown later: it must neither make a committed write look failed, nor be swallowed. */
function notify(listener: ChangeListener, changes: readonly DefinitionChange[]): void {
  try {
    listener(changes);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
