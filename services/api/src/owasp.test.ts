import { createHmac, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { blankPosition, hiddenUrl, type User } from '@outrider/domain';
import { sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import type { Hono } from 'hono';
import { exportJWK, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ABSENT, PASSWORD, World } from './api.fixture.ts';
import { listenApi } from './http/listen.ts';
import { openApiDocument } from './openapi.ts';
import { DESCRIBED } from './routes.ts';
import { TRACCAR_LISTS } from './traccar/lists.ts';

/** What is derived from passwords, as it is asked for; while `held`, nothing is answered. */
const derivations = vi.hoisted(() => ({ asked: [] as object[], held: null as null | (() => void)[] }));
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  const argon2: typeof crypto.argon2 = (algorithm, parameters, done) => {
    const { memory, passes, parallelism, tagLength } = parameters;
    derivations.asked.push({ algorithm, memory, passes, parallelism, tagLength });
    const derive = () => crypto.argon2(algorithm, { ...parameters, memory: 8 * parallelism, passes: 1 }, done);
    if (derivations.held) derivations.held.push(derive);
    else derive();
  };
  return { ...crypto, argon2 };
});

/** Every application of the framework that was made: what it serves can be read from it. */
const applications = vi.hoisted(() => [] as Hono[]);
vi.mock('hono', async (original) => {
  const hono = await original<typeof import('hono')>();
  class Seen extends hono.Hono {
    constructor(...options: ConstructorParameters<typeof Hono>) {
      super(...options);
      applications.push(this as unknown as Hono);
    }
  }
  return { ...hono, Hono: Seen };
});

interface Operation {
  operationId: string;
  security: unknown[];
  parameters?: { name: string; in: string; required?: boolean; schema?: { examples?: unknown[] }; example?: unknown }[];
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}
const document = openApiDocument(DESCRIBED) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};
const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

/** What is in every video file. */
const FOOTAGE = Buffer.from('footage');

let world: World;
let operator: { user: User; jwt: string };
let dealer: { user: User; jwt: string };
let anna: { user: User; jwt: string };
beforeEach(async () => {
  world = await World.open(
    {
      trustedProxies: ['10.0.0.1'],
      limits: { failedLoginsPerMinute: 10, authorizedPerMinute: 1e6, unauthorizedPerMinute: 1e6, blockSeconds: 60 },
    },
    {
      videoFiles: {
        info: async (id) => ({ id, bytes: FOOTAGE.length, storedAtMs: 0 }),
        get: async () => ReadableStream.from([FOOTAGE]),
        delete: async () => {},
      },
    },
  );
  operator = await world.member('boss', 'operator');
  dealer = await world.member('dealer', 'dealer');
  anna = await world.member('anna', 'user', { dealerId: dealer.user.id });
  derivations.asked.length = 0;
});
afterEach(() => world.close());

const get = (path: string, jwt: string) => world.call('GET', path, { jwt });

const VIDEO = '/service/ovms/api';

