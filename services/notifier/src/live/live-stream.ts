import { type Batch, type Log, type Subscription as LogSubscription, RepeatedEvents } from '@outrider/log';
import { CursorPlaces } from './cursor-places.ts';
import type { EventMessage, EventRange, LiveTopic } from './event-messages.ts';
import { PastEvents } from './feeds/past-events.ts';
import { RecentEvents } from './feeds/recent-events.ts';

export interface LiveStreamContext {
  log: Log;
  now(): number;
  /** Memory limits for the newest messages and for those read back from the log. */
  maxBytes?: { recent: number; past: number };
  /** False for corrections: one may come several times, the last is valid, and none may be skipped. */
  leavesOutRepetitions: boolean;
}

/** A topic whose records are sent to live clients: their offsets, the newest records, and those read back. */
export class LiveStream<T = unknown> {
  readonly of: LiveTopic<T>;
  readonly recent: RecentEvents;
  readonly past: PastEvents<T>;
  readonly places: CursorPlaces;
  /** Next offset by partition: everything below was offered to the live clients. */
  readonly offered = new Map<number, number>();
  readonly #log: Log;
  readonly #repeated: RepeatedEvents | null;
  #subscription: LogSubscription | null = null;

  constructor(of: LiveTopic<T>, { log, now, maxBytes, leavesOutRepetitions }: LiveStreamContext) {
    this.of = of;
    this.#log = log;
    this.recent = new RecentEvents({ now, ...(maxBytes && { maxBytes: maxBytes.recent }) });
    this.past = new PastEvents(log, of, maxBytes?.past);
    this.places = new CursorPlaces(log, of.topic);
    this.#repeated = leavesOutRepetitions ? new RepeatedEvents() : null;
  }

  /**
   * @param onBatch called before any message of the batch is offered
   * @param onMessage called with each message after it was offered, in order
   * @param onFailed called when the topic can't be read any more
   */
  async start(
    onBatch: (messages: readonly EventMessage[]) => Promise<void>,
    onMessage: (message: EventMessage, value: T) => void,
    onFailed: (error: unknown) => void,
  ): Promise<void> {
    const { topic, messageOf } = this.of;
    await this.places.open();
    for (const [partition, end] of await this.#log.endOffsets(topic)) {
      this.offered.set(partition, end);
      this.recent.begin(partition, end);
    }
    this.#subscription = await this.#log.consume(topic, {
      group: `notifier-${crypto.randomUUID()}`,
      startAt: (partition) => this.offered.get(partition) ?? 'latest',
      onBatch: async ({ partition, records }: Batch<T>) => {
        const messages = records.map(({ offset, value }) => ({ value, message: messageOf(offset, value) }));
        await onBatch(messages.map(({ message }) => message));
        for (const { value, message } of messages) {
          this.recent.append(partition, message);
          this.offered.set(partition, message.offset + 1);
          if (!this.isRepetition(partition, message)) onMessage(message, value);
        }
      },
    });
    this.#subscription.failed.catch(onFailed);
  }

  async stop(): Promise<void> {
    await this.#subscription?.stop();
  }

  isRepetition(partition: number, message: EventMessage): boolean {
    return this.#repeated?.isRepetition(partition, message.offset, message) ?? false;
  }

  /** The messages of a partition from an offset on: from memory, or read back from the log. */
  async from(partition: number, offset: number, end: number): Promise<EventRange> {
    return this.recent.from(partition, offset) ?? (await this.past.from(partition, offset, end));
  }
}
