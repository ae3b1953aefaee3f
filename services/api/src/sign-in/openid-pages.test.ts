import type { ClaimsMapping } from '@outrider/access';
import { CLIENT, startProvider, type TestProvider } from '@outrider/auth/openid-provider';
import { DEFAULT_RIGHTS, type User, type UserId } from '@outrider/domain';
import { Metrics } from '@outrider/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, World } from '../api.fixture.ts';
import type { Api } from '../api.ts';

const MAPPING = {
  roleClaim: 'realm_access.roles',
  operatorValues: ['fleet-admin'],
  dealerValues: ['fleet-dealer'],
  dealerClaim: 'dealer',
  groupsClaim: 'groups',
  rightsClaim: null,
  rightsValues: null,
} satisfies ClaimsMapping;

let world: World;
let provider: TestProvider;
beforeEach(async () => {
  provider = await startProvider();
  world = await World.open({ openId: openIdWith(MAPPING) });
});

function openIdWith(mapping: ClaimsMapping) {
  const publicUrl = 'http://outrider.test';
  return { ...CLIENT, issuer: provider.issuer, scopes: 'openid', name: 'Company', publicUrl, mapping };
}

afterEach(async () => {
  await world.close();
  await provider.close();
});

async function get(path: string, cookies: readonly string[] = [], api: Api = world.api) {
  const request = new Request(`http://outrider.test${path}`, { headers: { cookie: cookies.join('; ') } });
  const { status, headers } = await api.fetch(request, {
    incoming: { socket: { remoteAddress: '192.0.2.1' } } as never,
  });
  const set = headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0] ?? '');
  return { status, location: headers.get('location') ?? '', cookies: set, flags: headers.getSetCookie().join('\n') };
}

async function signIn(through: readonly [Api, Api] = [world.api, world.api]) {
  const start = await get('/auth/oidc/start', [], through[0]);
  const back = provider.signIn(start.location);
  return get(back.pathname + back.search, start.cookies, through[1]);
}

/** Who has the session of these cookies. */
async function whose(cookies: readonly string[]): Promise<User | undefined> {
  const headers = { cookie: cookies.filter((cookie) => cookie.startsWith('outrider=')).join('; ') };
  const { status, body } = await world.call('GET', '/api/v1/me', { headers });
  return status === 200 ? ((await world.registry.users.get(body.id)) ?? undefined) : undefined;
}

