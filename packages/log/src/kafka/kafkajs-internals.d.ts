/**
 * Types of kafkajs internals, beyond its public API. `reading.ts` needs some, because the public API fetches only for
 * members of consumer groups. `connection.ts` fixes one. The version is pinned exactly in `package.json`; the adapter's
 * conformance suite and the tests of `connection.ts` fail where an upgrade changes these.
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

  /** Result of one fetch of a partition, without control records and records before the requested offset. */
  export default class Batch {
    constructor(topic: string, fetchedOffset: string, fetched: FetchedPartition);
    readonly messages: KafkaMessage[];
    /** The last offset that the fetch covers, even when no record is left at it. */
    lastOffset(): string;
  }
}

declare module 'kafkajs/src/network/connection.js' {
  import type { Socket } from 'node:net';
  import type { ISocketFactory } from 'kafkajs';

  interface ConnectionLogger {
    namespace(name: string): ConnectionLogger;
    debug(message: string): void;
    info(message: string): void;
    warn(message: string): void;
    error(message: string): void;
  }

  /** A connection to a broker, over one socket at a time. */
  export default class Connection {
    constructor(options: {
      host: string;
      port: number;
      logger: ConnectionLogger;
      requestTimeout: number;
      connectionTimeout: number;
      socketFactory: ISocketFactory;
    });
    readonly broker: string;
    socket?: Socket;
    /** Received data that is not a complete response yet. */
    chunks: Buffer[];
    bytesBuffered: number;
    /** Number of bytes that complete the length of a response, or the response once its length is known. */
    bytesNeeded: number;
    isConnected(): boolean;
    connect(): Promise<boolean>;
    disconnect(): Promise<boolean>;
  }
}
