import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import {
  type Admin,
  type Consumer,
  type ConsumerConfig,
  Kafka,
  type KafkaConfig,
  type Producer,
  type ProducerConfig,
  type RequestTimeoutEvent,
} from 'kafkajs';
import Cluster from 'kafkajs/src/cluster/index.js';
// Fixes defects in the library's connections.
import './connection.ts';

const KEEP_ALIVE_MS = 60_000;
const CONNECT_WITHIN_MS = 1000;
const METADATA_MAX_AGE_MS = 300_000;
const REQUEST_TIMED_OUT = 'network.request_timeout';

/**
 * Clients of the library that abandon a dead connection. The library only times out each request, and sends the next
 * one on the same connection, even when the peer is gone. Here the first request without a response in time closes the
 * connection, and the library opens another.
 */
export class KafkaClients {
  readonly #config: KafkaConfig;
  readonly #connections = new Set<Connections>();

  constructor(config: KafkaConfig) {
    this.#config = config;
  }

  admin(): Admin {
    const { kafka, connections } = this.#connect();
    const admin = kafka.admin();
    admin.on('admin.network.request_timeout', connections.onTimeout);
    return admin;
  }

  producer(options: ProducerConfig): Producer {
    const { kafka, connections } = this.#connect();
    const producer = kafka.producer(options);
    producer.on('producer.network.request_timeout', connections.onTimeout);
    return producer;
  }

  consumer(options: ConsumerConfig): Consumer {
    const { kafka, connections } = this.#connect();
    const consumer = kafka.consumer(options);
    consumer.on('consumer.network.request_timeout', connections.onTimeout);
    return consumer;
  }

  /** A client below the library's consumers, to fetch without a consumer group. */
  cluster(): Cluster {
    const { kafka, connections } = this.#connect();
    return new Cluster({
      connectionTimeout: CONNECT_WITHIN_MS,
      enforceRequestTimeout: true,
      ...this.#config,
      socketFactory: connections.open,
      logger: kafka.logger(),
      allowAutoTopicCreation: false,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      instrumentationEmitter: {
        emit(eventName, payload) {
          if (eventName === REQUEST_TIMED_OUT) connections.onTimeout({ payload } as RequestTimeoutEvent);
        },
      },
    });
  }

  /** Closes all connections: pending requests fail, and are retried where that is safe. */
  endConnections(reason: Error): void {
    for (const connections of this.#connections) connections.end(reason);
  }

  #connect(): { kafka: Kafka; connections: Connections } {
    const connections = new Connections((isOpen) => {
      if (isOpen) this.#connections.add(connections);
      else this.#connections.delete(connections);
    });
    return { connections, kafka: new Kafka({ ...this.#config, socketFactory: connections.open }) };
  }
}

/** The connections of one client, by `host:port`. */
class Connections {
  readonly #open = new Map<string, Set<Socket>>();
  readonly #onUse: (isOpen: boolean) => void;

  /** @param onUse called with whether any connections are open now */
  constructor(onUse: (isOpen: boolean) => void) {
    this.#onUse = onUse;
  }

  readonly open: NonNullable<KafkaConfig['socketFactory']> = ({ host, port, ssl, onConnect }) => {
    const socket = ssl
      ? connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...ssl }, onConnect)
      : connect({ host, port }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const broker = `${host}:${port}`;
    const sockets = this.#open.get(broker) ?? new Set();
    this.#open.set(broker, sockets.add(socket));
    this.#onUse(true);
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) this.#open.delete(broker);
      if (this.#open.size === 0) this.#onUse(false);
    });
    return socket;
  };

  readonly onTimeout = ({ payload: { broker, apiName } }: RequestTimeoutEvent): void => {
    for (const socket of this.#open.get(broker) ?? [])
      socket.destroy(new Error(`${broker} did not answer ${apiName} in time`));
  };

  end(reason: Error): void {
    for (const sockets of this.#open.values()) for (const socket of sockets) socket.destroy(reason);
  }
}
