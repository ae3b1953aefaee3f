import { GeofenceOwners } from '@outrider/access';
import { blankPosition, Directory, type TelemetryPacket, type TerminalId, type VehicleId } from '@outrider/domain';
import { SAMPLE_OPERATOR_ID, sampleUser } from '@outrider/domain/samples';
import type { Bounds } from '@outrider/log';
import { VirtualClock } from '@outrider/testing/clock';
import { expect, test } from 'vitest';
import { type FeedLog, FeedReading, feedSources, Pages, readingQueue } from './index.ts';

const NOON = Date.UTC(2026, 0, 15, 12);
const VAN = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57' as VehicleId;
const operator = sampleUser({ id: SAMPLE_OPERATOR_ID, role: 'operator' });

test('what was taken before the log removed the rest is handed out, and the refusal comes after it', async () => {
  const value: TelemetryPacket = {
    vehicleId: VAN,
    terminalId: '356307042441013' as TerminalId,
    protocol: 'teltonika',
    receivedAtMs: NOON,
    positions: [blankPosition(NOON, 1, 2)],
  };
  const bounds = new Map<number, Bounds>([
    [0, { earliest: 0, end: 1 }],
    [1, { earliest: 0, end: 9 }],
  ]);
  const log = {
    bounds: async () => bounds,
    locate: async () => ({ offset: 0, identity: 'a', discontinuity: null }),
    offsetsAt: async () => new Map(),
    writtenAtMs: async () => NOON,
    async *read(_: unknown, partition: number) {
      if (partition === 0) yield { partition, records: [{ offset: 0, value }], nextOffset: 1 };
      // Retention is at work while the other partition is read.
      else bounds.set(1, { earliest: 5, end: 9 });
    },
  } as unknown as FeedLog;
  const directory = new Directory();
  const vehicle = { id: VAN, groupIds: [], dealerId: null };
  Object.assign(directory.vehicles, { get: () => vehicle });
  const slots = readingQueue();
  const pages = feedSources().positions.map((source) => new Pages(log, source, slots));
  const owners = new GeofenceOwners(directory, async () => []);
  const reading = await FeedReading.begin(
    { feed: 'positions', log, pages, owners, clock: new VirtualClock(NOON) },
    'earliest',
  );
  const take = () =>
    reading.take(async () => operator, { maxItems: 10, byMs: Infinity, until: 'full', hasCursors: false });
  expect((await take()).map(({ item }) => item.vehicleId)).toEqual([VAN]);
  await expect(take()).rejects.toMatchObject({ kind: 'cursor-expired' });
});
