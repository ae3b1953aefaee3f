import { delayOf, LoginBrake, weaknessOf } from '@outrider/access';
import { MemoryHub } from '@outrider/hub';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PASSWORD, World } from './api.fixture.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

/** Failed logins from as many addresses, so that no limit of an address ends them. */
async function guess(login: string, count: number, from = 0): Promise<number[]> {
  const statuses: number[] = [];
  for (let nth = from; nth < from + count; nth++)
    statuses.push((await world.login(login, `guess ${nth}`, { from: `198.51.${nth >> 8}.${nth & 255}` })).status);
  return statuses;
}

describe('guesses at one account from many addresses', () => {
  test('wait longer with each failure, and are never refused for those of others', async () => {
    await world.member('anna');
    expect(await guess('anna', 12)).toEqual(Array(12).fill(401));
    expect(world.waited).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
  });

  test('slow down nobody at another account', async () => {
    await world.member('anna');
    await world.member('boris');
    await guess('anna', 12);
    world.waited.length = 0;
    expect((await world.login('boris', PASSWORD)).status).toBe(200);
    expect(world.waited).toEqual([]);
  });

  test('do not keep the owner out: at once from where the owner logged in before, elsewhere after the wait', async () => {
    await world.member('anna');
    expect((await world.login('anna', PASSWORD, { from: '192.0.2.7' })).status).toBe(200);
    await guess('anna', 40);
    world.waited.length = 0;
    expect((await world.login('anna', PASSWORD, { from: '192.0.2.7' })).status).toBe(200);
    expect(world.waited).toEqual([]);
    expect((await world.login('Anna', PASSWORD, { from: '203.0.113.9' })).status).toBe(200);
    expect(world.waited).toEqual([10_000]);
    // From now on that is a known place as well.
    expect((await world.login('anna', PASSWORD, { from: '203.0.113.9' })).status).toBe(200);
    expect(world.waited).toEqual([10_000]);
  });

  test('are the same for an account that does not exist', async () => {
    await world.member('anna');
    await guess('anna', 8);
    const waited = world.waited.splice(0);
    expect(await guess('nobody', 8, 100)).toEqual(Array(8).fill(401));
    expect(world.waited).toEqual(waited);
    const answers = [
      await world.login('anna', 'wrong', { from: '203.0.113.1' }),
      await world.login('nobody', 'wrong', { from: '203.0.113.1' }),
    ];
    expect(answers[0]?.body).toEqual(answers[1]?.body);
  });

  test('slow down the current password by themselves, and logins not at all', async () => {
    const { jwt } = await world.member('anna');
    for (let nth = 0; nth < 7; nth++) {
      world.nowMs += 30_000;
      const body = { currentPassword: `guess ${nth}`, password: 'new and unknown' };
      expect((await world.call('PUT', '/api/v1/me/password', { jwt, body })).status).toBe(400);
    }
    expect(world.waited).toEqual([1000, 2000]);
    expect((await world.login('anna', PASSWORD, { from: '203.0.113.9' })).status).toBe(200);
    expect(world.waited).toEqual([1000, 2000]);
  });

  test('do not wait side by side, whatever address they come from; two instances count as one', async () => {
    const hub = new MemoryHub();
    const releases: (() => void)[] = [];
    const wait = () => new Promise<void>((resolve) => releases.push(resolve));
    const brakes = [0, 1].map(() => new LoginBrake({ hub, now: () => 0, wait }));
    const attempt = { account: 'anna', source: '198.51.100.1', isKnownSource: false };
    for (let nth = 0; nth < 5; nth++) await brakes[nth % 2]?.pass(attempt, async () => null);
    const waiting = brakes[0]?.pass(attempt, async () => 'anna');
    await expect(
      (async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return brakes[0]?.pass(attempt, async () => 'anna');
      })(),
    ).rejects.toMatchObject({ kind: 'too-many-requests' });
    // Nor do those of others: an account is guessed at by one at a time.
    const other = { ...attempt, source: '203.0.113.5' };
    await expect(brakes[1]?.pass(other, async () => 'anna')).rejects.toMatchObject({ kind: 'too-many-requests' });
    const known = { ...other, isKnownSource: true };
    expect(await brakes[1]?.pass(known, async () => 'anna')).toBe('anna');
    releases[0]?.();
    expect(await waiting).toBe('anna');
    const next = brakes[1]?.pass(other, async () => 'anna');
    await vi.waitFor(() => expect(releases).toHaveLength(2));
    releases[1]?.();
    expect(await next).toBe('anna');
    expect([0, 4, 5, 6, 100].map(delayOf)).toEqual([0, 0, 1000, 2000, 10_000]);
  });
});

describe('a password that attackers try first', () => {
  const WEAK = [
    'password',
    'P@ssw0rd',
    '12345678',
    'qwertyuiop',
    'aaaaaaaaaaaa',
    'iloveyou1',
    'trustno1trustno1',
    'anna1990',
  ];

  test('is refused at its field, by every route that sets one', async () => {
    const { jwt } = await world.member('admin', 'operator');
    const { user: other } = await world.member('other');
    const weak = async (method: string, path: string, body: object) => {
      const answer = await world.call(method, path, { jwt, body });
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/password' }] } });
      expect(answer.body.errors[0].detail).toMatch('attackers try first');
    };
    for (const password of WEAK) await weak('POST', '/api/v1/users', { login: 'anna', name: 'Anna Ivanova', password });
    const password = 'password';
    await weak('PUT', `/api/v1/users/${other.id}/password`, { password });
    await weak('PUT', '/api/v1/me/password', { currentPassword: PASSWORD, password });
  });

  test('is none of those that people should choose', () => {
    for (const password of [PASSWORD, 'new and unknown', 'e4X9!qpLz', 'a long password', 'outrider and a fleet'])
      expect(weaknessOf(password, ['anna', 'Anna Ivanova']), password).toBeNull();
    for (const password of WEAK) expect(weaknessOf(password, ['anna', 'Anna Ivanova']), password).not.toBeNull();
  });
});

describe('the own password', () => {
  test('needs the current one in every route that can change it', async () => {
    const { user, jwt } = await world.member('admin', 'operator');
    const path = `/api/v1/users/${user.id}/password`;
    const put = async (body: object) => (await world.call('PUT', path, { jwt, body })).status;
    expect(await put({ password: 'new and unknown' })).toBe(400);
    expect(await put({ password: 'new and unknown', currentPassword: 'wrong' })).toBe(400);
    expect((await world.login('admin', 'new and unknown')).status).toBe(401);
    expect(await put({ password: 'new and unknown', currentPassword: PASSWORD })).toBe(204);
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
    expect((await world.login('admin', 'new and unknown')).status).toBe(200);
  });

  test('is guessed at through an account of one’s own no faster than by a login', async () => {
    const { user, jwt } = await world.member('admin', 'operator');
    const path = `/api/v1/users/${user.id}/password`;
    const statuses: number[] = [];
    for (let nth = 0; nth < 12; nth++) {
      const body = { password: 'new and unknown', currentPassword: `guess ${nth}` };
      statuses.push((await world.call('PUT', path, { jwt, body })).status);
    }
    expect(statuses).toEqual([...Array(10).fill(400), ...Array(2).fill(429)]);
  });
});
