import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { blankPosition, type Position, type TerminalId, type VehicleId } from '@outrider/domain';
import { featureFromShape } from '@outrider/geo';
import { playDrive } from '@outrider/simulator';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  archivedCount,
  inForce,
  LiveRecorder,
  type RunningService,
  startService,
} from '../../services/outrider/src/service.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };
const ENVIRONMENT = { CHECKPOINT_MS: '200', ARCHIVE_MS: '200' };
const TERMINAL = '356307042441013' as TerminalId;
const FIXES = 600;
const INSIDE = [0.1, 0.1] as const;

let folder: string;
let service: RunningService;
let live: LiveRecorder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-replaced-'));
  live = new LiveRecorder();
});
afterEach(async () => {
  live.close();
  await service?.kill().catch(() => {});
  rmSync(folder, { recursive: true, force: true });
});

/** Fixes a second apart that begin at a time; those in the middle third are inside the geofence. */
function drive(fromMs: number): Position[] {
  return Array.from({ length: FIXES }, (_, second) => {
    const isInside = second >= FIXES / 3 && second < (2 * FIXES) / 3;
    return {
      ...blankPosition(fromMs + second * 1000, INSIDE[1] + (isInside ? 0 : 0.02), INSIDE[0] + second * 1e-6),
      speedKmh: 30,
    };
  });
}

const send = (positions: readonly Position[]) =>
  playDrive({
    protocol: 'teltonika',
    terminalId: TERMINAL,
    host: '127.0.0.1',
    port: service.ports.teltonika,
    positions,
    positionsPerPacket: 10,
  });

async function define(): Promise<VehicleId> {
  const { id } = await service.call<{ id: VehicleId }>('POST', '/api/v1/vehicles', {
    name: 'van',
    terminalId: TERMINAL,
  });
  const feature = featureFromShape({ type: 'circle', center: INSIDE, radiusM: 1000 });
  await service.call('POST', '/api/v1/geozones', { ...feature, properties: { ...feature.properties, name: 'depot' } });
  await inForce(service.ports.http);
  return id;
}

const begins = () => live.of('event').filter(({ kind, phase }) => kind === 'geofence-visit' && phase === 'begin');
const warnings = async () => {
  const body = await service.call<{ parts: Record<string, { warnings?: string[] }> }>('GET', '/health/ready');
  return Object.values(body.parts).flatMap((part) => part.warnings ?? []);
};

async function removeLog(): Promise<void> {
  for (const ending of ['', '-wal', '-shm']) rmSync(join(folder, `log.sqlite${ending}`), { force: true });
}

/** The archiver gathers rows for a while before it inserts them. */
async function expectArchived(vehicleId: VehicleId, positions: number): Promise<void> {
  await vi.waitFor(async () => expect(await archivedCount(service, vehicleId)).toBe(positions), PATIENCE);
}

test('what is acknowledged after the log was lost is archived and passes the rules, all of it', async () => {
  const nowMs = Math.floor(Date.now() / 1000) * 1000;
  service = await startService(folder, undefined, ENVIRONMENT);
  const vehicleId = await define();
  await live.connect(service);
  await send(drive(nowMs - 3 * FIXES * 1000));
  await vi.waitFor(() => expect(begins()).toHaveLength(1), PATIENCE);
  // What is archived and evaluated no longer needs the log that is lost.
  await expectArchived(vehicleId, FIXES);
  expect(await warnings()).toEqual([]);
  expect(await service.interrupt()).toBe(0);

  await removeLog();
  service = await startService(folder, undefined, ENVIRONMENT);
  await live.connect(service);
  // The definitions are there again: the terminal is let in, and what it sends is not behind the offsets of the lost
  // log.
  await send(drive(nowMs - FIXES * 1000));
  await vi.waitFor(() => expect(begins()).toHaveLength(2), PATIENCE);
  expect(live.of('gap')).toMatchObject([{ stream: 'events', partition: 0, to: 0 }]);

  const found = await warnings();
  for (const reader of ['rules', 'archiver', 'notifications'])
    expect(found.join('\n')).toContain(`replaced: ${reader} could not resume`);
  const metrics = await (await fetch(`http://127.0.0.1:${service.ports.http}/metrics`)).text();
  expect(metrics).toMatch(/outrider_log_discontinuities_total\{kind="replaced",reader="rules",topic="telemetry"\} 1/);
  expect(service.stderrText()).toContain('a log reader could not resume at its offset');
  await expectArchived(vehicleId, 2 * FIXES);
}, 180_000);

test('so is what is acknowledged after the log was restored from a copy that is older than the checkpoints', async () => {
  const nowMs = Math.floor(Date.now() / 1000) * 1000;
  service = await startService(folder, undefined, ENVIRONMENT);
  const vehicleId = await define();
  await live.connect(service);
  const copy = join(folder, 'copy.sqlite');
  const log = new DatabaseSync(join(folder, 'log.sqlite'));
  log.exec(`VACUUM INTO '${copy}'`);
  log.close();
  await send(drive(nowMs - 3 * FIXES * 1000));
  await vi.waitFor(() => expect(begins()).toHaveLength(1), PATIENCE);
  // What is archived and evaluated no longer needs the log that is lost.
  await expectArchived(vehicleId, FIXES);
  expect(await service.interrupt()).toBe(0);

  await removeLog();
  copyFileSync(copy, join(folder, 'log.sqlite'));
  service = await startService(folder, undefined, ENVIRONMENT);
  await live.connect(service);
  await send(drive(nowMs - FIXES * 1000));
  await vi.waitFor(() => expect(begins()).toHaveLength(2), PATIENCE);
  expect((await warnings()).join('\n')).toContain('truncated: rules could not go on');
  await expectArchived(vehicleId, 2 * FIXES);
}, 180_000);
