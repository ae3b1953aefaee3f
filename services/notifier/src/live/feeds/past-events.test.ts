import type { EventId, FleetEvent, GeofenceId, VehicleId } from '@outrider/domain';
import type { Batch, Log } from '@outrider/log';
import { expect, test } from 'vitest';
import { visit } from '../../test-notifier.fixture.ts';
import { EVENTS, memoryBytesOf } from '../event-messages.ts';
import { PastEvents } from './past-events.ts';

const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;
const ZONE = '0190a000-0000-7000-8000-000000000002' as GeofenceId;

/** A log of one topic that has the offsets from `oldest` to `end`, and answers when the test lets it. */
function fakeLog(end: number, oldest = 0) {
  const readings: { partition: number; from: number; to: number }[] = [];
  const log = {
    readings,
    atOnce: 0,
    mostAtOnce: 0,
    failure: null as Error | null,
    async *read(_: unknown, partition: number, from: number, to: number): AsyncIterable<Batch<FleetEvent>> {
      readings.push({ partition, from, to });
      log.atOnce++;
      log.mostAtOnce = Math.max(log.mostAtOnce, log.atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      log.atOnce--;
      if (log.failure) throw log.failure;
      for (let offset = Math.max(from, oldest); offset < Math.min(to, end); offset++) {
        const value = { ...visit(CAR, ZONE, offset), id: `${offset}` as EventId };
        yield { partition, records: [{ offset, value }] };
      }
    },
  };
  return log;
}

const open = (log: ReturnType<typeof fakeLog>, maxBytes?: number) =>
  new PastEvents(log as unknown as Pick<Log, 'read'>, EVENTS, maxBytes);

async function offsetsFrom(
  past: PastEvents<FleetEvent>,
  partition: number,
  from: number,
  to: number,
): Promise<number[]> {
  const offsets: number[] = [];
  for (let next = from; next < to; ) {
    const { messages, start, endOffset } = await past.from(partition, next, to);
    offsets.push(...messages.slice(start).map(({ offset }) => offset));
    expect(endOffset).toBeGreaterThan(next);
    next = endOffset;
  }
  return offsets;
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, nth) => from + nth);

test('many readers at different places read each page of the log once', async () => {
  const log = fakeLog(4000);
  const past = open(log);
  const all = await Promise.all(numbers(0, 200).map((nth) => offsetsFrom(past, 0, nth * 10, 4000)));
  for (const [nth, offsets] of all.entries()) expect(offsets).toEqual(numbers(nth * 10, 4000));
  expect(log.readings.map(({ from }) => from).toSorted((a, b) => a - b)).toEqual([0, 1024, 2048, 3072]);
});

test('pages of many partitions are read a few at a time', async () => {
  const log = fakeLog(100);
  const past = open(log);
  await Promise.all(numbers(0, 50).map((partition) => offsetsFrom(past, partition, 0, 100)));
  expect(log.readings).toHaveLength(50);
  expect(log.mostAtOnce).toBeLessThanOrEqual(8);
});

test('a page that ended where the log did is read again when the log has grown', async () => {
  const log = fakeLog(1000);
  const past = open(log);
  expect(await offsetsFrom(past, 0, 0, 500)).toEqual(numbers(0, 500));
  expect(await offsetsFrom(past, 0, 0, 900)).toEqual(numbers(0, 900));
});

test('where the log has lost its beginning, one further reading finds what it begins with', async () => {
  const log = fakeLog(1_000_100, 1_000_000);
  const { messages, start, endOffset } = await open(log).from(0, 10, 1_000_100);
  expect([messages[start]?.offset, endOffset]).toEqual([1_000_000, 1_000_001]);
  expect(log.readings.map(({ from }) => from).slice(0, 2)).toEqual([0, 1024]);
  expect(log.readings.length).toBeLessThanOrEqual(3);
  const none = await open(fakeLog(0)).from(0, 10, 500);
  expect([none.messages, none.endOffset]).toEqual([[], 500]);
});

test('no more pages are kept than the bound allows: those used last', async () => {
  const log = fakeLog(1024 * 10);
  const past = open(log);
  const bytesOfPage = (await past.from(0, 0, 10_240)).messages.reduce(
    (sum, message) => sum + memoryBytesOf(message),
    0,
  );
  const small = open(log, bytesOfPage * 3.5);
  await offsetsFrom(small, 0, 0, 10_240);
  log.readings.length = 0;
  await offsetsFrom(small, 0, 8 * 1024, 10_240);
  expect(log.readings).toEqual([]);
  await small.from(0, 0, 10_240);
  expect(log.readings[0]).toMatchObject({ from: 0 });
});

test('a reading that fails fails for all that wait for it, and is tried again for the next', async () => {
  const log = fakeLog(100);
  const past = open(log);
  log.failure = new Error('no broker');
  const both = await Promise.allSettled([past.from(0, 0, 100), past.from(0, 50, 100)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  log.failure = null;
  expect(await offsetsFrom(past, 0, 0, 100)).toEqual(numbers(0, 100));
});
