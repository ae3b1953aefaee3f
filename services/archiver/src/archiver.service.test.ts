import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  blankPosition,
  deriveEventId,
  type FleetEvent,
  type GeofenceId,
  type PackedPacket,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import {
  type Batch,
  type Checkpoint,
  type CheckpointChange,
  CheckpointFencedError,
  type ConsumeOptions,
  type DeadLetter,
  type LogRecord,
  type ReaderPlace,
  type Subscription,
  type TelemetryRecord,
  type Topic,
  telemetryRecordsTopic,
  telemetryTopic,
} from '@outrider/log';
import { createLogger, Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { openWarehouse, type Recorded, type Rows, UnfitRecordError, type Warehouse } from '@outrider/warehouse';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Archiver, type ArchiverConfig, type ArchiverParts, createArchiver } from './archiver.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

const START_MS = Date.UTC(2026, 0, 1);

/** A log of one partition whose records are all there from the beginning. */
class RecordedLog {
  readonly #topics: Record<string, readonly LogRecord<unknown>[]>;
  /** Records handed over and taken in up to now, by topic. */
  readonly taken: Record<string, number> = { telemetry: 0, events: 0 };
  /** What was put aside. */
  readonly appended: DeadLetter[] = [];
  constructor(topics: Record<string, readonly LogRecord<unknown>[]>) {
    this.#topics = topics;
  }

  async append<T>(topic: Topic<T>, records: readonly T[]): Promise<void> {
    expect(topic.name).toBe('telemetry-dead');
    this.appended.push(...(records as readonly DeadLetter[]));
  }

