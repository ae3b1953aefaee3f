import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { UnreadableRecord } from './dead-letters.ts';
import {
  type Batch,
  type ConsumeOptions,
  type Discontinuity,
  Encoded,
  type Log,
  type LogRecord,
  MAX_RECORD_BYTES,
  type ReaderPlace,
  type Resumption,
  type Subscription,
  type Topic,
} from './log.ts';

/** What an adapter gives to be tested. */
export interface LogUnderTest {
  /** A further opening of the same log: what one wrote, the next must find. */
  open(options?: {
    onUnreadable?: (record: UnreadableRecord) => Promise<void>;
    onDiscontinuity?: (discontinuity: Discontinuity) => void;
  }): Promise<Log>;
  /**
   * Has another, empty log take the place of this one, as far as the topic is concerned. No opening of it is in use.
   */
  replace(topic: Topic<unknown>): Promise<void>;
  /** Removes the records of a partition below an offset, as retention does, read or unread. */
  removeBefore(topic: Topic<unknown>, partition: number, offset: number): Promise<void>;
  dispose(): Promise<void>;
}

interface Note {
  key: string;
  text: string;
}

/** A topic of its own for each test: a server keeps what earlier runs wrote. */
function noteTopic(compacted = false): Topic<Note> {
  return {
    name: `notes-${randomUUID()}`,
    key: (note) => note.key,
    encode: (note) => Buffer.from(JSON.stringify([note.key, note.text])),
    decode: (bytes) => {
      const [key, text] = JSON.parse(bytes.toString());
      return { key, text };
    },
    compacted,
  };
}

function notes(count: number, key = 'a', first = 0): Note[] {
  return Array.from({ length: count }, (_, i) => ({ key, text: `${first + i}` }));
}

/** Every record of every partition, in the order of offsets within each. */
async function readAll(log: Log, topic: Topic<Note>): Promise<LogRecord<Note>[]> {
  const all: LogRecord<Note>[] = [];
  for (const [partition, end] of await log.endOffsets(topic))
    for await (const batch of log.read(topic, partition, 'earliest', end)) all.push(...batch.records);
  return all;
}

const textsOf = (records: readonly LogRecord<Note>[], key?: string) =>
  records.filter(({ value }) => key === undefined || value.key === key).map(({ value }) => value.text);

/** Consumes until `enough` says so of all that came, and stops; a failure of the subscription is the test's. */
async function consumeUntil(
  log: Log,
  topic: Topic<Note>,
  options: Partial<ConsumeOptions<Note>>,
  enough: (records: readonly LogRecord<Note>[]) => boolean,
  onStarted: () => void | Promise<void> = () => {},
): Promise<LogRecord<Note>[]> {
  const came: LogRecord<Note>[] = [];
  let done: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    done = resolve;
  });
  const subscription = await log.consume(topic, {
    group: `test-${randomUUID()}`,
    startAt: () => 'earliest',
    ...options,
    async onBatch(batch) {
      expect(batch.records.length).toBeGreaterThan(0);
      await options.onBatch?.(batch);
      came.push(...batch.records);
      if (enough(came)) done();
    },
  });
  await onStarted();
  await Promise.race([finished, subscription.failed]);
  await subscription.stop();
  return came;
}

