import { Kafka, logLevel } from 'kafkajs';
import { describe, test } from 'vitest';
import { describeLog } from '../log.conformance.ts';
import { openKafkaLog } from './open.ts';

const brokers = process.env.KAFKA_BROKERS?.split(',');

if (brokers) {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  describeLog('the Kafka log', async () => {
    await admin.connect();
    return {
      open: (options) => openKafkaLog({ brokers, partitions: 3, onWarning: () => {}, ...options }),
      replace: ({ name }) => admin.deleteTopics({ topics: [name] }),
      removeBefore: async ({ name: topic }, partition, offset) => {
        // The library finds the leaders of topics that it was asked about before.
        await admin.fetchTopicOffsets(topic);
        await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] });
      },
      dispose: () => admin.disconnect(),
    };
  });
} else {
  describe('the Kafka log', () => {
    test.skip('keeps the promises of a log: set KAFKA_BROKERS to run it against a broker', () => {});
  });
}
