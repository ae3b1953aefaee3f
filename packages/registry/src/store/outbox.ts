import { type DefinitionChange, readStoredChange } from '@outrider/domain';
import { changesPage } from './change-pages.ts';
import { inChunks, type Store } from './store.ts';

const AT_ONCE = 500;

/** A change that is not in the log yet. */
export interface PendingChange {
  /** Grows in the order in which the changes were committed. */
  seq: number;
  change: DefinitionChange;
}

/** Changes that were committed and not yet appended to the log: delivered at least once, in order. */
export class Outbox {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Runs `publish` in one instance at a time: two could append changes in the wrong order.
   *
   * @returns null where another instance is publishing
   */
  inTurn<T>(publish: () => Promise<T>): Promise<T | null> {
    return this.#store.alone(publish);
  }

  /** The oldest ones: at most `limit`, and fewer where they are large. Empty only when nothing is pending. */
  async pending(limit: number): Promise<PendingChange[]> {
    const rows = await this.#store.due(
      'outbox',
      [],
      () => changesPage(this.#store.db, 'outbox', 0, limit),
      async () => null,
    );
    return rows.map((row) => ({ seq: row.seq, change: readStoredChange(row.change) }));
  }

  /** Changes with greater numbers, in the form of {@link pending}. */
  async after(seq: number): Promise<PendingChange[]> {
    const rows = await changesPage(this.#store.db, 'outbox', seq, AT_ONCE);
    return rows.map((row) => ({ seq: row.seq, change: readStoredChange(row.change) }));
  }

  /** Number of pending changes. */
  async size(): Promise<number> {
    const { count } = await this.#store.db
      .selectFrom('outbox')
      .select((e) => e.fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Deletes changes that are durable in the log. */
  async delivered(seqs: readonly number[]): Promise<void> {
    for (const some of inChunks(seqs)) await this.#store.db.deleteFrom('outbox').where('seq', 'in', some).execute();
  }
}
