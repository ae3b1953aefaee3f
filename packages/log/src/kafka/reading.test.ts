import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Log, Topic } from '../log.ts';
import { openKafkaLog } from './open.ts';

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
  });

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
  });
});
