import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backingOf, openRegistry, SECRETS_KEY_FILE } from '@outrider/backing';
import { createLogger, readConfig } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { variables } from './config.ts';
import { openDataDir } from './data-dir.ts';
import { type RunningService, startService } from './service.fixture.ts';
import { runRotateSecrets } from './upkeep/rotate-secrets.ts';

let folder: string;
let service: RunningService | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-secrets-'));
});
afterEach(async () => {
  await service?.kill().catch(() => {});
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

const logger = createLogger('silent', 'json');
const config = () => readConfig(variables, { DATA_DIR: folder });
const open = () => openRegistry(backingOf(config(), folder), logger);
const keys = () => readFileSync(join(folder, SECRETS_KEY_FILE), 'utf8').trim().split('\n');

test('nobody but its account reads what a service stores, nor what an earlier release left open', {
  timeout: 120_000,
}, async () => {
  for (const name of ['reports', 'backups']) {
    mkdirSync(join(folder, name), { mode: 0o755 });
    writeFileSync(join(folder, name, 'old.csv'), 'position', { mode: 0o644 });
  }
  chmodSync(folder, 0o755);
  service = await startService(folder);
  const open: string[] = [];
  let files = 0;
  for (const name of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    const state = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (state === undefined || state.isSymbolicLink()) continue;
    files++;
    if ((state.mode & 0o077) !== 0) open.push(name);
  }
  expect(open).toEqual([]);
  // Those of SQLite and of ClickHouse while they are in use are among them.
  expect(files).toBeGreaterThan(20);
  expect(readdirSync(folder)).toContain('registry.sqlite-wal');
});

test('an embedded registry has a key of its own, readable by its account alone', async () => {
  await (await open()).close();
  const [key] = keys();
  expect(statSync(join(folder, SECRETS_KEY_FILE)).mode & 0o777).toBe(0o600);
  await (await open()).close();
  expect(keys()).toEqual([key]);
});

test('rotate-secrets makes a new key, seals with it and removes the old one; a service that runs is left alone', async () => {
  const registry = await open();
  await registry.close();
  const before = keys();
  const lines: string[] = [];
  const rotate = (...words: string[]) => runRotateSecrets(words, config(), logger, (line) => lines.push(line));
  const held = openDataDir(folder);
  await expect(rotate()).rejects.toThrow('in use by another Outrider');
  held.release();
  expect(keys()).toEqual(before);
  expect(await rotate()).toBe(0);
  expect(keys()).toHaveLength(1);
  expect(keys()).not.toEqual(before);
  expect(lines.join('\n')).toMatch(
    /new key: [0-9a-f]{8}\nsecrets sealed with the first key: 0\nolder keys are removed/,
  );
  await expect(rotate('--all')).rejects.toThrow('it is: rotate-secrets');
});
