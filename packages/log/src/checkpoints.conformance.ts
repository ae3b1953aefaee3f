import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { CheckpointFencedError, type Checkpoints } from './checkpoints.ts';

/** What an adapter gives to be tested. */
export interface CheckpointsUnderTest {
  /** A further opening of the same store. */
  open(): Promise<Checkpoints>;
  dispose(): Promise<void>;
}

/** The promises of {@link Checkpoints}, each a test. Every adapter must keep them. */
export function describeCheckpoints(name: string, start: () => Promise<CheckpointsUnderTest>): void {
  describe(`${name} keeps the promises of checkpoints`, () => {
    const underTest = start();
    const opened: Checkpoints[] = [];
    const open = async () => {
      const checkpoints = await (await underTest).open();
      opened.push(checkpoints);
      return checkpoints;
    };
    const consumerName = () => `rules-${randomUUID()}`;
    afterAll(async () => {
      await Promise.all(opened.map((checkpoints) => checkpoints.close()));
      await (await underTest).dispose();
    });

    test('is null before the first save', async () => {
      expect(await (await open()).load(consumerName(), 0)).toBeNull();
    });

    test('what was saved is there, here and when opened again', async () => {
      const consumer = consumerName();
      const checkpoints = await open();
      const binary = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
      await checkpoints.save(consumer, 0, {
        offsets: { telemetry: 2 ** 40, definitions: 0 },
        changed: [
          ['a', binary],
          ['Ж/1', Buffer.alloc(0)],
          ['big', Buffer.alloc(3_000_000, 7)],
        ],
      });
      const expected = {
        offsets: { telemetry: 2 ** 40, definitions: 0 },
        identities: {},
        entries: new Map([
          ['a', binary],
          ['Ж/1', Buffer.alloc(0)],
          ['big', Buffer.alloc(3_000_000, 7)],
        ]),
      };
      expect(await checkpoints.load(consumer, 0)).toEqual(expected);
      await checkpoints.close();
      expect(await (await open()).load(consumer, 0)).toEqual(expected);
    });

    test('a save changes what it names and leaves the rest', async () => {
      const consumer = consumerName();
      const checkpoints = await open();
      await checkpoints.save(consumer, 0, {
        offsets: { telemetry: 5, events: 6 },
        changed: [
          ['a', Buffer.from('1')],
          ['b', Buffer.from('1')],
          ['c', Buffer.from('1')],
        ],
      });
      await checkpoints.save(consumer, 0, {
        offsets: { telemetry: 8 },
        changed: [
          ['a', Buffer.from('2')],
          ['b', null],
          ['never', null],
        ],
      });
      expect(await checkpoints.load(consumer, 0)).toEqual({
        offsets: { telemetry: 8, events: 6 },
        identities: {},
        entries: new Map([
          ['a', Buffer.from('2')],
          ['c', Buffer.from('1')],
        ]),
      });
    });

    test('identities are saved with the offsets, and stay until others are', async () => {
      const consumer = consumerName();
      const checkpoints = await open();
      const offsets = { telemetry: 1, 'events/0': 2 };
      await checkpoints.save(consumer, 0, { offsets, identities: { telemetry: 'a', events: 'a' }, changed: [] });
      await checkpoints.save(consumer, 0, { offsets: { telemetry: 3 }, changed: [] });
      await checkpoints.save(consumer, 0, { offsets: { telemetry: 4 }, identities: { telemetry: 'b' }, changed: [] });
      const expected = { offsets: { telemetry: 4, 'events/0': 2 }, identities: { telemetry: 'b', events: 'a' } };
      expect(await checkpoints.load(consumer, 0)).toMatchObject(expected);
      expect(await checkpoints.claim(consumer, 0)).toMatchObject(expected);
    });

    test('a save without entries is a checkpoint too', async () => {
      const consumer = consumerName();
      const checkpoints = await open();
      await checkpoints.save(consumer, 0, { offsets: { telemetry: 1 }, changed: [] });
      expect(await checkpoints.load(consumer, 0)).toEqual({
        offsets: { telemetry: 1 },
        identities: {},
        entries: new Map(),
      });
    });

    test('consumers and partitions are kept apart', async () => {
      const [one, other] = [consumerName(), consumerName()];
      const checkpoints = await open();
      await checkpoints.save(one, 0, { offsets: { telemetry: 1 }, changed: [['a', Buffer.from('one')]] });
      await checkpoints.save(one, 1, { offsets: { telemetry: 2 }, changed: [['a', Buffer.from('two')]] });
      await checkpoints.save(other, 0, { offsets: { telemetry: 3 }, changed: [] });
      expect((await checkpoints.load(one, 0))?.entries.get('a')?.toString()).toBe('one');
      expect((await checkpoints.load(one, 1))?.offsets).toEqual({ telemetry: 2 });
      expect((await checkpoints.load(other, 0))?.entries.size).toBe(0);
      expect(await checkpoints.load(other, 1)).toBeNull();
    });

    test('a save that fails half way changes nothing', async () => {
      const consumer = consumerName();
      const checkpoints = await open();
      await checkpoints.save(consumer, 0, { offsets: { telemetry: 1 }, changed: [['a', Buffer.from('1')]] });
      function* failing(): Generator<[string, Buffer]> {
        yield ['a', Buffer.from('2')];
        throw new Error('no more');
      }
      await expect(checkpoints.save(consumer, 0, { offsets: { telemetry: 2 }, changed: failing() })).rejects.toThrow(
        'no more',
      );
      const expected = { offsets: { telemetry: 1 }, identities: {}, entries: new Map([['a', Buffer.from('1')]]) };
      expect(await checkpoints.load(consumer, 0)).toEqual(expected);
      await checkpoints.save(consumer, 0, { offsets: { telemetry: 3 }, changed: [] });
      expect((await checkpoints.load(consumer, 0))?.offsets).toEqual({ telemetry: 3 });
    });

    test('who claims a partition is the only one that can save it from then on', async () => {
      const consumer = consumerName();
      const [former, present] = [await open(), await open()];
      expect(await former.claim(consumer, 0)).toBeNull();
      await former.save(consumer, 0, { offsets: { telemetry: 1 }, changed: [['a', Buffer.from('1')]] });
      await former.claim(consumer, 1);

      const taken = { offsets: { telemetry: 1 }, identities: {}, entries: new Map([['a', Buffer.from('1')]]) };
      expect(await present.claim(consumer, 0)).toEqual(taken);
      const late = { offsets: { telemetry: 9 }, changed: [['a', Buffer.from('9')] as const] };
      await expect(former.save(consumer, 0, late)).rejects.toBeInstanceOf(CheckpointFencedError);
      expect(await present.load(consumer, 0)).toEqual(taken);

      await present.save(consumer, 0, { offsets: { telemetry: 2 }, changed: [] });
      await former.save(consumer, 1, { offsets: { telemetry: 3 }, changed: [] });
      expect((await former.claim(consumer, 0))?.offsets).toEqual({ telemetry: 2 });
      await expect(present.save(consumer, 0, late)).rejects.toBeInstanceOf(CheckpointFencedError);
      await former.save(consumer, 0, { offsets: { telemetry: 4 }, changed: [] });
    });

    test('who never claimed a partition that others did can not save it', async () => {
      const consumer = consumerName();
      const [member, stranger] = [await open(), await open()];
      await member.claim(consumer, 0);
      const change = { offsets: { telemetry: 1 }, changed: [] };
      await expect(stranger.save(consumer, 0, change)).rejects.toBeInstanceOf(CheckpointFencedError);
      await member.save(consumer, 0, change);
    });

    test('offsets and entries that were saved together are loaded together, whoever saves meanwhile', async () => {
      const consumer = consumerName();
      const [writer, reader] = [await open(), await open()];
      const saves = (async () => {
        for (let i = 1; i <= 50; i++)
          await writer.save(consumer, 0, { offsets: { telemetry: i }, changed: [['at', Buffer.from(String(i))]] });
      })();
      for (let i = 0; i < 50; i++) {
        const loaded = await reader.load(consumer, 0);
        if (loaded) expect(loaded.entries.get('at')?.toString()).toBe(String(loaded.offsets.telemetry));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await saves;
      expect((await reader.load(consumer, 0))?.offsets).toEqual({ telemetry: 50 });
    });
  });
}
