import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionId, UserId } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openKeys, type SigningKeys } from './keys.ts';
import { Tokens, tokenOfHeader } from './tokens.ts';

const USER = '01900000-0000-7000-8000-000000000001' as UserId;
const OTHER_USER = '01900000-0000-7000-8000-000000000002' as UserId;
const SESSION = '01900000-0000-7000-8000-00000000000a' as SessionId;
const OTHER_SESSION = '01900000-0000-7000-8000-00000000000b' as SessionId;
const LIFETIMES = { tokenSeconds: 3600, sessionSeconds: 30 * 86_400 };

let folder: string;
let keys: SigningKeys;
let foreignKeys: SigningKeys;
let nowMs: number;
let live: Set<SessionId>;
let asked: number;
let tokens: Tokens;

const newTokens = (of: SigningKeys = keys) =>
  new Tokens({
    keys: of,
    ttlSeconds: 3600,
    refreshExpiredSeconds: 86_400,
    now: () => nowMs,
    async sessionIsLive(sessionId) {
      asked += 1;
      return live.has(sessionId);
    },
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokens-'));
  keys = await openKeys(join(folder, 'keys.json'), LIFETIMES, () => nowMs);
  foreignKeys = await openKeys(join(folder, 'foreign.json'), LIFETIMES, () => nowMs);
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 15, 12);
  live = new Set([SESSION, OTHER_SESSION]);
  asked = 0;
  tokens = newTokens();
});

test('a token says who and until when, in Unix seconds', async () => {
  const { jwt, expiresAtMs } = await tokens.issue(USER, SESSION, 0);
  expect(expiresAtMs).toBe(nowMs + 3_600_000);
  expect(decodeJwt(jwt)).toMatchObject({ sub: USER, sid: SESSION, exp: expiresAtMs / 1000, iat: nowMs / 1000 });
  expect(decodeProtectedHeader(jwt)).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: keys.current.kid });
  const verified = { userId: USER, sessionId: SESSION, expiresAtMs, generation: 0, keyId: keys.current.kid };
  expect(await tokens.verify(jwt)).toEqual(verified);
  expect(await tokens.verify((await tokens.issue(USER, SESSION, 7)).jwt)).toEqual({ ...verified, generation: 7 });
});

test('it is good until its last second is over, whether it was seen before or not', async () => {
  const { jwt, expiresAtMs } = await tokens.issue(USER, SESSION, 0);
  nowMs = expiresAtMs - 1;
  expect(await tokens.verify(jwt)).toMatchObject({ userId: USER });
  nowMs = expiresAtMs;
  expect(await tokens.verify(jwt)).toEqual({ error: 'expired' });
  expect(await newTokens().verify(jwt)).toEqual({ error: 'expired' });
});

test('for refreshing, a token is good for a day after it has expired', async () => {
  const { jwt, expiresAtMs } = await tokens.issue(USER, SESSION, 3);
  nowMs = expiresAtMs + 86_400_000 - 1;
  expect(await tokens.verifyForRefresh(jwt)).toEqual({
    userId: USER,
    sessionId: SESSION,
    expiresAtMs,
    generation: 3,
    keyId: keys.current.kid,
  });
  expect(await newTokens(foreignKeys).verifyForRefresh(jwt)).toEqual({ error: 'bad-signature' });
  nowMs += 1;
  expect(await tokens.verifyForRefresh(jwt)).toEqual({ error: 'expired' });
  const refresh = await tokens.issueRefresh(USER, SESSION, nowMs + 86_400_000);
  nowMs += 2 * 86_400_000;
  expect(await tokens.verifyForRefresh(refresh)).toEqual(
    expect.not.objectContaining({ generation: expect.anything() }),
  );
});

test('keys of another place are not taken', async () => {
  const { jwt } = await newTokens(foreignKeys).issue(USER, SESSION, 0);
  expect(await tokens.verify(jwt)).toEqual({ error: 'bad-signature' });
});

test('the algorithm is pinned: neither none nor a public key used as a secret gets in', async () => {
  const claims = { sid: SESSION, sub: USER, iss: 'outrider' };
  const none = new UnsecuredJWT(claims).setExpirationTime(nowMs / 1000 + 60).encode();
  expect(await tokens.verify(none)).toEqual({ error: 'malformed' });
  const secret = Buffer.from(keys.jwks.keys[0]?.x ?? '', 'base64url');
  const confused = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', kid: keys.current.kid })
    .setExpirationTime(nowMs / 1000 + 60)
    .sign(secret);
  expect(await tokens.verify(confused)).toEqual({ error: 'malformed' });
});

test('a token without what it must say is not taken, though it is signed', async () => {
  const sign = (claims: Record<string, unknown>) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', kid: keys.current.kid, typ: 'JWT' })
      .sign(keys.current.privateKey);
  const good = { sub: USER, sid: SESSION, iss: 'outrider', exp: nowMs / 1000 + 60 };
  expect(await tokens.verify(await sign(good))).toMatchObject({ userId: USER });
  for (const missing of ['sub', 'sid', 'iss', 'exp'])
    expect(await tokens.verify(await sign({ ...good, [missing]: undefined }))).toEqual({ error: 'malformed' });
  for (const wrong of [{ sub: 'admin' }, { sid: 7 }, { iss: 'elsewhere' }])
    expect(await tokens.verify(await sign({ ...good, ...wrong }))).toEqual({ error: 'malformed' });
});

