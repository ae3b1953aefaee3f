import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import type { Producer } from 'kafkajs';
import type { KafkaClients } from './clients.ts';
import { partitionByKey } from './partitioner.ts';

/**
 * Largest request, unless one record is longer. A request may be a single batch of one partition, and brokers accept
 * batches of 1 MiB unless configured otherwise.
 */
const MAX_REQUEST_BYTES = 900 * 1024;

/**
 * Maximum number of records in a request. The library copies a partition's list of records for each one that it adds,
 * so the cost of a record grows with their number. Up to 1000 records it is 0.7 µs each; a request of small records up
 * to the limit of bytes took 4.4 µs each.
 */
const MAX_REQUEST_RECORDS = 1000;

/**
 * Shortest time between two requests, unless one is full: under load a few large requests cost the broker and all
 * readers a fraction of many small ones. A record after a pause is sent at once.
 */
const APART_MS = 10;

/** A record that is not yet acknowledged. */
export interface Queued {
  /** Name of a topic that exists. */
  topic: string;
  key: string;
  value: Buffer;
  /** Size including Kafka's overhead. */
  bytes: number;
  /** Called once: with the error, or null when the record is durable. */
  settle(error: Error | null): void;
}

/**
 * Sends records in order through an idempotent producer of its own; all in-sync replicas acknowledge them. Only one
 * request is pending at a time. Records that arrive meanwhile share the next request, which keeps their order and makes
 * requests large. When a request fails, all records behind it fail too: otherwise they would overtake the failed ones,
 * which the caller sends again.
 */
export class ProducerQueue {
  readonly #kafka: KafkaClients;
  readonly #apartMs: number;
  readonly #clock: Clock;
  /** Earliest time of the next request, in monotonic milliseconds. */
  #nextAtMs = 0;
  #producer: Promise<Producer> | null = null;
  #queue: Queued[] = [];
  #sending: Promise<void> | null = null;

  /** @param apartMs minimum time between the starts of two requests that are not full */
  constructor(kafka: KafkaClients, apartMs = APART_MS, clock: Clock = SYSTEM_CLOCK) {
    this.#kafka = kafka;
    this.#apartMs = apartMs;
    this.#clock = clock;
  }

  send(queued: Queued): void {
    this.#queue.push(queued);
    this.#sending ??= this.#sendAll();
  }

  /** Sends waiting records, then disconnects. */
  async close(): Promise<void> {
    await this.#sending;
    const producer = await this.#producer;
    await producer?.disconnect();
  }

  async #sendAll(): Promise<void> {
    // Waits for the end of the event loop's turn: packets that arrived together are sent together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.length > 0) {
      await this.#keepApart();
      const request = this.#takeRequest();
      let error: Error | null = null;
      try {
        await this.#sendRequest(request);
      } catch (cause) {
        error = new Error(`Kafka did not take the records: ${(cause as Error).message}`, { cause });
        await this.#dropProducer();
      }
      const settled = error === null ? request : [...request, ...this.#queue.splice(0)];
      for (const queued of settled) queued.settle(error);
    }
    this.#sending = null;
  }

  async #keepApart(): Promise<void> {
    const soonMs = this.#nextAtMs - this.#clock.steadyMs();
    if (soonMs > 0 && this.#queue.length < MAX_REQUEST_RECORDS) await this.#clock.sleep(soonMs);
    this.#nextAtMs = this.#clock.steadyMs() + this.#apartMs;
  }

  #takeRequest(): Queued[] {
    let bytes = 0;
    let count = 0;
    for (const queued of this.#queue) {
      bytes += queued.bytes;
      if (count > 0 && (bytes > MAX_REQUEST_BYTES || count === MAX_REQUEST_RECORDS)) break;
      count++;
    }
    const request = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    return request;
  }

  async #sendRequest(request: readonly Queued[]): Promise<void> {
    const byTopic = Map.groupBy(request, ({ topic }) => topic);
    this.#producer ??= this.#connect();
    const producer = await this.#producer;
    await producer.sendBatch({
      acks: -1,
      topicMessages: [...byTopic].map(([topic, queued]) => ({
        topic,
        messages: queued.map(({ key, value }) => ({ key, value })),
      })),
    });
  }

  async #connect(): Promise<Producer> {
    const producer = this.#kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: () => partitionByKey,
      retry: { retries: 8 },
    });
    await producer.connect();
    return producer;
  }

  /**
   * Replaces the producer after a failure: the broker's sequence numbers are unknown then, and a new producer begins
   * its own.
   */
  async #dropProducer(): Promise<void> {
    const producer = this.#producer;
    this.#producer = null;
    try {
      await (await producer)?.disconnect();
    } catch {
      // The producer had not connected, or was closed already.
    }
  }
}
