import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

test('a secret of an earlier release is used as it is, and gets its check sum', async () => {
  const path = join(folder, 'terminal-secret');
  const secret = '00112233445566778899aabbccddeeff'.repeat(2);
  writeFileSync(path, `${secret}\n`);
  expect([await openTerminalSecret(path), await openTerminalSecret(path)]).toEqual([secret, secret]);
  expect(readdirSync(folder).toSorted()).toEqual(['terminal-secret', 'terminal-secret.sha256']);
});

test.each<[string, (content: Buffer) => Buffer]>([
  ['empty', () => Buffer.from('\n')],
  ['cut', (content) => content.subarray(0, 32)],
  ['zeroed', (content) => Buffer.alloc(content.length)],
  ['zeros in hex digits', () => Buffer.alloc(64, '0')],
  ['a flipped bit', (content) => Buffer.from(content).fill((content[7] ?? 0) ^ 1, 7, 8)],
])('a damaged secret is no secret: %s', async (_, damage) => {
  const path = join(folder, 'terminal-secret');
  await openTerminalSecret(path);
  writeFileSync(path, damage(readFileSync(path)));
  await expect(openTerminalSecret(path)).rejects.toThrow(`${path} is damaged`);
});