test('the token of a cookie lives as long as its session, and is good for nothing but a cookie', async () => {
  const endsAtMs = nowMs + 30 * 86_400_000;
  const cookie = await tokens.issueCookie(USER, SESSION, endsAtMs);
  const { jwt } = await tokens.issue(USER, SESSION, 0);
  expect(await tokens.verifyCookie(cookie)).toEqual({
    userId: USER,
    sessionId: SESSION,
    expiresAtMs: endsAtMs,
    keyId: keys.current.kid,
  });
  for (const fresh of [tokens, newTokens()]) {
    expect(await fresh.verify(cookie)).toEqual({ error: 'malformed' });
    expect(await fresh.verifyForRefresh(cookie)).toEqual({ error: 'malformed' });
    expect(await fresh.verifyCookie(jwt)).toEqual({ error: 'malformed' });
  }
  nowMs = endsAtMs - 1;
  expect(await tokens.verifyCookie(cookie)).toMatchObject({ userId: USER });
  nowMs = endsAtMs;
  expect(await tokens.verifyCookie(cookie)).toEqual({ error: 'expired' });
});

test('whatever is sent as a token is refused as a value', async () => {
  const { jwt } = await tokens.issue(USER, SESSION, 0);
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ maxLength: 2000 }),
        fc
          .nat(jwt.length - 1)
          .chain((at) =>
            fc.base64String({ minLength: 4, maxLength: 4 }).map((text) => jwt.slice(0, at) + text + jwt.slice(at + 4)),
          ),
      ),
      async (text) => {
        if (text === jwt) return;
        const result = await tokens.verify(text);
        // The last character of a signature has bits that mean nothing: two spellings of one signature are one token.
        if (result.error === undefined) expect(decodeJwt(text)).toEqual(decodeJwt(jwt));
      },
    ),
    { numRuns: runs(300) },
  );
});

describe('what was verified', () => {
  test('is not verified again, and its session is asked for again after 5 s', async () => {
    const { jwt } = await tokens.issue(USER, SESSION, 0);
    for (let n = 0; n < 10; n += 1) await tokens.verify(jwt);
    expect(asked).toBe(1);
    nowMs += 4999;
    await tokens.verify(jwt);
    expect(asked).toBe(1);
    live.delete(SESSION);
    nowMs += 1;
    expect(await tokens.verify(jwt)).toMatchObject({ error: 'ended' });
    expect(asked).toBe(2);
  });

  test('and belongs to a session that ended costs one query, and says whose it was', async () => {
    const { jwt } = await tokens.issue(USER, SESSION, 0);
    live.delete(SESSION);
    for (let n = 0; n < 10; n += 1) expect(await tokens.verify(jwt)).toEqual({ error: 'ended', userId: USER });
    nowMs += 60_000;
    expect(await tokens.verify(jwt)).toEqual({ error: 'ended', userId: USER });
    expect(asked).toBe(1);
  });

  test('has its session asked for again when the clock is set back', async () => {
    const { jwt } = await tokens.issue(USER, SESSION, 0);
    await tokens.verify(jwt);
    live.delete(SESSION);
    nowMs -= 5000;
    expect(await tokens.verify(jwt)).toMatchObject({ error: 'ended' });
  });

  test('is dropped at once with its session, and no other is', async () => {
    const { jwt } = await tokens.issue(USER, SESSION, 0);
    const other = await tokens.issue(USER, OTHER_SESSION, 0);
    await tokens.verify(jwt);
    await tokens.verify(other.jwt);
    live.delete(SESSION);
    tokens.revokeSession(SESSION);
    expect(await tokens.verify(jwt)).toMatchObject({ error: 'ended' });
    asked = 0;
    expect(await tokens.verify(other.jwt)).toMatchObject({ sessionId: OTHER_SESSION });
    expect(asked).toBe(0);
  });

  test('is dropped at once with its user, and no other is', async () => {
    const { jwt } = await tokens.issue(USER, SESSION, 0);
    const other = await tokens.issue(OTHER_USER, OTHER_SESSION, 0);
    await tokens.verify(jwt);
    await tokens.verify(other.jwt);
    live.clear();
    tokens.revokeUser(USER);
    expect(await tokens.verify(jwt)).toMatchObject({ error: 'ended' });
    expect(await tokens.verify(other.jwt)).toMatchObject({ userId: OTHER_USER });
  });

  test('is not kept when a revocation came while it was being verified', async () => {
    let answer: (live: boolean) => void = () => {};
    const slow = new Tokens({
      keys,
      ttlSeconds: 3600,
      refreshExpiredSeconds: 86_400,
      now: () => nowMs,
      sessionIsLive: () =>
        new Promise((resolve) => {
          asked += 1;
          answer = resolve;
        }),
    });
    const { jwt } = await slow.issue(USER, SESSION, 0);
    const first = slow.verify(jwt);
    while (asked === 0) await new Promise(setImmediate);
    slow.revokeSession(SESSION);
    answer(true);
    await first;
    const second = slow.verify(jwt);
    while (asked === 1) await new Promise(setImmediate);
    answer(false);
    expect(await second).toMatchObject({ error: 'ended' });
  });
});

test('the header has the word JWT, one space, and the token', () => {
  expect(tokenOfHeader('JWT aaa.bbb.ccc')).toBe('aaa.bbb.ccc');
  expect(tokenOfHeader('jwt aaa.bbb.ccc')).toBe('aaa.bbb.ccc');
  for (const wrong of [undefined, '', 'JWT', 'JWT ', 'JWT  a', 'Bearer a.b.c', 'JWT a b', 'JWT a\n', 'xJWT a'])
    expect(tokenOfHeader(wrong)).toBeNull();
});