/** Of the dealer: a vehicle with video in a group of anna’s, and two tasks that she made, one of them done. */
async function vanWithVideo() {
  const add = async (path: string, body: object) => {
    const answer = await world.call('POST', path, { jwt: dealer.jwt, body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const group = await add('/api/v1/vehicle-groups', { name: 'Vans' });
  const van = await add('/api/v1/vehicles', { name: 'Van', terminalId: '13800000007', groupIds: [group.id] });
  const access = `/api/v1/vehicle-groups/${group.id}/users/${anna.user.id}`;
  expect((await world.call('PUT', access, { jwt: dealer.jwt })).status).toBe(204);
  const profile = await add(`${VIDEO}/profiles`, { vehicleId: van.id, address: '13800000007' });
  const { videoTasks, videoQueue } = world.registry;
  const ask = () =>
    videoTasks.create({
      profileId: profile.id,
      createdBy: anna.user.id,
      channel: 1,
      startMs: world.nowMs - 120_000,
      endMs: world.nowMs - 60_000,
      quality: 'main',
      audio: true,
      expiresAtMs: world.nowMs + 60_000,
    });
  const done = await ask();
  const facts = { durationMs: 60_000, videoCodec: 'h264', audioCodec: null, frames: 1, packetsLost: 0 };
  for (const leased of await videoQueue.lease(1, 1000)) {
    for (const state of ['requested', 'downloading', 'processing'] as const) await videoQueue.step(leased, { state });
    const file = { ...facts, bytes: FOOTAGE.length, sha256: 'ab'.repeat(32) };
    await videoQueue.step(leased, { state: 'done', file });
  }
  return { groupId: group.id, vehicleId: van.id, profileId: profile.id, doneId: done.id, newId: (await ask()).id };
}
/** All that there is, videos asked for as well. */
const everything = async () =>
  JSON.stringify([
    await world.registry.snapshot(),
    await world.registry.videoTasks.list({}, { limit: 1000, after: null }),
  ]);

describe('API1: broken object level authorization', () => {
  test('another’s id in path, query and body opens nothing, whatever it is dressed in', async () => {
    const rival = await world.member('rival', 'dealer');
    const mine = { jwt: dealer.jwt };
    const van = await world.call('POST', '/api/v1/vehicles', { ...mine, body: { name: 'Van', terminalId: '3563' } });
    const group = await world.call('POST', '/api/v1/vehicle-groups', { ...mine, body: { name: 'Vans' } });
    const { id } = van.body;
    const track = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';
    for (const path of [
      `/api/v1/vehicles/${id}`,
      `/api/v1/vehicles/${id}/state`,
      '/api/v1/vehicles/terminal:3563',
      '/api/v1/vehicles/terminal%3A3563',
      '/api/v1/vehicles/%74erminal:3563/state',
      `/api/v1/reports/track?vehicleId=${id}&${track}`,
      `/api/v1/vehicle-groups/${group.body.id}`,
      `/api/v1/vehicle-groups/${group.body.id}/vehicles`,
      `/api/v1/vehicles?groupId=${group.body.id}`,
      `/api/v1/users/${anna.user.id}`,
      `/api/v1/users/${anna.user.id}/sessions`,
    ])
      expect((await get(path, rival.jwt)).status, path).toBe(404);
    // Of several vehicles, one that is not to be seen is as one that does not exist.
    for (const ids of [
      [ABSENT, id],
      [id, ABSENT],
    ])
      expect(
        (await get(`/api/v1/reports/track?${ids.map((each) => `vehicleId=${each}&`).join('')}${track}`, rival.jwt))
          .status,
      ).toBe(404);
    // An id is one spelling and no other.
    for (const dressed of [`{${id}}`, `${id}%00`, `%20${id}`, `${id}%2Fstate`])
      expect((await get(`/api/v1/vehicles/${dressed}`, rival.jwt)).status, dressed).toBe(400);
    // What looks into an id by its neighbours finds nothing: the rest of a UUIDv7 is random.
    const neighbour = `${id.slice(0, -1)}${((Number.parseInt(id.at(-1), 16) + 1) % 16).toString(16)}`;
    expect((await get(`/api/v1/vehicles/${neighbour}`, operator.jwt)).status).toBe(404);
    const grab = await world.call('PATCH', `/api/v1/vehicles/${id}`, {
      jwt: rival.jwt,
      body: { dealerId: rival.user.id },
      headers: { 'if-match': '*' },
    });
    expect(grab.status).toBe(404);
    const put = `/api/v1/vehicle-groups/${group.body.id}/users/${rival.user.id}`;
    expect((await world.call('PUT', put, { jwt: rival.jwt })).status).toBe(404);
    expect((await world.registry.vehicles.get(id))?.dealerId).toBe(dealer.user.id);
  });

  test('the video of another’s vehicle is no video of the caller’s, whatever service they were granted', async () => {
    const { vehicleId, profileId, doneId, newId } = await vanWithVideo();
    const rival = await world.member('rival', 'dealer');
    const vera = await world.member('vera', 'user', { dealerId: dealer.user.id, services: ['video'] });
    const fragment = { channel: 1, start: '2026-01-15T11:30:00Z', end: '2026-01-15T11:31:00Z' };
    const before = await everything();
    for (const { jwt } of [rival, vera]) {
      for (const path of [
        `/profiles/${profileId}`,
        `/tasks?profileId=${profileId}`,
        `/tasks/${doneId}`,
        `/tasks/file/${doneId}`,
      ])
        expect((await get(`${VIDEO}${path}`, jwt)).status, path).toBe(404);
      for (const path of ['/profiles', '/profiles?terminalId=13800000007', '/tasks', '/tasks?status=done'])
        expect((await get(`${VIDEO}${path}`, jwt)).body.items, path).toEqual([]);
      for (const [method, path, body] of [
        ['PATCH', `/profiles/${profileId}`, { name: 'Mine' }],
        ['DELETE', `/profiles/${profileId}`, undefined],
        ['POST', `/tasks/${newId}/cancel`, undefined],
        ['PATCH', `/tasks/${newId}`, { audio: false }],
        ['DELETE', `/tasks/${newId}`, undefined],
        ['DELETE', `/tasks/${doneId}`, undefined],
      ] as const) {
        const answer = await world.call(method, `${VIDEO}${path}`, { jwt, ...(body === undefined ? {} : { body }) });
        expect(answer.status, `${method} ${path}`).toBe(404);
      }
      // In a body it is named as what there is not.
      for (const [path, body, pointer] of [
        ['/profiles', { vehicleId, address: '13800000008' }, '/vehicleId'],
        ['/tasks', { profileId, ...fragment }, '/profileId'],
      ] as const) {
        const answer = await world.call('POST', `${VIDEO}${path}`, { jwt, body });
        expect(answer.status, path).toBe(400);
        expect(answer.body.errors, path).toMatchObject([{ pointer }]);
      }
    }
    expect(await everything()).toBe(before);
    expect((await get(`${VIDEO}/tasks/file/${doneId}`, dealer.jwt)).body).toBe(FOOTAGE.toString());
  });

  test('a row of another’s in something that is imported changes nothing, and of the rest nothing is done', async () => {
    const rival = await world.member('rival', 'dealer');
    const body = { name: 'Van', terminalId: '3563' };
    const van = await world.call('POST', '/api/v1/vehicles', { jwt: dealer.jwt, body });
    const before = JSON.stringify(await world.registry.vehicles.list({}, { limit: 10, after: null }));
    for (const [row, status, column] of [
      [`${van.body.id},Mine,,`, 400, 'id'],
      [`,Mine,3563,`, 409, 'terminalId'],
      [`,Mine,,${dealer.user.id}`, 400, 'dealerId'],
    ] as const)
      for (const query of ['', '?dryRun=true']) {
        const answer = await world.call('POST', `/api/v1/vehicles/import${query}`, {
          jwt: rival.jwt,
          body: `id,name,terminalId,dealerId\r\n,New,,\r\n${row}\r\n`,
          headers: { 'content-type': 'text/csv' },
        });
        expect(answer.status, row).toBe(status);
        expect(answer.body.errors, row).toMatchObject([{ row: 3, column }]);
      }
    expect(JSON.stringify(await world.registry.vehicles.list({}, { limit: 10, after: null }))).toBe(before);
    expect((await get('/api/v1/vehicles/export', rival.jwt)).body.trimEnd().split('\r\n')).toHaveLength(1);
  });

  test('a cursor and an ETag of another caller open nothing', async () => {
    for (const name of ['a', 'b', 'c'])
      await world.call('POST', '/api/v1/vehicles', { jwt: operator.jwt, body: { name } });
    const { nextCursor } = (await get('/api/v1/vehicles?limit=1', operator.jwt)).body;
    expect((await get(`/api/v1/vehicles?cursor=${nextCursor}`, anna.jwt)).body).toEqual({
      items: [],
      nextCursor: null,
    });
    const forged = Buffer.from(JSON.stringify({ $gt: '' })).toString('base64url');
    expect((await get(`/api/v1/vehicles?cursor=${forged}`, anna.jwt)).status).toBe(400);
  });

  test('an answer that was kept for a key is given to nobody but who had it', async () => {
    const rival = await world.member('rival', 'dealer');
    const add = (jwt: string) =>
      world.call('POST', '/api/v1/vehicles', { jwt, body: { name: 'Van' }, headers: { 'idempotency-key': 'k-1' } });
    const mine = await add(dealer.jwt);
    expect((await add(dealer.jwt)).body.id).toBe(mine.body.id);
    const theirs = await add(rival.jwt);
    expect(theirs.status).toBe(201);
    expect(theirs.body).toMatchObject({ dealerId: rival.user.id });
    expect(theirs.body.id).not.toBe(mine.body.id);
    expect((await add(anna.jwt)).status).toBe(403);
    await world.registry.users.update(dealer.user.id, null, { apiAccess: false });
    expect((await add(dealer.jwt)).status).toBe(403);
  });

  test('HEAD reveals no more than GET', async () => {
    const van = await world.call('POST', '/api/v1/vehicles', { jwt: dealer.jwt, body: { name: 'Van' } });
    const at = `/api/v1/vehicles/${van.body.id}`;
    const head = async (path: string, jwt?: string) => world.call('HEAD', path, jwt === undefined ? {} : { jwt });
    expect((await head(at, dealer.jwt)).status).toBe(200);
    expect((await head(at)).status).toBe(401);
    const [hidden, absent] = [await head(at, anna.jwt), await head(`/api/v1/vehicles/${ABSENT}`, anna.jwt)];
    expect(hidden.status).toBe(404);
    const comparable = ({ headers }: typeof hidden) => [...headers].filter(([name]) => name !== 'ratelimit');
    expect(comparable(hidden)).toEqual(comparable(absent));
  });
});

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('API2: broken authentication', () => {
  /** What a good token of anna would say. */
  async function claims() {
    const session = await world.registry.sessions.create(anna.user.id, 1e9, '192.0.2.1', 'test');
    const now = Math.floor(world.nowMs / 1000);
    return { sub: anna.user.id, sid: session.id, iss: 'outrider', iat: now, exp: now + 3600 };
  }
  const sign = (payload: Record<string, unknown>, header: Record<string, unknown> = {}) =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: 'EdDSA', kid: world.keys.current.kid, typ: 'JWT', ...header })
      .sign(world.keys.current.privateKey);
  const refusedEverywhere = async (jwt: string, what: string) => {
    const answer = await get('/api/v1/me', jwt);
    expect(answer.status, what).toBe(401);
    expect(answer.headers.get('www-authenticate'), what).toMatch(/^JWT realm="outrider", error="[a-z-]+"$/);
    expect((await world.call('POST', '/auth/refresh', { jwt })).status, `${what}, to refresh`).toBe(401);
  };

  test('what is signed here with these claims is good: the attacks below fail by nothing else', async () => {
    expect((await get('/api/v1/me', await sign(await claims()))).status).toBe(200);
  });

  test('no algorithm, and none by any spelling', async () => {
    const payload = base64url(await claims());
    for (const alg of ['none', 'None', 'NONE', 'nOnE', ''])
      for (const signature of ['', 'AAAA'])
        await refusedEverywhere(
          `${base64url({ alg, typ: 'JWT', kid: world.keys.current.kid })}.${payload}.${signature}`,
          alg,
        );
  });

  test('HS256 with the public key as its secret, in every form that it has', async () => {
    const jwks = await world.call('GET', '/.well-known/jwks.json');
    const [jwk] = jwks.body.keys;
    const payload = base64url(await claims());
    const secrets = [
      Buffer.from(jwk.x, 'base64url'),
      Buffer.from(jwk.x),
      Buffer.from(JSON.stringify(jwk)),
      Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(jwk.x, 'base64url')]),
      Buffer.from(''),
    ];
    for (const secret of secrets)
      for (const header of [{ kid: jwk.kid }, {}]) {
        const signed = `${base64url({ alg: 'HS256', typ: 'JWT', ...header })}.${payload}`;
        await refusedEverywhere(
          `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`,
          'HS256',
        );
      }
  });

  test('a key of the attacker’s own, brought along or pointed at', async () => {
    const own = generateKeyPairSync('ed25519');
    const jwk = await exportJWK(own.publicKey);
    const canary = createServer((_, response) => response.end(JSON.stringify({ keys: [{ ...jwk, kid: 'mine' }] })));
    let calls = 0;
    canary.on('connection', () => {
      calls += 1;
    });
    canary.listen(0, '127.0.0.1');
    await once(canary, 'listening');
    const url = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/jwks.json`;
    const payload = await claims();
    for (const header of [
      { kid: world.keys.current.kid },
      { jwk },
      { jku: url, kid: 'mine' },
      { x5u: url },
      { kid: url },
      { kid: '../../../../dev/null' },
      { kid: "' or '1'='1" },
      { kid: '__proto__' },
      { kid: 'constructor' },
      { kid: '' },
      {},
    ])
      await refusedEverywhere(
        await new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', ...header }).sign(own.privateKey),
        JSON.stringify(header),
      );
    expect(calls).toBe(0);
    canary.close();
  });

  test('claims that are missing, of another kind, or another’s', async () => {
    const good = await claims();
    const { exp, iss, sub, sid, ...rest } = good;
    for (const wrong of [
      { ...rest, iss, sub, sid },
      { ...rest, exp, sub, sid },
      { ...rest, exp, iss, sid },
      { ...rest, exp, iss, sub },
      { ...good, iss: 'another' },
      { ...good, iss: ['outrider'] },
      { ...good, sub: ABSENT },
      { ...good, sub: ['x'] },
      { ...good, sub: 'admin' },
      { ...good, sid: ABSENT },
      { ...good, sid: `${sid}' --` },
      { ...good, nbf: exp },
      { ...good, exp: String(exp) },
    ])
      await refusedEverywhere(await sign(wrong as Record<string, unknown>), JSON.stringify(wrong));
    const forRefreshingAlone = await sign({ ...good, exp: rest.iat - 1 });
    expect((await get('/api/v1/me', forRefreshingAlone)).status).toBe(401);
    await refusedEverywhere(await sign(good, { typ: 'session+jwt' }), 'made for a cookie');
    await refusedEverywhere(await sign(good, { typ: 'at+jwt' }), 'another type');
    await refusedEverywhere(await sign(good, { crit: ['x'], x: 1 } as never).catch(() => 'a.b.c'), 'crit');
  });

  test('tokens cut, stretched, mixed and bent', async () => {
    const [head = '', payload = '', signature = ''] = anna.jwt.split('.');
    const foreign = operator.jwt.split('.');
    for (const bent of [
      `${head}.${payload}`,
      `${head}.${payload}.`,
      `${head}.${payload}.${signature.slice(0, -2)}`,
      `${head}.${payload}.${signature}AAAA`,
      `${head}.${foreign[1]}.${signature}`,
      `${head}.${payload}.${foreign[2]}`,
      `${head}.${payload}.${signature}.${signature}`,
      `${head}..${signature}`,
      `${base64url({ ...JSON.parse(Buffer.from(head, 'base64url').toString()), typ: 'jwt ' })}.${payload}.${signature}`,
      'a'.repeat(5000),
      '..',
      '.',
    ])
      await refusedEverywhere(bent, bent);
    for (const authorization of [
      `Bearer ${anna.jwt}`,
      `JWT  ${anna.jwt}`,
      `JWT ${anna.jwt} x`,
      `JWT ${anna.jwt}, JWT ${operator.jwt}`,
      anna.jwt,
      'JWT',
      `Basic ${Buffer.from(`anna:${PASSWORD}`).toString('base64')}`,
    ])
      expect((await world.call('GET', '/api/v1/me', { headers: { authorization } })).status, authorization).toBe(401);
    for (const path of [`?jwt=${anna.jwt}`, `?authorization=JWT%20${anna.jwt}`, `?access_token=${anna.jwt}`])
      expect((await world.call('GET', `/api/v1/me${path}`)).status).toBe(401);
  });

  test('an expired token, and those of the deleted, the blocked and the logged out', async () => {
    const spare = await world.tokenOf(anna.user);
    world.nowMs += 3_600_000;
    expect((await get('/api/v1/me', anna.jwt)).status).toBe(401);
    world.nowMs -= 3_600_000;
    expect((await world.call('POST', '/auth/logout', { jwt: anna.jwt })).status).toBe(204);
    await refusedEverywhere(anna.jwt, 'logged out');
    expect((await get('/api/v1/me', spare)).status).toBe(200);
    await world.registry.users.update(anna.user.id, null, { blocked: true });
    await refusedEverywhere(spare, 'blocked');
    // Even if a session were opened to a blocked account.
    await refusedEverywhere(await world.tokenOf(anna.user), 'blocked, with a new session');
    await world.registry.users.update(anna.user.id, null, { blocked: false });
    await refusedEverywhere(spare, 'from before the block');
    const last = await world.tokenOf(anna.user);
    await world.registry.users.delete(anna.user.id, null);
    await refusedEverywhere(last, 'deleted');
  });

  test('an unknown login, a wrong password and a wrong one of a blocked account look the same and cost the same', async () => {
    await world.addUser('ben', 'user', { blocked: true });
    await world.addUser('carl', 'user', { apiAccess: false });
    const tries = [];
    for (const [login, password] of [
      ['nobody', PASSWORD],
      ['anna', 'a wrong password'],
      ['carl', 'a wrong password'],
      ['ben', 'a wrong password'],
      ['', ' '],
    ] as const) {
      derivations.asked.length = 0;
      const { status, headers, body } = await world.login(login || 'x', password);
      tries.push({
        status,
        headers: [...headers].filter(([name]) => name !== 'ratelimit'),
        body,
        cost: [...derivations.asked],
      });
    }
    expect(tries[0]).toMatchObject({
      status: 401,
      // OWASP Password Storage Cheat Sheet: argon2id, 19 MiB, 2 passes, 1 lane.
      cost: [{ algorithm: 'argon2id', memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }],
    });
    for (const other of tries) expect(other).toEqual(tries[0]);
  });
});

