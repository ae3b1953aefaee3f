import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { protocols } from '@outrider/protocols';
import { afterEach, expect, test, vi } from 'vitest';
import { Cluster, givenServers } from '../../services/outrider/src/distributed.fixture.ts';
import { SERVICE_NAMES, writeEnvironment } from './services.ts';

const FREE_PORTS = Object.fromEntries(
  ['', 'HEALTH_', 'VIDEO_MEDIA_', ...protocols.map(({ settingPrefix }) => `${settingPrefix}_`)].map((port) => [
    `${port}PORT`,
    '0',
  ]),
);

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** `npm run start:services` on a folder. */
function startServices(folder: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'start-services.ts'), '--folder', folder], {
    env: { PATH: process.env.PATH, ...FREE_PORTS },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  ends.push(() => child.kill());
  return {
    output: () => output,
    exitCode: async () => (await exited)[0],
    stop: () => child.kill(),
  };
}

test.skipIf(givenServers() === null)(
  'the printed command starts every service, and ends them in order',
  { timeout: 300_000 },
  async () => {
    const servers = givenServers();
    if (servers === null) return;
    const cluster = await Cluster.open(servers);
    ends.push(() => cluster.close());
    // It has a key of its own, in a file.
    const { SECRETS_KEY: _, ...addresses } = cluster.settings;
    writeEnvironment(cluster.folder, addresses);
    const services = startServices(cluster.folder);
    await vi.waitFor(() => expect(services.output()).toContain('All services are ready'), { timeout: 240_000 });
    for (const service of SERVICE_NAMES) expect(services.output()).toContain(`outrider ${service} is ready`);
    services.stop();
    expect([await services.exitCode(), services.output()]).toEqual([0, expect.not.stringContaining('ended with')]);
  },
);

test('services that have no servers say what to start first', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-no-servers-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const services = startServices(folder);
  expect(await services.exitCode()).toBe(1);
  expect(services.output()).toContain('npm run services');
});
