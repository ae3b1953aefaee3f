import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom, loadDrive } from '@outrider/simulator';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ACKNOWLEDGED_TERMINALS,
  archivedTrack,
  asDriven,
  defineFleet,
  expectAllOfIt,
  playFleet,
  type Reached,
  UDP_TERMINALS,
} from './end-to-end.fixture.ts';
import { LiveRecorder, type RunningService, startService } from './service.fixture.ts';

const FIXES = 1500;
const PATIENCE = { timeout: 60_000, interval: 50 };
/** One that says who it is in each datagram, one that logs in. */
const KILLED_OVER_UDP = UDP_TERMINALS.filter(({ protocol }) => protocol === 'teltonika' || protocol === 'gt06');

let folder: string;
let service: RunningService | null = null;
const live = new LiveRecorder();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-e2e-'));
  live.messages.length = 0;
});
afterEach(async () => {
  live.close();
  await service?.kill().catch(() => {});
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

/** The service that runs at the moment. */
const reached: Reached = {
  call: (method, path, body) => running().call(method, path, body),
  terminalPort: (protocol) => running().ports[protocol],
  healthPorts: () => [running().ports.http],
  recorders: [live],
};

function running(): RunningService {
  if (!service) throw new Error('no service runs');
  return service;
}

describe.each(['recorded-or-generated', 'generated'] as const)('a drive (%s) through every protocol', (source) => {
  test('makes exactly its events, live, and is archived whole', { timeout: 240_000 }, async () => {
    const drive = asDriven(loadDrive({ limit: FIXES, source }));
    service = await startService(folder);
    const fleet = await defineFleet(reached, [drive]);
    await live.connect(service);
    await playFleet(reached, fleet);
    await expectAllOfIt(reached, fleet);

    // Stopped and started again, everything is there.
    const [vehicle] = fleet.vehicles;
    if (!vehicle) throw new Error('nobody drives');
    const before = await archivedTrack(reached.call, vehicle.vehicleId);
    live.close();
    expect(await service.interrupt()).toBe(0);
    service = await startService(folder, service.ports);
    expect(await archivedTrack(reached.call, vehicle.vehicleId)).toEqual(before);
  });

  test('loses and doubles nothing when the service is killed in the middle of it', { timeout: 300_000 }, async () => {
    const drive = asDriven(loadDrive({ limit: FIXES, source }));
    const random = createRandom(20_260_101);
    service = await startService(folder, undefined, { CHECKPOINT_MS: '300' });
    const fleet = await defineFleet(reached, [drive], [...ACKNOWLEDGED_TERMINALS, ...KILLED_OVER_UDP]);
    await live.connect(service);
    const played = playFleet(reached, fleet);
    for (let kills = 0; kills < 3; kills++) {
      const enough = random.between(400, 1200);
      await vi.waitFor(async () => expect(await received(running())).toBeGreaterThan(enough), PATIENCE);
      await service.kill();
      live.close();
      service = await startService(folder, service.ports, { CHECKPOINT_MS: '300' });
      await live.connect(service);
    }
    await played;
    await expectAllOfIt(reached, fleet);
  });
});

/** Positions taken by the gateway since the service started. */
async function received({ ports }: RunningService): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${ports.http}/metrics`)).text();
  return [...text.matchAll(/^outrider_positions_received_total\{[^}]*\} (\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