describe('API3: broken object property level authorization', () => {
  test('no field but those described is taken, least of all those that give rights', async () => {
    const carl = await world.member('carl', 'user', { dealerId: dealer.user.id });
    const van = await world.call('POST', '/api/v1/vehicles', { jwt: dealer.jwt, body: { name: 'Van' } });
    const group = await world.call('POST', '/api/v1/vehicle-groups', { jwt: dealer.jwt, body: { name: 'Vans' } });
    const zone = { type: 'Feature', geometry: { type: 'Point', coordinates: [30, 60] } };
    const drawn = await world.call('POST', '/api/v1/geozones', {
      jwt: dealer.jwt,
      body: { ...zone, properties: { name: 'Zone', shape: 'circle', radiusM: 100 } },
    });
    const forced: [string, string, object, string[]][] = [
      [
        'PATCH',
        '/api/v1/me',
        {},
        [
          'id',
          'role',
          'dealerId',
          'apiAccess',
          'blocked',
          'groupIds',
          'login',
          'version',
          'password',
          'kind',
          'passwordHash',
        ],
      ],
      [
        'PATCH',
        `/api/v1/users/${carl.user.id}`,
        {},
        ['id', 'role', 'apiAccess', 'blocked', 'version', 'password', 'kind', 'passwordHash'],
      ],
      [
        'POST',
        '/api/v1/users',
        { login: 'x', name: 'x', password: PASSWORD },
        ['id', 'blocked', 'version', 'kind', 'passwordHash'],
      ],
      ['POST', '/api/v1/vehicles', { name: 'x' }, ['id', 'version', 'kind', 'ownerId', 'state']],
      ['PATCH', `/api/v1/vehicles/${van.body.id}`, {}, ['id', 'version', 'kind', 'ownerId', 'state']],
      ['POST', '/api/v1/vehicle-groups', { name: 'x' }, ['id', 'version', 'kind', 'vehicleIds', 'userIds']],
      ['PATCH', `/api/v1/vehicle-groups/${group.body.id}`, {}, ['id', 'version', 'kind', 'vehicleIds', 'userIds']],
      ['PATCH', `/api/v1/geozones/${drawn.body.id}`, {}, ['id', 'version', 'kind', 'ownerId']],
      ['PUT', '/api/v1/me/password', { currentPassword: PASSWORD, password: PASSWORD }, ['id', 'login', 'userId']],
      [
        'POST',
        '/auth/login?jwt=1',
        { login: 'anna', password: PASSWORD },
        ['role', 'userId', 'apiAccess', 'ttlSeconds'],
      ],
    ];
    const before = JSON.stringify(await world.registry.snapshot());
    for (const [method, path, body, fields] of forced)
      for (const field of [...fields, 'constructor', 'prototype', 'toString', 'isAdmin']) {
        const answer = await world.call(method, path, { jwt: dealer.jwt, body: { ...body, [field]: 'operator' } });
        expect(answer.status, `${field} by ${method} ${path}`).toBe(400);
        expect(answer.body.errors, `${field} by ${method} ${path}`).toMatchObject([{ pointer: `/${field}` }]);
      }
    for (const [method, path] of forced)
      for (const body of [
        '{"__proto__":{"role":"operator","apiAccess":true}}',
        '{"constructor":{"prototype":{"role":"operator"}}}',
      ])
        expect((await world.call(method, path, { jwt: dealer.jwt, body })).status).toBe(400);
    expect(({} as { role?: string }).role).toBeUndefined();
    expect(JSON.stringify(await world.registry.snapshot())).toBe(before);
  });

  test('what is the operator’s to say is refused from others, and changes nothing', async () => {
    const before = JSON.stringify(await world.registry.users.get(anna.user.id));
    const rival = await world.member('rival', 'dealer');
    const add = (body: object) =>
      world.call('POST', '/api/v1/users', {
        jwt: dealer.jwt,
        body: { login: 'x', name: 'x', password: PASSWORD, ...body },
      });
    for (const body of [
      { role: 'operator' },
      { role: 'dealer' },
      { apiAccess: true },
      { dealerId: rival.user.id },
      { dealerId: null },
    ])
      expect((await add(body)).status, JSON.stringify(body)).toBe(403);
    const patch = { jwt: dealer.jwt, body: { dealerId: rival.user.id } };
    expect((await world.call('PATCH', `/api/v1/users/${anna.user.id}`, patch)).status).toBe(403);
    expect((await world.call('PUT', `/api/v1/users/${anna.user.id}/api-access`, { jwt: dealer.jwt })).status).toBe(403);
    expect(JSON.stringify(await world.registry.users.get(anna.user.id))).toBe(before);
    expect(await world.registry.users.byLogin('x')).toBeNull();
  });

  test('no answer is described that holds a secret, but to those whom it is made for, at that moment', () => {
    const fields = new Set<string>();
    /** Ways to every field of a schema; a schema within itself is looked at once. */
    function* waysIn(schema: unknown, way: string, within: readonly unknown[] = []): Generator<string> {
      if (typeof schema !== 'object' || schema === null || within.includes(schema)) return;
      const { $ref, properties, ...rest } = schema as { $ref?: string; properties?: object };
      const inner = [...within, schema];
      if ($ref) yield* waysIn(document.components.schemas[$ref.split('/').at(-1) as string], way, inner);
      for (const [name, value] of Object.entries(properties ?? {})) {
        fields.add(name);
        yield `${way}.${name}`;
        yield* waysIn(value, `${way}.${name}`, inner);
      }
      for (const value of Object.values(rest)) yield* waysIn(value, way, inner);
    }
    const secret = /passw|hash|salt|secret|credential|private|\.d$|token|jwt/i;
    const secretFields = OPERATIONS.flatMap(
      ({ operation: { operationId, responses } }) =>
        Object.entries(responses).flatMap(([status, { content = {} }]) =>
          Object.values(content).flatMap(({ schema }) => [...waysIn(schema, `${operationId} ${status}`)]),
        ),
      // That there is one, and what it is called, is not what it is.
    ).filter(
      (way) =>
        secret.test(way.replace(/^\w+ /, '')) && !way.endsWith('.hasSecret') && !way.endsWith('.secretHeaderNames'),
    );
    expect(fields.size).toBeGreaterThan(40);
    expect([...new Set(secretFields)].toSorted()).toEqual([
      // The key that signs messages, returned only to the caller who sets it. No call reads it later.
      'addNotificationRule 201.webhook.secret',
      // Ids of passkeys that the account has: no secret.
      'beginPasskey 200.publicKey.excludeCredentials',
      'beginPasskey 200.publicKey.excludeCredentials.id',
      'beginPasskey 200.publicKey.excludeCredentials.type',
      // Of the app that makes codes, once, while it is set up.
      'beginSecondFactor 200.secret',
      'changeNotificationRule 200.webhook.secret',
      'login 200.jwt',
      'refresh 200.jwt',
    ]);
  });

  test('the secret of a webhook is returned once, to the caller who sets it; no trail or logger has it or the URL', async () => {
    const rules = '/api/v1/notification-rules';
    const given = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const key = 'services/T01/B02/hunter2';
    const add = (name: string, webhook: object) =>
      world.call('POST', rules, {
        jwt: anna.jwt,
        body: { name, eventKinds: ['speeding'], webhook: { url: `https://hooks.example.org/${key}`, ...webhook } },
      });
    const [chosen, made] = [await add('Chosen', { secret: given }), await add('Made', {})];
    expect(chosen.body.webhook.secret).toBe(given);
    const secrets: string[] = [given, made.body.webhook.secret, key];
    const change = (jwt: string, body: object) => world.call('PATCH', `${rules}/${chosen.body.id}`, { jwt, body });

    const rival = await world.member('rival', 'dealer');
    const texts: string[] = [];
    const collect = ({ body, headers }: Awaited<ReturnType<typeof get>>) =>
      texts.push(JSON.stringify(body), JSON.stringify([...headers]));
    const listen = async () => {
      for (const { jwt } of [operator, dealer, anna, rival])
        for (const { method, path } of OPERATIONS) {
          if (method === 'GET') collect(await get(path.replaceAll(/\{\w+\}/g, chosen.body.id), jwt));
          if (path === `${rules}/{id}/test`)
            collect(await world.call(method, path.replaceAll(/\{\w+\}/g, chosen.body.id), { jwt }));
        }
    };
    await listen();
    for (const jwt of [anna.jwt, operator.jwt]) collect(await change(jwt, { name: 'Other', emails: [] }));
    collect(await change(anna.jwt, { webhook: { url: 'https://hooks.example.org/moved' } }));
    expect((await world.registry.notificationRules.webhook(chosen.body.id)).secret).toBe(given);

    // A new secret is returned once as well, to the caller who sets it.
    const other = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    const webhook = { url: 'https://hooks.example.org/moved', secret: other };
    expect((await change(anna.jwt, { webhook })).body.webhook).toEqual({ ...webhook, url: hiddenUrl(webhook.url) });
    secrets.push(other);
    await listen();
    collect(await world.call('DELETE', `${rules}/${made.body.id}`, { jwt: anna.jwt }));

    const { audit, outbox } = world.registry;
    const trail = await audit.list({}, { limit: 1000, after: null });
    texts.push(
      JSON.stringify([
        trail,
        await outbox.pending(1000),
        await world.registry.snapshot(),
        world.logged,
        world.eventsAsked,
      ]),
    );
    const all = texts.join('\n');
    expect(all).toContain(hiddenUrl('https://hooks.example.org/moved'));
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_.{32}|hunter2/);
      expect(all).not.toContain(secret.replace('whsec_', ''));
    }
  });

  test('no answer holds what was never described: passwords and hashes stay where they are', async () => {
    const texts: string[] = [];
    for (const { method, path, operation } of OPERATIONS.filter(
      (each) => each.method === 'GET' && !/health|metrics/.test(each.path),
    )) {
      const at = path.replaceAll('{id}', /users/.test(path) ? anna.user.id : ABSENT);
      const { body, headers } = await world.call(method, at, { jwt: operator.jwt });
      texts.push(operation.operationId, JSON.stringify(body), JSON.stringify([...headers]));
    }
    const all = texts.join('\n');
    expect(all).toContain('"anna"');
    expect(all).not.toMatch(/argon2|\$v=19|passwordHash|password_hash/);
    expect(all).not.toContain(PASSWORD);
    expect(all).not.toContain(anna.jwt.split('.')[2]);
  });
});

