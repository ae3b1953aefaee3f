/**
 * The parts of kafkajs behind its public API. `reading.ts` needs some: the public one fetches for members of consumer
 * groups only. `connection.ts` mends one. The version is pinned exactly in `package.json`; the adapter's conformance
 * suite and the tests of `connection.ts` fail where an upgrade changes these.
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

  /** A way to a broker, over one socket at a time. */
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
    /** What was received and is not an answer yet. */
    chunks: Buffer[];
    bytesBuffered: number;
    /** How much makes the length of an answer, or one of known length, complete. */
    bytesNeeded: number;
    isConnected(): boolean;
    connect(): Promise<boolean>;
    disconnect(): Promise<boolean>;
  }
}
