import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';
import type Cluster from 'kafkajs/src/cluster/index.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Log, Topic } from '../log.ts';
import { openKafkaLog } from './open.ts';
import { KafkaReader } from './reading.ts';

const brokers = process.env.KAFKA_BROKERS?.split(',');

const PREFIX = `reading-${randomUUID()}-`;
const topic: Topic<string> = {
  name: 'texts',
  key: () => 'a',
  encode: (text) => Buffer.from(text),
  decode: (bytes) => bytes.toString(),
  compacted: false,
};

describe.skipIf(!brokers)('reading from Kafka', () => {
  const admin = new Kafka({ brokers: brokers ?? [], logLevel: logLevel.NOTHING }).admin();
  let log: Log;

  beforeAll(async () => {
    await admin.connect();
    log = await openKafkaLog({ brokers: brokers ?? [], partitions: 1, prefix: PREFIX, onWarning: () => {} });
  });
  afterAll(async () => {
    await log.close();
    await admin.disconnect();
  });

  async function textsFrom(offset: number): Promise<string[]> {
    const texts: string[] = [];
    for await (const { records } of log.read(topic, 0, offset, 1_000_000))
      texts.push(...records.map(({ value }) => value));
    return texts;
  }

  test('a hundred readings at once get what they asked for, and none makes a consumer group', async () => {
    const all = Array.from({ length: 5000 }, (_, nth) => `${nth} ${'x'.repeat(400)}`);
    await log.append(topic, all);
    const read = await Promise.all(Array.from({ length: 100 }, (_, nth) => textsFrom(nth * 50)));
    for (const [nth, texts] of read.entries()) expect(texts).toEqual(all.slice(nth * 50));
    const { groups } = await admin.listGroups();
    expect(groups.filter(({ groupId }) => groupId.includes(PREFIX))).toEqual([]);
    // 100 MB are read, on a machine that may have much else to do.
  }, 120_000);

  test('a reading goes on with the oldest record left where retention removes what it was to read next', async () => {
    const reading = log.read(topic, 0, 0, 5000)[Symbol.asyncIterator]();
    const first = await reading.next();
    expect(first.value?.records[0]).toMatchObject({ offset: 0 });
    await admin.deleteTopicRecords({ topic: `${PREFIX}texts`, partitions: [{ partition: 0, offset: '4990' }] });
    let offsets: number[] = [];
    for (let step = await reading.next(); !step.done; step = await reading.next())
      offsets = [...offsets, ...step.value.records.map(({ offset }) => offset)];
    expect(offsets.slice(-10)).toEqual(Array.from({ length: 10 }, (_, nth) => 4990 + nth));
    expect(offsets.length).toBeLessThan(4990);
  }, 120_000);
});

describe('a fetch', () => {
  type Answer = Error | { partition: number; highWatermark: string; messages: { offset: string }[] }[];

  /** A cluster whose broker answers one fetch after the other with what the test gives. */
  function readerOf(...answers: Answer[]) {
    let refreshed = 0;
    const removed: unknown[] = [];
    const fetch = async () => {
      const answer = answers.shift();
      if (answer === undefined) throw new Error('fetched too often');
      if (answer instanceof Error) throw answer;
      return {
        responses: [{ topicName: 'texts', partitions: answer.map((each) => ({ abortedTransactions: [], ...each })) }],
      };
    };
    const cluster = {
      connect: async () => {},
      disconnect: async () => {},
      addTargetTopic: async () => {},
      refreshMetadata: async () => void refreshed++,
      refreshMetadataIfNecessary: async () => {},
      removeBroker: (address: unknown) => removed.push(address),
      findLeaderForPartitions: () => ({ 1: [0] }),
      findBroker: async () => ({ fetch }),
    };
    return { reader: new KafkaReader(() => cluster as never as Cluster), removed, refreshed: () => refreshed };
  }

  const kafkaError = (name: string, more: object = {}) =>
    Object.assign(new Error(name), { name, retriable: true, ...more });
  const one = { partition: 0, highWatermark: '9', messages: [{ offset: '6' }, { offset: '7' }, { offset: '8' }] };

  test('returns what comes after the offset, and where to go on', async () => {
    const { reader } = readerOf([one]);
    const fetched = await reader.fetch('texts', 0, 7);
    expect(fetched?.messages.map(({ offset }) => offset)).toEqual(['7', '8']);
    expect(fetched?.nextOffset).toBe(9);
  });

  test('goes on past records that compaction has removed', async () => {
    const { reader } = readerOf([{ ...one, messages: [] }]);
    expect(await reader.fetch('texts', 0, 7)).toEqual({ messages: [], nextOffset: 9 });
  });

  test('is tried again while brokers are gone, throttle, or have yet to learn what is committed', async () => {
    const closed = kafkaError('KafkaJSConnectionClosedError', { host: 'broker', port: 1 });
    const { reader, removed, refreshed } = readerOf(closed, [], [{ ...one, highWatermark: '5', messages: [] }], [one]);
    expect((await reader.fetch('texts', 0, 7))?.nextOffset).toBe(9);
    expect(removed).toEqual([{ host: 'broker', port: 1 }]);
    expect(refreshed()).toBe(1);
  });

  test('returns null where the log does not have the offset', async () => {
    const { reader } = readerOf(kafkaError('KafkaJSOffsetOutOfRange'));
    expect(await reader.fetch('texts', 0, 7)).toBeNull();
  });

  test('fails at once with what trying again does not cure, and when the log is closed', async () => {
    const { reader } = readerOf(kafkaError('TOPIC_AUTHORIZATION_FAILED', { retriable: false }));
    await expect(reader.fetch('texts', 0, 7)).rejects.toThrow('TOPIC_AUTHORIZATION_FAILED');
    await reader.close();
    await expect(reader.fetch('texts', 0, 7)).rejects.toThrow('closed');
  });
});