describe('API4: unrestricted resource consumption', () => {
  const MIB = 1024 * 1024;

  test('a body over its size is refused, its length declared or not, with a token or without', async () => {
    const body = JSON.stringify({ login: 'x'.repeat(MIB), password: 'x' });
    expect((await world.call('POST', '/auth/login?jwt=1', { body })).status).toBe(413);
    let taken = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        taken += 64 * 1024;
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
      },
    });
    const request = new Request('http://outrider.test/api/v1/vehicles', {
      method: 'POST',
      headers: { authorization: `JWT ${operator.jwt}`, 'content-type': 'application/json' },
      body: endless,
      duplex: 'half',
    } as RequestInit);
    const answer = await world.api.fetch(request, { incoming: { socket: { remoteAddress: '192.0.2.1' } } as never });
    expect(answer.status).toBe(413);
    expect(taken).toBeLessThan(3 * MIB);
  });

  test('what may be larger is so for those who are known alone, and has an end as well', async () => {
    for (const [path, type] of [
      ['/api/v1/vehicles/import', 'text/csv'],
      ['/api/v1/drivers/import', 'text/csv'],
      ['/api/v1/geozones/import', 'application/geo+json'],
    ] as const) {
      const send = (bytes: number, jwt?: string) =>
        world.call('POST', path, {
          body: ' '.repeat(bytes),
          headers: { 'content-type': type },
          ...(jwt === undefined ? {} : { jwt }),
        });
      expect((await send(MIB + 1)).status, path).toBe(413);
      expect((await send(MIB + 1, 'a.b.c')).status, path).toBe(413);
      expect((await send(MIB + 1, operator.jwt)).status, path).toBe(400);
      expect((await send(32 * MIB, operator.jwt)).status, path).toBe(413);
    }
  });

  test('lists have an end', async () => {
    for (const limit of ['0', '-1', '1001', '1e9', '99999999999999999999', 'NaN', 'Infinity', '1.5', '', ' '])
      for (const { path } of OPERATIONS.filter((each) =>
        each.operation.parameters?.some(({ name }) => name === 'limit'),
      ))
        expect(
          (await get(`${path.replaceAll(/\{\w+\}/g, ABSENT)}?limit=${encodeURIComponent(limit)}`, operator.jwt)).status,
          `${path} ${limit}`,
        ).toBe(400);
  });

  test('depth, breadth and length that no one needs are refused, in an answer that stays small', async () => {
    const MANY = 100_000;
    const bodies = {
      deep: `${'['.repeat(MANY)}${']'.repeat(MANY)}`,
      'deep in a field': `{"name":${'{"a":'.repeat(MANY)}1${'}'.repeat(MANY)}}`,
      'deep where coordinates are': `{"type":"Feature","properties":{"shape":"polygon","name":"x"},"geometry":{"type":"Polygon","coordinates":${'['.repeat(MANY)}${']'.repeat(MANY)}}}`,
      'many names': `{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":1`)}}`,
      'one long name': `{"${'~'.repeat(900_000)}":1}`,
      'a long string': JSON.stringify({ name: 'x'.repeat(900_000), login: 'x'.repeat(100_000) }),
      'a long list': JSON.stringify({ name: 'x', groupIds: Array(20_000).fill(ABSENT) }),
      'a long list of wrong things': JSON.stringify({ name: 'x', groupIds: Array(100_000).fill(1) }),
      'many points': JSON.stringify({
        type: 'Feature',
        properties: { shape: 'line', widthM: 20, name: 'x' },
        geometry: { type: 'LineString', coordinates: Array.from({ length: 10_001 }, (_, n) => [n / 1000, 1]) },
      }),
      'many rings': JSON.stringify({
        type: 'Feature',
        properties: { shape: 'polygon', name: 'x' },
        geometry: {
          type: 'Polygon',
          coordinates: Array(1001).fill([
            [0, 0],
            [0, 1],
            [1, 1],
            [0, 0],
          ]),
        },
      }),
      'a number out of this world': '{"name":"x","speedLimitKmh":1e999}',
    };
    for (const [what, body] of Object.entries(bodies))
      for (const path of ['/api/v1/vehicles', '/api/v1/geozones', '/api/v1/users']) {
        const answer = await world.call('POST', path, { jwt: operator.jwt, body });
        expect(answer.status, `${what} to ${path}`).toBe(400);
        expect(JSON.stringify(answer.body).length, `${what} to ${path}`).toBeLessThan(20_000);
        expect(answer.body.errors.length).toBeLessThanOrEqual(20);
      }
  });

  test('queries, paths and headers of any length are answered, and shortly', async () => {
    const many = Array.from({ length: 20_000 }, (_, n) => `p${n}=${n}`).join('&');
    const repeated = `${'limit=1&'.repeat(20_000)}limit=2`;
    for (const query of [many, repeated, `${'x'.repeat(100_000)}=1`]) {
      const { status, body } = await get(`/api/v1/vehicles?${query}`, operator.jwt);
      expect(status).toBe(400);
      expect(JSON.stringify(body).length).toBeLessThan(4000);
    }
    const long = 'x'.repeat(100_000);
    for (const [path, status] of [
      [`/api/v1/vehicles?cursor=${long}`, 400],
      [`/api/v1/vehicles/${long}`, 400],
      [`/api/v1/vehicles/terminal:${long}`, 400],
      [`/${'a/'.repeat(50_000)}`, 404],
    ] as const) {
      const answer = await get(path, operator.jwt);
      expect(answer.status).toBe(status);
      expect(JSON.stringify(answer.body).length).toBeLessThan(2000);
    }
    const headers = { 'if-match': Array(20_000).fill('"1"').join(','), 'user-agent': long, cookie: `a=${long}` };
    const patch = { jwt: operator.jwt, body: { name: 'x' }, headers };
    expect((await world.call('PATCH', `/api/v1/users/${anna.user.id}`, patch)).status).toBe(200);
  });

  test('passwords are derived two at a time, and with 128 waiting the next login is asked to retry later', async () => {
    derivations.held = [];
    const logins = Array.from({ length: 140 }, (_, n) => world.login('nobody', 'x', { from: `198.51.100.${n}` }));
    while (!(await Promise.race([...logins, new Promise((resolve) => setImmediate(resolve, null))]))) {
      // Until the first one that finds no place has its answer.
    }
    expect(derivations.asked).toHaveLength(2);
    const held = derivations.held;
    derivations.held = null;
    for (const derive of held) derive();
    const answers = await Promise.all(logins);
    const busy = answers.filter(({ status }) => status === 503);
    expect(busy).toHaveLength(10);
    for (const { headers } of busy) expect(headers.get('retry-after')).toBe('1');
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(130);
  });

  test('an account has at most 100 sessions: more logins end the longest unused', async () => {
    for (let n = 0; n < 110; n += 1) {
      world.nowMs += 1;
      await world.tokenOf(anna.user);
    }
    expect(await world.registry.sessions.listOf(anna.user.id)).toHaveLength(100);
    expect((await get('/api/v1/me', anna.jwt)).status).toBe(401);
  });
});

/** Sends raw bytes on a connection, and returns everything received until it is closed. */
async function raw(port: number, ...said: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  for (const text of said) socket.write(text, 'latin1');
  if (!socket.closed) await once(socket, 'close');
  return received;
}

describe('API4, on a real connection', () => {
  test('a header section that is too large is cut off', async () => {
    const http = await listenApi(world.api, { host: '127.0.0.1', port: 0 });
    const large = await raw(http.port, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(large).toMatch(/^HTTP\/1\.1 431 /);
    await http.close(0);
  });

  test('headers and bodies that never end are given up', async () => {
    const http = await listenApi(
      world.api,
      { host: '127.0.0.1', port: 0 },
      { headersWithinMs: 100, requestWithinMs: 200, checkedEveryMs: 20 },
    );
    expect(await raw(http.port, 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')).toMatch(/^HTTP\/1\.1 408 /);
    const head =
      'POST /auth/login?jwt=1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{';
    expect(await raw(http.port, head)).toMatch(/^HTTP\/1\.1 408 /);
    expect(await raw(http.port)).toMatch(/^(?:HTTP\/1\.1 408 |$)/);
    await http.close(0);
  });

  test('the times given to a client are short by default', async () => {
    const http = await listenApi(world.api, { host: '127.0.0.1', port: 0 });
    expect(http.server.headersTimeout).toBeLessThanOrEqual(10_000);
    expect(http.server.requestTimeout).toBeLessThanOrEqual(30_000);
    await http.close(0);
  });
});

describe('API5: broken function level authorization', () => {
  const OPERATORS_ONLY = [
    'grantApiAccess',
    'withdrawApiAccess',
    'removeSecondFactor',
    'listUnknownTerminals',
    'getVideoStorage',
    'getOperatorStatus',
    'listAllSessions',
    'listArchiveGaps',
    'acceptArchiveGap',
    'listDeadLetters',
    'getDeadLetter',
    'listMapFiles',
    'moveVehicles',
  ];
  const MANAGERS_ONLY = [
    'addUser',
    'changeUser',
    'deleteUser',
    'blockUser',
    'unblockUser',
    'setPassword',
    'inviteUser',
    'setExpiry',
    'setFleetRetention',
    'setQuotas',
    'listAudit',
    'addVehicle',
    'changeVehicle',
    'changeVehicles',
    'deleteVehicle',
    'suspendVehicle',
    'resumeVehicle',
    'addVehicleGroup',
    'changeVehicleGroup',
    'deleteVehicleGroup',
    'putVehicleInGroup',
    'takeVehicleFromGroup',
    'grantGroupAccess',
    'withdrawGroupAccess',
    'changeVehiclesOfGroup',
    'changeUsersOfGroup',
    'importVehicles',
    'importSensors',
    'addDriver',
    'importDrivers',
    'changeDriver',
    'deleteDriver',
    'addDriverAssignment',
    'listUnknownDriverCodes',
    'recalculateVehicle',
    'importHistory',
    'eraseHistory',
    'exportDriver',
    'addVideoProfile',
    'changeVideoProfile',
    'deleteVideoProfile',
  ];
  /** To those who manage, and to users who were granted the video service; with what they are answered. */
  const WITH_VIDEO: Record<string, number> = {
    listVideoProfiles: 200,
    getVideoProfile: 200,
    addVideoTask: 201,
    listVideoTasks: 200,
    getVideoTask: 200,
    getVideoFile: 200,
    changeVideoTask: 200,
    cancelVideoTask: 200,
    deleteVideoFile: 204,
    deleteVideoTask: 204,
  };
  /** To those who manage, and to users who were granted commands, with what they are answered: it never connected. */
  const WITH_COMMANDS: Record<string, number> = {
    listCommandTypes: 200,
    listCommands: 200,
    addCommand: 409,
    getCommand: 404,
    cancelCommand: 404,
  };
  /** To what is theirs, or what they may see. */
  const ALL_WITH_A_TOKEN = [
    'logout',
    'getMe',
    'getMyQuotas',
    'listTerminalProtocols',
    'getQuotas',
    'changeMe',
    'getMyPreferences',
    'changeMyPreferences',
    'changeMyPassword',
    'getExpiry',
    'getFleetRetention',
    'getEmail',
    'setEmail',
    'getMySecondFactor',
    'beginSecondFactor',
    'confirmSecondFactor',
    'renewRecoveryCodes',
    'disableSecondFactor',
    'listMyPasskeys',
    'beginPasskey',
    'addPasskey',
    'renamePasskey',
    'removePasskey',
    'getMyOpenId',
    'linkMyOpenId',
    'unlinkMyOpenId',
    'getSecondFactor',
    'listUsers',
    'getUser',
    'listSessions',
    'listApiKeys',
    'addApiKey',
    'getApiKey',
    'changeApiKey',
    'deleteApiKey',
    'endSession',
    'endSessions',
    'listVehicles',
    'listDrivers',
    'exportDrivers',
    'getDriver',
    'listDriverAssignments',
    'changeDriverAssignment',
    'deleteDriverAssignment',
    'reportFuel',
    'reportRefuellings',
    'reportSensors',
    'reportSensorSeries',
    'getVehicle',
    'getVehicleState',
    'trySensor',
    'listSensors',
    'listSensorPresets',
    'getRejectedPositions',
    'exportVehicles',
    'exportSensors',
    'listVehicleGroups',
    'getVehicleGroup',
    'listVehiclesOfGroup',
    'listUsersOfGroup',
    'listGeozones',
    'addGeozone',
    'getGeozone',
    'changeGeozone',
    'deleteGeozone',
    'exportGeozones',
    'importGeozones',
    'importGeozoneFile',
    'readGeozoneFile',
    'listNotificationRules',
    'addNotificationRule',
    'getNotificationRule',
    'changeNotificationRule',
    'deleteNotificationRule',
    'testNotificationRule',
    'testNotificationRuleDraft',
    'addChannelTest',
    'listChannelTests',
    'previewNotificationMessage',
    'listMessageChannels',
    'addMessageChannel',
    'getPushKey',
    'getMessageChannel',
    'changeMessageChannel',
    'deleteMessageChannel',
    'confirmMessageChannel',
    'addMessageChannelTest',
    'listMessageChannelTests',
    'listForwardingDestinations',
    'addForwardingDestination',
    'getForwardingDestination',
    'changeForwardingDestination',
    'deleteForwardingDestination',
    'replayForwardingDestination',
    'testForwardingDestination',
    'listNotifications',
    'readNotification',
    'readAllNotifications',
    'listIncidents',
    'getIncident',
    'addIncidentEntry',
    'listIncidentAssignees',
    'listWebhookDeliveries',
    'resendWebhookDelivery',
    'listReportKinds',
    'getMyReportTemplates',
    'setMyReportTemplates',
    'reportCurrentState',
    'followEvents',
    'followPositions',
    'reportEvents',
    'reportGeozoneMatrix',
    'reportGeozoneVisits',
    'reportIdling',
    'reportEngineHours',
    'reportMaintenance',
    'reportMileage',
    'namePlace',
    'reportPositionsAt',
    'reportShapeVisits',
    'reportSpeeding',
    'reportStops',
    'reportSummary',
    'reportTrack',
    'reportTrips',
    'reportUtilisation',
    'reportViolations',
    'reportFleetDigest',
    'reportEcoDriving',
    'reportDrivers',
    'reportWorkTime',
    'addReportJob',
    'getReportFile',
    'listReportSchedules',
    'addReportSchedule',
    'listReportDeliveries',
    'getReportSchedule',
    'changeReportSchedule',
    'deleteReportSchedule',
    'getCounters',
    'getCounter',
    'listMaintenance',
    'listMaintenancePlans',
    'getMaintenancePlan',
    'listServiceRecords',
    'getServiceFile',
    'listShareLinks',
    'addShareLink',
    'getShareLink',
    'deleteShareLink',
    'recalculateGeozone',
    'listJobs',
    'getJob',
    'cancelJob',
    'exportUser',
    'getPersonExport',
  ];
  /** For dealers, operators, and users who were granted it. */
  const WITH_MAINTENANCE = [
    'addCounter',
    'changeCounter',
    'deleteCounter',
    'correctCounter',
    'deleteCounterCorrection',
    'addMaintenancePlan',
    'changeMaintenancePlan',
    'deleteMaintenancePlan',
    'addServiceRecord',
    'deleteServiceRecord',
    'importMaintenancePlans',
    'importCounterReadings',
    'addServiceFile',
    'deleteServiceFile',
  ];
  const ALL = [
    'login',
    'beginPasskeySignIn',
    'signInByPasskey',
    'getLoginOptions',
    'requestPasswordReset',
    'completePasswordReset',
    'refresh',
    'jwks',
    'getIndex',
    'getLiveness',
    'getReadiness',
    'getMetrics',
    'getShared',
  ];

  test('of every operation it is said whom it is for', () => {
    const said = [
      ...OPERATORS_ONLY,
      ...MANAGERS_ONLY,
      ...Object.keys(WITH_VIDEO),
      ...Object.keys(WITH_COMMANDS),
      ...WITH_MAINTENANCE,
      ...ALL_WITH_A_TOKEN,
      ...ALL,
    ];
    expect(said.toSorted()).toEqual(OPERATIONS.map(({ operation }) => operation.operationId).toSorted());
  });

  test('without a token nothing answers but what is open to all', async () => {
    for (const { method, path, operation } of OPERATIONS) {
      const at = path.replaceAll(/\{\w+\}/g, ABSENT);
      const { status } = await world.call(method, at, { headers: { 'content-type': 'application/json' } });
      if (!ALL.includes(operation.operationId)) expect(status, operation.operationId).toBe(401);
    }
  });

  /** Everything the caller could be meant to see, so that only the function is what is refused. */
  async function attack(operationId: string, jwt: string, ids: Record<string, string>) {
    const found = OPERATIONS.find(({ operation }) => operation.operationId === operationId);
    if (!found) throw new Error(`${operationId} is not described`);
    const { method, path, operation } = found;
    const kind = path.split('/')[3] ?? '';
    const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'id' ? ids[kind] : ids[name]) ?? ABSENT);
    const [type, { example } = { example: undefined }] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
    const body =
      typeof example === 'object' && example !== null
        ? Object.fromEntries(Object.entries(example).map(([name, value]) => [name, ids[name] ?? value]))
        : example;
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const query = (operation.parameters ?? [])
      .filter((each) => each.in === 'query' && each.required)
      .map(({ name, example, schema }) => `${name}=${encodeURIComponent(String(example ?? schema?.examples?.[0]))}`)
      .join('&');
    const asked = `${at}${query && `?${query}`}`;
    return world.call(method, asked, { jwt, headers, ...(body === undefined ? {} : { body }) });
  }

  test('what only operators may, nobody else does', async () => {
    const ids = { users: anna.user.id, ids: [] as never, dealerId: dealer.user.id };
    for (const operationId of OPERATORS_ONLY) {
      expect((await attack(operationId, dealer.jwt, ids)).status, operationId).toBe(403);
      expect((await attack(operationId, anna.jwt, ids)).status, operationId).toBe(403);
      // Anna has no second factor that could be removed, and the archive has lost nothing.
      const found = ['removeSecondFactor', 'acceptArchiveGap'].includes(operationId) ? 404 : 200;
      expect((await attack(operationId, operator.jwt, ids)).status, operationId).toBe(found);
    }
  });

  test('what only those who manage may, no user does, even to what they see', async () => {
    const { groupId, vehicleId, profileId } = await vanWithVideo();
    await world.registry.users.update(anna.user.id, null, { services: ['video'] });
    const driver = await world.registry.drivers.create({
      ...{ name: 'Dora', codes: [], phone: null, licenceNumber: null, licenceExpiresOn: null },
      ...{ groupIds: [groupId], dealerId: dealer.user.id },
    });
    for (const path of [
      `/api/v1/vehicles/${vehicleId}`,
      `/api/v1/vehicle-groups/${groupId}`,
      `/api/v1/drivers/${driver.id}`,
      `${VIDEO}/profiles/${profileId}`,
    ])
      expect((await get(path, anna.jwt)).status, path).toBe(200);
    const ids = {
      users: anna.user.id,
      vehicles: vehicleId,
      'vehicle-groups': groupId,
      drivers: driver.id,
      driverId: driver.id,
      vehicleId,
      userId: anna.user.id,
      profile_id: profileId,
    };
    const before = await everything();
    for (const operationId of MANAGERS_ONLY)
      expect((await attack(operationId, anna.jwt, ids)).status, operationId).toBe(403);
    expect(await everything()).toBe(before);
  });

  test('what needs the video service, no user does who was not granted it, even to what they see and made', async () => {
    const { vehicleId, profileId, doneId, newId } = await vanWithVideo();
    const ids = { vehicleId, profileId, profile_id: profileId, task_id: doneId };
    const idsFor = (operationId: string) =>
      ['cancelVideoTask', 'changeVideoTask'].includes(operationId) ? { ...ids, task_id: newId } : ids;
    const group = OPERATIONS.filter(({ path }) => path.startsWith(VIDEO)).map(({ operation }) => operation.operationId);
    const refused = async (operationIds: string[], of: string) => {
      const before = await everything();
      for (const operationId of operationIds) {
        const answer = await attack(operationId, anna.jwt, idsFor(operationId));
        expect(answer.status, `${operationId}, ${of}`).toBe(403);
        expect(JSON.stringify(answer.body), operationId).not.toContain(FOOTAGE.toString());
      }
      // What there is and what there is not look the same.
      for (const operationId of operationIds)
        expect((await attack(operationId, anna.jwt, {})).status, `${operationId} of nothing`).toBe(403);
      expect(await everything()).toBe(before);
    };
    expect((await get(`/api/v1/vehicles/${vehicleId}`, anna.jwt)).status).toBe(200);
    expect(group).toEqual(expect.arrayContaining(Object.keys(WITH_VIDEO)));
    await refused(group, 'never granted');

    // Nobody grants it to themselves, nor to a user of another’s.
    const at = `/api/v1/users/${anna.user.id}`;
    const rival = await world.member('rival', 'dealer');
    const body = { services: ['video'] };
    expect((await world.call('PATCH', at, { jwt: anna.jwt, body })).status).toBe(403);
    expect((await world.call('PATCH', '/api/v1/me', { jwt: anna.jwt, body })).status).toBe(400);
    expect((await world.call('PATCH', at, { jwt: rival.jwt, body })).status).toBe(404);
    await refused(group, 'still not granted');

    const grant = async (services: string[]) =>
      expect((await world.call('PATCH', at, { jwt: dealer.jwt, body: { services } })).body.services).toEqual(services);
    await grant(['video']);
    for (const [operationId, status] of Object.entries(WITH_VIDEO)) {
      const answer = await attack(operationId, anna.jwt, idsFor(operationId));
      expect(answer.status, `${operationId}: ${JSON.stringify(answer.body)}`).toBe(status);
    }
    // It is gone with the next call, whatever the token was given for.
    await grant([]);
    await refused(group, 'granted no longer');
  });

  test('what needs the service of commands, no user does who was not granted it', async () => {
    const { vehicleId } = await vanWithVideo();
    const ids = { vehicles: vehicleId };
    for (const services of [[], ['video'], ['command-text']] as const) {
      await world.registry.users.update(anna.user.id, null, { services });
      for (const operationId of Object.keys(WITH_COMMANDS))
        expect((await attack(operationId, anna.jwt, ids)).status, `${operationId} with ${services}`).toBe(403);
    }
    await world.registry.users.update(anna.user.id, null, { services: ['commands'] });
    for (const [operationId, status] of Object.entries(WITH_COMMANDS))
      expect((await attack(operationId, anna.jwt, ids)).status, operationId).toBe(status);
  });

  test('a method or a path smuggled in by another name is ignored', async () => {
    for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override'])
      expect(
        (
          await world.call('GET', `/api/v1/users/${anna.user.id}`, {
            jwt: operator.jwt,
            headers: { [header]: 'DELETE' },
          })
        ).status,
      ).toBe(200);
    expect(await world.registry.users.get(anna.user.id)).not.toBeNull();
    for (const header of ['x-original-url', 'x-rewrite-url']) {
      const headers = { [header]: '/api/v1/unknown-terminals' };
      expect((await world.call('GET', '/api/v1/me', { jwt: anna.jwt, headers })).body.id).toBe(anna.user.id);
    }
    for (const path of [
      '//api/v1/unknown-terminals',
      '/API/v1/unknown-terminals',
      '/api/v1/unknown-terminals/',
      '/api/v1/me/%2e%2e%2funknown-terminals',
      '/api/v1/unknown-terminals%00',
    ])
      expect([403, 404], path).toContain((await get(path, anna.jwt)).status);
  });
});

describe('API6: unrestricted access to sensitive business flows', () => {
  test('guessing a password is ended by the limit, also when all guesses come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => world.login('anna', `guess ${n}`)));
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10);
    expect(derivations.asked.length).toBeLessThanOrEqual(10);
    expect((await world.login('anna', PASSWORD)).status).toBe(429);
  });

  test('a current password is not to be guessed by who holds a token', async () => {
    const guess = (n: number) =>
      world.call('PUT', '/api/v1/me/password', {
        jwt: anna.jwt,
        body: { currentPassword: `guess ${n}`, password: 'another password' },
      });
    const answers = [];
    for (let n = 0; n < 15; n += 1) answers.push((await guess(n)).status);
    expect(answers).toEqual([...Array(10).fill(400), ...Array(5).fill(429)]);
    expect(derivations.asked).toHaveLength(10);
  });

  test('a wrong login is no way to shut somebody else out', async () => {
    for (let n = 0; n < 15; n += 1) await world.login('anna', 'wrong', { from: '198.51.100.9' });
    expect((await world.login('anna', PASSWORD, { from: '198.51.100.10' })).status).toBe(200);
    expect((await get('/api/v1/me', anna.jwt)).status).toBe(200);
  });
});

describe('API7: server side request forgery', () => {
  test('no call fetches an address that its caller gives, wherever in the request it stands', async () => {
    let visits = 0;
    const canary = createServer((_, response) => response.end());
    canary.on('connection', () => {
      visits += 1;
    });
    canary.listen(0, '127.0.0.1');
    await once(canary, 'listening');
    const fetched = vi.spyOn(globalThis, 'fetch');
    const url = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/`;
    const filled = (value: unknown): unknown => {
      if (typeof value === 'string') return url;
      if (Array.isArray(value)) return value.map(filled);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each)]));
    };
    for (const { method, path, operation } of OPERATIONS) {
      const query = (operation.parameters ?? [])
        .filter((each) => each.in === 'query')
        .map(({ name }) => `${name}=${encodeURIComponent(url)}`)
        .join('&');
      const example = Object.values(operation.requestBody?.content ?? {})[0]?.example as Record<string, unknown>;
      // All fields at once, and each alone beside good ones.
      const bodies =
        example === undefined
          ? [undefined]
          : [filled(example), ...Object.keys(example).map((key) => ({ ...example, [key]: filled(example[key]) }))];
      for (const body of bodies)
        for (const at of [
          path.replaceAll(/\{\w+\}/g, encodeURIComponent(url)),
          path.replaceAll(/\{\w+\}/g, anna.user.id),
        ])
          await world.call(method, `${at}${query ? `?${query}` : ''}`, {
            jwt: await world.tokenOf(operator.user),
            ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
            headers: { referer: url, 'x-forwarded-host': url, 'x-callback-url': url, 'user-agent': url, origin: url },
          });
    }
    expect(fetched).not.toHaveBeenCalled();
    expect(visits).toBe(0);
    fetched.mockRestore();
    canary.close();
  });
});

