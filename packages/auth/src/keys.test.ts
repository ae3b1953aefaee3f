import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionId, UserId } from '@outrider/domain';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type KeyRing, openKeys, rotateKeys } from './keys.ts';
import { Tokens } from './tokens.ts';
import { watchKeys } from './watch-keys.ts';

const LIFETIMES = { tokenSeconds: 3600, sessionSeconds: 30 * 86_400 };
const NOON = Date.UTC(2026, 0, 15, 12);
const SESSION = '01900000-0000-7000-8000-00000000000a' as SessionId;
const USER = '01900000-0000-7000-8000-000000000001' as UserId;

let nowMs = NOON;
let folder: string;
let path: string;
beforeEach(async () => {
  nowMs = NOON;
  folder = await mkdtemp(join(tmpdir(), 'keys-'));
  path = join(folder, 'signing-keys.json');
});
afterEach(() => rm(folder, { recursive: true }));

test('a new key file can be read by its owner alone, and is found again', async () => {
  const first = await openKeys(path, LIFETIMES, () => nowMs);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const second = await openKeys(path, LIFETIMES, () => nowMs);
  expect(second.current.kid).toBe(first.current.kid);
  expect(await readdir(folder)).toEqual(['signing-keys.json']);
});

test('of many that start at once all use one key', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => openKeys(path, LIFETIMES, () => nowMs)));
  expect(new Set(all.map((keys) => keys.current.kid)).size).toBe(1);
  expect(await readdir(folder)).toEqual(['signing-keys.json']);
});

test('what is shown holds no private part', async () => {
  const { jwks, current } = await openKeys(path, LIFETIMES, () => nowMs);
  expect(jwks.keys).toEqual([
    { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: current.kid, x: expect.any(String) },
  ]);
});

test('rights that are too wide are narrowed', async () => {
  await openKeys(path, LIFETIMES, () => nowMs);
  await chmod(path, 0o644);
  await openKeys(path, LIFETIMES, () => nowMs);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a broken file is an error, never silently replaced', async () => {
  for (const text of ['', '{}', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"AAAA"}]}']) {
    await writeFile(path, text);
    await expect(openKeys(path, LIFETIMES, () => nowMs)).rejects.toThrow(path);
  }
});

test('a key that is damaged is named with its file', async () => {
  expect((await openKeys(path, LIFETIMES, () => nowMs)).isNew).toBe(true);
  expect((await openKeys(path, LIFETIMES, () => nowMs)).isNew).toBe(false);
  const file = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ keys: [{ ...file.keys[0], d: file.keys[0].d.slice(2) }] }));
  await expect(openKeys(path, LIFETIMES, () => nowMs)).rejects.toThrow(`${path} holds a key that is damaged`);
});

