import { type Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { Admin, ConfigResourceTypes, ConfigSource, ReplicaAssignment } from 'kafkajs';
import type { TopicReplication } from '../log.ts';

/** Literal values: the library's enumerations can't be imported by name into a module. */
export const TOPIC_RESOURCE = 2 as ConfigResourceTypes.TOPIC;
const SET_FOR_TOPIC = 1 as ConfigSource.TOPIC_CONFIG;
const MIN_IN_SYNC = 'min.insync.replicas';
const CHECK_EVERY_MS = 60_000;
const REASSIGNED_WITHIN_MS = 30 * 60_000;
const POLL_MS = 1000;
/** Time limit of closing: a closing log does not wait for an unresponsive cluster. */
const CLOSED_WITHIN_MS = 2000;

export const DEFAULT_REPLICATION_FACTOR = 3;

type MetadataAdmin = Pick<Admin, 'describeCluster' | 'fetchTopicMetadata'>;
export type ReplicationAdmin = MetadataAdmin &
  Pick<Admin, 'alterPartitionReassignments' | 'listPartitionReassignments' | 'describeConfigs' | 'alterConfigs'>;

interface PartitionReplicas {
  partition: number;
  /** Brokers that have a copy; the first is the preferred leader. */
  replicas: readonly number[];
}

/** A topic can't have more replicas than there are brokers. */
export async function wantedReplicas(admin: Pick<Admin, 'describeCluster'>, factor: number): Promise<number> {
  const { brokers } = await admin.describeCluster();
  return Math.min(factor, brokers.length);
}

/** Replicas that have a copy of every acknowledged record. */
export function minInSyncReplicas(replicas: number): number {
  return Math.min(2, replicas);
}

/**
 * Assigns replicas to each partition that has fewer than wanted. Existing replicas keep their order, so that the leader
 * stays. New ones go to the brokers with the fewest partitions.
 */
export function assignReplicas(
  partitions: readonly PartitionReplicas[],
  brokers: readonly number[],
  wanted: number,
): ReplicaAssignment[] {
  const load = new Map(brokers.map((broker) => [broker, 0]));
  for (const { replicas } of partitions)
    for (const broker of replicas) if (load.has(broker)) load.set(broker, (load.get(broker) ?? 0) + 1);
  const sorted = brokers.toSorted((a, b) => a - b);
  const assigned: ReplicaAssignment[] = [];
  for (const { partition, replicas } of partitions) {
    const chosen = [...replicas];
    // Each partition starts at another broker, to spread partitions over brokers with equal load.
    const rotated = sorted.map((_, at) => sorted[(at + partition) % sorted.length] as number);
    while (chosen.length < wanted) {
      const [next] = rotated
        .filter((broker) => !chosen.includes(broker))
        .toSorted((a, b) => (load.get(a) ?? 0) - (load.get(b) ?? 0));
      if (next === undefined) break;
      load.set(next, (load.get(next) ?? 0) + 1);
      chosen.push(next);
    }
    if (chosen.length > replicas.length) assigned.push({ partition, replicas: chosen });
  }
  return assigned;
}

interface DescribedTopic {
  /** Name of the topic in the cluster. */
  name: string;
  replication: TopicReplication;
  partitions: PartitionReplicas[];
}

/** Describes those of the topics that exist. */
async function describeTopics(
  admin: MetadataAdmin,
  prefix: string,
  topics: readonly string[],
  factor: number,
): Promise<DescribedTopic[]> {
  const wanted = await wantedReplicas(admin, factor);
  // Queries all topics: a query that names a missing topic fails as a whole.
  const metadata = await admin.fetchTopicMetadata();
  const partitionsOf = new Map(metadata.topics.map(({ name, partitions }) => [name, partitions]));
  const described: DescribedTopic[] = [];
  for (const topic of topics) {
    const found = partitionsOf.get(prefix + topic);
    if (!found || found.length === 0) continue;
    const partitions = found
      .map(({ partitionId, replicas }) => ({ partition: partitionId, replicas }))
      .sort((a, b) => a.partition - b.partition);
    const replicas = Math.min(...partitions.map((each) => each.replicas.length));
    const replication = { topic, partitions: partitions.length, replicas, wanted };
    described.push({ name: prefix + topic, replication, partitions });
  }
  return described;
}

export interface ReplicationOptions {
  prefix: string;
  /** Wanted replicas of each topic, if the cluster has that many brokers. */
  factor: number;
}

/** Compares the replicas of topics in use with those wanted: at the first use, and every minute. */
export class ReplicationWatch {
  readonly #admin: MetadataAdmin;
  readonly #options: ReplicationOptions;
  readonly #onFewer: (replication: TopicReplication) => void;
  readonly #topics = new Set<string>();
  readonly #reported = new Set<string>();
  readonly #timer: Timer;
  #checking: Promise<void> = Promise.resolve();
  #found: readonly TopicReplication[] = [];
  #closed = false;

  /**
   * @param onFewer called once for each topic that has fewer replicas than wanted, and again where it has fewer after
   * it had enough
   */
  constructor(
    admin: MetadataAdmin,
    options: ReplicationOptions,
    onFewer: (replication: TopicReplication) => void = () => {},
  ) {
    this.#admin = admin;
    this.#options = options;
    this.#onFewer = onFewer;
    this.#timer = SYSTEM_CLOCK.every(CHECK_EVERY_MS, () => void this.check()).unref();
  }

  get found(): readonly TopicReplication[] {
    return this.#found;
  }

  /** @param name name of the existing topic in the cluster */
  add(name: string): void {
    const topic = name.slice(this.#options.prefix.length);
    if (this.#topics.has(topic)) return;
    this.#topics.add(topic);
    void this.check();
  }

  /** Never rejects: an unresponsive cluster is reported where it is used, and checked again a minute later. */
  check(): Promise<void> {
    this.#checking = this.#checking.then(() => this.#check()).catch(() => {});
    return this.#checking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer.cancel();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = SYSTEM_CLOCK.after(CLOSED_WITHIN_MS, resolve);
    await Promise.race([this.#checking, late]);
    timer.cancel();
  }

  async #check(): Promise<void> {
    if (this.#closed || this.#topics.size === 0) return;
    const { prefix, factor } = this.#options;
    this.#found = (await describeTopics(this.#admin, prefix, [...this.#topics], factor)).map(
      (each) => each.replication,
    );
    for (const replication of this.#found) {
      const { topic, replicas, wanted } = replication;
      if (replicas >= wanted) {
        this.#reported.delete(topic);
      } else if (!this.#reported.has(topic)) {
        this.#reported.add(topic);
        this.#onFewer(replication);
      }
    }
  }
}

/** Counts the replicas of the log's topics, and adds missing ones. */
export class KafkaReplicas {
  readonly #admin: ReplicationAdmin;
  readonly #topics: readonly string[];
  readonly #options: ReplicationOptions;
  readonly #disconnect: () => Promise<void>;
  readonly #clock: Clock;

  /** @param topics names without the prefix; the topics need not exist */
  constructor(
    admin: ReplicationAdmin,
    topics: readonly string[],
    options: ReplicationOptions,
    disconnect: () => Promise<void>,
    clock: Clock = SYSTEM_CLOCK,
  ) {
    this.#admin = admin;
    this.#topics = topics;
    this.#options = options;
    this.#disconnect = disconnect;
    this.#clock = clock;
  }

  /** Replication of the topics that exist. */
  async status(): Promise<TopicReplication[]> {
    return (await this.#describe()).map(({ replication }) => replication);
  }

  /**
   * Adds missing replicas. Resolves when every topic has the wanted replicas, and acknowledges only records that at
   * least two of them have.
   *
   * @throws {Error} when the brokers have not made all copies in time; they continue in the background
   */
  async raise({ withinMs = REASSIGNED_WITHIN_MS } = {}): Promise<void> {
    const brokers = (await this.#admin.describeCluster()).brokers.map(({ nodeId }) => nodeId);
    const reassigned = (await this.#describe())
      .map(({ name, partitions, replication }) => ({
        topic: name,
        partitionAssignment: assignReplicas(partitions, brokers, replication.wanted),
      }))
      .filter(({ partitionAssignment }) => partitionAssignment.length > 0);
    if (reassigned.length > 0) await this.#admin.alterPartitionReassignments({ topics: reassigned });
    // Also waits for reassignments of an earlier call that gave up: more in-sync replicas can't be required of a
    // partition before it has all copies.
    await this.#whileReassigning(this.#clock.steadyMs() + withinMs);
    for (const { name, replication } of await this.#describe())
      if (replication.replicas > 1) await this.#raiseMinInSync(name, minInSyncReplicas(replication.replicas));
  }

  close(): Promise<void> {
    return this.#disconnect();
  }

  #describe(): Promise<DescribedTopic[]> {
    return describeTopics(this.#admin, this.#options.prefix, this.#topics, this.#options.factor);
  }

  async #whileReassigning(untilMs: number): Promise<void> {
    for (;;) {
      const described = await this.#describe();
      if (described.length === 0) return;
      const topics = described.map(({ name, partitions }) => ({
        topic: name,
        partitions: partitions.map(({ partition }) => partition),
      }));
      const left = (await this.#admin.listPartitionReassignments({ topics })).topics.reduce(
        (sum, { partitions }) => sum + partitions.length,
        0,
      );
      if (left === 0) return;
      if (this.#clock.steadyMs() > untilMs)
        throw new Error(`replicas of ${left} partitions are still being copied: the brokers go on; raise again later`);
      await this.#clock.sleep(POLL_MS);
    }
  }

  /** Resends the existing settings too: brokers replace all settings of a topic at once. */
  async #raiseMinInSync(topic: string, wanted: number): Promise<void> {
    const { resources } = await this.#admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: TOPIC_RESOURCE, name: topic }],
    });
    const entries = resources[0]?.configEntries ?? [];
    const current = entries.find(({ configName }) => configName === MIN_IN_SYNC);
    if (!current || Number(current.configValue) >= wanted) return;
    const kept = entries.filter(
      ({ configName, configSource }) => configSource === SET_FOR_TOPIC && configName !== MIN_IN_SYNC,
    );
    await this.#admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: TOPIC_RESOURCE,
          name: topic,
          configEntries: [
            ...kept.map(({ configName, configValue }) => ({ name: configName, value: configValue })),
            { name: MIN_IN_SYNC, value: String(wanted) },
          ],
        },
      ],
    });
  }
}