describe('API7, where an address is what is asked for', () => {
  test('a webhook leads nowhere but out, by https: it is refused when it is set, and nothing is kept', async () => {
    const rules = '/api/v1/notification-rules';
    const rule = { name: 'Told', eventKinds: ['speeding'] };
    const good = await world.call('POST', rules, { jwt: anna.jwt, body: { ...rule, webhook: null } });
    for (const url of [
      'http://hooks.example.org/',
      'https://localhost/',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://[::1]/',
      'https://[::ffff:127.0.0.1]/',
      'https://10.0.0.1/',
      'https://172.16.0.1/',
      'https://192.168.0.1/',
      'https://169.254.169.254/latest/meta-data/',
      'https://[fd00:ec2::254]/',
      'https://[fe80::1]/',
      'https://0.0.0.0/',
      'https://user:password@hooks.example.org/',
      'https://hooks.example.org\\@127.0.0.1/',
      'file:///etc/passwd',
      'gopher://127.0.0.1:6379/_',
      'javascript:alert(1)',
      '//127.0.0.1/',
      '',
    ])
      for (const [method, path, body] of [
        ['POST', rules, { ...rule, name: 'Another', webhook: { url } }],
        ['PATCH', `${rules}/${good.body.id}`, { webhook: { url } }],
      ] as const)
        for (const { jwt } of [anna, operator]) {
          if (method === 'PATCH' || jwt === anna.jwt) {
            const answer = await world.call(method, path, { jwt, body });
            expect(answer.status, `${method} ${url}`).toBe(400);
            expect(answer.body.errors, `${method} ${url}`).toMatchObject([{ pointer: '/webhook/url' }]);
          }
        }
    const { items } = await world.registry.notificationRules.list({}, { limit: 10, after: null });
    expect(items).toMatchObject([{ id: good.body.id, webhookUrl: null, version: 1 }]);
  });
});

