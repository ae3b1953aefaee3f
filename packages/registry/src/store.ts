import type { Definition, DefinitionChange } from '@outrider/domain';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { DialectName } from './migrations.ts';
import type { Tables } from './schema.ts';

/** Any number does, as long as nothing else in the database locks by it. */
const WRITERS_LOCK = 7_201_915_381;
/** Well under the number of parameters that either database takes in a statement. */
export const CHUNK = 500;

export type Reader = Kysely<Tables>;
export type ChangeListener = (changes: readonly DefinitionChange[]) => void;

/** A transaction that changes definitions, and what it changed so far. */
export class Writer {
  readonly tx: Transaction<Tables>;
  readonly nowMs: number;
  readonly newId: () => string;
  readonly changes: DefinitionChange[] = [];

  constructor(tx: Transaction<Tables>, nowMs: number, newId: () => string) {
    this.tx = tx;
    this.nowMs = nowMs;
    this.newId = newId;
  }

  /** Notes a definition as it is once this transaction is committed. */
  changed(definition: Definition): void {
    this.#note({ ...definition }, definition);
  }

  /** Notes that a definition is gone; its last version is one above the one it had. */
  deleted(definition: Definition): void {
    this.#note({ ...definition, version: definition.version + 1 }, null);
  }

  #note({ kind, id, version }: Definition, definition: Definition | null): void {
    this.changes.push({ kind, id, version, changedAtMs: this.nowMs, definition });
  }
}

/**
 * Where every repository reads and writes. Writers come one after the other, in PostgreSQL by a lock that each takes
 * first: definitions change rarely, and so a check made in a transaction still holds when it commits, and the outbox's
 * numbers grow in the order of the commits, which a sequence alone does not promise.
 */
export class Store {
  readonly db: Kysely<Tables>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly #dialect: DialectName;
  readonly #listeners = new Set<ChangeListener>();

  constructor(db: Kysely<Tables>, dialect: DialectName, now: () => number, newId: () => string) {
    this.db = db;
    this.now = now;
    this.newId = newId;
    this.#dialect = dialect;
  }

  /**
   * Runs `work` as one transaction, with the outbox rows of everything it noted as changed. Listeners hear of the
   * changes once they are durable; where `work` throws, nothing happened.
   */
  async write<T>(work: (writer: Writer) => Promise<T>): Promise<T> {
    const { result, changes } = await this.db.transaction().execute(async (tx) => {
      if (this.#dialect === 'postgres') await sql`select pg_advisory_xact_lock(${WRITERS_LOCK})`.execute(tx);
      const writer = new Writer(tx, this.now(), this.newId);
      const result = await work(writer);
      for (const some of inChunks(writer.changes))
        await tx
          .insertInto('outbox')
          .values(
            some.map((change) => ({
              kind: change.kind,
              id: change.id,
              version: change.version,
              change: JSON.stringify(change),
            })),
          )
          .execute();
      return { result, changes: writer.changes };
    });
    if (changes.length > 0) for (const listener of this.#listeners) tell(listener, changes);
    return result;
  }

  /** @returns call it to hear no more */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** What is committed stays committed: a listener's bug must not look like a failed write, nor be swallowed. */
function tell(listener: ChangeListener, changes: readonly DefinitionChange[]): void {
  try {
    listener(changes);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** A list in parts of at most {@link CHUNK}. */
export function* inChunks<T>(list: readonly T[]): Generator<T[]> {
  for (let at = 0; at < list.length; at += CHUNK) yield list.slice(at, at + CHUNK);
}

/** The values of `patch` that differ from those of `current`. Undefined counts as not given. */
export function differences<T extends object>(current: T, patch: Partial<T>): Partial<T> {
  const changed: Partial<T> = {};
  for (const [field, value] of Object.entries(patch) as [keyof T, T[keyof T]][])
    if (value !== undefined && JSON.stringify(value) !== JSON.stringify(current[field])) changed[field] = value;
  return changed;
}
