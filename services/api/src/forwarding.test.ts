import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from '@outrider/channels';
import { makeCertificate } from '@outrider/channels/certificate';
import type { GroupId, User } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { MAX_DESTINATIONS_PER_USER } from '@outrider/registry';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

const PATH = '/api/v1/forwarding-destinations';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const ERP = { kind: 'http', name: 'ERP', settings: { url: 'https://erp.example.com/in' }, secret: SECRET };
const MQTT = { kind: 'mqtt', name: 'Home', settings: { host: 'mqtt.example.com', homeAssistant: true } };

let world: World;
let dealer: { user: User; jwt: string };
let boss: { user: User; jwt: string };

beforeEach(async () => {
  world = await World.open();
  dealer = await world.member('dealer', 'dealer');
  boss = await world.member('boss', 'operator');
});
afterEach(() => world.close());

const add = (body: unknown, as = dealer) => world.call('POST', PATH, { jwt: as.jwt, body });
const patch = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  world.call('PATCH', `${PATH}/${id}`, { jwt: dealer.jwt, body, headers });
const pointers = (answer: { body: { errors?: { pointer: string }[] } }) =>
  answer.body.errors?.map(({ pointer }) => pointer);

test('a destination is added, read, changed with its version, and deleted; its secret is never shown', async () => {
  const added = await add(ERP);
  expect(added.status).toBe(201);
  expect(added.body).toMatchObject({ kind: 'http', hasSecret: true, active: true, ownerId: dealer.user.id });
  expect(added.body.filter).toEqual({
    vehicleIds: null,
    groupIds: null,
    positions: true,
    events: false,
    eventKinds: null,
  });
  expect(added.body.progress).toMatchObject({ state: 'waiting', positionsSent: 0, lagSeconds: null, gap: null });
  const { id } = added.body;
  const stored = () => world.registry.forwardingDestinations.secrets(id);
  expect(await stored()).toEqual({ secret: SECRET, headers: {} });
  const read = await world.call('GET', `${PATH}/${id}`, { jwt: dealer.jwt });
  expect(read.body).toEqual(added.body);
  expect(JSON.stringify(read.body)).not.toContain(SECRET);
  const etag = read.headers.get('etag') ?? '';
  const changed = await patch(id, { active: false, filter: { events: true } }, { 'if-match': etag });
  expect(changed.body).toMatchObject({ active: false, progress: { state: 'paused' } });
  expect(changed.body.filter).toMatchObject({ positions: true, events: true });
  expect((await patch(id, { active: true }, { 'if-match': etag })).status).toBe(412);
  expect(await stored()).toEqual({ secret: SECRET, headers: {} });
  expect((await world.call('DELETE', `${PATH}/${id}`, { jwt: dealer.jwt })).status).toBe(204);
  expect((await world.call('GET', `${PATH}/${id}`, { jwt: dealer.jwt })).status).toBe(404);
});

test('what is wrong is said with its place', async () => {
  expect(pointers(await add({ ...ERP, secret: null }))).toEqual(['/secret']);
  expect(pointers(await add({ ...ERP, secret: 'easy' }))).toEqual(['/secret']);
  for (const url of ['http://erp.example.com/', 'https://127.0.0.1/', 'https://user:word@erp.example.com/'])
    expect(pointers(await add({ ...ERP, settings: { url } })), url).toEqual(['/settings/url']);
  for (const host of ['localhost', '10.0.0.1', '[::1]', 'fe80::1', 'two words', 'mqtt.example.com/x'])
    expect(pointers(await add({ ...MQTT, settings: { host } })), host).toEqual(['/settings/host']);
  expect(pointers(await add({ ...MQTT, settings: { ...MQTT.settings, topicPrefix: 'a/#' } }))).toEqual([
    '/settings/topicPrefix',
  ]);
  expect(pointers(await add({ ...MQTT, secret: 'word' }))).toEqual(['/secret']);
  const kafka = { kind: 'kafka', name: 'Bus', settings: { brokers: ['kafka.example.com:9092'], topic: 'fleet' } };
  expect((await add(kafka)).status).toBe(201);
  const brokers = ['kafka.example.com:9092', '192.168.0.1:9092'];
  expect(pointers(await add({ ...kafka, settings: { ...kafka.settings, brokers } }))).toEqual(['/settings/brokers/1']);
  const egts = { kind: 'egts', name: 'State', settings: { host: 'egts.example.com', port: 20629, dispatcherId: 7 } };
  expect(pointers(await add({ ...egts, filter: { events: true } }))).toEqual(['/filter/events']);
  expect(pointers(await add({ ...egts, secret: 'word' }))).toEqual(['/secret']);
  expect(pointers(await add({ ...ERP, filter: { positions: false } }))).toEqual(['/filter']);
  expect((await add({ ...ERP, settings: { ...ERP.settings, host: 'x' } })).status).toBe(400);
  expect((await add({ kind: 'pigeon', name: 'x', settings: {} })).status).toBe(400);
  const { id } = (await add(ERP)).body;
  expect(pointers(await patch(id, { settings: { host: 'mqtt.example.com' } }))).toEqual(['/settings/host']);
});

