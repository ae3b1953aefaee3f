import { SYSTEM_CLOCK } from '@outrider/domain';
import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import { CheckpointFencedError } from '../checkpoints.ts';
import type { ConsumeOptions, LogRecord, StartAt, Subscription, Topic } from '../log.ts';
import type { Decoder } from './decoder.ts';
import { type KafkaTopics, whileLeadersChange } from './topics.ts';

/** Interval of heartbeats to the group while a batch is processed. */
const HEARTBEAT_EVERY_MS = 1000;
const DEFAULT_BATCH_RECORDS = 1000;
/** After this time a member knows that it lost a partition. */
const FENCED_PAUSE_MS = HEARTBEAT_EVERY_MS + 1000;

/** An assigned partition. Each assignment by the group creates a new object. */
interface Place {
  /** Null until the starting offset is known. */
  nextOffset: number | null;
  /** Settles when the current batch, or the call of `startAt`, has ended, with or without an error. */
  inHand: Promise<void>;
  /** Whether `startAt` was called. If so, `onRevoked` must be called when the partition is given up. */
  asked: boolean;
}

/** What a subscription reports to the log that opened it. */
export interface SubscriptionWatch {
  /** Called when the subscription begins to stop. */
  onStop(): void;
  /**
   * Called after records were handed out.
   *
   * @param atMs Unix milliseconds of the newest of them, by the broker's clock
   */
  onRead(partition: number, atMs: number): void;
  /** Called when the member gives a partition up. */
  onRevoked(partition: number): void;
  /** Called when the broker removed records that were still to be read. */
  onRemoved(partition: number, savedOffset: number, offset: number): void;
}

/**
 * One member of a consumer group. It begins in a partition at the offset that `startAt` returns; the group commits no
 * offsets. Partitions are paused from their assignment until that offset is known.
 *
 * With this protocol a member gives up all partitions when the group rebalances, and the library joins again without
 * waiting: `onRevoked` begins at once, and may end after another member began. A consumer whose checkpoints were
 * claimed by another member gets a `CheckpointFencedError` and releases the partition. The last member to claim need
 * not be the one that the group chose: a fenced member that still has the partition a while later begins with it again.
 */
export class KafkaSubscription<T> implements Subscription {
  readonly failed: Promise<never>;
  #fail: (error: unknown) => void = () => {};
  readonly #topic: Topic<T>;
  readonly #topics: KafkaTopics;
  readonly #options: ConsumeOptions<T>;
  readonly #consumer: Consumer;
  readonly #decoder: Decoder<T>;
  readonly #places = new Map<number, Place>();
  /** Revocations in progress by partition. One must end before the partition may begin again here. */
  readonly #revoked = new Map<number, Promise<void>>();
  /** Partitions of the group's latest assignment. */
  #assigned: ReadonlySet<number> = new Set();
  /** Offsets of this member, for consumers that save no offsets. */
  readonly #lastOffsets = new Map<number, number>();
  readonly #watch: SubscriptionWatch;
  #stopped: Promise<void> | null = null;
  #crashed = false;

  constructor(
    topic: Topic<T>,
    topics: KafkaTopics,
    consumer: Consumer,
    decoder: Decoder<T>,
    options: ConsumeOptions<T>,
    watch: SubscriptionWatch,
  ) {
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // A failure before the supervisor awaits `failed` must not end the process as unhandled.
    this.failed.catch(() => {});
    this.#topic = topic;
    this.#topics = topics;
    this.#consumer = consumer;
    this.#decoder = decoder;
    this.#options = options;
    this.#watch = watch;
  }

