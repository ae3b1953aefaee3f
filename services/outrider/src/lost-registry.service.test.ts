import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readLog } from './log-reader.fixture.ts';
import { inForce, OPERATOR_PASSWORD, type RunningService, refusedStart, startService } from './service.fixture.ts';

let folder: string;
let service: RunningService | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-lost-registry-'));
});
afterEach(async () => {
  await service?.kill().catch(() => {});
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<RunningService> {
  service = await startService(folder);
  return service;
}

function removeRegistry(): void {
  for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `registry.sqlite${end}`), { force: true });
}

const changes = async () => (await readLog(folder)).changes;

test('a service whose registry is gone refuses to start, says what to do, and deletes nothing', async () => {
  const { call, interrupt, ports } = await start();
  await call('POST', '/api/v1/vehicles', { name: 'Van', terminalId: '356307042441013' });
  await inForce(ports.http);
  await interrupt();
  const before = await changes();
  removeRegistry();

  // The second start finds the empty registry that the first has left.
  for (const _ of [1, 2]) {
    const { code, said } = await refusedStart({ DATA_DIR: folder, ADMIN_PASSWORD: OPERATOR_PASSWORD });
    expect(code).toBe(1);
    expect(said).toContain(`the registry ${join(folder, 'registry.sqlite')} is empty`);
    expect(said).toContain('(user: 1, vehicle: 1)');
    expect(said).toContain('Restore a backup');
    expect(said).toContain('outrider definitions republish');
  }
  expect(await changes()).toEqual(before);
});

test('a service whose registry has lost changes is not ready, says why, and deletes nothing', async () => {
  let { call, interrupt, ports } = await start();
  await interrupt();
  copyFileSync(join(folder, 'registry.sqlite'), join(folder, 'earlier.sqlite'));
  ({ call, interrupt, ports } = await start());
  await call('POST', '/api/v1/vehicles', { name: 'Van', terminalId: '356307042441013' });
  await inForce(ports.http);
  await interrupt();
  const before = await changes();
  removeRegistry();
  copyFileSync(join(folder, 'earlier.sqlite'), join(folder, 'registry.sqlite'));

  const { ports: newPorts, stderrText, interrupt: end } = await start();
  const answer = await fetch(`http://127.0.0.1:${newPorts.http}/health/ready`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({
    parts: {
      definitions: { status: 'failed', warnings: [expect.stringContaining('lacks the newest state of 1 definition')] },
    },
  });
  expect(stderrText()).toContain('the registry lacks what topic definitions has');
  await end();
  expect(await changes()).toEqual(before);
});
