import { describe, test } from 'vitest';
import { describeLog } from '../log.conformance.ts';
import { openKafkaLog } from './open.ts';

const brokers = process.env.KAFKA_BROKERS?.split(',');

if (brokers) {
  describeLog('the Kafka log', async () => ({
    open: (options) => openKafkaLog({ brokers, partitions: 3, onWarning: () => {}, ...options }),
    dispose: async () => {},
  }));
} else {
  describe('the Kafka log', () => {
    test.skip('keeps the promises of a log: set KAFKA_BROKERS to run it against a broker', () => {});
  });
}
