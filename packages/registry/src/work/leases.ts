import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { Tables } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';

/** Tables whose rows are items of work. */
export type WorkTable =
  | 'jobs'
  | 'deliveries'
  | 'reportDeliveries'
  | 'videoTasks'
  | 'mailAddresses'
  | 'channelTests'
  | 'forwardingDestinations'
  | 'accountLinks'
  | 'accountNotices';
type Row<T extends WorkTable> = Selectable<Tables[T]>;
type Column<T extends WorkTable> = keyof Tables[T] & string;
/** Values of columns, or SQL for them. */
export type Columns<T extends WorkTable> = { [C in keyof Row<T>]?: Row<T>[C] | RawBuilder<unknown> };

/** One attempt at one row: only its holder may renew or settle it. */
export interface Lease {
  id: string;
  lease: string;
}

export interface LeaseQueue<T extends WorkTable> {
  table: T;
  /** States of rows that are not finished; undefined: all rows that have a due time. */
  open?: readonly string[];
  /** A row is not leased before this time. */
  dueAt: Column<T>;
  /** Until when a row is leased; the same column as `dueAt` where leasing postpones the row. */
  leasedUntil: Column<T>;
  /** False where leasing a row is not yet an attempt. Default true. */
  countsAttempts?: boolean;
}

/**
 * Work in a table: due rows are leased to one worker at a time. The worker renews the lease while it works, and settles
 * the row. A lease that expires makes the row due again, so no work is lost when a worker crashes.
 */
export class Leases<T extends WorkTable> {
  readonly #store: Store;
  readonly #queue: LeaseQueue<T>;

  constructor(store: Store, queue: LeaseQueue<T>) {
    this.#store = store;
    this.#queue = queue;
  }

  /** SQL: the row waits for a worker. */
  isDue(nowMs: number): RawBuilder<SqlBool> {
    const { dueAt, leasedUntil } = this.#queue;
    const columns = [...new Set([dueAt, leasedUntil])].map((column) => sql`${this.#ref(column)} <= ${nowMs}`);
    return sql<SqlBool>`(${this.#isOpen()} and ${sql.join(columns, sql` and `)})`;
  }

  /** SQL: a worker holds the row. */
  isLeased(nowMs: number): RawBuilder<SqlBool> {
    const { leasedUntil } = this.#queue;
    return sql<SqlBool>`(${this.#isOpen()} and ${this.#ref('lease')} is not null and ${this.#ref(leasedUntil)} > ${nowMs})`;
  }

  /**
   * Leases the rows that `choose` finds. It is first called without a lock, so that an empty poll blocks no writer. On
   * SQLite, it is called only after something was written or has become due.
   *
   * @param name of the poll, with its parameters
   * @param choose has no side effects; called again in the transaction
   * @param scope rows that the poll is about
   */
  poll<C, R>(
    name: string,
    choose: (db: Reader, nowMs: number) => Promise<readonly C[]>,
    lease: (writer: Writer, chosen: readonly C[]) => Promise<R[]>,
    scope: RawBuilder<SqlBool> = sql<SqlBool>`true`,
  ): Promise<R[]> {
    return this.#store.writeDue(name, choose, lease, () => this.nextDueMs(scope));
  }