describe('API8: security misconfiguration', () => {
  test('every kind of answer has its headers, and reveals nothing about the software', async () => {
    const kinds: [string, string, object][] = [
      ['GET', '/', {}],
      ['GET', '/docs/', {}],
      ['GET', '/openapi.json', {}],
      ['GET', '/api/v1/me', { jwt: anna.jwt }],
      ['GET', '/api/v1/me', {}],
      ['GET', '/nothing', {}],
      ['PUT', '/api/v1/me', { jwt: anna.jwt }],
      ['POST', '/auth/login?jwt=1', { body: '{' }],
      ['GET', '/health/live', {}],
      ['GET', '/metrics', {}],
    ];
    for (const [method, path, options] of kinds) {
      const { headers, body } = await world.call(method, path, options);
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('cache-control'), path).toMatch(/no-store|no-cache/);
      for (const name of ['server', 'x-powered-by', 'via']) expect(headers.has(name), path).toBe(false);
      for (const name of headers.keys()) expect(name).not.toMatch(/^access-control-/);
      if (path !== '/openapi.json') expect(JSON.stringify(body)).not.toMatch(/node_modules|\.ts:\d|at \w+ \(/);
    }
    for (const path of ['/', '/docs/']) {
      const policy = (await world.call('GET', path)).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe-|\*|https?:/);
    }
  });

  test('pages of other origins can read nothing', async () => {
    for (const origin of ['https://evil.test', 'null', 'http://outrider.test.evil.test']) {
      const answers = [
        await world.call('GET', '/api/v1/me', { jwt: anna.jwt, headers: { origin } }),
        await world.call('OPTIONS', '/api/v1/me', {
          headers: {
            origin,
            'access-control-request-method': 'PUT',
            'access-control-request-headers': 'authorization',
          },
        }),
      ];
      for (const { headers } of answers)
        for (const name of headers.keys()) expect(name).not.toMatch(/^access-control-/);
      expect(answers[1]?.status).toBe(405);
    }
  });

  test('internal failures are only logged', async () => {
    const failing = {
      track: async () => Promise.reject(new Error('secret of the archive at /var/lib')),
      fixesBefore: async () => [],
    };
    const broken = await World.open({}, { trackReport: failing });
    const { jwt } = await broken.member('boss', 'operator');
    const van = await broken.call('POST', '/api/v1/vehicles', { jwt, body: { name: 'Van' } });
    const path = `/api/v1/reports/track?vehicleId=${van.body.id}&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z`;
    const { status, body } = await broken.call('GET', path, { jwt });
    expect(status).toBe(500);
    expect(Object.keys(body)).toEqual(['type', 'title', 'status', 'detail']);
    expect(JSON.stringify(body)).not.toMatch(/secret|\/var|Error|stack/);
    expect(broken.logged).toHaveLength(1);
    await broken.close();
  });

  test('bad bytes are the fault of who sent them', async () => {
    const bytes = (body: string | Uint8Array, type = 'application/json') =>
      world.api.fetch(
        new Request('http://outrider.test/api/v1/vehicles', {
          method: 'POST',
          headers: { authorization: `JWT ${operator.jwt}`, 'content-type': type },
          body: body as string,
        }),
      );
    for (const body of [
      '{',
      '',
      'null',
      '{"name":"\\ud800"}x',
      '{"name":"a\\u0000b"}',
      '[]',
      '"x"',
      new Uint8Array([0xff, 0xfe, 0x00]),
    ])
      expect((await bytes(body)).status, String(body)).toBe(400);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      '',
    ])
      expect((await bytes('{"name":"x"}', type)).status, type).toBe(415);
    for (const path of [
      '/api/v1/vehicles/%ZZ',
      '/api/v1/vehicles/%00',
      '/api/v1/vehicles/%E0%A4%A',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/docs/../../package.json',
      '/docs/%2e%2e%2fapi.ts',
      '/docs/swagger-ui.css%00.html',
    ])
      expect([400, 404], path).toContain((await get(path, operator.jwt)).status);
    expect(world.logged).toEqual([]);
  });

  test('methods that nobody asked for, over the wire', async () => {
    const http = await listenApi(world.api, { host: '127.0.0.1', port: 0 });
    for (const method of ['TRACE', 'TRACK', 'CONNECT', 'PROPFIND', 'PUT', 'DELETE', 'BREW', 'get', 'OPTIONS']) {
      const received = await raw(
        http.port,
        `${method} /api/v1/vehicles HTTP/1.1\r\nHost: x\r\nAuthorization: JWT ${operator.jwt}\r\nX-Mark: echo-me\r\nConnection: close\r\n\r\n`,
      );
      expect(received, method).toMatch(
        method === 'CONNECT' ? /^(?:$|HTTP\/1\.1 4\d\d )/ : /^HTTP\/1\.1 (?:400|404|405|501) /,
      );
      expect(received, method).not.toContain('echo-me');
    }
    await http.close(0);
    expect(world.logged).toEqual([]);
  });

  test('a Host or a target that is none', async () => {
    const http = await listenApi(world.api, { host: '127.0.0.1', port: 0 });
    for (const head of [
      'GET /api/v1/me HTTP/1.1\r\nHost: a b',
      'GET /api/v1/me HTTP/1.1\r\nHost: evil.test/x?',
      'GET /api/v1/me HTTP/1.1\r\nHost: ',
      'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nHost: y',
      'GET http://evil.test/api/v1/me HTTP/1.1\r\nHost: x',
      'GET \\api\\v1\\me HTTP/1.1\r\nHost: x',
      'GET * HTTP/1.1\r\nHost: x',
      'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked',
      'GET /api/v1/me HTTP/9.9\r\nHost: x',
    ]) {
      const received = await raw(http.port, `${head}\r\nConnection: close\r\n\r\n`);
      expect(received, head).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(received, head).not.toMatch(/node_modules|Error:|\.m?[jt]s:\d/);
    }
    await http.close(0);
    expect(world.logged).toEqual([]);
  });
});

