import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { User } from '@outrider/domain';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Place } from '../test-notifier.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const ANONYMOUS = {};

let place: Place;
const sockets: WebSocket[] = [];

beforeEach(async () => {
  place = await new Place().open();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await place.close();
});

const tokenOf = ({ id }: User) => ({ authorization: `JWT ${id}` });

/** The status that the upgrade is answered with; 101 where it is granted. */
async function statusOf(headers: Record<string, string>): Promise<number> {
  const socket = new WebSocket(place.liveUrl, { headers });
  sockets.push(socket);
  socket.on('error', () => {});
  return Promise.race([
    once(socket, 'open').then(() => 101),
    once(socket, 'unexpected-response').then(([, { statusCode }]) => statusCode as number),
  ]);
}

async function statusesOf(count: number, headers: Record<string, string>): Promise<Record<number, number>> {
  const statuses = await Promise.all(Array.from({ length: count }, () => statusOf(headers)));
  return Object.fromEntries(
    [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => [status, all.length]),
  );
}

test('clients that do not say who they are take a tenth of the places, and keep nobody else out', async () => {
  const user = await place.addUser('user');
  await place.relay();
  const config = { maxConnections: 50, maxPerUser: 50, maxPerAddress: 1000, maxUnsentBytes: 256_000_000 };
  await place.startLive({ config });
  expect(await statusesOf(40, ANONYMOUS)).toEqual({ 101: 5, 503: 35 });
  expect(await statusesOf(40, tokenOf(user))).toEqual({ 101: 40 });
  // One that says who it is makes way for the next.
  const anonymous = sockets.find(({ readyState }) => readyState === WebSocket.OPEN);
  anonymous?.send(JSON.stringify({ type: 'authorize', jwt: user.id }));
  await vi.waitFor(async () => expect(await statusOf(ANONYMOUS)).toBe(101), PATIENCE);
});

test('clients that leave while their cookie is checked hold no place', async () => {
  const user = await place.addUser('user');
  await place.relay();
  const config = { maxConnections: 20, maxPerUser: 20, maxPerAddress: 1000, maxUnsentBytes: 256_000_000 };
  let check = Promise.withResolvers<null>();
  let asked = 0;
  await place.startLive({
    config,
    cookieSession: () => {
      asked++;
      return check.promise;
    },
  });
  for (let nth = 1; nth <= 10; nth++) {
    const socket = new WebSocket(place.liveUrl);
    socket.on('error', () => {});
    await vi.waitFor(() => expect(asked).toBe(nth), PATIENCE);
    const left = new Promise((resolve) => socket.on('close', resolve));
    socket.terminate();
    await left;
    await nextTurn();
    check.resolve(null);
    check = Promise.withResolvers<null>();
  }
  check.resolve(null);
  expect(await statusesOf(2, ANONYMOUS)).toEqual({ 101: 2 });
  expect(await statusesOf(18, tokenOf(user))).toEqual({ 101: 18 });
});

test('a page that may not connect is refused, with a token as well, and takes no place', async () => {
  const user = await place.addUser('user');
  await place.relay();
  const config = { maxConnections: 2, maxPerUser: 2, maxPerAddress: 2, maxUnsentBytes: 256_000_000 };
  await place.startLive({ config, mayConnect: ({ headers }) => headers.origin !== 'https://stranger.test' });
  const foreign = { ...tokenOf(user), origin: 'https://stranger.test' };
  for (let n = 0; n < 4; n += 1) expect(await statusOf(foreign)).toBe(403);
  await vi.waitFor(async () => expect(await statusOf(tokenOf(user))).toBe(101), PATIENCE);
});

test('one address takes its share of the connections, whoever its clients are', async () => {
  const user = await place.addUser('user');
  await place.relay();
  const config = { maxConnections: 1000, maxPerUser: 1000, maxPerAddress: 30, maxUnsentBytes: 256_000_000 };
  let address: string | null = '203.0.113.1';
  await place.startLive({ config, addressKey: () => address });
  expect(await statusesOf(40, ANONYMOUS)).toEqual({ 101: 20, 503: 20 });
  expect(await statusesOf(20, tokenOf(user))).toEqual({ 101: 10, 429: 10 });
  address = '203.0.113.2';
  expect(await statusesOf(2, tokenOf(user))).toEqual({ 101: 2 });
});

test('one account takes its share of the connections, by header and by message', async () => {
  const user = await place.addUser('user');
  const other = await place.addUser('other');
  await place.relay();
  const config = { maxConnections: 1000, maxPerUser: 5, maxPerAddress: 1000, maxUnsentBytes: 256_000_000 };
  await place.startLive({ config });
  expect(await statusesOf(8, tokenOf(user))).toEqual({ 101: 5, 429: 3 });
  expect(await statusOf(ANONYMOUS)).toBe(101);
  const late = sockets.at(-1);
  late?.send(JSON.stringify({ type: 'authorize', jwt: user.id }));
  const [code] = await once(late as WebSocket, 'close');
  expect(code).toBe(4429);
  expect(await statusOf(tokenOf(other))).toBe(101);
});
