import { hash } from 'node:crypto';
import { type ApiKeyId, type UserId, writeApiKey } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { ApiKeyChecks, type KnownApiKey } from './api-key-checks.ts';
import { tokenOfHeader } from './tokens.ts';

const ID = '01961f3d-6eb2-7c3d-8e4f-7a8b9c0d1e2f' as ApiKeyId;
const SECRET = 'Jm3vXQ0c5Yl8bTz1oWkR9wJm3vXQ0c5Yl8bTz1oW-_9';
const KEY = writeApiKey(ID, SECRET);

describe('API keys', () => {
  let nowMs: number;
  let known: KnownApiKey | null;
  let asked: number;
  let checks: ApiKeyChecks;
  beforeEach(() => {
    nowMs = 1_000_000;
    asked = 0;
    known = {
      grant: { id: ID, scopes: ['read'], groupIds: null, version: 1 },
      userId: 'anna' as UserId,
      secretHash: hash('sha256', SECRET),
      expiresAtMs: null,
    };
    checks = new ApiKeyChecks({
      known: async () => {
        asked += 1;
        return known;
      },
      now: () => nowMs,
    });
  });

  test('a good key says whose it is, and is read again after five seconds of use', async () => {
    for (let nth = 0; nth < 3; nth++)
      expect(await checks.verify(KEY)).toMatchObject({ userId: 'anna', grant: { id: ID, scopes: ['read'] } });
    expect(asked).toBe(1);
    nowMs += 5000;
    known = null;
    expect(await checks.verify(KEY)).toEqual({ error: 'unknown-key' });
    expect(asked).toBe(2);
  });

  test('a key that was revoked here is read anew at once', async () => {
    await checks.verify(KEY);
    known = null;
    checks.revoke(ID);
    expect(await checks.verify(KEY)).toEqual({ error: 'unknown-key' });
  });

  test('what was read while a key was revoked is not kept', async () => {
    const answer = checks.verify(KEY);
    checks.revoke(ID);
    await answer;
    known = null;
    expect(await checks.verify(KEY)).toEqual({ error: 'unknown-key' });
  });

  test('it expires between two readings', async () => {
    known = known && { ...known, expiresAtMs: nowMs + 10 };
    expect(await checks.verify(KEY)).toMatchObject({ expiresAtMs: nowMs + 10 });
    nowMs += 10;
    expect(await checks.verify(KEY)).toEqual({ error: 'unknown-key' });
  });

  test.each([
    [writeApiKey(ID, `${SECRET.slice(0, -1)}A`), 'unknown-key'],
    [KEY.slice(0, -1), 'malformed'],
    [`${KEY}A`, 'malformed'],
    ['outrider_', 'malformed'],
    ['', 'malformed'],
  ])('%s is refused: %s', async (key, error) => {
    expect(await checks.verify(key)).toEqual({ error });
  });

  test('the header takes a key by both words, and a JWT by its own alone', () => {
    for (const header of [`Bearer ${KEY}`, `bearer ${KEY}`, `JWT ${KEY}`]) expect(tokenOfHeader(header)).toBe(KEY);
    expect(tokenOfHeader('JWT a.b.c')).toBe('a.b.c');
    for (const header of ['Bearer a.b.c', `Basic ${KEY}`, `Bearer  ${KEY}`, KEY, undefined])
      expect(tokenOfHeader(header)).toBeNull();
  });
});
