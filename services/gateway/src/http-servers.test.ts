import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { TerminalAccess, TerminalId, Vehicle, VehicleId } from '@outrider/domain';
import { hashOfSecret, LEARNING_ACCESS, OPEN_ACCESS } from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { Metrics } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connectPeer, NOON, PATIENCE, refusalsOf, startGateway } from './gateway.fixture.ts';
import type { Gateway, GatewayConfig } from './gateway.ts';
import { HeldLog } from './held-log.fixture.ts';

const TOKEN = 'a token of the service';

let log: HeldLog;
let hub: MemoryHub;
let metrics: Metrics;
let gateway: Gateway;

beforeEach(async () => {
  log = new HeldLog();
  hub = new MemoryHub();
  await start({});
});

afterEach(async () => {
  log.letGo();
  await gateway.stop();
});

async function start(config: Partial<GatewayConfig>): Promise<void> {
  metrics = new Metrics();
  gateway = await startGateway({ log, hub, metrics }, config);
}

function define(
  nth: number,
  terminalId: string,
  access: Partial<TerminalAccess> = OPEN_ACCESS,
  fields: Partial<Vehicle> = {},
): VehicleId {
  const id = `0190a000-0000-7000-8000-00000000000${nth}` as VehicleId;
  const terminalAccess = { ...OPEN_ACCESS, ...access };
  const definition = sampleVehicle({
    id,
    version: 1,
    name: terminalId,
    terminalId: terminalId as TerminalId,
    terminalAccess,
    ...fields,
  });
  log.define({ kind: 'vehicle', id, version: 1, changedAtMs: NOON, definition });
  return id;
}

const messageOf = (ident: string, second = 1) => ({
  ident,
  timestamp: NOON / 1000 + second,
  'position.latitude': 52.37,
  'position.longitude': 4.89,
});

