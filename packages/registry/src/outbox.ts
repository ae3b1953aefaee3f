import { type DefinitionChange, readStoredChange } from '@outrider/domain';
import { changesPage } from './change-pages.ts';
import { inChunks, type Store } from './store.ts';

/** A change that waits to be told to the log. */
export interface PendingChange {
  /** Grows in the order in which the changes were committed. */
  seq: number;
  change: DefinitionChange;
}

/** Changes that were committed and not yet told to the log: at least once, in order. */
export class Outbox {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Has `tell` carry changes, in no more than one instance at a time: of two, one might put an older change after a newer.
   *
   * @returns null where another instance is at it
   */
  inTurn<T>(tell: () => Promise<T>): Promise<T | null> {
    return this.#store.alone(tell);
  }

  /** The oldest ones: no more than `limit`, and fewer where they are large. Empty only where there are none. */
  async pending(limit: number): Promise<PendingChange[]> {
    const rows = await this.#store.due(
      'outbox',
      [],
      () => changesPage(this.#store.db, 'outbox', 0, limit),
      async () => null,
    );
    return rows.map((row) => ({ seq: row.seq, change: readStoredChange(row.change) }));
  }

  /** Forgets what the log has made durable. */
  async delivered(seqs: readonly number[]): Promise<void> {
    for (const some of inChunks(seqs)) await this.#store.db.deleteFrom('outbox').where('seq', 'in', some).execute();
  }
}
