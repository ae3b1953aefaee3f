import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { playDrive } from '@outrider/simulator';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { inForce, type RunningService, startService } from './service.fixture.ts';

const PATIENCE = { timeout: 120_000, interval: 100 };
const TERMINAL = '356307042441013' as TerminalId;
const FIXES = 1200;
const STEP_MS = 30_000;
const T0 = Math.floor(Date.now() / 1000) * 1000 - FIXES * STEP_MS - 60_000;
/** In the middle of the drive. */
const BEFORE = new Date(T0 + (FIXES / 2) * STEP_MS).toISOString();

let folder: string;
let service: RunningService | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-erasure-'));
});
afterEach(async () => {
  await service?.kill();
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

const positions: Position[] = Array.from({ length: FIXES }, (_, nth) => ({
  ...blankPosition(T0 + nth * STEP_MS, 52.52, 13.4 + nth * 0.003),
  speedKmh: 25,
  satellites: 9,
}));

interface Report {
  items: { fixTime: string }[];
  historyFrom?: string;
}

test('killed with -9 while it erases history, it goes on to the end; what is newer, and the odometer, stay', {
  timeout: 240_000,
}, async () => {
  service = await startService(folder);
  const { call, ports } = service;
  const { id } = await call<{ id: string }>('POST', '/api/v1/vehicles', { name: 'Van 7', terminalId: TERMINAL });
  await inForce(ports.http);
  const target = { protocol: 'teltonika', host: '127.0.0.1', port: ports.teltonika, terminalId: TERMINAL } as const;
  await playDrive({ ...target, positions });
  const track = `/api/v1/reports/track?vehicleId=${id}&from=${new Date(T0).toISOString()}&to=${new Date().toISOString()}&limit=1000`;
  const odometer = async (running: RunningService) =>
    (await running.call<{ odometerM: number }>('GET', `/api/v1/vehicles/${id}/counters`)).odometerM;
  const wholeM = (FIXES - 1) * 202;
  await vi.waitFor(async () => {
    expect(await odometer(service as RunningService)).toBeGreaterThan(wholeM);
    // A recalculation of late data would count it once more.
    const { items } = await call<{ items: { state: string }[] }>('GET', '/api/v1/jobs?kind=late-data&limit=10');
    expect(items.every(({ state }) => state === 'done')).toBe(true);
  }, PATIENCE);
  const counted = await odometer(service);
  const path = `/api/v1/vehicles/${id}/history/erase`;
  const found = await call<{ positions: number }>('POST', `${path}?dryRun=true`, { before: BEFORE });
  expect(found.positions).toBe(FIXES / 2);
  const job = await call<{ id: string }>('POST', path, { before: BEFORE });
  await service.kill();

  service = await startService(folder);
  const again = service;
  await vi.waitFor(async () => {
    expect(await again.call('GET', `/api/v1/jobs/${job.id}`)).toMatchObject({ state: 'done' });
  }, PATIENCE);
  const left = await again.call<Report>('GET', track);
  expect(left.items).toHaveLength(FIXES / 2);
  expect(left.items[0]?.fixTime).toBe(BEFORE);
  expect(left.historyFrom).toBe(BEFORE);
  expect(await odometer(again)).toBeCloseTo(counted, 3);
});
