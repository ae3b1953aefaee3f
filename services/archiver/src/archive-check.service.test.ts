import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  blankPosition,
  deriveEventId,
  type FleetEvent,
  type GeofenceId,
  SYSTEM_CLOCK,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import {
  type Checkpoint,
  type CheckpointChange,
  type Checkpoints,
  correctionsTopic,
  eventsTopic,
  type Log,
  openSqliteLog,
  telemetryRecordsTopic,
  telemetryTopic,
} from '@outrider/log';
import { createLogger, type Logger, Metrics } from '@outrider/runtime';
import { openWarehouse, type Warehouse } from '@outrider/warehouse';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createArchiveCheck } from './archive-check.ts';
import { rememberArchive } from './written-archive.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const DAY_MS = 86_400_000;
const OCTOBER = Date.UTC(2025, 9, 5);
const NOVEMBER = Date.UTC(2025, 10, 5);
const EVER = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };

const vehicleId = '00000000-0000-4000-8000-000000000001' as VehicleId;
const root = mkdtempSync(join(tmpdir(), 'outrider-archive-check-'));
const whole = join(root, 'whole');
const damaged = join(root, 'damaged');

let log: Log;
let warehouse: Warehouse | null = null;
let checkpoints: Pick<Checkpoints, 'claim' | 'save'>;
const stops: (() => Promise<void>)[] = [];

/** 200 positions and an event of each of six half hours, half of them in each month: an insert, and so a part, each. */
const STARTS = [OCTOBER, NOVEMBER].flatMap((startMs) => [0, 1, 2].map((nth) => startMs + nth * 1_800_000));
const packets = STARTS.flatMap((startMs) =>
  Array.from({ length: 10 }, (_, packet) => ({
    vehicleId,
    terminalId: '356307042441013' as TerminalId,
    protocol: 'teltonika' as const,
    receivedAtMs: NOVEMBER + DAY_MS,
    positions: Array.from({ length: 20 }, (_, nth) => blankPosition(startMs + (packet * 20 + nth) * 1000, 50, 10)),
  })),
);
const geofenceId = '00000000-0000-4000-8000-00000000000f' as GeofenceId;
/** More of them than packets: each topic has offsets of its own. */
const visits = STARTS.flatMap((startMs) => Array.from({ length: 15 }, (_, nth) => visitAt(startMs + nth * 60_000)));
function visitAt(startedAtMs: number): FleetEvent {
  return {
    id: deriveEventId('geofence-visit', vehicleId, geofenceId, startedAtMs),
    phase: 'end',
    kind: 'geofence-visit',
    ...{ vehicleId, geofenceId, startedAtMs, endedAtMs: startedAtMs + 30_000, fromFixTimeMs: startedAtMs },
    ...{ latitude: 50, longitude: 10, speedKmh: null, fixTimeMs: startedAtMs + 30_000, definitionVersion: 1 },
    ...{ origin: 'live', inferred: false, endReason: 'left' },
  };
}

beforeAll(async () => {
  log = openSqliteLog({ path: join(root, 'log.sqlite'), startsRun: true });
  await log.append(telemetryTopic, packets);
  await log.append(eventsTopic, visits);
  const archive = await openWarehouse({ path: whole });
  for await (const { records } of log.read(telemetryRecordsTopic, 0, 'earliest', packets.length * 2))
    for (let at = 0; at < records.length; at += 10)
      await archive.insert([archive.positionRows(records.slice(at, at + 10))]);
  for await (const { records } of log.read(eventsTopic, 0, 'earliest', visits.length * 2))
    for (let at = 0; at < records.length; at += 15)
      await archive.insert([archive.eventRows(records.slice(at, at + 15))]);
  const first = await log.locate(telemetryRecordsTopic, 0, null);
  await archive.inspect(first.identity);
  await archive.close();
  // One that was put aside when it came.
  const [packet] = packets;
  if (packet === undefined) throw new Error('no packets');
  const bytes = telemetryTopic.encode(packet);
  const cut = { ...telemetryRecordsTopic, key: () => vehicleId, encode: () => bytes.subarray(0, bytes.length >> 1) };
  await log.append(cut, [telemetryRecordsTopic.decode(bytes)]);
  // As each start of the service does: the log has another identity from then on.
  await log.close();
  log = openSqliteLog({ path: join(root, 'log.sqlite'), startsRun: true });
});
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
  await warehouse?.close();
  warehouse = null;
});
afterAll(async () => {
  await log?.close();
  rmSync(root, { recursive: true, force: true });
});

function checkpointsInMemory(): Pick<Checkpoints, 'claim' | 'save'> {
  const saved: Checkpoint = { offsets: {}, identities: {}, entries: new Map() };
  return {
    claim: async () => saved,
    async save(_consumer, _partition, { changed }: CheckpointChange) {
      for (const [key, value] of changed) if (value !== null) saved.entries.set(key, value);
    },
  };
}