  async endOffsets<T>({ name }: Topic<T>): Promise<Map<number, number>> {
    return new Map([[0, (this.#topics[name]?.at(-1)?.offset ?? -1) + 1]]);
  }

  async resume<T>(_topic: Topic<T>, _partition: number, _reader: string, saved: ReaderPlace | null) {
    return { offset: saved?.offset ?? 0, identity: 'this log', discontinuity: null };
  }

  release(): void {}

  async consume<T>(topic: Topic<T>, options: ConsumeOptions<T>): Promise<Subscription> {
    const all = (this.#topics[topic.name] ?? []) as readonly LogRecord<T>[];
    const begin = async () => {
      const startAt = await options.startAt(0);
      const first = startAt === 'earliest' ? 0 : all.findIndex(({ offset }) => offset >= Number(startAt));
      return first < 0 ? all.length : first;
    };
    let at = await begin();
    let stopped = false;
    let fail: (error: unknown) => void = () => {};
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    failed.catch(() => {});
    const running = (async () => {
      while (!stopped && at < all.length) {
        const records = all.slice(at, at + Math.min(options.maxBatchRecords ?? 1000, 7));
        try {
          await options.onBatch({ partition: 0, records } satisfies Batch<T>);
        } catch (error) {
          // Another had the partition for a while, and the group gives it back.
          if (!(error instanceof CheckpointFencedError)) throw error;
          at = await begin();
          continue;
        }
        at += records.length;
        this.taken[topic.name] = (this.taken[topic.name] ?? 0) + records.length;
      }
    })().catch(fail);
    return {
      failed,
      async stop() {
        stopped = true;
        await running;
      },
    };
  }
}

class MemoryCheckpoints {
  readonly saved = new Map<string, Checkpoint>();
  claims = 0;
  /** True while another has the partitions. */
  fenced = false;
  async claim(consumer: string, partition: number): Promise<Checkpoint | null> {
    this.claims++;
    this.fenced = false;
    return this.saved.get(`${consumer}:${partition}`) ?? null;
  }
  async save(consumer: string, partition: number, { offsets, identities = {} }: CheckpointChange): Promise<void> {
    if (this.fenced) throw new CheckpointFencedError(consumer, partition);
    this.saved.set(`${consumer}:${partition}`, { offsets, identities, entries: new Map() });
  }
  next(topic: string): number | undefined {
    return this.saved.get(`archiver/${topic}:0`)?.offsets[topic];
  }
}

interface Sink extends Pick<Warehouse, 'insertEvents'> {
  insertPositions(packets: readonly Recorded<PackedPacket>[]): Promise<number>;
}

/**
 * A sink as the archiver sees a warehouse: it gets the records back that its rows were made of.
 *
 * @param isUnfit whether a packet can never be archived
 */
function warehouseOn(sink: Sink, isUnfit: (offset: number) => boolean): ArchiverParts['warehouse'] {
  const positions = new WeakMap<Rows, readonly Recorded<PackedPacket>[]>();
  const events = new WeakMap<Rows, readonly Recorded<FleetEvent>[]>();
  return {
    positionRows(records) {
      if (records.some(({ offset }) => isUnfit(offset))) throw new UnfitRecordError('not a vehicle');
      const rows: Rows = { table: 'positions', block: { rows: 0, columns: [] } };
      positions.set(rows, records);
      return rows;
    },
    eventRows(records) {
      const rows: Rows = { table: 'events', block: { rows: 0, columns: [] } };
      events.set(rows, records);
      return rows;
    },
    insert: (all) =>
      all[0]?.table === 'events'
        ? sink.insertEvents(all.flatMap((rows) => events.get(rows) ?? []))
        : sink.insertPositions(all.flatMap((rows) => positions.get(rows) ?? [])),
  };
}

const vehicleId = (n: number) => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000` as VehicleId;

function telemetry(packets: number, positionsEach: number, startMs = START_MS): LogRecord<TelemetryRecord>[] {
  return Array.from({ length: packets }, (_, i) => {
    const bytes = telemetryTopic.encode({
      vehicleId: vehicleId(i % 5),
      terminalId: '356307042441013' as TerminalId,
      protocol: 'teltonika',
      receivedAtMs: START_MS + 1e9,
      positions: Array.from({ length: positionsEach }, (_, place) =>
        blankPosition(startMs + (i * positionsEach + place) * 1000, 50, 10),
      ),
    });
    // Offsets have gaps, as those of a log do.
    return { offset: i * 2 + 1, value: telemetryRecordsTopic.decode(Buffer.from(bytes)) };
  });
}

function visits(count: number): LogRecord<FleetEvent>[] {
  const geofenceId = '00000000-0000-4000-8000-00000000000f' as GeofenceId;
  return Array.from({ length: count * 2 }, (_, i) => {
    const ended = i >= count;
    const beganAtMs = START_MS + (i % count) * 60_000;
    return {
      offset: i,
      value: {
        id: deriveEventId('geofence-visit', vehicleId(1), geofenceId, beganAtMs),
        phase: ended ? 'end' : 'begin',
        vehicleId: vehicleId(1),
        startedAtMs: beganAtMs,
        endedAtMs: ended ? beganAtMs + 30_000 : null,
        latitude: 50,
        longitude: 10,
        speedKmh: null,
        fixTimeMs: ended ? beganAtMs + 30_000 : beganAtMs,
        kind: 'geofence-visit',
        geofenceId,
        fromFixTimeMs: beganAtMs,
        definitionVersion: 1,
        origin: 'live',
        inferred: false,
        endReason: ended ? 'left' : null,
      },
    };
  });
}

function archiverOn(
  log: RecordedLog,
  checkpoints: MemoryCheckpoints,
  warehouse: Sink,
  config: ArchiverConfig = {},
  isUnfit: (offset: number) => boolean = () => false,
  archive: ArchiverParts['warehouse'] = warehouseOn(warehouse, isUnfit),
): { archiver: Archiver; metrics: Metrics } {
  const metrics = new Metrics();
  const archiver = createArchiver({
    config: { retryFirstMs: 1, retryLongestMs: 4, maxDelayMs: 5, ...config },
    log,
    checkpoints,
    warehouse: archive,
    logger: createLogger('silent', 'json'),
    metrics,
    clock: clockAt(() => START_MS + 1e9 + 2000),
  });
  return { archiver, metrics };
}

describe('into a warehouse', () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-archiver-'));
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await openWarehouse({ path: folder });
  });
  afterAll(async () => {
    await warehouse.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('each position and event is archived once, whatever fails and however often it is started again', async () => {
    const packets = telemetry(400, 3);
    const events = visits(60);
    const checkpoints = new MemoryCheckpoints();
    const ends = { telemetry: 800, events: 120 };
    let turn = 0;
    // Before an insert, after it, or in the checkpoint: every way in which a process can be cut off.
    const unsteady: Sink = {
      async insertPositions(records) {
        if (++turn % 5 === 1) throw new Error('the warehouse is away');
        const rows = await warehouse.insert([warehouse.positionRows(records)]);
        if (turn % 7 === 2) throw new Error('the answer was lost');
        return rows;
      },
      async insertEvents(records) {
        if (++turn % 4 === 1) throw new Error('the warehouse is away');
        return warehouse.insertEvents(records);
      },
    };
    let starts = 0;
    while (checkpoints.next('telemetry') !== ends.telemetry || checkpoints.next('events') !== ends.events) {
      const log = new RecordedLog({ telemetry: packets, events });
      const kept = new Map(checkpoints.saved);
      const { archiver } = archiverOn(log, checkpoints, unsteady, { maxRows: 40 + starts });
      await archiver.start();
      const progress = checkpoints.next('telemetry') ?? 0;
      await vi.waitFor(
        () => expect(checkpoints.next('telemetry')).toBeGreaterThanOrEqual(Math.min(ends.telemetry, progress + 150)),
        { timeout: 60_000, interval: 2 },
      );
      await archiver.stop();
      // Every second time its checkpoints are lost on the way: it goes back to those of the start before.
      if (starts++ % 2 === 0 && starts < 6) {
        checkpoints.saved.clear();
        for (const [key, checkpoint] of kept) checkpoints.saved.set(key, checkpoint);
      }
    }
    expect(starts).toBeGreaterThan(4);
    expect(await warehouse.positionCount()).toBe(1200);
    expect(await warehouse.eventCount()).toBe(60);
    const archived = await warehouse.events({ vehicleId: vehicleId(1), fromMs: 0, toMs: Infinity, limit: 100 });
    expect(archived.events.map(({ phase }) => phase)).toEqual(Array(60).fill('end'));
  });

  test('what is no record is put aside as unreadable, and the records beside it are archived', async () => {
    const before = await warehouse.positionCount();
    const [first, ...others] = telemetry(40, 2, START_MS + 5e8).map(({ offset, value }) => ({
      offset,
      // A byte too few: nothing in the beginning of a record shows it.
      value: telemetryRecordsTopic.decode(offset % 20 === 1 ? value.bytes.subarray(0, -1) : value.bytes),
    }));
    const log = new RecordedLog({ telemetry: [first as LogRecord<TelemetryRecord>, ...others] });
    const checkpoints = new MemoryCheckpoints();
    const { archiver, metrics } = archiverOn(log, checkpoints, new VideoRetention(), {}, undefined, {
      positionRows: (records) => warehouse.positionRows(records),
      eventRows: (records) => warehouse.eventRows(records),
      insert: (rows) => warehouse.insert(rows),
    });
    await archiver.start();
    await vi.waitFor(() => expect(checkpoints.next('telemetry')).toBe(80), PATIENCE);
    await archiver.stop();
    expect(log.appended.map(({ offset, reader }) => ({ offset, reader }))).toEqual(
      [1, 21, 41, 61].map((offset) => ({ offset, reader: 'log' })),
    );
    expect(log.appended[0]?.reason).toMatch(/not a record/);
    expect(log.appended[0]?.record).toEqual(first?.value.bytes);
    expect(await metrics.metrics()).toContain('outrider_dead_letters_total{topic="telemetry",reader="log"} 4');
    expect((await warehouse.positionCount()) - before).toBe(72);
  });
});

/** A warehouse that remembers what it was given, and can be shut. */
class VideoRetention implements Sink {
  inserts: number[] = [];
  positions = 0;
  shut = false;
  attempts = 0;
  async insertPositions(packets: readonly Recorded<PackedPacket>[]): Promise<number> {
    this.attempts++;
    if (this.shut) throw new Error('shut');
    const rows = packets.reduce((sum, { value }) => sum + value.rows, 0);
    this.inserts.push(rows);
    this.positions += rows;
    return rows;
  }
  async insertEvents(): Promise<number> {
    return 0;
  }
}

test('many small batches become few big inserts, and the place is saved after them', async () => {
  const retention = new VideoRetention();
  const checkpoints = new MemoryCheckpoints();
  const { archiver, metrics } = archiverOn(new RecordedLog({ telemetry: telemetry(500, 2) }), checkpoints, retention, {
    maxRows: 300,
    maxDelayMs: 60_000,
  });
  await archiver.start();
  await vi.waitFor(() => expect(retention.positions).toBe(900), PATIENCE);
  expect(checkpoints.next('telemetry')).toBeLessThan(1000);
  await archiver.stop();
  expect(retention.inserts).toEqual([300, 300, 300, 100]);
  expect(checkpoints.next('telemetry')).toBe(1000);
  expect(await metrics.metrics()).toMatch(/outrider_archived_rows_total\{topic="telemetry"\} 1000/);
  expect(await metrics.metrics()).toMatch(/outrider_archive_delay_seconds 2/);
});

test('what waits alone is written in time', async () => {
  const retention = new VideoRetention();
  const { archiver } = archiverOn(new RecordedLog({ telemetry: telemetry(1, 2) }), new MemoryCheckpoints(), retention);
  await archiver.start();
  await vi.waitFor(() => expect(retention.inserts).toEqual([2]), PATIENCE);
  await archiver.stop();
});

test('while nobody reads, what waits stays gathered; a reader has it inserted before it reads', async () => {
  const retention = new VideoRetention();
  const checkpoints = new MemoryCheckpoints();
  const log = new RecordedLog({ telemetry: telemetry(3, 2) });
  const config = { maxDelayMs: 50, maxUnreadDelayMs: 60_000 };
  const { archiver, metrics } = archiverOn(log, checkpoints, retention, config);
  await archiver.start();
  await vi.waitFor(() => expect(log.taken.telemetry).toBe(3), PATIENCE);
  expect(retention.inserts).toEqual([]);
  await vi.waitFor(async () => {
    await archiver.hurry();
    expect(retention.inserts).toEqual([6]);
  }, PATIENCE);
  expect(checkpoints.next('telemetry')).toBe(6);
  // Received two seconds ago: it waited for nobody but a reader.
  expect(await metrics.metrics()).toMatch(/^outrider_archive_delay_seconds 0$/m);
  await archiver.stop();
});

test('an insert that does not end holds up those who read for a second, and what comes meanwhile is inserted then', async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const inserts: number[] = [];
  const slow: Sink = {
    async insertPositions(records) {
      inserts.push([...records].length);
      await opened;
      return inserts.at(-1) ?? 0;
    },
    insertEvents: async () => 0,
  };
  const checkpoints = new MemoryCheckpoints();
  // Batches of 256 packets: what the second brings waits behind the insert of the first.
  const log = new RecordedLog({ telemetry: telemetry(300, 1) });
  const { archiver } = archiverOn(log, checkpoints, slow, { maxRows: 256, maxDelayMs: 5, maxUnreadDelayMs: 20 });
  await archiver.start();
  await vi.waitFor(() => expect(log.taken.telemetry).toBe(300), PATIENCE);
  expect(inserts).toEqual([256]);
  await archiver.hurry();
  expect(checkpoints.next('telemetry')).toBeUndefined();
  open();
  await vi.waitFor(() => expect(checkpoints.next('telemetry')).toBe(600), PATIENCE);
  expect(inserts).toEqual([256, 44]);
  await archiver.stop();
});

test('a warehouse that takes no rows holds up nobody who reads it', async () => {
  const retention = new VideoRetention();
  retention.shut = true;
  const { archiver } = archiverOn(new RecordedLog({ telemetry: telemetry(3, 2) }), new MemoryCheckpoints(), retention);
  await archiver.start();
  await vi.waitFor(() => expect(retention.attempts).toBeGreaterThan(2), PATIENCE);
  expect(archiver.healthy).toBe(false);
  await archiver.hurry();
  expect(retention.positions).toBe(0);
  await archiver.stop();
});

test('while the warehouse is away no more than two inserts are held, and nothing is dropped', async () => {
  const retention = new VideoRetention();
  retention.shut = true;
  const checkpoints = new MemoryCheckpoints();
  const log = new RecordedLog({ telemetry: telemetry(700, 1) });
  const { archiver, metrics } = archiverOn(log, checkpoints, retention, { maxRows: 100 });
  await archiver.start();
  await vi.waitFor(() => expect(retention.attempts).toBeGreaterThan(20), PATIENCE);
  expect(archiver.healthy).toBe(false);
  expect(log.taken.telemetry).toBeLessThanOrEqual(200);
  expect(checkpoints.next('telemetry')).toBeUndefined();
  // Offsets go by twos.
  const lagging = await metrics.metrics();
  expect(lagging).toMatch(/^outrider_archive_lag_records\{topic="telemetry"\} 1400$/m);
  expect(lagging).toMatch(/^outrider_archive_lag_records\{topic="events"\} 0$/m);
  retention.shut = false;
  await vi.waitFor(() => expect(retention.positions).toBe(700), PATIENCE);
  await vi.waitFor(() => expect(checkpoints.next('telemetry')).toBe(1400), PATIENCE);
  expect(archiver.healthy).toBe(true);
  expect(await metrics.metrics()).toMatch(/^outrider_archive_lag_records\{topic="telemetry"\} 0$/m);
  expect(await metrics.metrics()).toMatch(/^outrider_archive_lag_seconds\{topic="telemetry"\} 0$/m);
  await archiver.stop();
});

test('it stops while the warehouse is away, and what was not archived comes at the next start', async () => {
  const retention = new VideoRetention();
  retention.shut = true;
  const checkpoints = new MemoryCheckpoints();
  const packets = telemetry(300, 1);
  const first = archiverOn(new RecordedLog({ telemetry: packets }), checkpoints, retention, {
    maxRows: 50,
    retryFirstMs: 60_000,
    retryLongestMs: 60_000,
  });
  await first.archiver.start();
  await vi.waitFor(() => expect(retention.attempts).toBe(1), PATIENCE);
  await first.archiver.stop();
  expect(checkpoints.next('telemetry')).toBeUndefined();

  retention.shut = false;
  const second = archiverOn(new RecordedLog({ telemetry: packets }), checkpoints, retention);
  await second.archiver.start();
  await vi.waitFor(() => expect(retention.positions).toBe(300), PATIENCE);
  await second.archiver.stop();
  expect(checkpoints.next('telemetry')).toBe(600);
});

test('a partition that another member claimed is let go of, and begun anew where it comes back', async () => {
  const retention = new VideoRetention();
  const checkpoints = new MemoryCheckpoints();
  const { archiver } = archiverOn(new RecordedLog({ telemetry: telemetry(300, 1) }), checkpoints, retention, {
    maxRows: 20,
  });
  const insert = retention.insertPositions.bind(retention);
  retention.insertPositions = async (records) => {
    const rows = await insert(records);
    if (retention.positions === 60 || retention.positions === 140) checkpoints.fenced = true;
    return rows;
  };
  await archiver.start();
  await vi.waitFor(() => expect(checkpoints.next('telemetry')).toBe(600), { timeout: 60_000 });
  await archiver.stop();
  expect(await Promise.race([archiver.failed, 'well'])).toBe('well');
  expect(checkpoints.claims).toBeGreaterThan(2);
  expect(retention.positions).toBeGreaterThanOrEqual(300);
});

test('records that can never be archived are put aside with the reason, and the others are archived', async () => {
  const retention = new VideoRetention();
  const unfit = new Set([1, 77, 78, 401]);
  const checkpoints = new MemoryCheckpoints();
  const log = new RecordedLog({
    telemetry: telemetry(300, 2).map((record) => ({ ...record, offset: record.offset === 79 ? 78 : record.offset })),
  });
  const { archiver, metrics } = archiverOn(log, checkpoints, retention, {}, (offset) => unfit.has(offset));
  await archiver.start();
  await vi.waitFor(() => expect(checkpoints.next('telemetry')).toBe(600), PATIENCE);
  await archiver.stop();
  expect(retention.positions).toBe(2 * (300 - unfit.size));
  expect(log.appended.map(({ offset, reader, reason }) => ({ offset, reader, reason }))).toEqual(
    [...unfit].map((offset) => ({ offset, reader: 'archiver', reason: 'not a vehicle' })),
  );
  expect(await metrics.metrics()).toContain('outrider_dead_letters_total{topic="telemetry",reader="archiver"} 4');
  expect(await Promise.race([archiver.failed, 'well'])).toBe('well');
});