test('headers of one’s own: those that are secret are kept apart, changed one by one, and never shown', async () => {
  const settings = { ...ERP.settings, headers: { 'X-Tenant': '5' } };
  const added = await add({ ...ERP, settings, secretHeaders: { Authorization: 'Bearer word', 'X-Key': 'other' } });
  expect(added.body).toMatchObject({
    settings: { headers: { 'X-Tenant': '5' }, ca: null },
    secretHeaderNames: ['Authorization', 'X-Key'],
  });
  expect(JSON.stringify(added.body)).not.toMatch(/word|other/);
  const { id } = added.body;
  const stored = async () => (await world.registry.forwardingDestinations.secrets(id)).headers;
  const changed = await patch(id, { secretHeaders: { authorization: 'Bearer new' } });
  expect(changed.body.secretHeaderNames).toEqual(['X-Key', 'authorization']);
  await patch(id, { name: 'WMS', secretHeaders: { 'X-Key': null } });
  expect(await stored()).toEqual({ authorization: 'Bearer new' });
  expect((await patch(id, { settings: { headers: {} } })).body.settings.headers).toEqual({});
  expect(await stored()).toEqual({ authorization: 'Bearer new' });
  const { items } = (await world.call('GET', '/api/v1/audit', { jwt: boss.jwt })).body;
  expect(JSON.stringify(items)).not.toMatch(/Bearer|word/);

  const pointerOf = async (headers: object, secretHeaders: object = {}) =>
    pointers(await add({ ...ERP, settings: { ...ERP.settings, headers }, secretHeaders }));
  expect(await pointerOf({ Host: 'x' })).toEqual(['/settings/headers/Host']);
  expect(await pointerOf({ 'X-A': 'a\r\nHost: b' })).toEqual(['/settings/headers/X-A']);
  expect(await pointerOf({}, { 'Webhook-Signature': 'v1,x' })).toEqual(['/secretHeaders/Webhook-Signature']);
  expect(await pointerOf({ 'X-A': '1' }, { 'x-a': '2' })).toEqual(['/secretHeaders/x-a']);
  const many = Object.fromEntries(Array.from({ length: 15 }, (_, nth) => [`X-${nth}`, 'a']));
  const more = Object.fromEntries(Array.from({ length: 6 }, (_, nth) => [`Y-${nth}`, 'a']));
  expect(await pointerOf(many, more)).toEqual(['/secretHeaders']);
  expect(pointers(await add({ ...MQTT, secretHeaders: { 'X-A': '1' } }))).toEqual(['/secretHeaders']);
  expect(pointers(await add({ ...MQTT, settings: { ...MQTT.settings, ca: 'x' } }))).toEqual(['/settings/ca']);
  const { cert } = makeCertificate('mqtt.example.com', new Date(world.nowMs + 86_400_000));
  const secure = { ...MQTT.settings, tls: true };
  const broken = cert.replace(/[A-Za-z0-9+/]{40}/, 'A'.repeat(40));
  for (const ca of ['x', `${cert}x`, broken, cert.repeat(11)])
    expect(pointers(await add({ ...MQTT, settings: { ...secure, ca } }))).toEqual(['/settings/ca']);
  expect((await add({ ...MQTT, settings: { ...secure, ca: cert } })).body.settings.ca).toBe(cert);
});

