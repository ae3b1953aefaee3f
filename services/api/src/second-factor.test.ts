import { totpCode } from '@outrider/auth';
import { Metrics } from '@outrider/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, World } from './api.fixture.ts';

const STEP_MS = 30_000;

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

async function enrolled(login: string) {
  const { user, jwt } = await world.member(login);
  const begun = await post(jwt, '', { currentPassword: PASSWORD });
  const secret: string = begun.body.secret;
  const confirmed = await post(jwt, '/confirm', { totp: totpCode(secret, world.nowMs) });
  expect(confirmed.status).toBe(200);
  // The code of the confirmation is used.
  world.nowMs += STEP_MS;
  return { user, jwt, secret, recoveryCodes: confirmed.body.recoveryCodes as string[] };
}

const post = (jwt: string, path: string, body: object) =>
  world.call('POST', `/api/v1/me/second-factor${path}`, { jwt, body });
const logIn = (login: string, totp?: string, from = '192.0.2.1', query = '?jwt=1') =>
  world.call('POST', `/auth/login${query}`, { body: { login, password: PASSWORD, ...(totp && { totp }) }, from });

const SECOND_FACTOR_NEEDED = { status: 401, body: { type: 'urn:outrider:problem:second-factor-needed' } };
const WRONG_SECOND_FACTOR = { status: 401, body: { type: 'urn:outrider:problem:wrong-second-factor' } };

describe('a login to an account with a second factor', () => {
  test.each(['?jwt=1', ''])('%s needs password and code, each code once', async (query) => {
    const { secret } = await enrolled('anna');
    expect(await logIn('anna', undefined, undefined, query)).toMatchObject(SECOND_FACTOR_NEEDED);
    const code = totpCode(secret, world.nowMs);
    expect((await logIn('anna', code, undefined, query)).status).toBe(query === '' ? 204 : 200);
    expect(await logIn('anna', code, undefined, query)).toMatchObject(WRONG_SECOND_FACTOR);
    world.nowMs += STEP_MS;
    expect((await logIn('anna', totpCode(secret, world.nowMs))).status).toBe(200);
  });

  test('says nothing of the second factor to those who do not know the password', async () => {
    const { secret } = await enrolled('anna');
    const totp = totpCode(secret, world.nowMs);
    for (const more of [{}, { totp }]) {
      const body = { login: 'anna', password: 'not this one', ...more };
      const answer = await world.call('POST', '/auth/login?jwt=1', { body });
      expect(answer.body.type).toBe('urn:outrider:problem:wrong-credentials');
    }
    expect((await logIn('anna', totp)).status).toBe(200);
  });

  test('takes a form as well, and other accounts need no code', async () => {
    const { secret } = await enrolled('anna');
    await world.member('boris');
    expect((await logIn('boris')).status).toBe(200);
    const form = new URLSearchParams({ login: 'anna', password: PASSWORD, totp: totpCode(secret, world.nowMs) });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await world.call('POST', '/auth/login?jwt=1', { body: String(form), headers })).status).toBe(200);
  });

  test('of a blocked account is not asked for', async () => {
    const { user, secret } = await enrolled('anna');
    await world.registry.users.update(user.id, null, { blocked: true });
    const answer = await logIn('anna', totpCode(secret, world.nowMs));
    expect(answer.body.type).toBe('urn:outrider:problem:account-blocked');
  });

  test('leaves sessions and their refresh as they are', async () => {
    const { secret } = await enrolled('anna');
    const { body } = await logIn('anna', totpCode(secret, world.nowMs));
    const headers = { 'authorization-refresh': `JWT ${body.refresh}` };
    expect((await world.call('POST', '/auth/refresh', { headers })).status).toBe(200);
  });

  test('works with a recovery code, each once, however it is typed', async () => {
    const { recoveryCodes, jwt } = await enrolled('anna');
    const [first = '', second = ''] = recoveryCodes;
    expect((await logIn('anna', first)).status).toBe(200);
    expect(await logIn('anna', first)).toMatchObject(WRONG_SECOND_FACTOR);
    expect((await logIn('anna', ` ${second.toUpperCase().replaceAll('-', ' ')}`)).status).toBe(200);
    const { body } = await world.call('GET', '/api/v1/me/second-factor', { jwt });
    expect(body).toMatchObject({ enabled: true, recoveryCodes: 8 });
  });
});

