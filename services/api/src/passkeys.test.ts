import { totpCode } from '@outrider/auth';
import { Authenticator, type Said } from '@outrider/auth/authenticator';
import { CHALLENGE_TTL_S, MAX_PASSKEYS_PER_USER } from '@outrider/registry';
import { Metrics } from '@outrider/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, World } from './api.fixture.ts';
import type { Api } from './api.ts';

const ORIGIN = 'https://outrider.test';
const MINE = '/api/v1/me/passkeys';

let world: World;
beforeEach(async () => {
  world = await World.open({ publicUrl: ORIGIN });
});
afterEach(() => world.close());

const begin = (jwt: string) => world.call('POST', `${MINE}/options`, { jwt, body: { currentPassword: PASSWORD } });

async function add(jwt: string, device = new Authenticator(), said: Said = {}) {
  const { body } = await begin(jwt);
  const credential = device.register(body.publicKey, ORIGIN, said);
  return world.call('POST', MINE, { jwt, body: { state: body.state, name: 'Laptop', credential } });
}

async function enrolled(login: string) {
  const member = await world.member(login);
  const device = new Authenticator();
  const { status, body } = await add(member.jwt, device);
  expect(status).toBe(201);
  return { ...member, device, id: body.passkey.id as string, recoveryCodes: body.recoveryCodes as string[] };
}

/** What the device signs of a new challenge. */
async function signed(device: Authenticator, said: Said = {}) {
  const { body } = await world.call('POST', '/auth/passkey/options');
  return { state: body.state, credential: device.answer(body.publicKey, ORIGIN, said) };
}

const signIn = async (body: unknown, from?: string) =>
  world.call('POST', '/auth/passkey', { body, ...(from !== undefined && { from }) });
const logIn = (login: string, more: object = {}) =>
  world.call('POST', '/auth/login?jwt=1', { body: { login, password: PASSWORD, ...more } });

/** Who has the session that an answer began. */
async function whose({ headers }: { headers: Headers }): Promise<string | undefined> {
  const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  return (await world.call('GET', '/api/v1/me', { headers: { cookie } })).body.login;
}

const WRONG_PASSKEY = { status: 401, body: { type: 'urn:outrider:problem:wrong-passkey' } };
const WRONG_FACTOR = { status: 401, body: { type: 'urn:outrider:problem:wrong-second-factor' } };
const FACTOR_NEEDED = { status: 401, body: { type: 'urn:outrider:problem:second-factor-needed' } };

describe('a sign-in with a passkey', () => {
  test('names its account by itself, and begins a session of the console', async () => {
    const { device } = await enrolled('anna');
    await enrolled('boris');
    const answer = await signIn(await signed(device));
    expect(answer.status).toBe(204);
    expect(await whose(answer)).toBe('anna');
    expect((await world.call('GET', '/auth/options')).body.passkeyOrigin).toBe(ORIGIN);
  });

  test('takes each challenge once, in any instance, and for ten minutes', async () => {
    const { device } = await enrolled('anna');
    const other = world.remake({ metrics: new Metrics() });
    const first = await signed(device);
    const apis: Api[] = [world.api, other];
    world.api = other;
    expect((await signIn(first)).status).toBe(204);
    for (const api of apis) {
      world.api = api;
      expect(await signIn(first)).toMatchObject(WRONG_PASSKEY);
    }
    world.api = apis[0] ?? world.api;
    other.close();
    const late = await signed(device);
    world.nowMs += CHALLENGE_TTL_S * 1000 + 1000;
    expect(await signIn(late)).toMatchObject(WRONG_PASSKEY);
    expect((await signIn(await signed(device))).status).toBe(204);
  });

  test.each<[string, Said]>([
    ['of another site', { origin: 'https://outrider.example' }],
    ['without a verified user', { verified: false }],
    ['of another challenge', { challenge: 'AAAA' }],
    ['whose counter did not grow', { counter: 1 }],
  ])('%s is refused', async (_, said) => {
    const { device } = await enrolled('anna');
    expect((await signIn(await signed(device, { counter: 5 }))).status).toBe(204);
    expect(await signIn(await signed(device, said))).toMatchObject(WRONG_PASSKEY);
  });

  test('is refused with the state of a registration or of nobody, and an unknown passkey', async () => {
    const { device, jwt } = await enrolled('anna');
    const { body } = await begin(jwt);
    const { state } = await signed(device);
    const credential = device.answer({ challenge: body.publicKey.challenge, rpId: body.publicKey.rp.id }, ORIGIN);
    for (const wrong of [body.state, state, 'x']) {
      expect(await signIn({ state: wrong, credential })).toMatchObject(WRONG_PASSKEY);
    }
    expect(await signIn(await signed(new Authenticator()))).toMatchObject(WRONG_PASSKEY);
  });

  test('is refused to a blocked account, and counts as a failed login of the address', async () => {
    const { device, user } = await enrolled('anna');
    await world.registry.users.update(user.id, null, { blocked: true });
    for (let nth = 0; nth < 10; nth++)
      expect(await signIn(await signed(device), '198.51.100.1')).toMatchObject({
        status: 401,
        body: { type: 'urn:outrider:problem:account-blocked' },
      });
    expect((await signIn(await signed(device), '198.51.100.1')).status).toBe(429);
    const { items } = await world.registry.audit.list({}, { limit: 100, after: null });
    expect(items.filter(({ action }) => action === 'login-failed')).toHaveLength(10);
  });

  test('is for pages of this service alone', async () => {
    const { device } = await enrolled('anna');
    const headers = { 'sec-fetch-site': 'cross-site' };
    const answer = await world.call('POST', '/auth/passkey', { body: await signed(device), headers });
    expect(answer.body.type).toBe('urn:outrider:problem:cross-origin');
  });
});

