import { SYSTEM_CLOCK } from '@outrider/domain';
import type { Admin } from 'kafkajs';
import type { Bounds, Topic } from '../log.ts';
import { minInSyncReplicas, type ReplicationWatch, TOPIC_RESOURCE, wantedReplicas } from './replication.ts';

/** The properties of a topic that Kafka needs. */
export type TopicName = Pick<Topic<unknown>, 'name' | 'compacted'>;

export interface TopicSettings {
  partitions: number;
  /** Limited to the number of brokers. */
  replicationFactor: number;
  maxAgeMs: number;
}

/** Maximum size of a record with Kafka's framing. */
const MAX_MESSAGE_BYTES = 5 * 1024 * 1024;

/** A topic that was just made, or whose broker has gone, has partitions without a leader for a moment. */
const NO_LEADER = new Set(['NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE', 'UNKNOWN_TOPIC_OR_PARTITION']);
const RETENTION_KNOWN_FOR_MS = 60_000;
const LEADER_WITHIN_MS = 30_000;
const LEADER_RETRY_MS = 200;

/** @throws the last error when no leader was found in time; any other error at once */
export async function whileLeadersChange<T>(ask: () => Promise<T>): Promise<T> {
  const untilMs = SYSTEM_CLOCK.steadyMs() + LEADER_WITHIN_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const { type = '' } = error as { type?: string };
      if (!NO_LEADER.has(type) || SYSTEM_CLOCK.steadyMs() > untilMs) throw error;
      await SYSTEM_CLOCK.sleep(LEADER_RETRY_MS);
    }
  }
}

/** Creates topics at their first use. Existing topics keep the settings of their operator. */
export class KafkaTopics {
  readonly #admin: Admin;
  readonly #settings: TopicSettings;
  readonly #replication: Pick<ReplicationWatch, 'add'>;
  readonly #ensured = new Map<string, Promise<void>>();
  readonly #partitionCounts = new Map<string, Promise<number>>();
  readonly #retention = new Map<string, { ms: number | null; untilMs: number }>();

  constructor(admin: Admin, settings: TopicSettings, replication: Pick<ReplicationWatch, 'add'>) {
    this.#admin = admin;
    this.#settings = settings;
    this.#replication = replication;
  }

  /** Resolves when the topic exists. */
  ensure(topic: TopicName): Promise<void> {
    const known = this.#ensured.get(topic.name);
    if (known) return known;
    const ensured = whileLeadersChange(() => this.#create(topic)).then(() => this.#replication.add(topic.name));
    this.#ensured.set(topic.name, ensured);
    // The next call tries again.
    ensured.catch(() => this.#ensured.delete(topic.name));
    return ensured;
  }

  /** For a topic that may have been deleted: the next use creates it again. */
  recheck(topic: Pick<TopicName, 'name'>): void {
    this.#ensured.delete(topic.name);
    this.#partitionCounts.delete(topic.name);
  }

  /** Number of partitions of the topic at its first query. */
  partitionCount(topic: TopicName): Promise<number> {
    const known = this.#partitionCounts.get(topic.name);
    if (known) return known;
    const counted = this.bounds(topic).then(({ size }) => size);
    this.#partitionCounts.set(topic.name, counted);
    counted.catch(() => this.#partitionCounts.delete(topic.name));
    return counted;
  }

  /** Offsets of the oldest retained record and after the newest, by partition. */
  async bounds(topic: TopicName): Promise<Map<number, Bounds>> {
    const offsets = await whileLeadersChange(async () => {
      await this.ensure(topic);
      try {
        return await this.#admin.fetchTopicOffsets(topic.name);
      } catch (error) {
        this.recheck(topic);
        throw error;
      }
    });
    offsets.sort((a, b) => a.partition - b.partition);
    return new Map(
      offsets.map(({ partition, low, high }) => [partition, { earliest: Number(low), end: Number(high) }]),
    );
  }

  /** Offset of the first record written at or after a time, by partition; the end if none was. */
  async offsetsAt(topic: TopicName, atMs: number): Promise<Map<number, number>> {
    const bounds = await this.bounds(topic);
    const found = await whileLeadersChange(() => this.#admin.fetchTopicOffsetsByTimestamp(topic.name, atMs));
    const byPartition = new Map(found.map(({ partition, offset }) => [partition, Number(offset)]));
    return new Map(
      [...bounds].map(([partition, { earliest, end }]) => {
        const offset = byPartition.get(partition) ?? -1;
        return [partition, offset < 0 ? end : Math.max(offset, earliest)];
      }),
    );
  }

  /** Current retention time of a topic; null when the brokers never remove its records. */
  async retentionMs(topic: string): Promise<number | null> {
    const known = this.#retention.get(topic);
    if (known && SYSTEM_CLOCK.steadyMs() < known.untilMs) return known.ms;
    const { resources } = await this.#admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: TOPIC_RESOURCE, name: topic, configNames: ['retention.ms'] }],
    });
    const value = Number(resources[0]?.configEntries[0]?.configValue ?? -1);
    const ms = value < 0 ? null : value;
    this.#retention.set(topic, { ms, untilMs: SYSTEM_CLOCK.steadyMs() + RETENTION_KNOWN_FOR_MS });
    return ms;
  }

  async #create({ name, compacted }: TopicName): Promise<void> {
    if ((await this.#admin.listTopics()).includes(name)) return;
    const { partitions, maxAgeMs } = this.#settings;
    const replicationFactor = await wantedReplicas(this.#admin, this.#settings.replicationFactor);
    const config: Record<string, string> = {
      'max.message.bytes': String(MAX_MESSAGE_BYTES),
      // Otherwise a broker rejects records of a client whose clock is an hour ahead.
      'message.timestamp.type': 'LogAppendTime',
      ...(compacted ? { 'cleanup.policy': 'compact' } : { 'retention.ms': String(maxAgeMs) }),
      // An acknowledged record must have more than one copy. With a single replica it must be on the disk.
      ...(replicationFactor > 1
        ? { 'min.insync.replicas': String(minInSyncReplicas(replicationFactor)) }
        : { 'flush.messages': '1' }),
    };
    await this.#admin.createTopics({
      waitForLeaders: true,
      topics: [
        {
          topic: name,
          numPartitions: partitions,
          replicationFactor,
          configEntries: Object.entries(config).map(([key, value]) => ({ name: key, value })),
        },
      ],
    });
  }
}