  /** Resolves when this member has its first partitions and knows its starting offset in each. */
  async start(): Promise<void> {
    const { name } = this.#topic;
    await this.#topics.ensure(this.#topic);
    await this.#consumer.connect();
    await whileLeadersChange(() => this.#consumer.subscribe({ topic: name, fromBeginning: true }));
    const begun = new Promise<void>((resolve, reject) => {
      this.#consumer.on('consumer.group_join', ({ payload }) => {
        this.#revokeAll();
        const assigned = payload.memberAssignment[name] ?? [];
        this.#assigned = new Set(assigned);
        this.#take(assigned).then(resolve, (error) => {
          reject(error);
          this.#crash(error);
        });
      });
      this.#consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
        if (restart) return;
        reject(error);
        this.#crash(error);
      });
    });
    this.#consumer.on('consumer.rebalancing', () => this.#revokeAll());
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 16,
      eachBatch: (payload) => this.#onBatch(payload),
    });
    await begun;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Stops with `reason` as the failure. */
  giveUp(reason: Error): void {
    if (!this.#stopped) this.#crash(reason);
  }

  async #stop(): Promise<void> {
    this.#watch.onStop();
    const inHand = [...this.#places.values()].map((place) => place.inHand);
    try {
      await Promise.all(inHand);
      // Revoked before the group gives the partitions to other members: they continue from the saved offsets.
      if (!this.#crashed) this.#revokeAll();
      await Promise.all(this.#revoked.values());
    } finally {
      await this.#consumer.disconnect();
    }
  }

  #crash(error: unknown): void {
    this.#crashed = true;
    this.#fail(error);
    // Not awaited: the current batch may be the cause of the failure. An error on leaving the group would add nothing.
    this.stop().catch(() => {});
  }

  #revokeAll(): void {
    const { onRevoked } = this.#options;
    for (const [partition, place] of this.#places) {
      this.#watch.onRevoked(partition);
      const before = this.#revoked.get(partition);
      const revoked = (async () => {
        await before;
        await place.inHand;
        if (!place.asked) return;
        if (place.nextOffset !== null) this.#lastOffsets.set(partition, place.nextOffset);
        await onRevoked?.(partition).catch(ignoreFenced);
      })();
      this.#revoked.set(partition, revoked);
      revoked.catch((error) => this.#crash(error));
    }
    this.#places.clear();
  }

  /** Must pause the partitions before its first await: the next fetch follows immediately. */
  async #take(partitions: readonly number[]): Promise<void> {
    if (partitions.length === 0) return;
    this.#consumer.pause([{ topic: this.#topic.name, partitions: [...partitions] }]);
    const places = partitions.map((partition) => {
      const place: Place = { nextOffset: null, inHand: Promise.resolve(), asked: false };
      this.#places.set(partition, place);
      return [partition, place] as const;
    });
    await Promise.all(places.map(([partition, place]) => this.#begin(partition, place)));
  }

  async #begin(partition: number, place: Place): Promise<void> {
    await this.#revoked.get(partition);
    // The group may have revoked it before `startAt` was called.
    if (this.#places.get(partition) !== place || this.#stopped) return;
    const { onRevoked, startAt } = this.#options;
    const kept = onRevoked ? undefined : this.#lastOffsets.get(partition);
    let offset: number;
    try {
      place.asked = true;
      const begun = (async () => this.#offsetOf(partition, kept ?? (await startAt(partition))))();
      place.inHand = begun.then(ignore, ignore);
      offset = await begun;
    } catch (error) {
      if (!(error instanceof CheckpointFencedError)) throw error;
      return this.#letGo(partition, place);
    }
    // The group may have revoked it meanwhile.
    if (this.#places.get(partition) !== place || this.#stopped) return;
    place.nextOffset = offset;
    this.#consumer.seek({ topic: this.#topic.name, partition, offset: String(offset) });
    this.#consumer.resume([{ topic: this.#topic.name, partitions: [partition] }]);
  }

  /** Another member has claimed the partition. If the group still assigns it to this member, it begins again. */
  #letGo(partition: number, place: Place): void {
    if (this.#places.get(partition) !== place) return;
    this.#places.delete(partition);
    if (this.#stopped) return;
    this.#consumer.pause([{ topic: this.#topic.name, partitions: [partition] }]);
    const again = SYSTEM_CLOCK.after(FENCED_PAUSE_MS, () => {
      if (this.#stopped || this.#places.has(partition) || !this.#assigned.has(partition)) return;
      this.#take([partition]).catch((error) => this.#crash(error));
    });
    again.unref();
  }

  async #offsetOf(partition: number, startAt: StartAt): Promise<number> {
    const bounds = (await this.#topics.bounds(this.#topic)).get(partition);
    if (!bounds) throw new Error(`${this.#topic.name} has no partition ${partition}`);
    if (startAt === 'earliest') return bounds.earliest;
    if (startAt === 'latest') return bounds.end;
    return Math.max(startAt, bounds.earliest);
  }

  async #onBatch({ batch, resolveOffset, heartbeat, isRunning, isStale }: EachBatchPayload): Promise<void> {
    const { partition, messages } = batch;
    const place = this.#places.get(partition);
    const mayGoOn = () => isRunning() && !isStale() && !this.#stopped && this.#places.get(partition) === place;
    if (!place || place.nextOffset === null) return;
    const size = this.#options.maxBatchRecords ?? DEFAULT_BATCH_RECORDS;
    const first = place.nextOffset;
    // If the broker does not have the requested offset, the library continues with the oldest record.
    const last = Number(messages.at(-1)?.offset ?? first);
    if (last < first && Number(batch.highWatermark) < first) {
      const where = `${this.#topic.name}/${partition}`;
      this.#crash(
        new Error(`${where} ends at ${batch.highWatermark}, before ${first}: the log was replaced or cut short`),
      );
      return;
    }
    const news = messages.filter(({ offset }) => Number(offset) >= first);
    const begin = Number(news[0]?.offset ?? first);
    if (begin > first && !this.#topic.compacted) this.#watch.onRemoved(partition, first, begin);
    for (let at = 0; at < news.length && mayGoOn(); at += size) {
      const some = news.slice(at, at + size);
      const lost = await this.#handOut(partition, place, some, heartbeat);
      if (lost === 'failed') return;
      const newest = some.at(-1);
      if (newest) {
        resolveOffset(newest.offset);
        this.#watch.onRead(partition, Number(newest.timestamp));
      }
      // The library joins the group again after this error.
      if (lost) throw lost;
    }
    // Compaction may have removed records after the last one.
    if (!mayGoOn()) return;
    resolveOffset(batch.lastOffset());
    this.#options.onProgress?.(partition, Number(batch.lastOffset()) + 1);
  }

  /** @returns an error of the group, such as a rebalance; null without one */
  async #handOut(
    partition: number,
    place: Place,
    messages: readonly KafkaMessage[],
    heartbeat: () => Promise<void>,
  ): Promise<Error | 'failed' | null> {
    let lost: Error | null = null;
    const beat = SYSTEM_CLOCK.every(HEARTBEAT_EVERY_MS, () => {
      heartbeat().catch((error: Error) => {
        lost = error;
      });
    });
    const handled = (async () => {
      const records: LogRecord<T>[] = [];
      for (const { offset, value } of messages) {
        const decoded = this.#decoder.decode(partition, Number(offset), value ?? Buffer.alloc(0));
        const record = decoded instanceof Promise ? await decoded : decoded;
        if (record) records.push(record);
      }
      if (records.length > 0) await this.#options.onBatch({ partition, records });
      place.nextOffset = Number(messages.at(-1)?.offset ?? 0) + 1;
      this.#options.onProgress?.(partition, place.nextOffset);
    })();
    place.inHand = handled.catch(() => {});
    try {
      await handled;
      if (!lost) await heartbeat();
    } catch (error) {
      if (await isRejected(handled)) {
        if (error instanceof CheckpointFencedError) this.#letGo(partition, place);
        else this.#crash(error);
        return 'failed';
      }
      lost = error as Error;
    } finally {
      beat.cancel();
    }
    return lost;
  }
}

function ignore(): void {}

function ignoreFenced(error: unknown): void {
  if (!(error instanceof CheckpointFencedError)) throw error;
}

function isRejected(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => false,
    () => true,
  );
}