describe('sign-in by OpenID Connect', () => {
  test('makes an account at the first time, and finds it by issuer and subject from then on', async () => {
    provider.claims = { sub: '1', preferred_username: 'anna', name: 'Anna', email: 'anna@example.com' };
    const first = await signIn();
    expect(first).toMatchObject({ status: 303, location: '/' });
    expect(first.flags).toMatch(/outrider=[\w.-]+; .*HttpOnly; SameSite=Strict/);
    const anna = await whose(first.cookies);
    expect(anna).toMatchObject({ login: 'anna', name: 'Anna', role: 'user', apiAccess: false });
    provider.claims = { ...provider.claims, preferred_username: 'anna.ivanova', email: 'other@example.com' };
    expect((await whose((await signIn()).cookies))?.id).toBe(anna?.id);
    expect((await world.call('GET', '/auth/options')).body).toMatchObject({ openId: { name: 'Company' } });
  });

  test('never takes an account over by its login or its e-mail address', async () => {
    const { user } = await world.member('anna', 'operator');
    await world.registry.accountLinks.setEmail(user, 'anna@example.com');
    provider.claims = { sub: '1', preferred_username: 'anna', email: 'anna@example.com', email_verified: true };
    const made = await whose((await signIn()).cookies);
    expect(made).toMatchObject({ login: 'anna 2', role: 'user' });
    expect((await world.login('anna', PASSWORD)).status).toBe(200);
  });

  test('gives role, dealer and groups by claims, and takes them with the claims', async () => {
    const { user: dealer } = await world.member('north', 'dealer');
    const group = await world.registry.groups.create({ name: 'Vans', dealerId: dealer.id });
    await world.registry.groups.create({ name: 'Vans', dealerId: null });
    provider.claims = { sub: '1', preferred_username: 'anna', dealer: 'north', groups: ['Vans', 'Unknown'] };
    expect(await whose((await signIn()).cookies)).toMatchObject({ dealerId: dealer.id, groupIds: [group.id] });
    provider.claims = { sub: '1', realm_access: { roles: ['x', 'fleet-admin'] }, dealer: 'north' };
    expect(await whose((await signIn()).cookies)).toMatchObject({ role: 'operator', dealerId: null, groupIds: [] });
    provider.claims = { sub: '1' };
    expect(await whose((await signIn()).cookies)).toMatchObject({ role: 'user', dealerId: null, groupIds: [] });
  });

  test('gives rights and services by claims, and takes them with the claims', async () => {
    const mapped = world.remake({
      config: {
        ...world.config,
        openId: openIdWith({
          ...MAPPING,
          rightsClaim: 'realm_access.roles',
          rightsValues: new Map([
            ['dispatcher', ['edit-geofences', 'share', 'commands']],
            ['mechanic', ['maintenance', 'edit-vehicles', 'share']],
          ]),
        }),
      },
      metrics: new Metrics(),
    });
    const signInWith = async (...roles: string[]) => {
      provider.claims = { sub: '1', preferred_username: 'anna', realm_access: { roles } };
      return whose((await signIn([mapped, mapped])).cookies);
    };
    expect(await signInWith('dispatcher', 'edit-notifications')).toMatchObject({
      rights: ['edit-geofences', 'share'],
      services: ['commands'],
    });
    const both = await signInWith('mechanic', 'dispatcher');
    expect(both).toMatchObject({
      rights: ['edit-vehicles', 'edit-geofences', 'share'],
      services: ['commands', 'maintenance'],
    });
    // What an operator gave here goes with the next sign-in.
    await world.registry.users.update(both?.id as UserId, null, { services: ['video'] });
    expect(await signInWith('mechanic')).toMatchObject({
      rights: ['edit-vehicles', 'share'],
      services: ['maintenance'],
    });
    expect(await signInWith()).toMatchObject({ rights: [], services: [] });
    const { items } = await world.registry.audit.list({}, { limit: 100, after: null });
    expect(items.filter(({ action }) => action === 'changed').slice(0, 1)).toMatchObject([
      {
        subject: { id: both?.id },
        before: { rights: ['edit-vehicles', 'share'], services: ['maintenance'] },
        after: { rights: [], services: [] },
      },
    ]);
    mapped.close();
  });

  test('gives rights by their names where no values are mapped, and leaves operators, dealers and linked accounts', async () => {
    const named = world.remake({
      config: { ...world.config, openId: openIdWith({ ...MAPPING, rightsClaim: 'may' }) },
      metrics: new Metrics(),
    });
    const signInWith = async (claims: Partial<TestProvider['claims']>) => {
      provider.claims = { sub: '1', preferred_username: 'anna', ...claims };
      return whose((await signIn([named, named])).cookies);
    };
    const may = ['video', 'edit-vehicles', 'operator', 7];
    expect(await signInWith({ may })).toMatchObject({ role: 'user', rights: ['edit-vehicles'], services: ['video'] });
    const asOperator = await signInWith({ may: [], realm_access: { roles: ['fleet-admin'] } });
    expect(asOperator).toMatchObject({ role: 'operator', rights: ['edit-vehicles'], services: ['video'] });
    expect(await signInWith({})).toMatchObject({ role: 'user', rights: [], services: [] });
    const dealer = await signInWith({ sub: '2', realm_access: { roles: ['fleet-dealer'] } });
    expect(dealer).toMatchObject({ role: 'dealer', rights: DEFAULT_RIGHTS });
    const { user } = await world.member('boris');
    await world.registry.externalIdentities.link(provider.issuer, '3', user);
    expect(await signInWith({ sub: '3', may: ['video'] })).toMatchObject({
      id: user.id,
      rights: user.rights,
      services: user.services,
    });
    named.close();
  });

  test('makes a dealer by a claim at the first time, and refuses that account without it', async () => {
    provider.claims = { sub: '1', preferred_username: 'north', realm_access: { roles: ['fleet-dealer'] } };
    const dealer = await whose((await signIn()).cookies);
    expect(dealer).toMatchObject({ login: 'north', role: 'dealer', dealerId: null });
    expect((await whose((await signIn()).cookies))?.id).toBe(dealer?.id);
    provider.claims = { sub: '1' };
    expect((await signIn()).location).toBe('/?signIn=failed');
    provider.claims = { sub: '2', preferred_username: 'anna' };
    await signIn();
    provider.claims = { sub: '2', realm_access: { roles: ['fleet-dealer'] } };
    expect(await whose((await signIn()).cookies)).toMatchObject({ login: 'anna', role: 'user' });
  });

  test('lets nobody in whose account is blocked, and whom the provider does not vouch for', async () => {
    const user = await whose((await signIn()).cookies);
    if (user === undefined) throw new Error('no session');
    await world.registry.users.update(user.id, null, { blocked: true });
    const blocked = await signIn();
    expect(blocked.location).toBe('/?signIn=blocked');
    expect(await whose(blocked.cookies)).toBeUndefined();
    await world.registry.users.update(user.id, null, { blocked: false });
    await world.registry.users.setExpiry(user.id, world.nowMs);
    expect((await signIn()).location).toBe('/?signIn=expired');
    provider.wrong = { aud: 'another client' };
    const failed = await signIn();
    expect(failed.location).toBe('/?signIn=failed');
    expect(await whose(failed.cookies)).toBeUndefined();
  });

  test('ends where it began: without the cookie, with a changed one and after ten minutes it is refused', async () => {
    const start = await get('/auth/oidc/start');
    expect(start.flags).toMatch(/Max-Age=600; HttpOnly; SameSite=Lax/);
    const back = () => provider.signIn(start.location);
    for (const cookies of [[], [`${start.cookies[0]}x`], ['outrider-sign-in=a.b.c']]) {
      const { pathname, search } = back();
      expect((await get(pathname + search, cookies)).location).toBe('/?signIn=failed');
    }
    world.nowMs += 600_000;
    const { pathname, search } = back();
    expect((await get(pathname + search, start.cookies)).location).toBe('/?signIn=failed');
  });

  test('can begin at one instance and end at another', async () => {
    const other = world.remake({ metrics: new Metrics() });
    expect((await signIn([world.api, other])).location).toBe('/');
    other.close();
  });

  test('goes with the account: who signs in after it was deleted gets another one', async () => {
    const user = await whose((await signIn()).cookies);
    if (user === undefined) throw new Error('no session');
    await world.registry.users.delete(user.id, null);
    expect((await whose((await signIn()).cookies))?.id).not.toBe(user.id);
  });
});

