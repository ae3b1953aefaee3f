import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UnreadableRecord } from '../dead-letters.ts';
import type { Batch, ConsumeOptions, Subscription } from '../log.ts';
import type { Cursor } from './reader.ts';

/** Wakes one loop when there may be work, and remembers a signal raised while the loop is busy. */
export class Signal {
  #raised = false;
  #wake: (() => void) | null = null;

  raise(): void {
    this.#raised = true;
    this.#wake?.();
  }

  /** Resolves once the signal was raised after this last resolved. */
  async wait(): Promise<void> {
    if (!this.#raised) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    this.#raised = false;
  }
}

/** One partition's part of a subscription. */
export interface Feed<T> {
  partition: number;
  cursor: Cursor<T>;
  /** Raised when the partition grew. */
  grown: Signal;
}

/** Handlers and batch size of the consumer. */
type Handlers<T> = Pick<ConsumeOptions<T>, 'onBatch' | 'onProgress' | 'onRevoked'> & {
  maxBatchRecords: number;
  onUnreadable: ((record: UnreadableRecord) => Promise<void>) | undefined;
};

/** Passes records to the consumer until stopped or failed, one batch at a time for each partition. */
export class SqliteSubscription<T> implements Subscription {
  readonly failed: Promise<never>;
  #fail: (error: unknown) => void = () => {};
  #stopping = false;
  readonly #feeds: readonly Feed<T>[];
  readonly #done: Promise<unknown>;
  readonly #onEnd: () => void;
  readonly #onProgress: ((partition: number, nextOffset: number) => void) | undefined;
  readonly #onRevoked: ((partition: number) => Promise<void>) | undefined;
  readonly #onUnreadable: ((record: UnreadableRecord) => Promise<void>) | undefined;
  #failed = false;
  #stopped: Promise<void> | null = null;

  constructor(
    feeds: readonly Feed<T>[],
    { maxBatchRecords, onBatch, onProgress, onRevoked, onUnreadable }: Handlers<T>,
    onEnd: () => void,
  ) {
    this.#onProgress = onProgress;
    this.#onRevoked = onRevoked;
    this.#onUnreadable = onUnreadable;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // A failure before the supervisor awaits `failed` must not end the process as unhandled.
    this.failed.catch(() => {});
    this.#feeds = feeds;
    this.#onEnd = onEnd;
    this.#done = Promise.all(feeds.map((feed) => this.#run(feed, maxBatchRecords, onBatch)));
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#halt();
    await this.#done;
    if (this.#failed) return;
    for (const { partition } of this.#feeds) await this.#onRevoked?.(partition);
  }

  #halt(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const { grown } of this.#feeds) grown.raise();
    this.#onEnd();
  }

  async #run(
    { partition, cursor, grown }: Feed<T>,
    maxBatchRecords: number,
    onBatch: (batch: Batch<T>) => Promise<void>,
  ): Promise<void> {
    try {
      // The caller gets its subscription before the first batch, and the event loop runs between batches.
      for (await nextTurn(); !this.#stopping; await nextTurn()) {
        const records = cursor.take(maxBatchRecords);
        // A later commit is announced after this end was read: it raises the signal, even while the batch is processed.
        const { isAtEnd, nextOffset } = cursor;
        for (const record of cursor.takeUnreadable()) await this.#onUnreadable?.(record);
        if (records.length > 0) await onBatch({ partition, records });
        this.#onProgress?.(partition, nextOffset);
        if (isAtEnd) await grown.wait();
      }
    } catch (error) {
      this.#failed = true;
      this.#fail(error);
      this.#halt();
    }
  }
}