  /** When the next row becomes due, or the next lease expires; null: never. */
  async nextDueMs(scope: RawBuilder<SqlBool> = sql<SqlBool>`true`): Promise<number | null> {
    const [due, until] = [this.#ref(this.#queue.dueAt), this.#ref(this.#queue.leasedUntil)];
    const { rows } = await sql<{ at: number | null }>`
      select min(case when ${due} > ${until} then ${due} else ${until} end) as at
      from ${sql.table(this.#queue.table)} where ${this.#isOpen()} and ${scope}`.execute(this.#store.db);
    const at = rows[0]?.at ?? null;
    return at === null ? null : Number(at);
  }

  /**
   * Leases those of the rows that are still due.
   *
   * @param columns further columns to set
   * @param giveUp final columns of a row that is not attempted again, which is settled with them; null: it is leased
   * @returns the rows as they now are, in the order of `ids`
   */
  async take(
    db: Reader,
    ids: readonly string[],
    leaseMs: number,
    columns: Columns<T> = {},
    giveUp: (row: Row<T>, nowMs: number) => Columns<T> | null = () => null,
  ): Promise<(Row<T> & Lease)[]> {
    const nowMs = this.#store.now();
    const lease = this.#store.newId();
    const set = {
      ...columns,
      lease,
      [this.#queue.leasedUntil]: nowMs + leaseMs,
      ...(this.#queue.countsAttempts !== false && { attempts: sql`${sql.ref('attempts')} + 1` }),
    };
    const taken = new Map<string, Row<T> & Lease>();
    for (const some of inChunks(ids)) {
      const rows = await this.#update(db, set)
        .where('id', 'in', some)
        .where(this.isDue(nowMs))
        .returningAll()
        .execute();
      for (const row of rows as unknown as (Row<T> & Lease)[]) {
        const last = giveUp(row, nowMs);
        if (last === null) taken.set(row.id, row);
        else await this.settle(db, row, last);
      }
    }
    return ids.flatMap((id) => taken.get(id) ?? []);
  }

  /**
   * Extends leases.
   *
   * @param columns further columns to set
   * @returns the rows whose lease was still held
   */
  async renew(leased: readonly Lease[], leaseMs: number, columns: Columns<T> = {}): Promise<Row<T>[]> {
    const held: Row<T>[] = [];
    const set = { ...columns, [this.#queue.leasedUntil]: this.#store.now() + leaseMs };
    for (const [lease, ofLease] of Map.groupBy(leased, (each) => each.lease))
      for (const ids of inChunks(ofLease.map(({ id }) => id))) {
        const update = this.#update(this.#store.db, set).where('id', 'in', ids).where('lease', '=', lease);
        held.push(...((await update.returningAll().execute()) as unknown as Row<T>[]));
      }
    return held;
  }

  /** The row if the lease is held. For a change in several steps, in a transaction of {@link Store.write}. */
  async held(db: Reader, { id, lease }: Lease): Promise<Row<T> | null> {
    const query = db.selectFrom(this.#table).selectAll().where('id', '=', id).where('lease', '=', lease);
    return ((await query.executeTakeFirst()) as unknown as Row<T> | undefined) ?? null;
  }

  /** Columns that end a lease. */
  released(): Columns<T> {
    const { dueAt, leasedUntil } = this.#queue;
    return { lease: null, ...(dueAt !== leasedUntil && { [leasedUntil]: 0 }) } as unknown as Columns<T>;
  }

  /**
   * Ends a lease and sets the columns of the outcome.
   *
   * @returns false where the lease was not held any more: nothing was changed
   */
  async settle(db: Reader, { id, lease }: Lease, columns: Columns<T>): Promise<boolean> {
    const update = this.#update(db, { ...columns, ...this.released() })
      .where('id', '=', id)
      .where('lease', '=', lease);
    return (await update.returning('id').executeTakeFirst()) !== undefined;
  }

  /** Ends expired leases, so that their workers can't renew or settle any more. */
  async endLapsed(db: Reader, columns: Columns<T>, scope: RawBuilder<SqlBool>): Promise<void> {
    const update = this.#update(db, { ...columns, ...this.released() }).where('lease', 'is not', null);
    await update.where(this.isDue(this.#store.now())).where(scope).execute();
  }

  /** Ends all leases. For the start of a worker that is the only one. */
  async releaseAll(): Promise<void> {
    await this.#update(this.#store.db, this.released()).where('lease', 'is not', null).execute();
  }

  /** Number of rows by state. */
  async counts(scope: RawBuilder<SqlBool> = sql<SqlBool>`true`): Promise<Map<string, number>> {
    const rows = await this.#store.db
      .selectFrom(this.#table)
      .select((e) => ['state', e.fn.countAll<number>().as('count')])
      .where(scope)
      .groupBy('state')
      .execute();
    return new Map(rows.map(({ state, count }) => [state, Number(count)]));
  }

  /**
   * Removes rows that finished before a time.
   *
   * @param limit at most this many
   * @returns how many were removed
   */
  async clean(finishedBeforeMs: number, limit: number): Promise<number> {
    const { db } = this.#store;
    const finished = db
      .selectFrom(this.#table)
      .select('id')
      .where('finishedAtMs', '<', finishedBeforeMs)
      .orderBy('finishedAtMs')
      .limit(limit);
    const ids = (await finished.execute()).map(({ id }) => id);
    for (const some of inChunks(ids)) await db.deleteFrom(this.#table).where('id', 'in', some).execute();
    return ids.length;
  }

  /** Typed as one table: every table of {@link WorkTable} has the columns that are used here. */
  get #table(): 'jobs' {
    return this.#queue.table as 'jobs';
  }

  #update(db: Reader, columns: object) {
    return (db as Kysely<Tables>).updateTable(this.#table).set(columns as never);
  }

  #ref(column: string): RawBuilder<unknown> {
    return sql.ref(`${this.#queue.table}.${column}`);
  }

  #isOpen(): RawBuilder<SqlBool> {
    const { open } = this.#queue;
    return open === undefined ? sql<SqlBool>`true` : sql<SqlBool>`${this.#ref('state')} in (${sql.join(open)})`;
  }
}

/**
 * Gives up a delivery that is due after its last possible time and was attempted before. Its attempts ended without an
 * outcome, or no worker was available in time. A delivery that was never attempted gets its first attempt at any time.
 */
export function outOfTime(
  { attempts, giveUpAtMs, lastError }: { attempts: number; giveUpAtMs: number; lastError: string | null },
  nowMs: number,
): { state: string; lastError: string; finishedAtMs: number } | null {
  if (attempts <= 1 || nowMs <= giveUpAtMs) return null;
  const error = lastError ?? 'Every attempt was interrupted.';
  return { state: 'failed', lastError: error, finishedAtMs: nowMs };
}
