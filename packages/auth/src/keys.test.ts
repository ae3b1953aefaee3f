import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openKeys } from './keys.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keys-'));
  path = join(folder, 'signing-keys.json');
});
afterEach(() => rm(folder, { recursive: true }));

test('a new key file can be read by its owner alone, and is found again', async () => {
  const first = await openKeys(path);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const second = await openKeys(path);
  expect(second.current.kid).toBe(first.current.kid);
  expect(await readdir(folder)).toEqual(['signing-keys.json']);
});

test('of many that start at once all use one key', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => openKeys(path)));
  expect(new Set(all.map((keys) => keys.current.kid)).size).toBe(1);
  expect(await readdir(folder)).toEqual(['signing-keys.json']);
});

test('what is shown holds no private part', async () => {
  const { jwks, current } = await openKeys(path);
  expect(jwks.keys).toEqual([
    { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: current.kid, x: expect.any(String) },
  ]);
});

test('rights that are too wide are narrowed', async () => {
  await openKeys(path);
  await chmod(path, 0o644);
  await openKeys(path);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a broken file is an error, never silently replaced', async () => {
  for (const text of ['', '{}', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"AAAA"}]}']) {
    await writeFile(path, text);
    await expect(openKeys(path)).rejects.toThrow(path);
  }
});
