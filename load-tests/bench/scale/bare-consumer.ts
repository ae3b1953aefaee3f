import { Kafka, logLevel } from 'kafkajs';
import { timed } from '../measure.ts';
import { awaitTask } from '../road/child.ts';

/** The client library by itself: a group of one that takes all of a topic, and does nothing with it. */
export interface BareConsumerTask {
  brokers: readonly string[];
  /** In the cluster; it must be there. */
  topic: string;
  /** So many are produced, or will be. */
  messages: number;
}

export type BareConsumerMessage =
  /** It has the partitions; the first fetch is part of what is measured. */
  | { type: 'joined' }
  /** It has all of the messages. */
  | { type: 'consumed'; seconds: number; cpuSeconds: number };

const { task, send } = await awaitTask<BareConsumerTask, BareConsumerMessage>();
const kafka = new Kafka({ brokers: [...task.brokers], logLevel: logLevel.NOTHING });
const consumer = kafka.consumer({ groupId: `bare-${process.pid}`, allowAutoTopicCreation: false });
await consumer.connect();
await consumer.subscribe({ topic: task.topic, fromBeginning: true });
const joined = Promise.withResolvers<void>();
consumer.on('consumer.group_join', () => joined.resolve());
const all = Promise.withResolvers<void>();
let consumed = 0;
await consumer.run({
  autoCommit: false,
  partitionsConsumedConcurrently: 16,
  async eachBatch({ batch }) {
    consumed += batch.messages.length;
    if (consumed >= task.messages) all.resolve();
  },
});
await joined.promise;
send({ type: 'joined' });
send({ type: 'consumed', ...(await timed(() => all.promise)) });
await consumer.disconnect();
