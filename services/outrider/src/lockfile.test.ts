import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
interface Entry {
  integrity?: string;
  resolved?: string;
  link?: boolean;
  optional?: boolean;
}
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockfile-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What the check says of the lock, once `change` was made to it. */
function check(change: (packages: Record<string, Entry>) => void): { status: number | null; stderr: string } {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, Entry> };
  change(lock.packages);
  const file = join(folder, 'package-lock.json');
  writeFileSync(file, JSON.stringify(lock));
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, '.ci/check-lockfile.mjs'), file], {
    encoding: 'utf8',
  });
  return { status, stderr };
}

test('a package that npm could not verify keeps a change from landing', () => {
  expect(check(() => {})).toEqual({ status: 0, stderr: '' });
  const without = check((packages) => delete packages['node_modules/hono']?.integrity);
  expect(without).toEqual({ status: 1, stderr: expect.stringMatching(/hono@.* has no sha512 hash/) });
  const weak = check((packages) =>
    Object.assign(packages['node_modules/hono'] ?? {}, { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }),
  );
  expect(weak.status).toBe(1);
  // Not even as an optional one of another platform, unless it is listed.
  const added = { version: '1.0.0', optional: true, os: ['aix'] };
  expect(check((packages) => Object.assign(packages, { 'node_modules/evil': added })).stderr).toContain(
    'evil@1.0.0 has no',
  );
});

test('no registry and no other source is named', () => {
  for (const resolved of ['https://registry.example/hono.tgz', 'git+ssh://git@forge.example/hono.git#abc'])
    expect(check((packages) => Object.assign(packages['node_modules/hono'] ?? {}, { resolved })).status).toBe(1);
});

test('a package with an install script runs it only where package.json allows it', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean; optional?: boolean }>;
  };
  const { allowScripts, scarfSettings } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const withScript = Object.entries(packages)
    .filter(([, entry]) => entry.hasInstallScript && !entry.optional)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  expect(withScript).toContain('@scarf/scarf');
  expect(Object.keys(allowScripts)).toEqual(expect.arrayContaining(withScript));
  expect([allowScripts['@scarf/scarf'], scarfSettings.enabled]).toEqual([false, false]);
});