describe('a passkey as a second factor', () => {
  test('is asked for with the password, and taken with it', async () => {
    const { device } = await enrolled('anna');
    expect(await logIn('anna')).toMatchObject(FACTOR_NEEDED);
    const passkey = await signed(device);
    expect((await logIn('anna', { passkey })).status).toBe(200);
    expect(await logIn('anna', { passkey })).toMatchObject(WRONG_FACTOR);
    const wrongPassword = { password: 'not this one', passkey: await signed(device) };
    expect((await logIn('anna', wrongPassword)).body.type).toBe('urn:outrider:problem:wrong-credentials');
  });

  test('of another account is refused', async () => {
    await enrolled('anna');
    const { device } = await enrolled('boris');
    expect(await logIn('anna', { passkey: await signed(device) })).toMatchObject(WRONG_FACTOR);
  });

  test('has recovery codes, beside an app or without, until nothing is left that they are for', async () => {
    const { jwt, id, recoveryCodes } = await enrolled('anna');
    expect((await logIn('anna', { totp: recoveryCodes[0] })).status).toBe(200);
    const factor = '/api/v1/me/second-factor';
    const currentPassword = { currentPassword: PASSWORD };
    const renewed = await world.call('POST', `${factor}/recovery-codes`, { jwt, body: currentPassword });
    expect((await logIn('anna', { totp: recoveryCodes[1] })).status).toBe(401);
    expect((await logIn('anna', { totp: renewed.body.recoveryCodes[0] })).status).toBe(200);

    const { secret } = (await world.call('POST', factor, { jwt, body: currentPassword })).body;
    const totp = totpCode(secret, world.nowMs);
    expect((await world.call('POST', `${factor}/confirm`, { jwt, body: { totp } })).status).toBe(200);
    expect((await add(jwt)).body.recoveryCodes).toBeNull();
    expect((await world.call('GET', factor, { jwt })).body).toMatchObject({ enabled: true, passkeys: 2 });
    expect((await world.call('POST', `${factor}/disable`, { jwt, body: currentPassword })).status).toBe(204);
    expect((await world.call('GET', factor, { jwt })).body).toMatchObject({ enabled: false, recoveryCodes: 10 });
    const { items } = (await world.call('GET', MINE, { jwt })).body;
    for (const passkey of items)
      await world.call('POST', `${MINE}/${passkey.id}/remove`, { jwt, body: currentPassword });
    expect(items.map((each: { id: string }) => each.id)).toContain(id);
    expect((await world.call('GET', factor, { jwt })).body).toMatchObject({ passkeys: 0, recoveryCodes: 0 });
    expect((await logIn('anna')).status).toBe(200);
  });
});

