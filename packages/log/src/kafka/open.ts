import { type Admin, type KafkaConfig, logLevel } from 'kafkajs';
import { ConsumerPlaces } from '../consumer-places.ts';
import type { UnreadableRecord } from '../dead-letters.ts';
import type {
  Batch,
  Bounds,
  ConsumeOptions,
  Discontinuity,
  Encoded,
  Log,
  LogRecord,
  ReaderPlace,
  ReaderProgress,
  Resumption,
  StartAt,
  Subscription,
  Topic,
  TopicReplication,
} from '../log.ts';
import { ReaderRegister } from '../reader-register.ts';
import { resumptionOf } from '../resumption.ts';
import { KafkaAppender } from './appender.ts';
import { KafkaClients } from './clients.ts';
import { watchClock } from './clock-watch.ts';
import { Decoder } from './decoder.ts';
import { KafkaIdentities } from './identities.ts';
import { KafkaReader } from './reading.ts';
import { DEFAULT_REPLICATION_FACTOR, KafkaReplicas, ReplicationWatch } from './replication.ts';
import { KafkaSubscription } from './subscription.ts';
import { KafkaTopics } from './topics.ts';

export interface KafkaConnection {
  /** `host:port` of at least one broker. */
  brokers: readonly string[];
  /** Name of this process for the brokers. Default `outrider`. */
  clientId?: string;
  /** Prefix of the names of topics and groups, for a cluster with other users. Default none. */
  prefix?: string;
  ssl?: KafkaConfig['ssl'];
  sasl?: KafkaConfig['sasl'];
  /** Copies of each record. Default three, or the number of brokers if that is less. */
  replicationFactor?: number;
  /** Called with warnings of the client library. Default: a warning of the process. */
  onWarning?: (message: string) => void;
}

export interface KafkaLogOptions extends KafkaConnection {
  /** Partitions of the topics that are made here. Default 12. */
  partitions?: number;
  /** Retention of topics that this log creates, except compacted ones. Default 7 days. */
  maxAgeMs?: number;
  /** `append` refuses records while this many bytes wait to be sent. Default 64 MiB. */
  maxPendingBytes?: number;
  /**
   * Called with a record that can't be decoded; when it resolves, the reader skips the record. Default: the reader
   * stops.
   */
  onUnreadable?: (record: UnreadableRecord) => Promise<void>;
  /** Called when a reader can't resume at its offset. Default: a warning of the process. */
  onDiscontinuity?: (discontinuity: Discontinuity) => void;
  /**
   * Called once for each topic that is found to have fewer replicas than wanted. Default: nothing, see {@link
   * Log.replication}.
   */
  onFewReplicas?: (replication: TopicReplication) => void;
}

const MIB = 1024 * 1024;
/** Maximum number of records in one batch of a read. */
const READ_BATCH_RECORDS = 1000;
/** A fetch without records returns after this time, which delays a seek or a stop. */
const FETCH_WAIT_MS = 250;
/** A fetch of a patient consumer waits up to `FETCH_WAIT_MS` for this many bytes. */
const PATIENT_FETCH_BYTES = MIB;
/** The group notices a crashed member after this time; its partitions are idle until then. */
const HEARTBEAT_EVERY_MS = 1000;
const SESSION_TIMEOUT_MS = 8000;
/** A connection without a response for this long is closed. */
const REQUEST_TIMEOUT_MS = 10_000;
/**
 * Largest backward clock step tolerated: the library times its requests by the wall clock.
 */
const SET_BACK_TOLERATED_MS = SESSION_TIMEOUT_MS / 2;
/** This warning does not apply: a failed producer is replaced by a new one. */
const EXPECTED_WARNING = 'Limiting retries for the idempotent producer';

/**
 * The log on Apache Kafka: acknowledged by all in-sync replicas, one message for each record. Missing topics are
 * created at their first use.
 *
 * @throws {Error} when no broker responds
 */