describe('guesses at codes', () => {
  const guess = async (count: number, addressOf: (nth: number) => string) => {
    const statuses: number[] = [];
    for (let nth = 0; nth < count; nth++) statuses.push((await logIn('anna', '000000', addressOf(nth))).status);
    return statuses;
  };

  test('wait, then end, from however many addresses; the owner still gets in', async () => {
    const { secret, recoveryCodes } = await enrolled('anna');
    expect((await logIn('anna', totpCode(secret, world.nowMs), '203.0.113.1')).status).toBe(200);
    world.nowMs += STEP_MS;
    expect(await guess(12, (nth) => `198.51.100.${nth}`)).toEqual([...Array(10).fill(401), 429, 429]);
    expect(world.waited).toEqual([1000, 2000, 4000, 8000, 10_000]);
    // From where the account was used before, and elsewhere with a code that nobody guesses.
    expect((await logIn('anna', totpCode(secret, world.nowMs), '203.0.113.1')).status).toBe(200);
    expect((await logIn('anna', recoveryCodes[0], '203.0.113.2')).status).toBe(200);
  });

  test('count as failed logins of an address; asking for the code does not', async () => {
    await enrolled('anna');
    for (let nth = 0; nth < 12; nth++) expect((await logIn('anna')).status).toBe(401);
    expect(await guess(11, () => '192.0.2.1')).toEqual([...Array(10).fill(401), 429]);
  });

  test('count as one for two instances', async () => {
    await enrolled('anna');
    const apis = [world.api, world.remake({ metrics: new Metrics() })];
    for (let nth = 0; nth < 11; nth++) {
      world.api = apis[nth % 2] ?? world.api;
      expect((await logIn('anna', '000000', `198.51.100.${nth}`)).status).toBe(nth < 10 ? 401 : 429);
    }
    apis[1]?.close();
    world.api = apis[0] ?? world.api;
  });
});

describe('the second factor of an account', () => {
  test('needs the current password to be begun, renewed and disabled', async () => {
    const { jwt } = await enrolled('anna');
    for (const path of ['', '/recovery-codes', '/disable']) {
      const answer = await post(jwt, path, { currentPassword: 'not this one' });
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/currentPassword' }] } });
    }
    expect((await post(jwt, '', { currentPassword: PASSWORD })).status).toBe(409);
    expect((await post(jwt, '/disable', { currentPassword: PASSWORD })).status).toBe(204);
    expect((await logIn('anna')).status).toBe(200);
    expect((await post(jwt, '/disable', { currentPassword: PASSWORD })).status).toBe(404);
  });

  test('counts from its confirmation on, by a code of the newest secret', async () => {
    const { jwt } = await world.member('anna');
    expect((await post(jwt, '/confirm', { totp: '000000' })).status).toBe(404);
    const first = await post(jwt, '', { currentPassword: PASSWORD });
    const second = await post(jwt, '', { currentPassword: PASSWORD });
    expect((await logIn('anna')).status).toBe(200);
    const wrong = await post(jwt, '/confirm', { totp: totpCode(first.body.secret, world.nowMs) });
    expect(wrong).toMatchObject({ status: 400, body: { errors: [{ pointer: '/totp' }] } });
    expect((await post(jwt, '/confirm', { totp: totpCode(second.body.secret, world.nowMs) })).status).toBe(200);
    expect(await logIn('anna')).toMatchObject(SECOND_FACTOR_NEEDED);
  });

  test('has other recovery codes after they were renewed', async () => {
    const { jwt, recoveryCodes } = await enrolled('anna');
    const { body } = await post(jwt, '/recovery-codes', { currentPassword: PASSWORD });
    expect(await logIn('anna', recoveryCodes[0])).toMatchObject(WRONG_SECOND_FACTOR);
    expect((await logIn('anna', body.recoveryCodes[0])).status).toBe(200);
  });

  test('is removed by an operator, and by nobody else for another account', async () => {
    const { user } = await enrolled('anna');
    const path = `/api/v1/users/${user.id}/second-factor`;
    const dealer = await world.member('dealer', 'dealer');
    expect((await world.call('DELETE', path, { jwt: dealer.jwt })).status).toBe(404);
    const { jwt } = await world.member('admin', 'operator');
    expect((await world.call('GET', path, { jwt })).body.enabled).toBe(true);
    expect((await world.call('DELETE', path, { jwt })).status).toBe(204);
    expect((await logIn('anna')).status).toBe(200);
    expect((await world.call('DELETE', path, { jwt })).status).toBe(404);
  });

  test('leaves its steps in the audit trail, and no code or secret', async () => {
    const { jwt, secret, recoveryCodes } = await enrolled('anna');
    await logIn('anna', recoveryCodes[0]);
    await post(jwt, '/recovery-codes', { currentPassword: PASSWORD });
    await post(jwt, '/disable', { currentPassword: PASSWORD });
    const { items } = await world.registry.audit.list({}, { limit: 100, after: null });
    const actions = items.map(({ action }) => action);
    for (const action of [
      'second-factor-enabled',
      'recovery-code-used',
      'recovery-codes-renewed',
      'second-factor-removed',
    ])
      expect(actions).toContain(action);
    const trail = JSON.stringify(items);
    for (const kept of [secret, ...recoveryCodes]) expect(trail).not.toContain(kept);
  });

  test('goes with the account', async () => {
    const { user } = await enrolled('anna');
    await world.registry.users.delete(user.id, null);
    expect(await world.registry.secondFactors.get(user.id)).toBeNull();
  });
});