function post(protocol: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const url = `http://127.0.0.1:${gateway.ports[protocol]}/`;
  return fetch(url, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
}

async function taken(count = 1) {
  await vi.waitFor(() => expect(log.waiting.flatMap(({ packets }) => packets)).toHaveLength(count), PATIENCE);
  return log.waiting.splice(0);
}

test('flespi: a fleet in one request is acknowledged once all of it is durable; unknown terminals are listed', async () => {
  const one = define(1, 'van-1');
  const two = define(2, 'van-2');
  const messages = [messageOf('van-1'), messageOf('van-2'), messageOf('van-9'), messageOf('van-1', 2), { ident: '' }];
  let status = 0;
  const answered = post('flespi', messages).then((response) => {
    status = response.status;
  });
  const appended = await taken(2);
  expect(appended.flatMap(({ packets }) => packets)).toMatchObject([
    { vehicleId: one, protocol: 'flespi', positions: [{}, {}] },
    { vehicleId: two, protocol: 'flespi', positions: [{}] },
  ]);
  // What came after it was answered.
  expect((await post('flespi', [])).status).toBe(200);
  expect(status).toBe(0);
  for (const { durable } of appended) durable();
  await answered;
  expect(status).toBe(200);
  expect(await refusalsOf(metrics)).toEqual({ 'unknown-terminal': 1, 'not-identified': 1 });
  expect(await hub.unknownTerminals()).toMatchObject([{ terminalId: 'van-9', protocol: 'flespi' }]);
});

test('flespi: a request of unknown terminals alone is answered, so that the stream goes on', async () => {
  const response = await post('flespi', [messageOf('van-8')]);
  expect(response.status).toBe(200);
});

test('flespi: an address that tried too many ids gets no acknowledgement', async () => {
  const messages = JSON.stringify([1, 2, 3, 4].map((nth) => messageOf(`none-${nth}`)));
  const statuses: (number | undefined)[] = [];
  await vi.waitFor(async () => {
    // Connections from 127.0.0.1 are not counted.
    const options = { method: 'POST', port: gateway.ports.flespi, localAddress: '127.0.0.2', host: '127.0.0.1' };
    const sent = request(options);
    sent.end(messages);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    statuses.push(response.statusCode);
    expect(statuses.at(-1)).toBe(429);
    expect(response.headers['retry-after']).toBe('60');
  }, PATIENCE);
  expect(statuses[0]).toBe(200);
});

test('flespi: with a token of the service, only requests that show it are taken, for every vehicle', async () => {
  await gateway.stop();
  log = new HeldLog();
  await start({ platformTokens: { flespi: TOKEN.replaceAll(' ', '-') } });
  define(1, 'van-1', { secretHash: hashOfSecret('another-secret', Buffer.alloc(16)) });
  expect((await post('flespi', [messageOf('van-1')])).status).toBe(401);
  expect((await post('flespi', [messageOf('van-1')], { authorization: 'Bearer wrong' })).status).toBe(401);
  const right = post('flespi', [messageOf('van-1')], { authorization: `Bearer ${TOKEN.replaceAll(' ', '-')}` });
  for (const { durable } of await taken()) durable();
  expect((await right).status).toBe(200);
  expect(await refusalsOf(metrics)).toEqual({ 'wrong-secret': 2 });
});

test('flespi: a vehicle that is bound otherwise is left out, and the others are taken', async () => {
  define(1, 'van-1', { protocol: 'teltonika' });
  define(2, 'van-2', { secretHash: hashOfSecret('another-secret', Buffer.alloc(16)) });
  define(3, 'van-3', LEARNING_ACCESS);
  const answer = post(
    'flespi',
    ['van-1', 'van-2', 'van-3'].map((ident) => messageOf(ident)),
  );
  for (const { durable, packets } of await taken()) {
    expect(packets).toMatchObject([{ terminalId: 'van-3' }]);
    durable();
  }
  expect((await answer).status).toBe(200);
  expect(await refusalsOf(metrics)).toEqual({ 'wrong-protocol': 1, 'wrong-secret': 1 });
});

test('flespi: a body beyond the bound is refused', async () => {
  const response = await post('flespi', `[${' '.repeat(8 * 1024 * 1024)}]`).catch(() => null);
  if (response !== null) expect(response.status).toBe(413);
  await vi.waitFor(async () => expect(await refusalsOf(metrics)).toEqual({ 'bad-length': 1 }), PATIENCE);
});

test('OwnTracks: a location is answered with an empty list once it is durable', async () => {
  define(1, 'owntracks/anna/phone', { secretHash: hashOfSecret('password', Buffer.alloc(16)) });
  const location = { _type: 'location', lat: 52.37, lon: 4.89, tst: NOON / 1000 };
  const headers = { 'x-limit-u': 'anna', 'x-limit-d': 'phone' };
  const login = (password: string) => ({
    ...headers,
    authorization: `Basic ${Buffer.from(`anna:${password}`).toString('base64')}`,
  });
  expect((await post('owntracks', location, headers)).status).toBe(403);
  expect((await post('owntracks', location, login('wrong'))).status).toBe(403);
  const answer = post('owntracks', location, login('password'));
  for (const { durable, packets } of await taken()) {
    expect(packets).toMatchObject([{ terminalId: 'owntracks/anna/phone', protocol: 'owntracks' }]);
    durable();
  }
  expect(await (await answer).text()).toBe('[]');
  const will = await post('owntracks', { _type: 'lwt', tst: 1 }, headers);
  expect([will.status, await will.text()]).toEqual([200, '[]']);
  expect((await post('owntracks', location, { 'x-limit-u': 'nobody' })).status).toBe(404);
  expect((await post('owntracks', { _type: 'encrypted' }, headers)).status).toBe(400);
});

test('a phone: what can be read of a list is stored, and the answer names the rest', async () => {
  define(1, 'phone-1');
  const location = { coords: { latitude: 52.37, longitude: 4.89 } };
  const body = { device_id: 'phone-1', location: [location, { coords: { latitude: 91, longitude: 4 } }] };
  const answer = post('osmand', body, { 'content-type': 'application/json' });
  for (const { durable, packets } of await taken()) {
    expect(packets).toMatchObject([{ positions: [{ latitude: 52.37 }] }]);
    durable();
  }
  const response = await answer;
  expect([response.status, await response.text()]).toEqual([
    200,
    'left out: location[1].coords.latitude: 91 is not within 90 degrees\n',
  ]);
  expect(await refusalsOf(metrics)).toEqual({ 'bad-content': 1 });
});

test('a request without the header Host is taken', async () => {
  define(1, 'phone-1');
  const peer = await connectPeer(gateway.ports.osmand);
  peer.socket.write('GET /?id=phone-1&lat=52.5&lon=13.4 HTTP/1.1\r\n\r\n');
  for (const { durable } of await taken()) durable();
  await vi.waitFor(() => expect(peer.text).toMatch(/^HTTP\/1\.1 200 /), PATIENCE);
  peer.socket.destroy();
});

test('osmand: the speed of a URL is in the unit that the vehicle names, that of the JSON form in m/s', async () => {
  const id = define(1, 'phone-7', OPEN_ACCESS, { speedUnit: 'm/s' });
  const url = `http://127.0.0.1:${gateway.ports.osmand}/`;
  const json = {
    device_id: 'phone-7',
    location: { timestamp: NOON, coords: { latitude: 48.2, longitude: 16.3, speed: 30.6 } },
  };
  for (const request of [
    () => fetch(`${url}?id=phone-7&lat=48.2&lon=16.3&timestamp=${NOON}&speed=30.60`),
    () => fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }),
  ]) {
    const answered = request();
    const [appended] = await taken();
    const [position] = appended?.packets[0]?.positions ?? [];
    expect(appended?.packets[0]?.vehicleId).toBe(id);
    expect(position?.speedKmh).toBeCloseTo(110.16, 1);
    appended?.durable();
    await answered;
  }
});