export async function openKafkaLog(options: KafkaLogOptions): Promise<Log> {
  const kafka = clientsOf(options);
  const watch: ClockWatch = { onSetBack: () => {}, end: () => {} };
  // Started before the first request: a request sent before the clock was set back would wait until the clock has
  // caught up.
  watch.end = watchClock(SET_BACK_TOLERATED_MS, (byMs) => {
    const reason = new Error(`the clock was set back by ${Math.round(byMs / 1000)} s: what reads has to begin anew`);
    kafka.endConnections(reason);
    watch.onSetBack(reason);
  });
  try {
    const admin = kafka.admin();
    await admin.connect();
    return new KafkaLog(kafka, admin, watch, options);
  } catch (error) {
    watch.end();
    throw error;
  }
}

/**
 * @param topics names of topics, whether they exist or not
 * @throws {Error} when no broker answers
 */
export async function openKafkaReplicas(options: KafkaConnection, topics: readonly string[]): Promise<KafkaReplicas> {
  const admin = clientsOf(options).admin();
  await admin.connect();
  return new KafkaReplicas(admin, topics, replicationOf(options), () => admin.disconnect());
}

function replicationOf({ prefix = '', replicationFactor = DEFAULT_REPLICATION_FACTOR }: KafkaConnection) {
  return { prefix, factor: replicationFactor };
}

function clientsOf(options: KafkaConnection): KafkaClients {
  const onWarning = options.onWarning ?? ((message: string) => process.emitWarning(message));
  return new KafkaClients({
    requestTimeout: REQUEST_TIMEOUT_MS,
    brokers: [...options.brokers],
    clientId: options.clientId ?? 'outrider',
    ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
    ...(options.sasl === undefined ? {} : { sasl: options.sasl }),
    logLevel: logLevel.WARN,
    logCreator:
      () =>
      ({ label, log }) => {
        if (log.message.startsWith(EXPECTED_WARNING)) return;
        onWarning(`Kafka ${label}: ${log.message}${log.error ? `: ${log.error}` : ''}`);
      },
  });
}

/**
 * Ends connections when the clock was set back. Otherwise the library would wait for lost responses until the clock has
 * caught up.
 */
interface ClockWatch {
  /** Called when all connections have been ended. */
  onSetBack(reason: Error): void;
  end(): void;
}

class KafkaLog implements Log {
  readonly #kafka: KafkaClients;
  readonly #admin: Admin;
  readonly #prefix: string;
  readonly #onUnreadable: ((record: UnreadableRecord) => Promise<void>) | null;
  readonly #replication: ReplicationWatch;
  readonly #topics: KafkaTopics;
  readonly #appender: KafkaAppender;
  readonly #reader: KafkaReader;
  readonly #identities: KafkaIdentities;
  readonly #register: ReaderRegister;
  /** Unix milliseconds of the newest record handed out, by the broker's clock, by reader (its group) and partition. */
  readonly #readAtMs = new Map<string, number>();
  readonly #consumers = new ConsumerPlaces();
  readonly #subscriptions = new Set<{ stop(): Promise<void>; giveUp(reason: Error): void }>();
  readonly #watch: ClockWatch;
  #closed: Promise<void> | null = null;

  constructor(kafka: KafkaClients, admin: Admin, watch: ClockWatch, options: KafkaLogOptions) {
    this.#kafka = kafka;
    this.#admin = admin;
    this.#prefix = options.prefix ?? '';
    this.#onUnreadable = options.onUnreadable ?? null;
    const replication = replicationOf(options);
    this.#replication = new ReplicationWatch(admin, replication, options.onFewReplicas);
    this.#topics = new KafkaTopics(
      admin,
      {
        partitions: options.partitions ?? 12,
        replicationFactor: replication.factor,
        maxAgeMs: options.maxAgeMs ?? 7 * 24 * 3600_000,
      },
      this.#replication,
    );
    this.#appender = new KafkaAppender(kafka, this.#topics, options.maxPendingBytes ?? 64 * MIB);
    this.#reader = new KafkaReader(() => kafka.cluster());
    this.#identities = new KafkaIdentities(kafka, admin, this.#prefix);
    this.#register = new ReaderRegister(options.onDiscontinuity);
    this.#watch = watch;
    // The library would send no heartbeats either: consumers have to join again.
    watch.onSetBack = (reason) => {
      for (const subscription of this.#subscriptions) subscription.giveUp(reason);
    };
  }

