import { VirtualClock } from '@outrider/testing/clock';
import { expect, test } from 'vitest';
import { assignReplicas, KafkaReplicas, type ReplicationAdmin, ReplicationWatch } from './replication.ts';

const onBroker1 = (count: number) => Array.from({ length: count }, (_, partition) => ({ partition, replicas: [1] }));

test('added replicas are spread over the brokers, and each partition keeps its leader', () => {
  const assigned = assignReplicas(onBroker1(12), [1, 2, 3, 4], 2);
  expect(assigned).toHaveLength(12);
  expect(assigned.every(({ replicas: [leader] }) => leader === 1)).toBe(true);
  const added = Map.groupBy(assigned, ({ replicas }) => replicas[1]);
  expect([2, 3, 4].map((broker) => added.get(broker)?.length)).toEqual([4, 4, 4]);
});

test('replicas are added to what a partition has, never twice to a broker, and not where there are enough', () => {
  const partitions = [
    { partition: 0, replicas: [3, 1] },
    { partition: 1, replicas: [2, 3, 1] },
    { partition: 2, replicas: [2] },
  ];
  const assigned = assignReplicas(partitions, [3, 1, 2], 3);
  expect(assigned.map(({ partition }) => partition)).toEqual([0, 2]);
  expect(assigned[0]?.replicas).toEqual([3, 1, 2]);
  expect(assigned[1]?.replicas[0]).toBe(2);
  expect(assigned[1]?.replicas.toSorted()).toEqual([1, 2, 3]);
});

test('brokers with the fewest partitions are given more', () => {
  const partitions = [
    { partition: 0, replicas: [1, 2] },
    { partition: 1, replicas: [2, 1] },
    { partition: 2, replicas: [1] },
    { partition: 3, replicas: [2] },
  ];
  expect(assignReplicas(partitions, [1, 2, 3], 2).map(({ replicas }) => replicas[1])).toEqual([3, 3]);
});

test('fewer brokers than wanted have one replica each', () => {
  expect(assignReplicas(onBroker1(2), [1, 2], 3).map(({ replicas }) => replicas)).toEqual([
    [1, 2],
    [1, 2],
  ]);
  expect(assignReplicas(onBroker1(2), [1], 3)).toEqual([]);
});

/** A cluster that copies replicas while it is asked how many it still copies. */
class FakeCluster {
  brokers = [1];
  readonly topics = new Map<string, { replicas: number[][]; overrides: Record<string, string> }>();
  #copying: { topic: string; partition: number }[] = [];
  /** Of each change of settings, whether replicas were being copied. */
  readonly changedWhileCopying: boolean[] = [];

  readonly admin = {
    describeCluster: async () => ({ brokers: this.brokers.map((nodeId) => ({ nodeId })) }),
    fetchTopicMetadata: async () => ({
      topics: [...this.topics].map(([name, { replicas }]) => ({
        name,
        partitions: replicas.map((of, partitionId) => ({ partitionId, replicas: of })),
      })),
    }),
    alterPartitionReassignments: async ({
      topics,
    }: {
      topics: { topic: string; partitionAssignment: { partition: number; replicas: number[] }[] }[];
    }) => {
      for (const { topic, partitionAssignment } of topics)
        for (const { partition, replicas } of partitionAssignment) {
          (this.topics.get(topic) as { replicas: number[][] }).replicas[partition] = replicas;
          this.#copying.push({ topic, partition });
        }
    },
    listPartitionReassignments: async () => {
      this.#copying.pop();
      return {
        topics: this.#copying.map(({ topic, partition }) => ({ topic, partitions: [{ partitionIndex: partition }] })),
      };
    },
    describeConfigs: async ({ resources: [{ name }] }: { resources: [{ name: string }] }) => {
      const { overrides = {} } = this.topics.get(name) ?? {};
      const set = Object.entries(overrides).map(([configName, configValue]) => ({
        configName,
        configValue,
        configSource: 1,
      }));
      const byDefault = [
        { configName: 'min.insync.replicas', configValue: '1', configSource: 5 },
        { configName: 'segment.bytes', configValue: '1073741824', configSource: 4 },
      ].filter(({ configName }) => !(configName in overrides));
      return { resources: [{ configEntries: [...set, ...byDefault] }] };
    },
    alterConfigs: async ({
      resources: [{ name, configEntries }],
    }: {
      resources: [{ name: string; configEntries: { name: string; value: string }[] }];
    }) => {
      this.changedWhileCopying.push(this.#copying.length > 0);
      (this.topics.get(name) as { overrides: object }).overrides = Object.fromEntries(
        configEntries.map((entry) => [entry.name, entry.value]),
      );
    },
  } as unknown as ReplicationAdmin;
}

function grownCluster(): FakeCluster {
  const cluster = new FakeCluster();
  cluster.topics.set('fleet.telemetry', { replicas: [[1], [1], [1]], overrides: { 'retention.ms': '3600000' } });
  cluster.topics.set('fleet.definitions', { replicas: [[1, 2, 3]], overrides: { 'min.insync.replicas': '3' } });
  cluster.topics.set('telemetry', { replicas: [[1]], overrides: {} });
  cluster.brokers = [1, 2, 3];
  return cluster;
}
const options = { prefix: 'fleet.', factor: 3 };

test('topics of a cluster that grew are given the replicas wanted, and keep their other settings', async () => {
  const cluster = grownCluster();
  const clock = new VirtualClock();
  const topics = ['telemetry', 'events', 'definitions'];
  const replicas = new KafkaReplicas(cluster.admin, topics, options, async () => {}, clock);
  expect(await replicas.status()).toEqual([
    { topic: 'telemetry', partitions: 3, replicas: 1, wanted: 3 },
    { topic: 'definitions', partitions: 1, replicas: 3, wanted: 3 },
  ]);
  await expect(replicas.raise({ withinMs: -1 })).rejects.toThrow('replicas of 2 partitions');
  expect(cluster.changedWhileCopying).toEqual([]);
  const raised = replicas.raise();
  await clock.advance(1000);
  await raised;
  expect((await replicas.status()).map((each) => each.replicas)).toEqual([3, 3]);
  expect(cluster.topics.get('fleet.telemetry')?.overrides).toEqual({
    'retention.ms': '3600000',
    'min.insync.replicas': '2',
  });
  expect(cluster.topics.get('fleet.definitions')?.overrides).toEqual({ 'min.insync.replicas': '3' });
  expect(cluster.topics.get('telemetry')?.replicas).toEqual([[1]]);
  expect(cluster.changedWhileCopying).toEqual([false]);
});

test('a topic made on one broker is reported once the cluster has more, until it has the replicas', async () => {
  const cluster = grownCluster();
  cluster.brokers = [1];
  const reported: unknown[] = [];
  const watch = new ReplicationWatch(cluster.admin, options, (replication) => reported.push(replication));
  watch.add('fleet.telemetry');
  await watch.check();
  expect(watch.found).toEqual([{ topic: 'telemetry', partitions: 3, replicas: 1, wanted: 1 }]);
  expect(reported).toEqual([]);
  cluster.brokers = [1, 2];
  await watch.check();
  await watch.check();
  expect(reported).toEqual([{ topic: 'telemetry', partitions: 3, replicas: 1, wanted: 2 }]);
  const clock = new VirtualClock();
  const raised = new KafkaReplicas(cluster.admin, ['telemetry'], options, async () => {}, clock).raise();
  await clock.advance(2000);
  await raised;
  await watch.check();
  expect(watch.found).toMatchObject([{ replicas: 2, wanted: 2 }]);
  expect(reported).toHaveLength(1);
  await watch.close();
});
