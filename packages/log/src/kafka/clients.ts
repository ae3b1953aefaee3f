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

const KEEP_ALIVE_MS = 60_000;

/**
 * Clients of the library that do not stay with a connection on which nobody answers. The library gives up a request after its time,
 * and goes on to ask on the same connection: one that only this side still knows of would be asked for ever. Here it is ended
 * with the first request that had no answer in time, and the library makes another.
 */
export class KafkaClients {
  readonly #config: KafkaConfig;

  constructor(config: KafkaConfig) {
    this.#config = config;
  }

  admin(): Admin {
    const connections = new Connections();
    const admin = this.#kafka(connections).admin();
    admin.on('admin.network.request_timeout', connections.onTimeout);
    return admin;
  }

  producer(options: ProducerConfig): Producer {
    const connections = new Connections();
    const producer = this.#kafka(connections).producer(options);
    producer.on('producer.network.request_timeout', connections.onTimeout);
    return producer;
  }

  consumer(options: ConsumerConfig): Consumer {
    const connections = new Connections();
    const consumer = this.#kafka(connections).consumer(options);
    consumer.on('consumer.network.request_timeout', connections.onTimeout);
    return consumer;
  }

  #kafka({ open }: Connections): Kafka {
    return new Kafka({ ...this.#config, socketFactory: open });
  }
}

/** The connections of one client, by `host:port`. */
class Connections {
  readonly #open = new Map<string, Set<Socket>>();

  readonly open: NonNullable<KafkaConfig['socketFactory']> = ({ host, port, ssl, onConnect }) => {
    const socket = ssl
      ? connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...ssl }, onConnect)
      : connect({ host, port }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const broker = `${host}:${port}`;
    const sockets = this.#open.get(broker) ?? new Set();
    this.#open.set(broker, sockets.add(socket));
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };

  readonly onTimeout = ({ payload: { broker, apiName } }: RequestTimeoutEvent): void => {
    for (const socket of this.#open.get(broker) ?? [])
      socket.destroy(new Error(`${broker} did not answer ${apiName} in time`));
  };
}