/** The promises of {@link Log}, each a test. Every adapter must keep them. */
export function describeLog(name: string, start: () => Promise<LogUnderTest>): void {
  describe(`${name} keeps the promises of a log`, () => {
    const underTest = start();
    const opened: Log[] = [];
    const open: LogUnderTest['open'] = async (options) => {
      const log = await (await underTest).open(options);
      opened.push(log);
      return log;
    };
    afterAll(async () => {
      await Promise.all(opened.map((log) => log.close()));
      await (await underTest).dispose();
    });

    test('what was appended is there when the log is opened again', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append(topic, notes(10));
      await log.append(topic, notes(5, 'a', 10));
      await log.close();
      expect(textsOf(await readAll(await open(), topic))).toEqual(notes(15).map(({ text }) => text));
    });

    test('appending nothing is done at once', async () => {
      const log = await open();
      await log.append(noteTopic(), []);
      expect(log.pendingBytes).toBe(0);
    });

    test('what was encoded beforehand is appended like anything else, as often as it is handed in', async () => {
      const topic = noteTopic();
      const log = await open();
      const encoded = new Encoded(topic, notes(3));
      await log.append(topic, encoded);
      await log.append(topic, notes(1, 'a', 3));
      await log.append(topic, encoded);
      expect(textsOf(await readAll(log, topic))).toEqual(['0', '1', '2', '3', '0', '1', '2']);
    });

    test('pendingBytes counts what is not durable yet', async () => {
      const topic = noteTopic();
      const log = await open();
      const appended = log.append(topic, notes(100));
      expect(log.pendingBytes).toBeGreaterThan(0);
      await appended;
      expect(log.pendingBytes).toBe(0);
    });

    test('a record that cannot be encoded rejects its append and writes none of it', async () => {
      const topic = noteTopic();
      const log = await open();
      const picky: Topic<Note> = {
        ...topic,
        encode(note) {
          if (note.text === '3') throw new Error('not this one');
          return topic.encode(note);
        },
      };
      await expect(log.append(picky, notes(5))).rejects.toThrow('not this one');
      await log.append(topic, notes(1, 'a', 100));
      expect(textsOf(await readAll(log, topic))).toEqual(['100']);
    });

    test('records keep their order per key, within a call and from call to call', async () => {
      const topic = noteTopic();
      const log = await open();
      const keys = ['a', 'b', 'c', 'd', 'e'];
      const calls = Array.from({ length: 40 }, (_, i) =>
        log.append(
          topic,
          keys.flatMap((key) => notes(3, key, 3 * i)),
        ),
      );
      await Promise.all(calls);
      const all = await readAll(log, topic);
      for (const key of keys) expect(textsOf(all, key)).toEqual(notes(120).map(({ text }) => text));
    });

    test('offsets grow, and records of one key share a partition', async () => {
      const topic = noteTopic();
      const log = await open();
      for (let i = 0; i < 5; i++) await log.append(topic, [...notes(4, 'a', 4 * i), ...notes(4, 'b', 4 * i)]);
      const partitionsOf = new Map<string, Set<number>>();
      for (const [partition, end] of await log.endOffsets(topic)) {
        let before = -1;
        for await (const { records } of log.read(topic, partition, 'earliest', end))
          for (const { offset, value } of records) {
            expect(offset).toBeGreaterThan(before);
            before = offset;
            const partitions = partitionsOf.get(value.key) ?? new Set();
            partitionsOf.set(value.key, partitions.add(partition));
          }
        expect(before).toBeLessThan(end);
      }
      expect([...partitionsOf.values()].map(({ size }) => size)).toEqual([1, 1]);
    });

    test('many appends at the same time all arrive, each once', async () => {
      const topic = noteTopic();
      const log = await open();
      const keys = Array.from({ length: 500 }, (_, i) => `k${i}`);
      await Promise.all(keys.map((key) => log.append(topic, notes(2, key))));
      const all = await readAll(log, topic);
      expect(all).toHaveLength(1000);
      for (const key of keys) expect(textsOf(all, key)).toEqual(['0', '1']);
    });

    test('records of nearly 1 MiB, of other alphabets and of nothing come back as they were', async () => {
      const topic = noteTopic();
      const log = await open();
      const texts = ['', 'Ж'.repeat(1000), 'x'.repeat(1024 * 1024 - 1024), '🚚', 'y'.repeat(600_000)];
      await log.append(
        topic,
        texts.map((text) => ({ key: 'big', text })),
      );
      expect(textsOf(await readAll(log, topic))).toEqual(texts);
    });

    test('a record beyond the bound rejects its append and no other', async () => {
      const topic = noteTopic();
      const log = await open();
      const before = log.append(topic, notes(2));
      const tooLong = log.append(topic, [...notes(1), { key: 'a', text: 'x'.repeat(MAX_RECORD_BYTES) }]);
      const after = log.append(topic, notes(2, 'a', 2));
      await expect(tooLong).rejects.toThrow(RangeError);
      await Promise.all([before, after]);
      expect(textsOf(await readAll(log, topic))).toEqual(['0', '1', '2', '3']);
    });

    test('endOffsets is the place after the newest record, and 0 where nothing ever was', async () => {
      const topic = noteTopic();
      const log = await open();
      const before = await log.endOffsets(topic);
      expect(before.size).toBeGreaterThan(0);
      expect([...before.values()].every((end) => end === 0)).toBe(true);
      await log.append(topic, notes(7));
      const after = await log.endOffsets(topic);
      expect([...after.keys()]).toEqual([...before.keys()]);
      expect([...after.values()].reduce((sum, end) => sum + end)).toBe(7);
    });

    test('when records were written can be asked for, and where a time begins', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.endOffsets(topic);
      expect([...(await log.offsetsAt(topic, 0)).values()].every((offset) => offset === 0)).toBe(true);
      await log.append(topic, notes(3));
      const [partition] = [...(await log.endOffsets(topic))].find(([, end]) => end === 3) ?? [-1];
      expect(await log.writtenAtMs(topic, partition, 3)).toBeNull();
      const firstMs = (await log.writtenAtMs(topic, partition, 0)) ?? 0;
      await vi.waitFor(async () => {
        await log.append(topic, notes(1));
        const end = (await log.endOffsets(topic)).get(partition) ?? 0;
        expect(await log.writtenAtMs(topic, partition, end - 1)).toBeGreaterThan(firstMs);
      });
      const end = (await log.endOffsets(topic)).get(partition) ?? 0;
      const lastMs = (await log.writtenAtMs(topic, partition, end - 1)) ?? 0;
      const offsetAt = async (atMs: number) => (await log.offsetsAt(topic, atMs)).get(partition);
      expect(await offsetAt(firstMs)).toBe(0);
      const of = (await offsetAt(lastMs)) ?? 0;
      expect(of).toBeGreaterThan(2);
      expect(await log.writtenAtMs(topic, partition, of)).toBe(lastMs);
      expect(await offsetAt(lastMs + 3_600_000)).toBe(end);
      await (await underTest).removeBefore(topic as Topic<unknown>, partition, 3);
      expect(await offsetAt(0)).toBe(3);
      expect(await log.writtenAtMs(topic, partition, 0)).toBe(await log.writtenAtMs(topic, partition, 3));
    });

    test('read gives the range that was asked for', async () => {
      const topic = noteTopic();
      const log = await open();
      for (let i = 0; i < 10; i++) await log.append(topic, notes(5, 'a', 5 * i));
      const [partition, end] = [...(await log.endOffsets(topic))].find(([, offset]) => offset > 0) ?? [0, 0];
      expect(end).toBe(50);
      const range = async (from: number | 'earliest' | 'latest', to: number) => {
        const offsets: number[] = [];
        for await (const { records } of log.read(topic, partition, from, to))
          offsets.push(...records.map(({ offset }) => offset));
        return offsets;
      };
      const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
      expect(await range(7, 23)).toEqual(numbers(7, 23));
      expect(await range('earliest', 50)).toEqual(numbers(0, 50));
      expect(await range(49, 50)).toEqual([49]);
      expect(await range(20, 20)).toEqual([]);
      expect(await range('latest', 50)).toEqual([]);
      // What is not there yet is not waited for.
      expect(await range(45, 1000)).toEqual(numbers(45, 50));
    });

    test('a consumer from the earliest record gets all there was and all that comes', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append(topic, notes(20));
      const came = await consumeUntil(
        log,
        topic,
        {},
        ({ length }) => length >= 30,
        () => log.append(topic, notes(10, 'a', 20)),
      );
      expect(textsOf(came)).toEqual(notes(30).map(({ text }) => text));
    });

    test('a consumer from an offset begins with that record', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append(topic, notes(20));
      const came = await consumeUntil(log, topic, { startAt: () => 13 }, ({ length }) => length >= 7);
      expect(came.map(({ offset }) => offset)).toEqual([13, 14, 15, 16, 17, 18, 19]);
    });

    test('a consumer from the latest record gets only what comes after consume resolved', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append(topic, notes(20));
      const came = await consumeUntil(
        log,
        topic,
        { startAt: () => 'latest' },
        ({ length }) => length >= 3,
        () => log.append(topic, notes(3, 'a', 20)),
      );
      expect(textsOf(came)).toEqual(['20', '21', '22']);
    });

    test('a consumer in another opening of the log sees what this one appends', async () => {
      const topic = noteTopic();
      const [writer, reader] = [await open(), await open()];
      await writer.append(topic, notes(1));
      const came = await consumeUntil(
        reader,
        topic,
        {},
        ({ length }) => length >= 6,
        async () => {
          for (let i = 1; i < 6; i++) await writer.append(topic, notes(1, 'a', i));
        },
      );
      expect(textsOf(came)).toEqual(['0', '1', '2', '3', '4', '5']);
    });

    test('two consumers of different groups each get everything', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append(topic, notes(50));
      const both = await Promise.all([
        consumeUntil(log, topic, {}, ({ length }) => length >= 50),
        consumeUntil(log, topic, {}, ({ length }) => length >= 50),
      ]);
      for (const came of both) expect(textsOf(came)).toEqual(notes(50).map(({ text }) => text));
    });

    test('a batch has at most maxBatchRecords, and a slow onBatch is never called twice at a time', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append(topic, notes(60));
      let running = 0;
      const sizes: number[] = [];
      const came = await consumeUntil(
        log,
        topic,
        {
          maxBatchRecords: 7,
          async onBatch({ records }: Batch<Note>) {
            running++;
            expect(running).toBe(1);
            sizes.push(records.length);
            await new Promise((resolve) => setTimeout(resolve, 2));
            running--;
          },
        },
        ({ length }) => length >= 60,
      );
      expect(textsOf(came)).toEqual(notes(60).map(({ text }) => text));
      expect(Math.max(...sizes)).toBeLessThanOrEqual(7);
    });

    test('a patient consumer is given all that there is, too, however little', async () => {
      const topic = noteTopic();
      const log = await open();
      const [early, late] = [notes(30).slice(0, 20), notes(30).slice(20)];
      await log.append(topic, early);
      let appended: Promise<void> | null = null;
      const came = await consumeUntil(log, topic, { isPatient: true }, ({ length }) => {
        if (length >= 20) appended ??= log.append(topic, late);
        return length >= 30;
      });
      await appended;
      expect(textsOf(came)).toEqual(notes(30).map(({ text }) => text));
    });

    test('stop lets the batch in hand finish, and none comes after it', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append(topic, notes(50));
      let [begun, finished] = [0, 0];
      let enter: () => void = () => {};
      let leave: () => void = () => {};
      const entered = new Promise<void>((resolve) => {
        enter = resolve;
      });
      const mayLeave = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const subscription = await log.consume(topic, {
        group: `test-${randomUUID()}`,
        startAt: () => 'earliest',
        maxBatchRecords: 5,
        async onBatch() {
          begun++;
          enter();
          await mayLeave;
          finished++;
        },
      });
      await entered;
      const stopped = subscription.stop();
      leave();
      await stopped;
      expect([begun, finished]).toEqual([1, 1]);
      await log.append(topic, notes(5));
      // Another consumer is given them meanwhile.
      await consumeUntil(log, topic, {}, ({ length }) => length === 55);
      expect(begun).toBe(1);
      await subscription.stop();
    });

    test('a subscription that is stopped gives up its partitions, after the batch in hand', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append(topic, notes(50));
      const said: string[] = [];
      let came = 0;
      const subscription = await log.consume(topic, {
        group: `test-${randomUUID()}`,
        startAt: () => 'earliest',
        async onBatch({ records }) {
          came += records.length;
          await new Promise((resolve) => setTimeout(resolve, 5));
          said.push('batch');
        },
        async onRevoked(partition) {
          said.push(`revoked ${partition}`);
        },
      });
      while (came < 50) await new Promise((resolve) => setTimeout(resolve, 5));
      await subscription.stop();
      await subscription.stop();
      const partitions = [...(await log.endOffsets(topic)).keys()];
      expect(said.filter((word) => word !== 'batch').toSorted()).toEqual(
        partitions.map((partition) => `revoked ${partition}`).toSorted(),
      );
      expect(said.slice(-partitions.length)).not.toContain('batch');
    });

    test('a handler that throws stops its subscription with what it threw', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append(topic, notes(50));
      let calls = 0;
      const subscription: Subscription = await log.consume(topic, {
        group: `test-${randomUUID()}`,
        startAt: () => 'earliest',
        maxBatchRecords: 10,
        async onBatch() {
          calls++;
          throw new Error('I am full');
        },
      });
      await expect(subscription.failed).rejects.toThrow('I am full');
      await subscription.stop();
      expect(calls).toBe(1);
    });

    test('a record that cannot be decoded stops the subscription', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append({ ...topic, encode: () => Buffer.from('{') }, notes(1));
      const subscription = await log.consume(topic, {
        group: `test-${randomUUID()}`,
        startAt: () => 'earliest',
        onBatch: async () => {},
      });
      await expect(subscription.failed).rejects.toThrow(topic.name);
      await subscription.stop();
    });

    test('a record that cannot be decoded is handed on where somebody takes it, and what follows is read', async () => {
      const topic = noteTopic();
      const unreadable: UnreadableRecord[] = [];
      const log = await open({ onUnreadable: async (record) => void unreadable.push(record) });
      const broken = { ...topic, encode: () => Buffer.from('{') };
      await log.append(broken, notes(2));
      await log.append(topic, notes(3));
      await log.append(broken, notes(1));
      const came = await consumeUntil(
        log,
        topic,
        {},
        ({ length }) => length >= 3,
        async () => {
          while (unreadable.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
        },
      );
      expect(textsOf(came)).toEqual(['0', '1', '2']);
      expect(unreadable.map(({ bytes }) => bytes.toString())).toEqual(['{', '{', '{']);
      expect(unreadable[0]).toMatchObject({ topic: topic.name, partition: expect.any(Number), offset: 0 });
      expect(unreadable.map(({ offset }) => offset)).toEqual([0, 1, 5]);
      expect(textsOf(await readAll(log, topic))).toEqual(['0', '1', '2']);
      expect(unreadable).toHaveLength(6);
    });

    test('progress is reported by offset, up to an end at which nothing can be decoded', async () => {
      const topic = noteTopic();
      const log = await open({ onUnreadable: async () => {} });
      await log.append(topic, notes(3));
      await log.append({ ...topic, encode: () => Buffer.from('{') }, notes(2));
      const [[partition, end]] = [...(await log.endOffsets(topic))].filter(([, end]) => end > 0) as [[number, number]];
      const reached = new Map<number, number>();
      const subscription = await log.consume(topic, {
        group: `test-${randomUUID()}`,
        startAt: () => 'earliest',
        onBatch: async () => {},
        onProgress: (at, nextOffset) => void reached.set(at, nextOffset),
      });
      await vi.waitFor(() => expect(reached.get(partition)).toBe(end), { timeout: 60_000 });
      expect(end).toBe(5);
      await subscription.stop();
    });

    test('how far behind its consumers are is known by topic, of the slowest, until they stop', async () => {
      const topic = noteTopic();
      const log = await open();
      await log.append(topic, notes(7));
      expect(await log.behind()).toEqual({});
      const held = Promise.withResolvers<void>();
      const consume = (onBatch: () => Promise<void>) =>
        log.consume(topic, {
          group: `test-${randomUUID()}`,
          startAt: () => 'earliest',
          maxBatchRecords: 5,
          onBatch,
        });
      const subscriptions = [await consume(() => held.promise), await consume(async () => {})];
      await vi.waitFor(async () => expect(await log.behind()).toEqual({ [topic.name]: 7 }));
      held.resolve();
      await vi.waitFor(async () => expect(await log.behind()).toEqual({ [topic.name]: 0 }));
      for (const subscription of subscriptions) await subscription.stop();
      expect(await log.behind()).toEqual({});
    });

    test('a compacted topic keeps the newest record of each key', async () => {
      const topic = noteTopic(true);
      const log = await open();
      for (let i = 0; i < 5; i++)
        await log.append(topic, [...notes(1, 'a', i), ...notes(1, 'b', i), ...notes(1, 'a', 10 + i)]);
      await log.append(topic, notes(1, 'c', 99));
      const newest = new Map((await readAll(log, topic)).map(({ value }) => [value.key, value.text]));
      expect(newest).toEqual(
        new Map([
          ['a', '14'],
          ['b', '4'],
          ['c', '99'],
        ]),
      );
      const ends = await log.endOffsets(topic);
      expect([...ends.values()].reduce((sum, end) => sum + end)).toBe(16);
    });

    describe('a reader goes on where it was, or learns why it can not', () => {
      /** A reader of all partitions: each place that it kept, and where it goes on now. */
      async function resumeAll(log: Log, topic: Topic<Note>, saved: ReadonlyMap<number, ReaderPlace>) {
        const resumed = new Map<number, Resumption>();
        for (const partition of (await log.bounds(topic)).keys())
          resumed.set(partition, await log.resume(topic, partition, 'reader', saved.get(partition) ?? null));
        return resumed;
      }
      /** The places of a reader that has read everything. */
      async function placesAtEnd(log: Log, topic: Topic<Note>): Promise<Map<number, ReaderPlace>> {
        const places = new Map<number, ReaderPlace>();
        for (const [partition, { end }] of await log.bounds(topic)) {
          const { identity } = await log.resume(topic, partition, 'reader', null);
          places.set(partition, { offset: end, identity });
        }
        return places;
      }
      const kindsOf = (resumed: ReadonlyMap<number, Resumption>) =>
        [...resumed.values()].map(({ discontinuity }) => discontinuity?.kind ?? null);

      test('exactly where it was, in the same log opened again', async () => {
        const topic = noteTopic();
        const log = await open();
        await log.append(topic, notes(20));
        const places = await placesAtEnd(log, topic);
        await log.close();
        const again = await open();
        await again.append(topic, notes(5, 'a', 20));
        const resumed = await resumeAll(again, topic, places);
        for (const [partition, { offset, identity, discontinuity }] of resumed) {
          expect(discontinuity).toBeNull();
          expect({ offset, identity }).toEqual(places.get(partition));
        }
        expect(again.discontinuities).toEqual([]);
      });

      test('with the oldest record, where it never read', async () => {
        const topic = noteTopic();
        const log = await open();
        await log.append(topic, notes(3));
        const bounds = await log.bounds(topic);
        for (const [partition, resumed] of await resumeAll(log, topic, new Map()))
          expect(resumed).toMatchObject({ offset: bounds.get(partition)?.earliest, discontinuity: null });
      });

      test('where it was, with a place that was kept without an identity', async () => {
        const topic = noteTopic();
        const log = await open();
        await log.append(topic, notes(20));
        const places = new Map(
          [...(await placesAtEnd(log, topic))].map(([partition, { offset }]) => [
            partition,
            { offset, identity: null },
          ]),
        );
        for (const [partition, resumed] of await resumeAll(log, topic, places))
          expect(resumed).toMatchObject({ offset: places.get(partition)?.offset, discontinuity: null });
      });

      test('with the oldest record, where the log ends before its place; that is reported once for each partition', async () => {
        const topic = noteTopic();
        const reported: Discontinuity[] = [];
        const log = await open({ onDiscontinuity: (each) => reported.push(each) });
        await log.append(topic, notes(20));
        const places = new Map(
          [...(await placesAtEnd(log, topic))].map(([partition, place]) => [
            partition,
            { ...place, offset: place.offset + 1 },
          ]),
        );
        const resumed = await resumeAll(log, topic, places);
        expect(new Set(kindsOf(resumed))).toEqual(new Set(['truncated']));
        expect([...resumed.values()].map(({ offset }) => offset)).toEqual([...resumed].map(() => 0));
        expect(reported).toHaveLength(resumed.size);
        expect(log.discontinuities).toEqual(reported);
        expect(reported[0]).toMatchObject({ reader: 'reader', topic: topic.name, partition: 0, offset: 0 });
        // A lookup registers nothing and reports nothing.
        const [place] = places.values();
        expect(await log.locate(topic, 0, place ?? null)).toMatchObject({ discontinuity: { kind: 'truncated' } });
        expect(reported).toHaveLength(resumed.size);
      });

      test('with the oldest record of another log that took its place, though that one goes beyond its place', async () => {
        const topic = noteTopic();
        const log = await open();
        await log.append(topic, notes(20));
        const places = await placesAtEnd(log, topic);
        await log.close();
        await (await underTest).replace(topic as Topic<unknown>);
        const other = await open({ onDiscontinuity: () => {} });
        await other.append(topic, notes(50));
        const resumed = await resumeAll(other, topic, places);
        expect(new Set(kindsOf(resumed))).toEqual(new Set(['replaced']));
        for (const { offset } of resumed.values()) expect(offset).toBe(0);
        const [first] = resumed.values();
        expect(first?.identity).not.toBe(places.get(0)?.identity);
        expect(textsOf(await readAll(other, topic))).toHaveLength(50);
      });

      test('with the oldest record, where those before were removed unread', async () => {
        const topic = noteTopic();
        const log = await open({ onDiscontinuity: () => {} });
        // A call each: what lies in the log together goes together.
        for (let i = 0; i < 10; i++) await log.append(topic, notes(1, 'a', i));
        const [[partition, { end }] = [0, { end: 0 }]] = [...(await log.bounds(topic))].filter(
          ([, bounds]) => bounds.end > 0,
        );
        const { identity } = await log.resume(topic, partition, 'reader', null);
        await (await underTest).removeBefore(topic as Topic<unknown>, partition, end - 3);
        const behind = { offset: end - 5, identity };
        expect(await log.resume(topic, partition, 'reader', behind)).toMatchObject({
          offset: end - 3,
          discontinuity: { kind: 'removed', savedOffset: end - 5 },
        });
        const atOldest = { offset: end - 3, identity };
        expect(await log.resume(topic, partition, 'reader', atOldest)).toMatchObject({ discontinuity: null });
      });

      test('and how far it is from both ends can be asked for', async () => {
        const topic = noteTopic();
        const log = await open();
        await log.append(topic, notes(10));
        await resumeAll(log, topic, new Map());
        const [[partition, { end }] = [0, { end: 0 }]] = [...(await log.bounds(topic))].filter(
          ([, bounds]) => bounds.end > 0,
        );
        const progress = async () =>
          (await log.readers()).find((each) => each.topic === topic.name && each.partition === partition);
        expect(await progress()).toMatchObject({ reader: 'reader', offset: 0, earliest: 0, end });
        log.release(topic, partition, 'reader', end);
        expect(await progress()).toMatchObject({ offset: end, oldestUnreadAtMs: null });
      });
    });
  });
}
