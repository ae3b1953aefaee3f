import { SYSTEM_CLOCK } from '@outrider/domain';
import type { KafkaMessage } from 'kafkajs';
import type Cluster from 'kafkajs/src/cluster/index.js';
import KafkaBatch from 'kafkajs/src/consumer/batch.js';

const MIB = 1024 * 1024;
/** Size limit of a fetch. A broker returns the next record even when it is longer. */
const FETCH_BYTES = MIB;
/** Isolation level of the library's consumers; the records of this log belong to no transaction. */
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
 * Fetches ranges of partitions by plain requests, on connections that all reads share. Joining a consumer group for
 * each read would take seconds, and cost the broker a rebalance.
 */
export class KafkaReader {
  readonly #connect: () => Cluster;
  #cluster: Cluster | null = null;
  #closed = false;

  /** @param connect creates the client at the first fetch */
  constructor(connect: () => Cluster) {
    this.#connect = connect;
  }

  /**
   * Fetches the records from `offset` on, as many as one request returns. Retries while the cluster recovers.
   *
   * @param maxBytes approximate limit; at least one record is returned
   * @returns null when the log does not have the offset: retention has removed it, or it is past the end
   * @throws the last error, when no fetch succeeded in time; at once for an error that a retry can't fix
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
    // The result may be empty: a new leader may not know yet how far its records are committed.
    return nextOffset > offset ? { messages: batch.messages, nextOffset } : null;
  }

  /** The broker may be gone or may have lost the partition: the next attempt looks up the leader again. */
  async #recover({ host, port }: { host?: string; port?: number }): Promise<void> {
    if (host !== undefined && port !== undefined) this.#cluster?.removeBroker({ host, port });
    try {
      await this.#cluster?.refreshMetadata();
    } catch {
      // No broker is available: the next attempt fails with the same error.
    }
  }
}
