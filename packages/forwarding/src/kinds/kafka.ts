import { guardedSockets } from '@outrider/channels';
import type { Producer, SASLOptions } from 'kafkajs';
import { type Authorities, authoritiesFault } from '../authorities.ts';
import {
  CONNECT_TIMEOUT_MS,
  type DestinationKind,
  ForwardingError,
  SEND_TIMEOUT_MS,
  type Target,
  type TargetContext,
  within,
} from '../destination-kind.ts';
import { hostSettingsFault } from '../host-settings.ts';

export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** JSON messages in a topic of Kafka, with the id of the vehicle as their key. */
export interface KafkaDestination extends Authorities {
  /** `host:port`. */
  brokers: readonly string[];
  topic: string;
  tls: boolean;
  /** Null: no login. */
  mechanism: (typeof SASL_MECHANISMS)[number] | null;
  username: string | null;
}

/** Time within which a request is answered; a batch takes several requests. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Brokers accept 1 MiB per request by default; a character has up to three bytes. */
const MAX_REQUEST_CHARACTERS = 250_000;

interface Message {
  key: string;
  value: string;
  headers: { type: string };
}

export const kafkaDestination: DestinationKind<KafkaDestination> = {
  carriesEvents: true,
  settingNames: ['brokers', 'topic', 'tls', 'mechanism', 'username', 'ca'],
  fault({ brokers, topic, mechanism, username, tls, ca = null }, options) {
    for (const [nth, broker] of brokers.entries()) {
      const [, host = '', port = '0'] = /^\[?([^\]]*?)\]?:(\d{1,5})$/.exec(broker) ?? [];
      const pointer = `/brokers/${nth}`;
      if (host === '' || Number(port) < 1 || Number(port) > 65_535)
        return { pointer, detail: 'It must be a host and a port, such as kafka.example.com:9092.' };
      const fault = hostSettingsFault({ host }, options);
      if (fault !== null) return { pointer, detail: fault.detail };
    }
    if (!/^[A-Za-z0-9._-]{1,249}$/.test(topic) || topic === '.' || topic === '..')
      return { pointer: '/topic', detail: 'A topic has letters, digits, full stops, hyphens and underscores.' };
    if ((mechanism === null) !== (username === null))
      return { pointer: '/username', detail: 'A login needs a mechanism and a user name.' };
    return authoritiesFault({ ca }, tls);
  },
  secretFault({ mechanism }, secret) {
    if (mechanism === null) return secret === null ? null : 'A password needs a mechanism and a user name.';
    return secret === null ? 'The login needs a password.' : null;
  },
  endpointOf: ({ brokers }) => brokers[0] ?? '',
  open: (settings, secret, context) => new KafkaTarget(settings, secret, context),
};

class KafkaTarget implements Target {
  readonly #settings: KafkaDestination;
  readonly #password: string | null;
  readonly #context: TargetContext;
  #producer: Producer | null = null;

  constructor(settings: KafkaDestination, password: string | null, context: TargetContext) {
    this.#settings = settings;
    this.#password = password;
    this.#context = context;
  }

  async send({ items }: Parameters<Target['send']>[0]) {
    let some: Message[] = [];
    let characters = 0;
    for (const item of items) {
      const value = JSON.stringify(item.json());
      if (some.length > 0 && characters + value.length > MAX_REQUEST_CHARACTERS) {
        await this.#send(some);
        some = [];
        characters = 0;
      }
      some.push({ key: item.vehicleId, value, headers: { type: item.fact.type } });
      characters += value.length;
    }
    await this.#send(some);
    return { count: 0, reason: null };
  }

  async test(): Promise<void> {
    const value = JSON.stringify({ type: 'test', destinationId: this.#context.id });
    await this.#send([{ key: this.#context.id, value, headers: { type: 'test' } }]);
  }

  async close(): Promise<void> {
    await this.#producer?.disconnect().catch(() => {});
    this.#producer = null;
  }

  async #send(messages: Message[]): Promise<void> {
    try {
      const producer = await within(CONNECT_TIMEOUT_MS, this.#connected(), 'Kafka did not answer');
      const sent = producer.send({ topic: this.#settings.topic, acks: -1, timeout: REQUEST_TIMEOUT_MS, messages });
      await within(SEND_TIMEOUT_MS, sent, 'Kafka did not acknowledge the messages');
    } catch (error) {
      throw error instanceof ForwardingError ? error : new ForwardingError(`Kafka: ${(error as Error).message}`);
    }
  }

  async #connected(): Promise<Producer> {
    if (this.#producer !== null) return this.#producer;
    // Loaded only if a destination needs it.
    const { Kafka, logLevel } = await import('kafkajs');
    const { brokers, tls, mechanism, username } = this.#settings;
    const { id, allowPrivateAddresses, ca } = this.#context;
    const connect = guardedSockets({ allowPrivateAddresses, ca: this.#settings.ca ?? ca });
    const sasl = mechanism && ({ mechanism, username, password: this.#password } as SASLOptions);
    const kafka = new Kafka({
      clientId: `outrider-${id}`,
      brokers: [...brokers],
      ssl: tls,
      ...(sasl ? { sasl } : {}),
      // The addresses that brokers report of each other are checked as well.
      socketFactory: ({ host, port, ssl, onConnect }) => connect({ host, port, tls: Boolean(ssl) }, onConnect),
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      logLevel: logLevel.NOTHING,
      // Few retries here, because the forwarder retries.
      retry: { retries: 1, initialRetryTime: 300 },
    });
    const producer = kafka.producer({ allowAutoTopicCreation: false, maxInFlightRequests: 1 });
    this.#producer = producer;
    await producer.connect();
    return producer;
  }
}
