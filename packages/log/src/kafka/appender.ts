import { type Message, Partitioners, type Producer } from 'kafkajs';
import { encodeAll, LogFullError, type Topic } from '../log.ts';
import type { KafkaClients } from './clients.ts';
import type { KafkaTopics, TopicName } from './topics.ts';

/**
 * One request takes at most so much, or one longer record: it may all be for one partition, where it is one batch, and
 * brokers take batches of 1 MiB unless told otherwise.
 */
const MAX_REQUEST_BYTES = 900 * 1024;
/** What Kafka puts around a record, at most, with its key. */
const RECORD_OVERHEAD_BYTES = 128;

interface Call {
  bytes: number;
  /** Messages not acknowledged yet. */
  left: number;
  error: Error | null;
  resolve(): void;
  reject(error: Error): void;
}

interface Queued {
  topic: TopicName;
  message: Message;
  bytes: number;
  call: Call;
}

/**
 * Appends by an idempotent producer, acknowledged by all replicas in sync. One request is on its way at a time; what is
 * handed in meanwhile goes together in the next, so that order holds and a request carries many records.
 */
export class KafkaAppender {
  readonly #kafka: KafkaClients;
  readonly #topics: KafkaTopics;
  readonly #maxPendingBytes: number;
  #producer: Promise<Producer> | null = null;
  #queue: Queued[] = [];
  #pendingBytes = 0;
  #sending: Promise<void> | null = null;
  #closed = false;

  constructor(kafka: KafkaClients, topics: KafkaTopics, maxPendingBytes: number) {
    this.#kafka = kafka;
    this.#topics = topics;
    this.#maxPendingBytes = maxPendingBytes;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  async append<T>(topic: Topic<T>, records: readonly T[]): Promise<void> {
    if (this.#closed) throw new Error('the log is closed');
    if (records.length === 0) return;
    if (this.#pendingBytes >= this.#maxPendingBytes)
      throw new LogFullError(`${this.#pendingBytes} bytes wait to be sent to Kafka, ${this.#maxPendingBytes} may`);
    const encoded = encodeAll(topic, records);
    const bytes = encoded.reduce((sum, { length }) => sum + length, 0);
    this.#pendingBytes += bytes;
    return new Promise((resolve, reject) => {
      const call: Call = { bytes, left: records.length, error: null, resolve, reject };
      records.forEach((record, i) => {
        const value = encoded[i] as Buffer;
        const message = { key: topic.key(record), value };
        this.#queue.push({ topic, message, bytes: value.length + RECORD_OVERHEAD_BYTES, call });
      });
      this.#sending ??= this.#send();
    });
  }

  /** Sends what waits, then disconnects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#sending;
    const producer = await this.#producer;
    await producer?.disconnect();
  }

  async #send(): Promise<void> {
    // At the end of the event loop's turn: packets that came together are sent together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.length > 0) {
      const request = this.#takeRequest();
      let error: Error | null = null;
      try {
        await this.#sendRequest(request);
      } catch (cause) {
        error = new Error(`Kafka did not take the records: ${(cause as Error).message}`, { cause });
        await this.#dropProducer();
      }
      for (const { call } of request) this.#settle(call, error);
    }
    this.#sending = null;
  }

  #takeRequest(): Queued[] {
    let bytes = 0;
    let count = 0;
    for (const queued of this.#queue) {
      bytes += queued.bytes;
      if (count > 0 && bytes > MAX_REQUEST_BYTES) break;
      count++;
    }
    const request = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    return request;
  }

  async #sendRequest(request: readonly Queued[]): Promise<void> {
    const byTopic = Map.groupBy(request, ({ topic }) => topic.name);
    for (const { topic } of request) await this.#topics.ensure(topic);
    this.#producer ??= this.#connect();
    const producer = await this.#producer;
    await producer.sendBatch({
      acks: -1,
      topicMessages: [...byTopic].map(([topic, queued]) => ({ topic, messages: queued.map(({ message }) => message) })),
    });
  }

  async #connect(): Promise<Producer> {
    const producer = this.#kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
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

  #settle(call: Call, error: Error | null): void {
    call.error ??= error;
    call.left--;
    if (call.left > 0) return;
    this.#pendingBytes -= call.bytes;
    if (call.error) call.reject(call.error);
    else call.resolve();
  }
}
