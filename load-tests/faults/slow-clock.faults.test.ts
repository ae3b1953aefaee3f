import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blankPosition, type Position, type TerminalId, type VehicleId } from '@outrider/domain';
import { playDrive } from '@outrider/simulator';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { archivedCount, type RunningService, startService } from '../../services/outrider/src/service.fixture.ts';
import { createClock, faketimeLibrary } from './clock.ts';

const PATIENCE = { timeout: 60_000, interval: 200 };
const SLOW_BY_SECONDS = 20 * 60;
const FIXES = 300;
const TERMINAL = '356307042443200' as TerminalId;
const library = faketimeLibrary();

let folder: string;
let service: RunningService;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-slow-clock-'));
});
afterEach(async () => {
  await service?.kill().catch(() => {});
  rmSync(folder, { recursive: true, force: true });
});

function drive(fromMs: number, count: number): Position[] {
  return Array.from({ length: count }, (_, second) => ({
    ...blankPosition(fromMs + second * 1000, 50 + second * 1e-4, 10),
    speedKmh: 40,
  }));
}

test.skipIf(library === null)(
  'a server 20 minutes slow flags true fixes until its clock is right, and none after that',
  async () => {
    const clock = createClock(library as string, join(folder, 'clock'));
    clock.set(-SLOW_BY_SECONDS);
    service = await startService(join(folder, 'data'), undefined, clock.environment);
    const { id } = await service.call<{ id: VehicleId }>('POST', '/api/v1/vehicles', {
      name: 'van',
      terminalId: TERMINAL,
    });
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const beganMs = Math.floor(Date.now() / 1000) * 1000 - FIXES * 1000;
    const send = (positions: readonly Position[]) =>
      playDrive({
        protocol: 'teltonika',
        terminalId: TERMINAL,
        host: '127.0.0.1',
        port: service.ports.teltonika as number,
        positions,
      });
    await send(drive(beganMs, FIXES));
    const state = () => service.call<{ position: { fixTime: string } | null }>('GET', `/api/v1/vehicles/${id}/state`);
    expect((await state()).position).toBeNull();

    clock.set(0);
    expect(await service.call('GET', `/api/v1/vehicles/${id}/rejected-positions`)).toMatchObject({ rejections: [] });
    const range = `from=${new Date(beganMs).toISOString()}&to=${new Date(beganMs + 86_400_000).toISOString()}`;
    await vi.waitFor(async () => expect(await archivedCount(service, id)).toBe(FIXES), PATIENCE);
    // What comes now moves the vehicle, and its trip is found in the history.
    await send(drive(Math.floor(Date.now() / 1000) * 1000, 1));
    await vi.waitFor(async () => {
      const { items } = await service.call<{ items: { startedAt: string }[] }>(
        'GET',
        `/api/v1/reports/trips?vehicleId=${id}&${range}`,
      );
      expect(items[0]?.startedAt).toBe(new Date(beganMs).toISOString());
    }, PATIENCE);
  },
  300_000,
);
