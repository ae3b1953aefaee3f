import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { CheckpointFencedError } from '../checkpoints.ts';
import type { Log, Topic } from '../log.ts';
import { openKafkaLog } from './open.ts';

const brokers = process.env.KAFKA_BROKERS?.split(',');

/** A consumer as the rules are one: it keeps its own offsets, where the next one finds them. */
async function member(log: Log, topic: Topic<string>, group: string, checkpoint: Map<number, number>) {
  const reached = new Map<number, number>();
  const records: string[] = [];
  const revoked: number[] = [];
  const subscription = await log.consume(topic, {
    group,
    startAt: (partition) => checkpoint.get(partition) ?? 'earliest',
    async onBatch({ partition, records: batch }) {
      for (const { offset, value } of batch) {
        records.push(value);
        reached.set(partition, offset + 1);
      }
    },
    async onRevoked(partition) {
      revoked.push(partition);
      checkpoint.set(partition, reached.get(partition) ?? checkpoint.get(partition) ?? 0);
    },
  });
  return { subscription, records, revoked };
}

describe.skipIf(!brokers)('members of a group on Kafka', () => {
  test('share the partitions, and go on where startAt says and not where the group was', async () => {
    const open = () => openKafkaLog({ brokers: brokers ?? [], partitions: 3, onWarning: () => {} });
    const [one, other] = [await open(), await open()];
    const topic: Topic<string> = {
      name: `group-${randomUUID()}`,
      key: (text) => text,
      encode: (text) => Buffer.from(text),
      decode: (bytes) => bytes.toString(),
      compacted: false,
    };
    const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `${from + i}`);
    const group = `group-${randomUUID()}`;
    const checkpoint = new Map<number, number>();

    await one.append(topic, texts(0, 300));
    const first = await member(one, topic, group, checkpoint);
    await expect.poll(() => first.records.length, { timeout: 60_000 }).toBe(300);

    // A second member comes: the first gives up what it has, reports, and each has a part.
    const second = await member(other, topic, group, checkpoint);
    await expect.poll(() => first.revoked.length, { timeout: 60_000 }).toBeGreaterThan(0);
    let sent = 300;
    await expect
      .poll(
        async () => {
          await one.append(topic, texts(sent, sent + 100));
          sent += 100;
          return second.records.length;
        },
        { timeout: 60_000, interval: 200 },
      )
      .toBeGreaterThan(0);
    const all = () => new Set([...first.records, ...second.records]);
    await expect.poll(() => all().size, { timeout: 60_000 }).toBe(sent);

    // The first goes: the second gets all.
    await first.subscription.stop();
    const before = first.records.length;
    await one.append(topic, texts(sent, sent + 300));
    await expect.poll(() => all().size, { timeout: 60_000 }).toBe(sent + 300);
    expect(first.records).toHaveLength(before);
    await second.subscription.stop();

    // Started again with an older checkpoint, a member begins there.
    for (const partition of [0, 1, 2]) checkpoint.set(partition, 5);
    const third = await member(one, topic, group, checkpoint);
    await expect.poll(() => third.records.length, { timeout: 60_000 }).toBe(sent + 300 - 15);
    await third.subscription.stop();
    await Promise.all([one.close(), other.close()]);
  }, 120_000);

  test('one that was fenced and still has the partition begins anew with it', async () => {
    const log = await openKafkaLog({ brokers: brokers ?? [], partitions: 1, onWarning: () => {} });
    const topic: Topic<string> = {
      name: `group-${randomUUID()}`,
      key: (text) => text,
      encode: (text) => Buffer.from(text),
      decode: (bytes) => bytes.toString(),
      compacted: false,
    };
    const texts = Array.from({ length: 30 }, (_, i) => `${i}`);
    await log.append(topic, texts.slice(0, 10));
    const began: number[] = [];
    const taken: string[] = [];
    let saved = 0;
    let fenced = false;
    const subscription = await log.consume(topic, {
      group: 'rules',
      startAt() {
        fenced = false;
        began.push(saved);
        return saved;
      },
      async onBatch({ partition, records }) {
        if (fenced) throw new CheckpointFencedError('rules', partition);
        taken.push(...records.map(({ value }) => value));
        saved = (records.at(-1)?.offset ?? 0) + 1;
      },
      async onRevoked(partition) {
        if (fenced) throw new CheckpointFencedError('rules', partition);
      },
    });
    await expect.poll(() => taken.length, { timeout: 60_000 }).toBe(10);
    fenced = true;
    await log.append(topic, texts.slice(10, 20));
    await expect.poll(() => taken.length, { timeout: 60_000 }).toBe(20);
    expect(began).toEqual([0, 10]);
    fenced = true;
    await subscription.stop();
    expect(await Promise.race([subscription.failed, 'well'])).toBe('well');
    expect(taken).toEqual(texts.slice(0, 20));
    await log.close();
  });
});
