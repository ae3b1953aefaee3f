import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTerminalSecret } from './terminal-secret.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terminal-secret-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the first process creates the secret, and it never changes', async () => {
  const path = join(folder, 'terminal-secret');
  const secrets = await Promise.all([openTerminalSecret(path), openTerminalSecret(path)]);
  const secret = await openTerminalSecret(path);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(secrets).toEqual([secret, secret]);
  expect(statSync(path).mode & 0o077).toBe(0);
  expect(await openTerminalSecret(join(folder, 'other'))).not.toBe(secret);
});

test('a file without a secret is refused', async () => {
  const path = join(folder, 'terminal-secret');
  writeFileSync(path, '\n');
  await expect(openTerminalSecret(path)).rejects.toThrow('empty');
});