  get pendingBytes(): number {
    return this.#appender.pendingBytes;
  }

  get discontinuities(): readonly Discontinuity[] {
    return this.#register.discontinuities;
  }

  /**
   * Always null: brokers remove records after their retention time, read or not.
   * See {@link ReaderProgress.removedAfterMs}.
   */
  readonly holdUp = null;

  get replication(): readonly TopicReplication[] {
    return this.#replication.found;
  }

  append<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Promise<void> {
    return this.#appender.append(this.#named(topic), records);
  }

  consume<T>(topic: Topic<T>, options: ConsumeOptions<T>): Promise<Subscription> {
    const { options: noted, forget } = this.#consumers.follow(topic, options);
    return this.#consume(this.#named(topic), noted, forget);
  }

  /** The topic's name in the cluster. */
  #named<T>(topic: Topic<T>): Topic<T> {
    return this.#prefix === '' ? topic : { ...topic, name: this.#prefix + topic.name };
  }

  bounds<T>(topic: Topic<T>): Promise<Map<number, Bounds>> {
    return this.#topics.bounds(this.#named(topic));
  }

  offsetsAt<T>(topic: Topic<T>, atMs: number): Promise<Map<number, number>> {
    return this.#topics.offsetsAt(this.#named(topic), atMs);
  }

  async writtenAtMs<T>(ofTopic: Topic<T>, partition: number, offset: number): Promise<number | null> {
    const topic = this.#named(ofTopic);
    const { earliest, end } = (await this.#topics.bounds(topic)).get(partition) ?? { earliest: 0, end: 0 };
    const kept = Math.max(offset, earliest);
    if (kept >= end) return null;
    // The broker returns its first batch of records, however long.
    const fetched = await this.#reader.fetch(topic.name, partition, kept, 1);
    const [first] = fetched?.messages ?? [];
    return first === undefined ? null : Number(first.timestamp);
  }

  async resume<T>(topic: Topic<T>, partition: number, reader: string, saved: ReaderPlace | null): Promise<Resumption> {
    const resumption = await this.#resumptionOf(topic, partition, reader, saved);
    const { offset } = resumption;
    if (!topic.compacted) this.#register.add({ reader, topic: topic.name, partition, offset });
    if (resumption.discontinuity) this.#register.report(resumption.discontinuity);
    return resumption;
  }

  locate<T>(topic: Topic<T>, partition: number, saved: ReaderPlace | null): Promise<Resumption> {
    return this.#resumptionOf(topic, partition, '', saved);
  }

  release<T>(topic: Topic<T>, partition: number, reader: string, offset: number): void {
    this.#register.release(reader, topic.name, partition, offset);
  }

  async readers(): Promise<ReaderProgress[]> {
    const progressOfReaders: ReaderProgress[] = [];
    for (const [topic, readers] of Map.groupBy(this.#register.all, (each) => each.topic)) {
      const name = this.#prefix + topic;
      const bounds = await this.#topics.bounds({ name, compacted: false });
      const removedAfterMs = await this.#topics.retentionMs(name);
      for (const each of readers) {
        const { earliest, end } = bounds.get(each.partition) ?? { earliest: each.offset, end: each.offset };
        const readAtMs = this.#readAtMs.get(`${each.reader} ${topic}/${each.partition}`) ?? null;
        const oldestUnreadAtMs = each.offset < end ? readAtMs : null;
        progressOfReaders.push({ ...each, earliest, end, oldestUnreadAtMs, removedAfterMs });
      }
    }
    return progressOfReaders;
  }

  behind(): Promise<Record<string, number>> {
    return this.#consumers.behind((topic) => this.bounds(topic));
  }

  async #resumptionOf<T>(
    { name, compacted }: Topic<T>,
    partition: number,
    reader: string,
    saved: ReaderPlace | null,
  ): Promise<Resumption> {
    const named = { name: this.#prefix + name, compacted };
    const bounds = (await this.#topics.bounds(named)).get(partition);
    if (!bounds) throw new Error(`${named.name} has no partition ${partition}`);
    const identity = await this.#identities.of(named.name);
    return resumptionOf(
      // Kafka has only the current topic, and knows nothing of an earlier one of this name.
      { topic: name, partition, compacted, bounds, identity, sharedWith: async () => null },
      reader,
      saved,
    );
  }

  async endOffsets<T>(topic: Topic<T>): Promise<Map<number, number>> {
    return new Map(
      [...(await this.#topics.bounds(this.#named(topic)))].map(([partition, { end }]) => [partition, end]),
    );
  }

  async *read<T>(ofTopic: Topic<T>, partition: number, from: StartAt, to: number): AsyncIterable<Batch<T>> {
    const topic = this.#named(ofTopic);
    const bounds = (await this.#topics.bounds(topic)).get(partition);
    if (!bounds) throw new Error(`${topic.name} has no partition ${partition}`);
    const begin =
      typeof from === 'number' ? Math.max(from, bounds.earliest) : from === 'earliest' ? bounds.earliest : bounds.end;
    const end = Math.min(to, bounds.end);
    if (begin >= end) return;

    // Reads bytes, so that a last record that can't be decoded still marks the end.
    const decoder = new Decoder(topic, this.#prefix, this.#onUnreadable);
    for (let next = begin; next < end; ) {
      const fetched = await this.#reader.fetch(topic.name, partition, next);
      if (fetched === null) {
        // Retention has removed the next records: continue with the oldest one left.
        const { earliest = end } = (await this.#topics.bounds(topic)).get(partition) ?? {};
        if (earliest <= next) return;
        next = earliest;
        continue;
      }
      const messages = fetched.messages.filter(({ offset }) => Number(offset) < end);
      for (let at = 0; at < messages.length; at += READ_BATCH_RECORDS) {
        const records: LogRecord<T>[] = [];
        for (const { offset, value } of messages.slice(at, at + READ_BATCH_RECORDS)) {
          const decoded = decoder.decode(partition, Number(offset), value ?? Buffer.alloc(0));
          const record = decoded instanceof Promise ? await decoded : decoded;
          if (record) records.push(record);
        }
        if (records.length > 0) yield { partition, records };
      }
      next = fetched.nextOffset;
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#watch.end();
    this.#identities.close();
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop()));
    await this.#appender.close();
    await this.#reader.close();
    await this.#replication.close();
    await this.#admin.disconnect();
  }

  async #consume<T>(topic: Topic<T>, options: ConsumeOptions<T>, onStop: () => void): Promise<Subscription> {
    let stopping = false;
    const consumer = this.#kafka.consumer({
      // Kafka assigns partitions of any topic in the group to all its members, so each topic has a group of its own.
      groupId: `${this.#prefix}${options.group}.${topic.name}`,
      allowAutoTopicCreation: false,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      minBytes: options.isPatient ? PATIENT_FETCH_BYTES : 1,
      heartbeatInterval: HEARTBEAT_EVERY_MS,
      sessionTimeout: SESSION_TIMEOUT_MS,
      // Waits for unavailable brokers, unless the subscription was stopped meanwhile.
      retry: { restartOnFailure: async () => !stopping },
    });
    const decoder = new Decoder(topic, this.#prefix, this.#onUnreadable);
    const name = topic.name.slice(this.#prefix.length);
    const subscription = new KafkaSubscription(topic, this.#topics, consumer, decoder, options, {
      onStop: () => {
        stopping = true;
        this.#subscriptions.delete(subscription);
        onStop();
      },
      onRead: (partition, atMs) => {
        this.#readAtMs.set(`${options.group} ${name}/${partition}`, atMs);
      },
      onRevoked: (partition) => this.#register.remove(options.group, name, partition),
      onRemoved: (partition, savedOffset, offset) => {
        this.#register.report({
          kind: 'removed',
          reader: options.group,
          topic: name,
          partition,
          savedOffset,
          offset,
        });
      },
    });
    this.#subscriptions.add(subscription);
    try {
      await subscription.start();
      return subscription;
    } catch (error) {
      await subscription.stop();
      throw error;
    }
  }
}
