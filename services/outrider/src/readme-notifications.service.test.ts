import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { example, ROOT } from './readme.fixture.ts';
import { reservedPorts, startService } from './service.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };

test('notifications work as pasted, and go on after a crash', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-readme-'));
  const environment = { WEBHOOK_ALLOW_PRIVATE: 'yes', MAIL_TRUSTED_DOMAINS: 'example.com' };
  const ports = await reservedPorts();
  const hookPort = String((await reservedPorts()).http);
  let service = await startService(join(folder, 'data'), ports, environment);
  const followed = join(folder, 'followed');
  const received = join(folder, 'received');
  const variables = join(folder, 'variables');
  const lines = (file: string) =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [];
  const run = (...script: string[]) =>
    promisify(execFile)('bash', ['-c', ['set -euo pipefail', `source ${variables}`, ...script].join('\n')], {
      cwd: ROOT,
      timeout: 60_000,
    });
  const background = (name: string, file: string) => [`exec 3>${file}`, `{ ${example(name)}} >&3 2>/dev/null`];
  const settings = {
    BASE: `http://127.0.0.1:${ports.http}`,
    PHONES: `http://127.0.0.1:${ports.osmand}`,
    JWT: service.jwt,
  };
  writeFileSync(
    variables,
    Object.entries(settings)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(''),
  );
  const children: ChildProcess[] = [];
  try {
    const clients = spawn(
      'bash',
      [
        '-c',
        [
          'set -euo pipefail',
          `source ${variables}`,
          ...background('receiver', received).map((line) => line.replace('HOOK_PORT=9000', `HOOK_PORT=${hookPort}`)),
          `echo "WEBHOOK_SECRET='$WEBHOOK_SECRET'" >> ${variables}`,
          ...background('follow', followed),
          'wait',
        ].join('\n'),
      ],
      { cwd: ROOT, stdio: 'ignore', detached: true },
    );
    children.push(clients);
    await vi.waitFor(() => expect(lines(followed)).toContain('resumed'), PATIENCE);
    const rule = example('rule').replace('127.0.0.1:9000', `127.0.0.1:${hookPort}`);
    await run(example('vehicle'), example('geozone'), rule, `echo "RULE='$RULE'" >> ${variables}`, 'sleep 3');

    await run(example('drive'));
    const notifications = () => lines(followed).filter((line) => line.startsWith('notification'));
    const first = ['notification 1 Depot Van 7 geofence-visit begin', 'notification 2 Depot Van 7 speeding begin'];
    await vi.waitFor(() => expect(notifications()).toHaveLength(2), PATIENCE);
    await service.kill();
    service = await startService(join(folder, 'data'), ports, environment);
    // On the way back, slowly.
    const back = `curl -s -o /dev/null "$PHONES/?id=phone-7&timestamp=$(($(date +%s) + 30))&lat=52.5160&lon=13.4050&speed=24"`;
    await run(back);
    await vi.waitFor(() => expect(notifications()).toHaveLength(4), PATIENCE);
    const words = (line: string) => line.replace(/^notification \d+ /, '');
    expect(notifications().slice(0, 2).map(words).toSorted()).toEqual(first.map(words));
    expect(notifications().slice(2).map(words).toSorted()).toEqual([
      'Depot Van 7 geofence-visit end',
      'Depot Van 7 speeding end',
    ]);
    // One that was under way when the service died may come again, by the same id.
    const deliveries = () => new Set(lines(received).map((line) => line.split(' ', 2).join(' ')));
    await vi.waitFor(() => expect(deliveries().size).toBe(4), PATIENCE);
    for (const delivery of deliveries()) expect(delivery).toMatch(/^genuine /);

    await vi.waitFor(async () => {
      const { stdout } = await run(example('inbox'));
      const [inbox, trial, deliveries] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(inbox.items).toHaveLength(4);
      expect(trial.matched).toHaveLength(4);
      expect(deliveries.items.map(({ state }: { state: string }) => state)).toEqual(Array(4).fill('delivered'));
    }, PATIENCE);
    // What was under way when it died is taken up again after half a minute.
    const mails = () => readdirSync(join(folder, 'data', 'mail')).filter((name) => name.endsWith('.eml'));
    await vi.waitFor(() => expect(mails()).toHaveLength(4), PATIENCE);
  } finally {
    for (const { pid } of children) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    await service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
