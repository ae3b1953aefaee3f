import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { printedAtStart, type RunningService, refusedStart, spawnService, startService } from './service.fixture.ts';

let folder: string;
let service: RunningService | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-start-'));
});
afterEach(async () => {
  await service?.kill().catch(() => {});
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

test('the addresses that it prints answer', async () => {
  const printed = await printedAtStart(join(folder, 'printed'), async (text) => {
    const addresses = [...text.matchAll(/(?<!POST )http:\/\/[^\s,]+/g)].map(([address]) => address);
    expect(addresses.map((address) => new URL(address).pathname)).toEqual([
      '/',
      '/docs/',
      '/api/v1',
      '/openapi.json',
      '/asyncapi.json',
      '/health/ready',
      '/metrics',
    ]);
    for (const address of addresses) expect((await fetch(address)).status, address).toBe(200);
  });
  expect(printed).toContain('/auth/login?jwt=1');
  expect(printed).toMatch(/ws:\/\/127\.0\.0\.1:\d+\/live/);
});

test('the metrics of all threads are one text, each counted once', async () => {
  service = await startService(folder);
  const text = await (await fetch(`http://127.0.0.1:${service.ports.http}/metrics`)).text();
  for (const name of [
    'outrider_terminal_connections',
    'outrider_rules_positions_total',
    'outrider_archived_rows_total',
    'outrider_live_clients',
  ])
    expect(text.split(`# TYPE ${name} `)).toHaveLength(2);
});

test('a second one on the same folder says so and exits with 1; the first continues', async () => {
  service = await startService(folder);
  expect(await refusedStart({ DATA_DIR: folder })).toEqual({
    code: 1,
    said: expect.stringContaining('is in use by another Outrider'),
  });
  expect((await fetch(`http://127.0.0.1:${service.ports.http}/health/live`)).status).toBe(200);
});

test.each(['PORT', 'TELTONIKA_PORT', 'OSMAND_PORT'])(
  '%s in use by another program is named, and ends it with 1',
  async (variable) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const { code, said } = await refusedStart({ DATA_DIR: folder, [variable]: String(port) });
    other.close();
    expect(said).toContain(`port ${port} is in use by another program`);
    expect(code).toBe(1);
  },
);

test('a folder that can not be created is named, and it exits with 1', async () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, '');
  const { code, said } = await refusedStart({ DATA_DIR: join(file, 'data') });
  expect(said).toMatch(/DATA_DIR .*a-file\/data cannot be written to/);
  expect(code).toBe(1);
});

test('all invalid settings are named', async () => {
  const { code, said } = await refusedStart({ DATA_DIR: folder, PORT: 'eighty', LOG_LEVEL: 'loud' });
  expect(said).toContain('PORT must be a whole number from 0 to 65535, not "eighty"');
  expect(said).toContain('LOG_LEVEL must be one of debug, info, warn, error, not "loud"');
  expect(code).toBe(1);
});

test('a start that waits for a server that never answers says so, and ends with the signal', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const starting = spawnService(folder, undefined, { DATABASE_URL: `postgres://outrider@127.0.0.1:${port}/outrider` });
  await vi.waitFor(() => expect(starting.stderrText()).toContain('waiting for a part to start'), {
    timeout: 60_000,
    interval: 50,
  });
  expect(starting.stderrText()).toMatch(/"part":"registry","seconds":5,/);
  expect(await starting.interrupt()).toBe(0);
  expect(starting.stderrText()).toContain('stopping before the start is complete');
  silent.close();
});