describe('API9: improper inventory management', () => {
  test('what is served is what the document describes, and the reverse', () => {
    const served = new Set(
      (applications as Hono[])
        .flatMap(({ routes }) => routes)
        .filter(({ method }) => method !== 'ALL')
        .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
    );
    const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    const besides = [
      'GET /',
      'GET /api/v1/',
      'GET /asyncapi.json',
      'GET /docs',
      'GET /docs/',
      'GET /docs/init.js',
      'GET /docs/messages.html',
      'GET /docs/messages.js',
      'GET /docs/pages.css',
      'GET /docs/root.js',
      'GET /docs/swagger-ui-bundle.js',
      'GET /docs/swagger-ui.css',
      // Links in e-mails lead there: pages for people, who have no token.
      'GET /email/confirm',
      'GET /email/unsubscribe',
      'GET /favicon.ico',
      'GET /maps',
      'GET /maps/{name}',
      'GET /maps/{name}/{z}{\\d{1,2}}/{x}{\\d{1,8}}/{y}{\\d{1,8}}',
      'GET /openapi.json',
      'GET /topics.asyncapi.json',
      'POST /email/confirm',
      'POST /email/unsubscribe',
      // What clients of Traccar read is described by Traccar: `traccar/traccar.test.ts`.
      'DELETE /api/session',
      'GET /api/devices/{id}{[0-9]{1,16}}',
      'GET /api/server',
      'GET /api/session',
      'POST /api/session',
      ...Object.keys(TRACCAR_LISTS).map((name) => `GET /api/${name}`),
    ];
    expect([...served].toSorted()).toEqual([...described, ...besides].toSorted());
  });

  test('every described path takes its methods and lists them, and takes no other', async () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const at = path.replaceAll(/\{\w+\}/g, ABSENT);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { status, headers } = await world.call(method, at);
        if (methods[method.toLowerCase()]) expect([404, 405], `${method} ${path}`).not.toContain(status);
        else {
          expect([404, 405], `${method} ${path}`).toContain(status);
          if (!/^\/(?:health|metrics|api\/v1$)/.test(path))
            expect(headers.get('allow')?.split(', ').toSorted(), path).toEqual(
              Object.keys(methods)
                .map((each) => each.toUpperCase())
                .toSorted(),
            );
        }
      }
    }
  });

  test('what a path names is no id of another: by whatever method, with whatever rights', async () => {
    const van = await world.call('POST', '/api/v1/vehicles', { jwt: operator.jwt, body: { name: 'Van' } });
    for (const path of ['/api/v1/vehicles/export', '/api/v1/geozones/export'])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const body = method === 'DELETE' ? {} : { body: { name: 'x' } };
        const { status, headers } = await world.call(method, path, { jwt: operator.jwt, ...body });
        expect([status, headers.get('allow')], `${method} ${path}`).toEqual([405, 'GET']);
      }
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const { status, headers } = await world.call(method, '/api/v1/vehicles/import', { jwt: operator.jwt });
      expect([status, headers.get('allow')], method).toEqual([405, 'POST']);
    }
    const head = await world.call('HEAD', '/api/v1/vehicles/export', { jwt: operator.jwt });
    expect([head.status, head.body]).toEqual([200, '']);
    expect((await get(`/api/v1/vehicles/${van.body.id}`, operator.jwt)).status).toBe(200);
  });

  test('nothing else answers, old or hidden', async () => {
    for (const path of [
      '/api/v0/vehicles',
      '/api/v2/vehicles',
      '/api/vehicles',
      '/vehicles',
      '/admin',
      '/debug',
      '/debug/pprof',
      '/.env',
      '/.git/config',
      '/swagger.json',
      '/graphql',
      '/actuator/env',
      '/server-status',
      '/api',
      '/internal',
      '/package.json',
      '/health',
      '/openapi.yaml',
      '/api-docs',
      '/test',
    ])
      for (const jwt of [operator.jwt, undefined])
        expect((await world.call('GET', path, jwt === undefined ? {} : { jwt })).status, path).toBe(404);
  });
});

