import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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

const PATIENCE = { timeout: 60_000, interval: 50 };

/** Runs a command of `outrider` on the folder. @returns what it prints */
async function outrider(words: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'main.ts'), ...words], {
    env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: folder, ...environment },
  });
  return stdout;
}

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
    expect(said).toContain('outrider registry rebuild');
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

/** The latest position of a vehicle at 52° 13°. */
async function report({ ports }: RunningService, terminalId: string, isAlarm: boolean): Promise<void> {
  const at = Math.floor(Date.now() / 1000);
  const query = `id=${terminalId}&lat=52&lon=13&timestamp=${at}${isAlarm ? '&alarm=sos' : ''}`;
  const { status } = await fetch(`http://127.0.0.1:${ports.osmand}/?${query}`, { method: 'POST' });
  expect(status).toBe(200);
}

const notificationsOf = async ({ call }: RunningService, ruleId: string) =>
  (await call<{ items: { ruleId: string }[] }>('GET', '/api/v1/notifications?limit=1000')).items.filter(
    (each) => each.ruleId === ruleId,
  );

test('a lost registry is built anew from the log: everything has its id again, and rules notify', {
  timeout: 300_000,
}, async () => {
  let running = await start();
  const make = (path: string, body: unknown) => running.call<{ id: string }>('POST', `/api/v1/${path}`, body);
  const group = await make('vehicle-groups', { name: 'North' });
  const anna = await make('users', { login: 'anna', name: 'Anna', password: 'a long password', groupIds: [group.id] });
  const van = await make('vehicles', { name: 'Van', terminalId: '4711', groupIds: [group.id] });
  await make('drivers', { name: 'Olga', groupIds: [group.id], codes: ['77'] });
  const ring = [
    [13, 52],
    [13.01, 52],
    [13.01, 52.01],
    [13, 52],
  ];
  const zones = [
    { geometry: { type: 'Point', coordinates: [13, 52] }, properties: { shape: 'circle', radiusM: 100 } },
    { geometry: { type: 'Polygon', coordinates: [ring] }, properties: { shape: 'polygon' } },
    { geometry: { type: 'MultiPolygon', coordinates: [[ring]] }, properties: { shape: 'multipolygon' } },
    { geometry: { type: 'LineString', coordinates: ring.slice(0, 2) }, properties: { shape: 'line', widthM: 30 } },
  ];
  for (const { geometry, properties } of zones)
    await make('geozones', { type: 'Feature', geometry, properties: { ...properties, name: properties.shape } });
  const rule = await make('notification-rules', { name: 'SOS', eventKinds: ['alarm'], vehicleIds: [van.id] });
  const kinds = ['vehicle-groups', 'users', 'vehicles', 'drivers', 'geozones', 'notification-rules'];
  const all = () => Promise.all(kinds.map((kind) => running.call<{ items: object[] }>('GET', `/api/v1/${kind}`)));
  await inForce(running.ports.http);
  // Binds the terminal of the vehicle to its protocol.
  await report(running, '4711', true);
  await vi.waitFor(async () => expect(await notificationsOf(running, rule.id)).toHaveLength(1), PATIENCE);
  await inForce(running.ports.http);
  const before = await all();
  await running.interrupt();
  removeRegistry();

  const printed = await outrider(['registry', 'rebuild']);
  expect(printed).toContain('user: 2');
  expect(printed).toContain('geofence: 4');
  expect(printed).toMatch(/accounts without a password.*\n {2}admin\n {2}anna\n/);
  expect(printed).toContain('definitions that still differ: 0');
  expect(printed).toContain('API keys');
  await outrider(['users', 'set-password', 'admin'], { OUTRIDER_PASSWORD: OPERATOR_PASSWORD });

  running = await start();
  expect((await fetch(`http://127.0.0.1:${running.ports.http}/health/ready`)).status).toBe(200);
  // When accounts and rules were last used was in the registry alone.
  const lasting = (lists: { items: object[] }[]) =>
    JSON.parse(JSON.stringify(lists, (name, value) => (/^(last|failed|quota)/.test(name) ? undefined : value)));
  expect(lasting(await all())).toEqual(lasting(before));
  expect((await running.call<{ groupIds: string[] }>('GET', `/api/v1/users/${anna.id}`)).groupIds).toContain(group.id);
  const known = (await notificationsOf(running, rule.id)).length;
  // The alarm of before ends, and another begins: a record each second.
  let isAlarm = true;
  await vi.waitFor(
    async () => {
      isAlarm = !isAlarm;
      await report(running, '4711', isAlarm);
      expect((await notificationsOf(running, rule.id)).length).toBeGreaterThan(known);
    },
    { ...PATIENCE, interval: 1100 },
  );
});
