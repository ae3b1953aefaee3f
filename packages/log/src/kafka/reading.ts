import { SYSTEM_CLOCK } from '@outrider/domain';
import type { KafkaMessage } from 'kafkajs';
import type Cluster from 'kafkajs/src/cluster/index.js';
import KafkaBatch from 'kafkajs/src/consumer/batch.js';

const MIB = 1024 * 1024;
/** A broker returns the next record in any case, also one that is longer. */
const FETCH_BYTES = MIB;
/** As the library's consumers; the records of this log are in no transaction. */
const READ_COMMITTED = 1;
/** How long a fetch is tried again while brokers are unavailable or leaders change. */
const RETRY_FOR_MS = 30_000;
const RETRY_AFTER_MS = 200;

/** Result of a fetch: records, and the offset of the next fetch. */
export interface Fetched {
  messages: readonly KafkaMessage[];
  nextOffset: number;
}

/**
 * Fetches ranges of partitions by plain requests on connections that all readings share. A consumer group for each
 * reading would cost its member seconds to join, and the broker a rebalance.
 */
export class KafkaReader {
  readonly #connect: () => Cluster;
  #cluster: Cluster | null = null;
  #closed = false;

  /** @param connect makes the client; called with the first fetch */
  constructor(connect: () => Cluster) {
    this.#connect = connect;
  }

  /**
   * The records from `offset` on, as many as one request returns. Tried again while the cluster recovers.
   *
   * @param maxBytes about so many, and one record in any case
   * @returns null when the log does not have the offset: retention has removed it, or it is past the end
   * @throws the last error, when no fetch succeeded in time; at once for an error that a retry can't cure
   */
  async fetch(topic: string, partition: number, offset: number, maxBytes = FETCH_BYTES): Promise<Fetched | null> {
    const untilMs = SYSTEM_CLOCK.steadyMs() + RETRY_FOR_MS;
    for (;;) {
      try {
        if (this.#closed) throw new Error('the log was closed while it was read');
        const fetched = await this.#tryFetch(topic, partition, offset, maxBytes);
        if (fetched) return fetched;
        if (SYSTEM_CLOCK.steadyMs() > untilMs)
          throw new Error(`${topic}/${partition} returned nothing at offset ${offset}`);
      } catch (error) {
        const { name, retriable } = error as { name: string; retriable?: boolean };
        if (name === 'KafkaJSOffsetOutOfRange') return null;
        // One of the errors that the library calls final only means that its own retries are used up.
        const isFinal = !retriable && name !== 'KafkaJSNumberOfRetriesExceeded';
        if (this.#closed || isFinal || SYSTEM_CLOCK.steadyMs() > untilMs) throw error;
        await this.#recover(error as { host?: string; port?: number });
      }
      await SYSTEM_CLOCK.sleep(RETRY_AFTER_MS);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#cluster?.disconnect();
  }

  /** @returns null when the broker has nothing at the offset yet, or returned nothing because it throttles */
  async #tryFetch(topic: string, partition: number, offset: number, maxBytes: number): Promise<Fetched | null> {
    this.#cluster ??= this.#connect();
    const cluster = this.#cluster;
    await cluster.connect();
    await cluster.addTargetTopic(topic);
    await cluster.refreshMetadataIfNecessary();
    const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
    if (nodeId === undefined) {
      await cluster.refreshMetadata();
      return null;
    }
    const broker = await cluster.findBroker({ nodeId });
    const { responses } = await broker.fetch({
      isolationLevel: READ_COMMITTED,
      maxWaitTime: 0,
      minBytes: 1,
      maxBytes,
      topics: [{ topic, partitions: [{ partition, fetchOffset: String(offset), maxBytes }] }],
    });
    const fetched = responses[0]?.partitions[0];
    if (!fetched) return null;
    const batch = new KafkaBatch(topic, String(offset), fetched);
    const nextOffset = Number(batch.lastOffset()) + 1;
    // A replica that has just become leader may still have to learn how far its records are committed.
    return nextOffset > offset ? { messages: batch.messages, nextOffset } : null;
  }

  /** The broker may have gone, or lost the partition: the next attempt asks for the leader again. */
  async #recover({ host, port }: { host?: string; port?: number }): Promise<void> {
    if (host !== undefined && port !== undefined) this.#cluster?.removeBroker({ host, port });
    try {
      await this.#cluster?.refreshMetadata();
    } catch {
      // No broker is available: the next attempt says so, too.
    }
  }
}
