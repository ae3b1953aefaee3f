import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { OPERATOR_PASSWORD, type RunningService, startService } from './service.fixture.ts';

const run = promisify(execFile);
const PACKAGE = join(import.meta.dirname, '../../../packages/client-python');
const folder = mkdtempSync(join(tmpdir(), 'outrider-python-'));
const venv = join(folder, 'venv');
let service: RunningService | null = null;

/** Why Python tests cannot run here; null where they can. */
async function obstacle(): Promise<string | null> {
  try {
    const { stdout } = await run('python3', ['-c', 'import sys; print(sys.version_info >= (3, 11))']);
    if (stdout.trim() !== 'True') return 'python3 is older than 3.11';
    await run('python3', ['-m', 'venv', venv]);
    return null;
  } catch (error) {
    return `python3 cannot make a venv (Debian: apt-get install python3-venv): ${(error as Error).message}`;
  }
}

const reason = await obstacle();
if (reason !== null) console.log(`Skipped: ${reason}`);

afterAll(async () => {
  await service?.kill();
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(reason !== null)('the Python client passes its tests against a running service', async () => {
  // A build leaves files beside the sources.
  const copy = join(folder, 'client-python');
  cpSync(PACKAGE, copy, { recursive: true });
  const python = join(venv, 'bin/python');
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', copy]);
  service = await startService(join(folder, 'data'));
  // An event for the feed: a panic button.
  await service.call('POST', '/api/v1/vehicles', { name: 'Alarmed', terminalId: '4711' });
  const position = `id=4711&lat=59.9&lon=30.3&timestamp=${Math.floor(Date.now() / 1000)}&alarm=sos`;
  const sent = await fetch(`http://127.0.0.1:${service.ports.osmand}/?${position}`, { method: 'POST' });
  expect(sent.status).toBe(200);
  const { stderr } = await run(python, ['-m', 'unittest', '-v', 'test_client'], {
    cwd: join(copy, 'tests'),
    env: {
      PATH: process.env.PATH,
      OUTRIDER_URL: `http://127.0.0.1:${service.ports.http}`,
      OUTRIDER_LOGIN: 'admin',
      OUTRIDER_PASSWORD: OPERATOR_PASSWORD,
      OUTRIDER_README: join(copy, 'README.md'),
    },
  }).catch((error: { stderr?: string }) => {
    throw new Error(`the Python tests failed:\n${error.stderr}`, { cause: error });
  });
  expect(stderr).toMatch(/^OK$/m);
});