describe('API10: unsafe consumption of what others send', () => {
  test('an address is believed from a trusted proxy alone, and only where that proxy wrote it', async () => {
    const seen = async (from: string, forwardedFor: string) => {
      const { body } = await world.login('anna', PASSWORD, { from, headers: { 'x-forwarded-for': forwardedFor } });
      const [session] = await world.registry.sessions.listOf(anna.user.id);
      world.nowMs += 1000;
      expect(body.jwt).toBeDefined();
      return session?.address;
    };
    world.nowMs += 1000;
    expect(await seen('198.51.100.7', '203.0.113.1')).toBe('198.51.100.7');
    expect(await seen('10.0.0.1', '203.0.113.2')).toBe('203.0.113.2');
    expect(await seen('10.0.0.1', '1.2.3.4, 203.0.113.3')).toBe('203.0.113.3');
    expect(await seen('10.0.0.1', '203.0.113.4, not an address')).toBe('10.0.0.1');
    expect(await seen('10.0.0.1', '<script>alert(1)</script>')).toBe('10.0.0.1');
  });

  const HOSTILE = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '=HYPERLINK("http://evil.test")',
    "' or 1=1 --",
    '{{7*7}}',
    '#{7*7}',
    '\u202egnp.exe',
  ];

  test('what terminals say of themselves is data: never a page, never part of a query', async () => {
    for (const id of HOSTILE) await world.hub.noteUnknownTerminal(id, 'teltonika', '203.0.113.5', world.nowMs);
    const { body, headers } = await get('/api/v1/unknown-terminals', operator.jwt);
    expect(body.items.map((item: { terminalId: string }) => item.terminalId).toSorted()).toEqual(HOSTILE.toSorted());
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    for (const path of ['/', '/docs/'])
      for (const id of HOSTILE) expect((await world.call('GET', path)).body).not.toContain(id);
  });

  test('a position with names that mean something to a language is returned as it came', async () => {
    const van = await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van' }));
    const attributes = JSON.parse('{"__proto__":"x","constructor":"y","note":"</script><b>"}');
    const position = { ...blankPosition(world.nowMs, 60, 30), attributes };
    await world.hub.updateLatest([sampleStatus(van.id, position, world.nowMs)]);
    const { body } = await get(`/api/v1/vehicles/${van.id}/state`, operator.jwt);
    expect(Object.entries(body.position.attributes)).toEqual(Object.entries(attributes));
  });

  test('what people are called does no harm in any form that it is given out in', async () => {
    for (const [nth, name] of HOSTILE.entries()) {
      const sensors = [{ name, kind: 'custom', source: 'x' }];
      const body = { name, terminalId: String(nth), sensors };
      expect((await world.call('POST', '/api/v1/vehicles', { jwt: operator.jwt, body })).body.name).toBe(name);
      const driver = { jwt: operator.jwt, body: { name, codes: [`C${nth}`] } };
      expect((await world.call('POST', '/api/v1/drivers', driver)).body.name).toBe(name);
      const geometry = { type: 'Point', coordinates: [30.3, 59.9] };
      const zone = { type: 'Feature', geometry, properties: { name, shape: 'circle', radiusM: 100 } };
      expect((await world.call('POST', '/api/v1/geozones', { jwt: operator.jwt, body: zone })).status).toBe(201);
    }
    for (const name of ['a\u0000b', 'a\nb', '\u001b[31m']) {
      const { status } = await world.call('POST', '/api/v1/vehicles', { jwt: operator.jwt, body: { name } });
      expect(status, JSON.stringify(name)).toBe(400);
    }
    for (const { method, path, operation } of OPERATIONS)
      for (const { content = {} } of Object.values(operation.responses))
        if (content['text/csv'] && method === 'GET' && !path.includes('{')) {
          const isReport = path.startsWith('/api/v1/reports/');
          const range = path.endsWith('/current-state') ? '' : '&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';
          const hasFormats = operation.parameters?.some(({ name }: { name: string }) => name === 'format');
          const asked = hasFormats ? `${path}?format=csv${isReport ? range : ''}` : path;
          const { body, headers } = await get(asked, operator.jwt);
          expect(headers.get('content-disposition')).toMatch(/^attachment/);
          // No cell begins with what a spreadsheet takes for a formula (OWASP, CSV injection).
          expect(body).not.toMatch(/(?:^|[\n,;"])[=+@\t\r](?!$)/m);
          // Where nothing happened, most reports have no rows.
          if (!isReport || /current-state|summary/.test(path)) expect(body).toContain('HYPERLINK');
        }
  });
});