/** Opens the damaged archive and has it checked. What was logged grows. */
async function checked(ofLog: Parameters<typeof createArchiveCheck>[0]['log'] = log, scrubEveryMs = 1e9) {
  const said: { level: string; text: string; facts: Record<string, unknown> }[] = [];
  const say = (level: string) => (facts: Record<string, unknown>, text: string) => said.push({ level, text, facts });
  const logger = { error: say('error'), warn: say('warn'), info: say('info') } as unknown as Logger;
  const metrics = new Metrics();
  const onOpened = rememberArchive({ log: ofLog, checkpoints, logger, now: Date.now });
  warehouse = await openWarehouse({ path: damaged }, { onOpened });
  const check = createArchiveCheck({
    ...{ log: ofLog, warehouse, logger, metrics, isMine: () => true, clock: SYSTEM_CLOCK },
    ...{ inspectEveryMs: 20, scrubEveryMs },
  });
  await check.start();
  stops.push(() => check.stop());
  return { said, check, metrics, archive: warehouse };
}

const rowsOf = async (archive: Warehouse) => ({
  positions: (await archive.track({ vehicleId, ...EVER, limit: 10_000 })).positions.length,
  events: (await archive.events({ vehicleId, ...EVER, limit: 1000 })).events.length,
});
const ALL = { positions: packets.length * 20, events: visits.length };

/** Folders of the parts of a month, of positions or of events. */
function partsOf(table: 'positions' | 'events', month: string): string[] {
  return readdirSync(join(damaged, 'store'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.startsWith(`${month}_`))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (folder) => readFileSync(join(folder, 'columns.txt'), 'utf8').includes('`began_at`') === (table === 'events'),
    )
    .sort();
}

const FAULTS: Readonly<Record<string, (file: string) => void>> = {
  cut: (file) => truncateSync(file, readFileSync(file).length >> 1),
  'with a flipped bit': (file) => {
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 4;
    writeFileSync(file, bytes);
  },
  'with a page of zeros': (file) => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, 0, Math.min(bytes.length, 4096)));
  },
  gone: (file) => rmSync(file),
};
const FILES = [
  'data.bin',
  'data.cmrk4',
  'primary.cidx',
  'columns.txt',
  'checksums.txt',
  'count.txt',
  'minmax_fix_time.idx',
];

function damage(): void {
  rmSync(damaged, { recursive: true, force: true });
  cpSync(whole, damaged, { recursive: true, preserveTimestamps: true });
  checkpoints = checkpointsInMemory();
}

describe.each(FILES)('%s of a part', (file) => {
  test.each(Object.keys(FAULTS))('%s: it is said, and the archive has all again', async (fault) => {
    damage();
    const [part = ''] = partsOf('positions', '202510');
    FAULTS[fault]?.(join(part, file));
    const { said, archive, check } = await checked();
    // A question that meets damage is answered without, until the rows are written again.
    await rowsOf(archive);
    await vi.waitFor(async () => expect(await rowsOf(archive)).toEqual(ALL), PATIENCE);
    await vi.waitFor(() => expect(check.warnings()).toEqual([]), PATIENCE);
    expect(await archive.gaps()).toEqual([]);
    const lost = said.filter(({ text }) => text === 'the archive has lost rows');
    // ClickHouse makes some files anew from the others, and then nothing was lost.
    const isDetached = readdirSync(join(part, '..', 'detached')).length > 0;
    expect(lost.length).toBe(isDetached ? 1 : 0);
    if (isDetached)
      expect(lost[0]?.facts).toMatchObject({
        archivePart: 'positions/202510_1_1',
        rows: 200,
        vehicles: 1,
        from: '2025-10-05T00:00:00.000Z',
        to: '2025-10-05T00:03:19.000Z',
      });
  });
});

test('a part without a trace is missed, and written again; so are events', async () => {
  damage();
  for (const table of ['positions', 'events'] as const) rmSync(partsOf(table, '202511')[1] ?? '', { recursive: true });
  const { said, archive } = await checked();
  await vi.waitFor(async () => expect(await rowsOf(archive)).toEqual(ALL), PATIENCE);
  expect(said.filter(({ text }) => text === 'the archive has lost rows').map(({ facts }) => facts)).toMatchObject([
    { archivePart: 'events/202511_6_6', reason: 'gone', rows: 15 },
    { archivePart: 'positions/202511_5_5', reason: 'gone', rows: 200 },
  ]);
  await vi.waitFor(async () => expect(await archive.gaps()).toEqual([]), PATIENCE);
});

test.each([
  ['an archive that is gone', '.'],
  ['an archive whose database is gone', 'metadata/outrider.sql'],
])('%s is written again from the first record of the log', async (_, file) => {
  damage();
  // Opened, and never inspected: as when a service is stopped just after its first rows.
  const before = await openWarehouse(
    { path: damaged },
    { onOpened: rememberArchive({ log, checkpoints, logger: createLogger('silent', 'json'), now: Date.now }) },
  );
  await before.close();
  rmSync(join(damaged, file), { recursive: true });
  const { said, archive } = await checked();
  await vi.waitFor(async () => expect(await rowsOf(archive)).toEqual(ALL), PATIENCE);
  expect(said[0]).toMatchObject({ level: 'error', text: /the archive was replaced/ });
  await vi.waitFor(async () => expect(await archive.gaps()).toEqual([]), PATIENCE);
});