describe('the passkeys of an account', () => {
  test('are listed and renamed; another account sees and changes none of them', async () => {
    const { jwt, id } = await enrolled('anna');
    const boris = await world.member('boris');
    const at = `${MINE}/${id}`;
    expect((await world.call('PATCH', at, { jwt, body: { name: 'Phone' } })).body.name).toBe('Phone');
    expect((await world.call('PATCH', at, { jwt: boris.jwt, body: { name: 'Phone' } })).status).toBe(404);
    const remove = { jwt: boris.jwt, body: { currentPassword: PASSWORD } };
    expect((await world.call('POST', `${at}/remove`, remove)).status).toBe(404);
    expect((await world.call('GET', MINE, { jwt: boris.jwt })).body.items).toEqual([]);
    const { items } = (await world.call('GET', MINE, { jwt })).body;
    expect(items).toEqual([{ id, name: 'Phone', createdAt: '2026-01-15T12:00:00.000Z', lastUsedAt: null }]);
  });

  test('need the current password to be added and removed', async () => {
    const { jwt, id } = await enrolled('anna');
    for (const path of ['options', `${id}/remove`]) {
      const body = { currentPassword: 'not this one' };
      const answer = await world.call('POST', `${MINE}/${path}`, { jwt, body });
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/currentPassword' }] } });
    }
  });

  test('are added once, with the state of their account, and are few', async () => {
    const { jwt } = await world.member('anna');
    const boris = await world.member('boris');
    const device = new Authenticator();
    const { body } = await begin(jwt);
    const wish = { state: body.state, name: 'Laptop', credential: device.register(body.publicKey, ORIGIN) };
    expect((await world.call('POST', MINE, { jwt: boris.jwt, body: wish })).body.errors[0].pointer).toBe('/state');
    expect((await world.call('POST', MINE, { jwt, body: wish })).status).toBe(201);
    expect((await world.call('POST', MINE, { jwt, body: wish })).body.errors[0].pointer).toBe('/state');
    expect((await add(jwt, device)).status).toBe(409);
    expect((await add(boris.jwt, device)).status).toBe(409);
    expect((await add(jwt, new Authenticator(), { verified: false })).body.errors[0].pointer).toBe('/credential');
    for (let nth = 1; nth < MAX_PASSKEYS_PER_USER; nth++) expect((await add(jwt)).status).toBe(201);
    expect((await begin(jwt)).status).toBe(409);
    expect((await begin(boris.jwt)).body.publicKey.excludeCredentials).toEqual([]);
  });

  test('end the other sessions when one is removed; all end when an operator removes them', async () => {
    const { user, jwt, id, device } = await enrolled('anna');
    const other = await signIn(await signed(device));
    expect(await whose(other)).toBe('anna');
    await world.call('POST', `${MINE}/${id}/remove`, { jwt, body: { currentPassword: PASSWORD } });
    expect(await whose(other)).toBeUndefined();
    expect((await world.call('GET', MINE, { jwt })).status).toBe(200);
    expect(await signIn(await signed(device))).toMatchObject(WRONG_PASSKEY);

    await add(jwt);
    const operator = await world.member('admin', 'operator');
    const path = `/api/v1/users/${user.id}/second-factor`;
    expect((await world.call('GET', path, { jwt: operator.jwt })).body.passkeys).toBe(1);
    expect((await world.call('DELETE', path, { jwt: operator.jwt })).status).toBe(204);
    expect((await world.call('GET', MINE, { jwt })).status).toBe(401);
    expect((await logIn('anna')).status).toBe(200);
    const { items } = await world.registry.audit.list({}, { limit: 100, after: null });
    const actions = items.map(({ action }) => action);
    for (const action of ['passkey-added', 'passkey-removed', 'second-factor-removed'])
      expect(actions).toContain(action);
  });

  test('need a host with TLS: the one of the settings, or the one that is asked', async () => {
    const member = await world.member('anna');
    const other = await World.open();
    try {
      const { jwt } = await other.member('anna');
      const asked = (headers: Record<string, string>) =>
        other.call('POST', `${MINE}/options`, { jwt, headers, body: { currentPassword: PASSWORD } });
      expect((await asked({ host: 'outrider.test' })).status).toBe(409);
      expect((await asked({ host: '127.0.0.1:8080' })).status).toBe(409);
      expect((await asked({ host: 'localhost:8080' })).body.publicKey.rp.id).toBe('localhost');
      const headers = { host: 'localhost:8080' };
      const options = await other.call('GET', '/auth/options', { headers });
      expect(options.body.passkeyOrigin).toBe('http://localhost:8080');
      expect((await other.call('POST', '/auth/passkey/options')).status).toBe(409);
    } finally {
      await other.close();
    }
    expect((await begin(member.jwt)).body.publicKey.rp.id).toBe('outrider.test');
  });
});
