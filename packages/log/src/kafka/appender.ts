import { Encoded, LogFullError, type Topic } from '../log.ts';
import type { KafkaClients } from './clients.ts';
import { hashOf } from './partitioner.ts';
import { ProducerQueue } from './producer-queue.ts';
import type { KafkaTopics } from './topics.ts';

/**
 * Number of producers, each with partitions of its own. A broker processes a connection's next request when the one
 * before is durable. With a single copy it syncs each partition in turn. With several producers a request waits for
 * fewer partitions and brings more records to each.
 */
const QUEUES = 4;
/** Kafka's overhead for a record with its key, at most. */
const RECORD_OVERHEAD_BYTES = 128;

interface Call {
  bytes: number;
  /** Messages not acknowledged yet. */
  left: number;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Appends through several {@link ProducerQueue}s. All records of a partition use the same queue, which keeps their
 * order.
 */
export class KafkaAppender {
  readonly #queues: readonly ProducerQueue[];
  readonly #topics: KafkaTopics;
  readonly #maxPendingBytes: number;
  /** Settles when the records of the latest call are in the queues. */
  #entering: Promise<void> = Promise.resolve();
  #pendingBytes = 0;
  #closed = false;

  constructor(kafka: KafkaClients, topics: KafkaTopics, maxPendingBytes: number) {
    this.#queues = Array.from({ length: QUEUES }, () => new ProducerQueue(kafka));
    this.#topics = topics;
    this.#maxPendingBytes = maxPendingBytes;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  async append<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Promise<void> {
    if (this.#closed) throw new Error('the log is closed');
    if (records.length === 0) return;
    if (this.#pendingBytes >= this.#maxPendingBytes)
      throw new LogFullError(`${this.#pendingBytes} bytes wait to be sent to Kafka, ${this.#maxPendingBytes} may`);
    const { keys, values } = Encoded.of(topic, records);
    const bytes = values.reduce((sum, { length }) => sum + length, 0);
    this.#pendingBytes += bytes;
    return new Promise((resolve, reject) => {
      const call: Call = { bytes, left: values.length, resolve, reject };
      const settle = (error: Error | null) => {
        if (error !== null) this.#topics.recheck(topic);
        this.#settle(call, error);
      };
      // Always awaited, even when the count is known already, so that calls keep their order.
      this.#entering = this.#topics.partitionCount(topic).then(
        (partitions) =>
          keys.forEach((key, i) => {
            const value = values[i] as Buffer;
            const queue = this.#queues[(hashOf(key) % partitions) % QUEUES];
            queue?.send({ topic: topic.name, key, value, bytes: value.length + RECORD_OVERHEAD_BYTES, settle });
          }),
        (cause: Error) => {
          const error = new Error(`Kafka did not take the records: ${cause.message}`, { cause });
          for (const _ of keys) settle(error);
        },
      );
    });
  }

  /** Sends waiting records, then disconnects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#entering;
    await Promise.all(this.#queues.map((queue) => queue.close()));
  }

  #settle(call: Call, error: Error | null): void {
    // Rejects at once, while other records of the call are pending: the caller's later calls then follow its retry.
    if (error !== null) call.reject(error);
    call.left--;
    if (call.left > 0) return;
    this.#pendingBytes -= call.bytes;
    call.resolve();
  }
}
