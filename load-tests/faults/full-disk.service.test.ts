import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  logIn,
  OPERATOR_PASSWORD,
  reservedPorts,
  type ServiceProcess,
  spawnService,
} from '../../services/outrider/src/service.fixture.ts';
import { type Disk, openDisk } from './disk.ts';

/** Space for ClickHouse's files as well. */
const DISK_MIB = 256;
const PATIENCE = { timeout: 60_000, interval: 100 };

test('while the disk is full REST reads, answers 503 with Retry-After to what writes, and a start waits and says why', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-full-disk-'));
  let disk: Disk;
  try {
    disk = await openDisk(folder, DISK_MIB);
  } catch (error) {
    rmSync(folder, { recursive: true });
    return context.skip(`no disk can be mounted here: ${(error as Error).message}`);
  }
  const ports = await reservedPorts();
  const url = `http://127.0.0.1:${ports.http}`;
  let service: ServiceProcess = spawnService(disk.folder, ports);
  try {
    expect(await service.ready, service.stderrText()).not.toBeNull();
    const authorization = `JWT ${await logIn(ports.http, 'admin', OPERATOR_PASSWORD)}`;
    const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      fetch(`${url}${path}`, {
        method,
        headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const vehicle = (number: number) => ({ name: `Vehicle ${number}`, terminalId: `35${number}` });
    const made = await ask('POST', '/api/v1/vehicles', vehicle(1));
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as { id: string };
    const login = { login: 'admin', password: OPERATOR_PASSWORD };
    const writes = [
      () => ask('POST', '/api/v1/vehicles', vehicle(2)),
      () => ask('POST', '/api/v1/vehicles', vehicle(3), { 'idempotency-key': '6f0c1b52-8f1c-4b52-9b52-0c1b526f0c1b' }),
      () => ask('PATCH', `/api/v1/vehicles/${id}`, { name: 'Another name' }),
      () => ask('DELETE', `/api/v1/vehicles/${id}`),
      () => ask('POST', '/auth/login?jwt=1', login),
      () =>
        ask('POST', '/api/v1/geozones', {
          type: 'Feature',
          geometry: { type: 'Point', coordinates: [37, 55] },
          properties: { name: 'Yard', shape: 'circle', radiusM: 50 },
        }),
    ];

    disk.fill();
    // SQLite writes on into the write-ahead log that it has until it is at its end.
    await expect
      .poll(
        async () => (await ask('POST', '/api/v1/vehicles', vehicle(Math.round(Math.random() * 1e9)))).status,
        PATIENCE,
      )
      .toBe(503);
    for (const write of writes) {
      const answer = await write();
      expect([answer.url, answer.status]).toEqual([answer.url, 503]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await answer.json()).toMatchObject({ type: 'urn:outrider:problem:unavailable', status: 503 });
    }
    expect((await ask('GET', `/api/v1/vehicles/${id}`)).status).toBe(200);
    expect((await ask('GET', '/api/v1/me')).status).toBe(200);
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^outrider_disk_free_bytes 0$/m);

    disk.free();
    await expect.poll(async () => (await writes[0]?.())?.status, PATIENCE).toBe(201);
    await service.interrupt();

    disk.fill();
    service = spawnService(disk.folder, ports);
    await expect
      .poll(
        () =>
          fetch(`${url}/health/live`).then(
            ({ status }) => status,
            () => null,
          ),
        PATIENCE,
      )
      .toBe(200);
    const ready = await fetch(`${url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'failed', parts: { disk: { status: 'failed' } } },
    ]);
    const refused = await fetch(`${url}/api/v1/me`);
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([503, expect.any(Number)]);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
      /^outrider_build_info\{version="[\d.]+",node="[\d.]+"\} 1$/m,
    );
    expect(service.stderrText()).toContain('the disk is full: waiting for space to start');

    disk.free();
    expect(await service.ready, service.stderrText()).not.toBeNull();
    expect((await ask('GET', `/api/v1/vehicles/${id}`)).status).toBe(200);
  } finally {
    await service.kill();
    await disk.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 180_000);