describe('a link of an account to the provider', () => {
  const ask = (jwt: string, path: 'link' | 'unlink', currentPassword = PASSWORD) =>
    world.call('POST', `/api/v1/me/openid/${path}`, { jwt, body: { currentPassword } });

  /** Begins to link, signs in at the provider, and comes back. */
  async function link(jwt: string) {
    const { body, headers } = await ask(jwt, 'link');
    const back = provider.signIn(body.url);
    return get(back.pathname + back.search, [headers.getSetCookie()[0]?.split(';', 1)[0] ?? '']);
  }

  test('is made by its user with the password, and signs in to the account, which keeps what it has', async () => {
    const anna = await world.member('anna', 'operator');
    provider.claims = { sub: '1', preferred_username: 'anna' };
    expect((await ask(anna.jwt, 'link', 'not this one')).body.errors[0].pointer).toBe('/currentPassword');
    const linked = await link(anna.jwt);
    expect(linked).toMatchObject({ status: 303, location: '/me?openId=linked' });
    expect(linked.cookies.some((cookie) => cookie.startsWith('outrider='))).toBe(false);
    expect((await world.call('GET', '/api/v1/me/openid', { jwt: anna.jwt })).body).toEqual({
      name: 'Company',
      linked: true,
    });
    expect(await whose((await signIn()).cookies)).toMatchObject({ id: anna.user.id, role: 'operator' });
    expect((await link(anna.jwt)).location).toBe('/me?openId=linked');
    expect((await ask(anna.jwt, 'unlink')).status).toBe(204);
    expect((await ask(anna.jwt, 'unlink')).status).toBe(404);
    expect(await whose((await signIn()).cookies)).toMatchObject({ login: 'anna 2', role: 'user' });
    const { items } = await world.registry.audit.list({}, { limit: 100, after: null });
    const actions = items.map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(['sign-in-linked', 'sign-in-unlinked']));
  });

  test('takes no identity from another account, and one replaces the one before', async () => {
    provider.claims = { sub: '1', preferred_username: 'boris' };
    await signIn();
    const { jwt, user } = await world.member('anna');
    expect((await link(jwt)).location).toBe('/me?openId=taken');
    for (const sub of ['2', '3']) {
      provider.claims = { sub };
      expect((await link(jwt)).location).toBe('/me?openId=linked');
    }
    expect((await whose((await signIn()).cookies))?.id).toBe(user.id);
    provider.claims = { sub: '2', preferred_username: 'clara' };
    expect(await whose((await signIn()).cookies)).toMatchObject({ login: 'clara' });
  });

  test('needs the session that began it', async () => {
    const { jwt, user } = await world.member('anna');
    const { body, headers } = await ask(jwt, 'link');
    await world.registry.users.setPassword(user.id, 'another password of hers', null);
    const back = provider.signIn(body.url);
    const cookie = headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    expect((await get(back.pathname + back.search, [cookie])).location).toBe('/me?openId=failed');
    expect(await world.registry.externalIdentities.find(provider.issuer, '1')).toBeNull();
  });
});
