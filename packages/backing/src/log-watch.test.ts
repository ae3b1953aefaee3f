import { Metrics } from '@outrider/runtime';
import { expect, test } from 'vitest';
import { logWarnings, measureLog } from './log-watch.ts';

const log = {
  discontinuities: [],
  holdUp: null,
  replication: [
    { topic: 'telemetry', partitions: 12, replicas: 1, wanted: 3 },
    { topic: 'events', partitions: 12, replicas: 3, wanted: 3 },
  ],
  readers: async () => [],
};

test('a topic with fewer replicas than wanted is in the warnings and in the metrics', async () => {
  expect(logWarnings(log)).toEqual(['topic telemetry has 1 of 3 replicas wanted']);
  const metrics = new Metrics();
  measureLog(log, metrics);
  const text = await metrics.metrics();
  expect(text).toContain('outrider_kafka_topic_replicas{topic="telemetry"} 1');
  expect(text).toContain('outrider_kafka_topic_replicas_wanted{topic="telemetry"} 3');
});
