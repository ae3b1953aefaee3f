import type { FleetEvent } from '@outrider/domain';
import { type Batch, type Log, resumeFromStore, type Subscription, type Topic } from '@outrider/log';
import type { Notifications } from '@outrider/registry';

/** A topic of events, read by a consumer group, and how far each partition is evaluated. */
export class EventSource {
  readonly topic: Topic<FleetEvent>;
  readonly consumer: string;
  readonly #log: Log;
  readonly #notifications: Notifications;
  /** By partition: the next offset to evaluate, and the next offset as last saved. */
  readonly #reached = new Map<number, { next: number; saved: number }>();
  #subscription: Subscription | null = null;

  constructor(
    topic: Topic<FleetEvent>,
    consumer: string,
    { log, notifications }: { log: Log; notifications: Notifications },
  ) {
    this.topic = topic;
    this.consumer = consumer;
    this.#log = log;
    this.#notifications = notifications;
  }

  async start(onBatch: (batch: Batch<FleetEvent>) => Promise<void>, onFailed: (error: unknown) => void): Promise<void> {
    this.#subscription = await this.#log.consume(this.topic, {
      group: this.consumer,
      startAt: (partition) => this.#startOf(partition),
      onBatch,
      onRevoked: async (partition) => {
        await this.#saveOffset(partition);
        this.#reached.delete(partition);
      },
    });
    this.#subscription.failed.catch(onFailed);
  }

  async stop(): Promise<void> {
    await this.#subscription?.stop();
  }

  /**
   * Records that everything below an offset is evaluated.
   *
   * @param isSaved whether a transaction saved the offset together with what the events caused
   */
  reached(partition: number, next: number, isSaved: boolean): void {
    const saved = isSaved ? next : (this.#reached.get(partition)?.saved ?? 0);
    this.#reached.set(partition, { next, saved });
    if (isSaved) this.#log.release(this.topic, partition, this.consumer, next);
  }

  /** Saves the offsets of events that caused nothing to be saved. */
  async saveOffsets(): Promise<void> {
    for (const partition of this.#reached.keys()) await this.#saveOffset(partition);
  }

  /** The offset at which to resume a partition: the end of the last saved batch. */
  async #startOf(partition: number): Promise<number> {
    const next = await resumeFromStore(this.#log, this.topic, partition, this.consumer, this.#notifications);
    this.#reached.set(partition, { next, saved: next });
    return next;
  }

  async #saveOffset(partition: number): Promise<void> {
    const state = this.#reached.get(partition);
    if (!state || state.next <= state.saved) return;
    const { next } = state;
    await this.#notifications.record({ consumer: this.consumer, partition, next, drafts: [] });
    const current = this.#reached.get(partition);
    if (current) current.saved = Math.max(current.saved, next);
    this.#log.release(this.topic, partition, this.consumer, Math.max(next, current?.saved ?? next));
  }
}