test('what the log no longer has is lacking, and said as long as it is', async () => {
  damage();
  rmSync(partsOf('positions', '202510')[0] ?? '', { recursive: true });
  // Of the ten packets of the part, the log has forgotten four.
  const bounds = await log.bounds(telemetryRecordsTopic);
  const shortened = {
    ...{ locate: log.locate.bind(log), read: log.read.bind(log) },
    bounds: async (topic: { name: string }) =>
      topic.name === 'telemetry'
        ? new Map([...bounds].map(([nth, { earliest, end }]) => [nth, { earliest: earliest + 4, end }]))
        : log.bounds(correctionsTopic),
    writtenAtMs: async () => OCTOBER + 80_000,
  } as unknown as Log;
  const { said, archive, check, metrics } = await checked(shortened);
  await vi.waitFor(async () => expect((await rowsOf(archive)).positions).toBe(ALL.positions - 80), PATIENCE);
  await vi.waitFor(async () => expect((await archive.gaps())[0]?.restored).toBe('partly'), PATIENCE);
  expect(await archive.gaps()).toMatchObject([{ table: 'positions', fromMs: OCTOBER, toMs: OCTOBER + 80_000 }]);
  await vi.waitFor(() => expect(check.warnings()).toHaveLength(1), PATIENCE);
  expect(await metrics.metrics()).toMatch(/^outrider_archive_gaps 1$/m);
  expect(said.filter(({ level }) => level === 'error').map(({ text }) => text)).toEqual([
    'the archive has lost rows',
    'cannot restore lost rows of the archive: they are older than the log',
  ]);
  // The next start says it as well, and does not try again.
  for (const stop of stops.splice(0).toReversed()) await stop();
  await archive.close();
  const again = await checked(shortened);
  await vi.waitFor(() => expect(again.check.warnings()).toHaveLength(1), PATIENCE);
  expect(again.said.map(({ text }) => text)).toEqual(['the archive has lost rows']);
});

test('another log has nothing of it, whatever its offsets are', async () => {
  damage();
  rmSync(partsOf('positions', '202510')[0] ?? '', { recursive: true });
  const other = openSqliteLog({ path: join(root, 'other.sqlite'), startsRun: true });
  stops.push(() => other.close());
  await other.append(telemetryTopic, packets);
  const { archive } = await checked(other);
  await vi.waitFor(async () => expect((await archive.gaps())[0]?.restored).toBe('not'), PATIENCE);
  expect((await rowsOf(archive)).positions).toBe(ALL.positions - 200);
});

test('damage is found before anybody asks for the rows', async () => {
  damage();
  FAULTS['with a flipped bit']?.(join(partsOf('events', '202510')[2] ?? '', 'data.bin'));
  const { said, archive } = await checked(log, 0);
  await vi.waitFor(() => expect(said.map(({ text }) => text)).toContain('lost rows of the archive restored'), PATIENCE);
  expect(said.map(({ text }) => text)).toContain('set aside damaged parts of the archive');
  expect(await rowsOf(archive)).toEqual(ALL);
});

test('what was erased stays erased', async () => {
  damage();
  const other = await openWarehouse({ path: damaged });
  const cut = [{ vehicleId, beforeMs: OCTOBER + 100_000 }];
  await vi.waitFor(async () => expect((await other.eraseBefore(cut)).done).toBe(true), PATIENCE);
  const { identity } = await log.locate(telemetryRecordsTopic, 0, null);
  await other.inspect(identity);
  await other.close();
  // The mutated part has the blocks of the first.
  rmSync(partsOf('positions', '202510').find((part) => /_1_1_0_\d+$/.test(part)) ?? '', { recursive: true });
  rmSync(partsOf('positions', '202510').find((part) => /_1_1_0$/.test(part)) ?? '/tmp/none', {
    recursive: true,
    force: true,
  });
  const { said, archive } = await checked();
  await vi.waitFor(() => expect(said.map(({ text }) => text)).toContain('lost rows of the archive restored'), PATIENCE);
  await vi.waitFor(async () => expect((await rowsOf(archive)).positions).toBe(ALL.positions - 100), PATIENCE);
});

test('an archive as it was left is not complained about', async () => {
  damage();
  expect(existsSync(damaged)).toBe(true);
  const { said, archive } = await checked(log, 0);
  const inspect = vi.spyOn(archive, 'inspect');
  await vi.waitFor(() => expect(inspect.mock.calls.length).toBeGreaterThan(2), PATIENCE);
  expect(said).toEqual([]);
  expect(await rowsOf(archive)).toEqual(ALL);
});
