import { createHash, randomBytes } from 'node:crypto';
import { SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { Admin } from 'kafkajs';
import type { KafkaClients } from './clients.ts';
import { whileLeadersChange } from './topics.ts';

/** The partition whose committed offset carries the identity. */
const CARRIER = 0;
/** Interval between attempts: another process may be writing the identity. */
const RETRY_MS = 200;
const FETCH_WAIT_MS = 100;
const GIVE_UP_AFTER_MS = 60_000;
/**
 * Interval at which the offsets are renewed. Brokers delete the offsets of a group without members after a week
 * (`offsets.retention.minutes`).
 */
const RENEW_AFTER_MS = 12 * 3_600_000;

/**
 * Identities of topics. A topic has one from its first use on; a topic that is created again under the same name has
 * another.
 *
 * Kafka's own topic ids are not available to the client library. So a random id is kept as the metadata of an offset
 * that group `log-identity.<topic>` has committed in the topic: brokers remove the committed offsets of a topic with
 * the topic. The id of the cluster is made part of it, so that a copy in another cluster differs.
 */
export class KafkaIdentities {
  readonly #kafka: KafkaClients;
  readonly #admin: Admin;
  readonly #prefix: string;
  readonly #renewals = new Map<string, Timer>();
  /** Pending queries by topic: the readers of all partitions query at once. */
  readonly #asked = new Map<string, Promise<string>>();
  #closed = false;

  constructor(kafka: KafkaClients, admin: Admin, prefix: string) {
    this.#kafka = kafka;
    this.#admin = admin;
    this.#prefix = prefix;
  }

  /**
   * @param topic name of an existing topic in the cluster
   * @throws {Error} when the identity could not be read or written in time
   */
  of(topic: string): Promise<string> {
    const asked = this.#asked.get(topic);
    if (asked) return asked;
    const asking = this.#ask(topic).finally(() => this.#asked.delete(topic));
    this.#asked.set(topic, asking);
    return asking;
  }

  async #ask(topic: string): Promise<string> {
    const giveUpAtMs = SYSTEM_CLOCK.steadyMs() + GIVE_UP_AFTER_MS;
    for (;;) {
      const id = await this.#read(topic);
      if (id !== null) {
        this.#renewLater(topic);
        const { clusterId } = await this.#admin.describeCluster();
        return createHash('sha256').update(`${clusterId} ${id}`).digest('hex').slice(0, 16);
      }
      if (SYSTEM_CLOCK.steadyMs() > giveUpAtMs) throw new Error(`the identity of topic ${topic} could not be written`);
      await this.#write(topic, async () => (await this.#read(topic)) ?? randomBytes(8).toString('hex'));
      await SYSTEM_CLOCK.sleep(RETRY_MS);
    }
  }

  close(): void {
    this.#closed = true;
    for (const renewal of this.#renewals.values()) renewal.cancel();
  }

  #groupOf(topic: string): string {
    return `${this.#prefix}log-identity.${topic}`;
  }

  async #read(topic: string): Promise<string | null> {
    const [answer] = await whileLeadersChange(() =>
      this.#admin.fetchOffsets({ groupId: this.#groupOf(topic), topics: [topic] }),
    );
    return answer?.partitions.find(({ partition }) => partition === CARRIER)?.metadata || null;
  }

  /**
   * A group assigns the partition to one member at a time, so no other member writes while this one reads.
   */
  async #write(topic: string, idOf: () => Promise<string>): Promise<void> {
    const consumer = this.#kafka.consumer({
      groupId: this.#groupOf(topic),
      allowAutoTopicCreation: false,
      // The records are not needed: the consumer stops after the first fetch.
      maxWaitTimeInMs: FETCH_WAIT_MS,
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await new Promise<void>((resolve, reject) => {
        consumer.on('consumer.group_join', ({ payload }) => {
          const assigned = payload.memberAssignment[topic] ?? [];
          consumer.pause([{ topic, partitions: assigned }]);
          if (!assigned.includes(CARRIER)) return resolve();
          idOf()
            .then((metadata) => consumer.commitOffsets([{ topic, partition: CARRIER, offset: '0', metadata }]))
            .then(resolve, reject);
        });
        consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
          if (!restart) reject(error);
        });
        consumer.run({ autoCommit: false, eachBatch: async () => {} }).catch(reject);
      });
    } finally {
      await consumer.disconnect();
    }
  }

  #renewLater(topic: string): void {
    if (this.#closed || this.#renewals.has(topic)) return;
    const renewal = SYSTEM_CLOCK.after(RENEW_AFTER_MS, () => {
      this.#renewals.delete(topic);
      this.#renew(topic).catch(() => {});
    });
    this.#renewals.set(topic, renewal.unref());
  }

  /** Errors are ignored: each process tries again twice a day. */
  async #renew(topic: string): Promise<void> {
    try {
      const id = await this.#read(topic);
      if (id !== null && !this.#closed) await this.#write(topic, async () => id);
    } finally {
      this.#renewLater(topic);
    }
  }
}
