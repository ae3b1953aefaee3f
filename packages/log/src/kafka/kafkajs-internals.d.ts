/**
 * The parts of kafkajs behind its public API that `reading.ts` needs: the public one fetches for members of consumer
 * groups only. The version is pinned exactly in `package.json`; the adapter's conformance suite fails where an upgrade
 * changes these.
 */
declare module 'kafkajs/src/cluster/index.js' {
  import type { KafkaConfig, Logger } from 'kafkajs';
  import type { FetchedPartition } from 'kafkajs/src/consumer/batch.js';

  export interface FetchRequest {
    isolationLevel: number;
    maxWaitTime: number;
    minBytes: number;
    maxBytes: number;
    topics: { topic: string; partitions: { partition: number; fetchOffset: string; maxBytes: number }[] }[];
  }

  export interface FetchResponse {
    responses: { topicName: string; partitions: FetchedPartition[] }[];
  }

  export default class Cluster {
    constructor(
      options: KafkaConfig & {
        logger: Logger;
        allowAutoTopicCreation: boolean;
        metadataMaxAge: number;
        instrumentationEmitter: { emit(eventName: string, payload: unknown): void };
      },
    );
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    addTargetTopic(topic: string): Promise<void>;
    refreshMetadata(): Promise<void>;
    refreshMetadataIfNecessary(): Promise<void>;
    removeBroker(address: { host: string; port: number }): void;
    findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>;
    findBroker(options: { nodeId: string }): Promise<{ fetch(request: FetchRequest): Promise<FetchResponse> }>;
  }
}

declare module 'kafkajs/src/consumer/batch.js' {
  import type { KafkaMessage } from 'kafkajs';

  export interface FetchedPartition {
    partition: number;
    highWatermark: string;
  }

  /** What one fetch returned of a partition, without control records and what comes before the offset asked for. */
  export default class Batch {
    constructor(topic: string, fetchedOffset: string, fetched: FetchedPartition);
    readonly messages: KafkaMessage[];
    /** The last offset that the fetch covers, whether a record is left at it or not. */
    lastOffset(): string;
  }
}
