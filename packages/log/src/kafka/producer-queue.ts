import type { Producer } from 'kafkajs';
import type { KafkaClients } from './clients.ts';
import { partitionByKey } from './partitioner.ts';

/**
 * One request takes at most so much, or one longer record: it may all be for one partition, where it is one batch, and
 * brokers take batches of 1 MiB unless configured otherwise.
 */
const MAX_REQUEST_BYTES = 900 * 1024;

/**
 * And so many records: the library copies a partition's list of them for each that it adds, so that a record costs the
 * more the more go with it. Up to here it is 0.7 µs each; where a request of the bytes above is full of small ones it
 * was 4.4 µs.
 */
const MAX_REQUEST_RECORDS = 1000;

/**
 * Shortest time between two requests, unless one is full: under load a few larger ones cost the
 * broker, and all who read, a fraction of what many small ones do. A record that comes after a pause goes at once.
 */
const APART_MS = 10;

/** A record on its way. */
export interface Queued {
  /** Its name; it is there. */
  topic: string;
  key: string;
  value: Buffer;
  /** With what Kafka puts around it. */
  bytes: number;
  /** Called once: with the error, or null when the record is durable. */
  settle(error: Error | null): void;
}

/**
 * Sends records in their order by an idempotent producer of its own, acknowledged by all replicas in sync. One request
 * is on its way at a time; what is handed in meanwhile goes together in the next, so that order holds and a request
 * carries many. Where a request fails, all that waits behind it does too: or it would overtake what is going to be sent
 * again.
 */
export class ProducerQueue {
  readonly #kafka: KafkaClients;
  readonly #apartMs: number;
  /** By `performance.now()`. */
  #nextAtMs = 0;
  #producer: Promise<Producer> | null = null;
  #queue: Queued[] = [];
  #sending: Promise<void> | null = null;

  /** @param apartMs between the beginnings of two requests that are not full, at the least */
  constructor(kafka: KafkaClients, apartMs = APART_MS) {
    this.#kafka = kafka;
    this.#apartMs = apartMs;
  }

  send(queued: Queued): void {
    this.#queue.push(queued);
    this.#sending ??= this.#sendAll();
  }

  /** Sends what waits, then disconnects. */
  async close(): Promise<void> {
    await this.#sending;
    const producer = await this.#producer;
    await producer?.disconnect();
  }

  async #sendAll(): Promise<void> {
    // At the end of the event loop's turn: packets that came together are sent together.
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
    const soonMs = this.#nextAtMs - performance.now();
    if (soonMs > 0 && this.#queue.length < MAX_REQUEST_RECORDS)
      await new Promise((resolve) => setTimeout(resolve, soonMs));
    this.#nextAtMs = performance.now() + this.#apartMs;
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

  /** After a failure nobody knows which sequence numbers the broker has seen: a new producer begins its own. */
  async #dropProducer(): Promise<void> {
    const producer = this.#producer;
    this.#producer = null;
    try {
      await (await producer)?.disconnect();
    } catch {
      // It had not connected, or is gone already: either way it is not there any more.
    }
  }
}