describe('rotation', () => {
  const HOUR_MS = 3_600_000;
  /** How long a service may take to notice. */
  const NOTICED_MS = 60_000;
  const tokensOf = (keys: KeyRing) =>
    new Tokens({
      keys,
      ttlSeconds: 3600,
      refreshExpiredSeconds: 86_400,
      now: () => nowMs,
      sessionIsLive: async () => true,
    });
  const kidsOf = (keys: KeyRing) => keys.jwks.keys.map(({ kid }) => kid);
  const kidsInFile = async () => JSON.parse(await readFile(path, 'utf8')).keys.length;

  test('a new key signs, the old one verifies, and its private part is forgotten', async () => {
    const keys = await openKeys(path, LIFETIMES, () => nowMs);
    const tokens = tokensOf(keys);
    const first = keys.current.kid;
    const { jwt } = await tokens.issue(USER, SESSION, 0);
    const { kid, verifying } = await rotateKeys(path, LIFETIMES, nowMs);
    expect(kid).not.toBe(first);
    expect(verifying).toBe(1);
    expect(await keys.reload()).toBe(true);
    expect(keys.current.kid).toBe(kid);
    expect(kidsOf(keys)).toEqual([kid, first]);
    expect(await tokens.verify(jwt)).toMatchObject({ userId: USER });
    expect(await tokensOf(keys).verify(jwt)).toMatchObject({ userId: USER });
    const { jwt: fresh } = await tokens.issue(USER, SESSION, 0);
    expect(await tokensOf(await openKeys(path, LIFETIMES, () => nowMs)).verify(fresh)).toMatchObject({ userId: USER });
    const file = JSON.parse(await readFile(path, 'utf8'));
    expect(file.keys.map((key: object) => 'd' in key)).toEqual([true, false]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['signing-keys.json']);
  });

  test('a revoked key verifies nothing that it signed, however lately that was verified, not even for a refresh', async () => {
    const keys = await openKeys(path, LIFETIMES, () => nowMs);
    const tokens = tokensOf(keys);
    await rotateKeys(path, LIFETIMES, nowMs);
    const { jwt: older } = await tokens.issue(USER, SESSION, 0);
    await keys.reload();
    const { jwt } = await tokens.issue(USER, SESSION, 0);
    const cookie = await tokens.issueCookie(USER, SESSION, nowMs + HOUR_MS);
    for (const token of [older, jwt]) expect(await tokens.verify(token)).toMatchObject({ userId: USER });
    expect(await tokens.verifyCookie(cookie)).toMatchObject({ userId: USER });

    const { kid } = await rotateKeys(path, LIFETIMES, nowMs, true);
    expect(await keys.reload()).toBe(true);
    const refused = { error: 'bad-signature' };
    for (const each of [tokens, tokensOf(await openKeys(path, LIFETIMES, () => nowMs))]) {
      for (const token of [older, jwt]) {
        expect(await each.verify(token)).toEqual(refused);
        expect(await each.verifyForRefresh(token)).toEqual(refused);
      }
      expect(await each.verifyCookie(cookie)).toEqual(refused);
    }
    expect(kidsOf(keys)).toEqual([kid]);
    expect(await kidsInFile()).toBe(1);
    expect(await tokens.verify((await tokens.issue(USER, SESSION, 0)).jwt)).toMatchObject({ keyId: kid });
  });

  test('the old key is shown until its last token has expired, and refreshes until its last session is over', async () => {
    const keys = await openKeys(path, LIFETIMES, () => nowMs);
    const tokens = tokensOf(keys);
    const { jwt } = await tokens.issue(USER, SESSION, 0);
    const refresh = await tokens.issueRefresh(USER, SESSION, NOON + 30 * 24 * HOUR_MS);
    await rotateKeys(path, LIFETIMES, nowMs);
    await keys.reload();
    nowMs = NOON + HOUR_MS + NOTICED_MS - 1;
    expect(kidsOf(keys)).toHaveLength(2);
    nowMs += 1;
    expect(kidsOf(keys)).toEqual([keys.current.kid]);
    expect(await tokens.verify(jwt)).toEqual({ error: 'expired' });
    expect(await tokens.verifyForRefresh(jwt)).toMatchObject({ userId: USER });
    nowMs = NOON + 30 * 24 * HOUR_MS + NOTICED_MS - 1;
    expect(await keys.reload()).toBe(false);
    expect(await kidsInFile()).toBe(2);
    expect(await tokens.verifyForRefresh(refresh)).toMatchObject({ userId: USER });
    nowMs += 1;
    expect(await tokens.verifyForRefresh(refresh)).toEqual({ error: 'bad-signature' });
    expect(await keys.reload()).toBe(false);
    expect(await kidsInFile()).toBe(1);
    const { jwt: fresh } = await tokens.issue(USER, SESSION, 0);
    expect(await tokensOf(keys).verify(fresh)).toMatchObject({ userId: USER });
  });

  test('keys of many rotations verify side by side; those that are over go with the next', async () => {
    const keys = await openKeys(path, LIFETIMES, () => nowMs);
    const issued: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      issued.push((await tokensOf(keys).issue(USER, SESSION, 0)).jwt);
      await rotateKeys(path, LIFETIMES, nowMs);
      await keys.reload();
      nowMs += 60_000;
    }
    for (const jwt of issued) expect(await tokensOf(keys).verify(jwt)).toMatchObject({ userId: USER });
    expect(await kidsInFile()).toBe(5);
    nowMs += 31 * 24 * HOUR_MS;
    expect(await rotateKeys(path, LIFETIMES, nowMs)).toMatchObject({ verifying: 1 });
  });

  test('of many at once none is lost', async () => {
    await openKeys(path, LIFETIMES, () => nowMs);
    const made = await Promise.all(Array.from({ length: 5 }, () => rotateKeys(path, LIFETIMES, nowMs)));
    const keys = await openKeys(path, LIFETIMES, () => nowMs);
    expect(kidsOf(keys)).toEqual(expect.arrayContaining(made.map(({ kid }) => kid)));
    expect(kidsOf(keys)).toHaveLength(6);
  });

  test('a lock that a killed process left is broken after a while', async () => {
    await openKeys(path, LIFETIMES, () => nowMs);
    await writeFile(`${path}.lock`, '');
    const longAgo = Date.now() / 1000 - 31;
    await utimes(`${path}.lock`, longAgo, longAgo);
    await rotateKeys(path, LIFETIMES, nowMs);
    expect(await readdir(folder)).toEqual(['signing-keys.json']);
  });

  test('without keys, or with a broken file, there is nothing to rotate', async () => {
    await expect(rotateKeys(path, LIFETIMES, nowMs)).rejects.toThrow();
    await writeFile(path, '{"keys":[]}');
    await expect(rotateKeys(path, LIFETIMES, nowMs)).rejects.toThrow(path);
    expect(await readFile(path, 'utf8')).toBe('{"keys":[]}');
  });

  test('a service that runs notices it, and goes on with the keys it has where the file is broken', async () => {
    const keys = await openKeys(path, LIFETIMES, () => nowMs);
    const rotated: string[] = [];
    const errors: unknown[] = [];
    const clock = new VirtualClock();
    const watch = { onRotated: (kid: string) => rotated.push(kid), onError: (error: unknown) => errors.push(error) };
    const stop = watchKeys(keys, watch, clock);
    const { kid } = await rotateKeys(path, LIFETIMES, nowMs);
    await clock.advance(1000);
    await vi.waitFor(() => expect(rotated).toEqual([kid]));
    const good = await readFile(path, 'utf8');
    await writeFile(path, 'broken');
    await clock.advance(1000);
    await vi.waitFor(() => expect(errors).toHaveLength(1));
    expect(keys.current.kid).toBe(kid);
    await writeFile(path, good);
    const { kid: next } = await rotateKeys(path, LIFETIMES, nowMs);
    await clock.advance(1000);
    await vi.waitFor(() => expect(rotated).toEqual([kid, next]));
    expect(errors).toHaveLength(1);
    await stop();
  });
});