test('a filter names what the caller may see', async () => {
  const group = (await world.registry.groups.create({ name: 'Own', dealerId: dealer.user.id })).id;
  const own = await world.registry.vehicles.create(
    sampleVehicleFields({ name: 'Own', dealerId: dealer.user.id, groupIds: [group as GroupId] }),
  );
  const other = await world.registry.vehicles.create(sampleVehicleFields({ name: 'Other', terminalId: null }));
  const added = await add({ ...ERP, filter: { vehicleIds: [own.id], groupIds: [group] } });
  expect(added.body.filter).toMatchObject({ vehicleIds: [own.id], groupIds: [group] });
  expect(pointers(await add({ ...ERP, filter: { vehicleIds: [own.id, other.id] } }))).toEqual(['/filter/vehicleIds/1']);
  // What was named before may stay.
  await world.registry.vehicles.delete(own.id, null);
  expect((await patch(added.body.id, { name: 'WMS' })).status).toBe(200);
});

test('dealers see their own, operators all, users none; an account has a bounded number', async () => {
  const { id } = (await add(ERP)).body;
  const rival = await world.member('rival', 'dealer');
  const anna = await world.member('anna', 'user');
  const list = async (as: typeof dealer) => {
    const { body, status } = await world.call('GET', PATH, { jwt: as.jwt });
    return status === 200 ? body.items.map((each: { id: string }) => each.id) : status;
  };
  expect([await list(dealer), await list(rival), await list(boss), await list(anna)]).toEqual([[id], [], [id], 403]);
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { active: false }],
    ['DELETE', '', undefined],
    ['POST', '/replay', { from: '2026-01-15T12:00:00.000Z' }],
    ['POST', '/test', undefined],
  ] as const) {
    const of = (as: typeof dealer) => world.call(method, `${PATH}/${id}${path}`, { jwt: as.jwt, body });
    expect([(await of(rival)).status, (await of(anna)).status], `${method} ${path}`).toEqual([404, 403]);
  }
  expect((await add(ERP, anna)).status).toBe(403);
  expect((await world.call('GET', `${PATH}/${id}`, { jwt: boss.jwt })).status).toBe(200);
  for (let nth = 1; nth < MAX_DESTINATIONS_PER_USER; nth++) expect((await add(ERP)).status).toBe(201);
  expect((await add(ERP)).status).toBe(409);
});

test('a replay begins anew at a time that is not in the future', async () => {
  const { id } = (await add(ERP)).body;
  const replay = (from: string) => world.call('POST', `${PATH}/${id}/replay`, { jwt: dealer.jwt, body: { from } });
  const from = new Date(world.nowMs - 60_000).toISOString();
  expect((await replay(from)).body.progress).toMatchObject({ forwardedUntil: from, lagSeconds: 60 });
  expect(pointers(await replay(new Date(world.nowMs + 60_000).toISOString()))).toEqual(['/from']);
  const { items } = (await world.call('GET', '/api/v1/audit', { jwt: boss.jwt })).body;
  expect(items.map(({ action }: { action: string }) => action)).toContain('replayed');
});

test('a test sends something once, and says what became of it', async () => {
  const bodies: unknown[] = [];
  let status = 204;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    bodies.push([verifyWebhook({ headers: request.headers, body }, SECRET, Date.now()), JSON.parse(body).type]);
    response.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await world.close();
    world = await World.open({ allowPrivateWebhooks: true });
    dealer = await world.member('dealer', 'dealer');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { id } = (await add({ ...ERP, settings: { url } })).body;
    const run = async () => (await world.call('POST', `${PATH}/${id}/test`, { jwt: dealer.jwt })).body;
    expect(await run()).toMatchObject({ ok: true, error: null });
    expect(bodies).toEqual([[null, 'forwarding.test']]);
    status = 503;
    expect(await run()).toMatchObject({ ok: false, error: 'The endpoint answered 503.' });
    expect((await world.registry.forwardingDestinations.get(id))?.failures).toBe(0);
  } finally {
    server.close();
  }
});
