import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createGuardedHttp } from '@outrider/channels';
import { blankPosition, type TerminalId, type VehicleId } from '@outrider/domain';
import { egts, type LetIn, type Protocol, wialonIps } from '@outrider/protocols';
import { afterEach, expect, test } from 'vitest';
import {
  type DestinationKindName,
  type ForwardedItem,
  ForwardingError,
  openTarget,
  type Target,
  type TargetContext,
  testDestination,
} from './index.ts';
import { egtsObjectId } from './kinds/egts.ts';

const NOON = Date.UTC(2026, 0, 15, 12);
const FIRST = '356307042441013' as TerminalId;
const SECOND = '356307042441021' as TerminalId;
const UNKNOWN = '356307042441039' as TerminalId;

const ends: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A receiving platform that speaks a protocol of the service. */
async function platform(protocol: Protocol, letIn?: LetIn) {
  const received: [terminalId: string, second: number][] = [];
  const sockets = new Set<Socket>();
  const state = {
    received,
    connections: 0,
    port: 0,
    isHeld: false,
    kill() {
      for (const socket of sockets) socket.destroy();
    },
  };
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    state.connections++;
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    const session = protocol.createSession(letIn ? { letIn } : {});
    let terminalId = '';
    const say = (bytes: Buffer | null) => bytes !== null && socket.write(bytes);
    socket.on('data', (chunk: Buffer) => {
      for (const inbound of session.push(chunk, NOON)) {
        if (inbound.type === 'identify') {
          terminalId = inbound.terminalId;
          const isKnown = terminalId !== UNKNOWN && (inbound.secret ?? 'word') === 'word';
          say(isKnown ? inbound.accept : inbound.reject);
        } else if (inbound.type === 'positions') {
          for (const { fixTimeMs } of inbound.positions)
            received.push([inbound.terminalId ?? terminalId, (fixTimeMs - NOON) / 1000]);
          if (!state.isHeld) say(inbound.ack);
        } else if (inbound.type === 'reply') socket.write(inbound.bytes);
        else if (inbound.type === 'refuse') {
          say(inbound.bytes);
          socket.end();
        }
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  state.port = (server.address() as AddressInfo).port;
  ends.push(() => {
    state.kill();
    server.close();
  });
  return state;
}

function open(kind: DestinationKindName, settings: object, secret: string | null = null, isPrivate = true): Target {
  const http = createGuardedHttp({
    allowPrivateAddresses: true,
    timeoutMs: 1000,
    maxResponseBytes: 1024,
    now: Date.now,
  });
  const context: TargetContext = { id: 'd1', isTest: false, http, allowPrivateAddresses: isPrivate, now: Date.now };
  const target = openTarget({ kind, settings }, { secret, headers: {} }, context);
  ends.push(() => target.close());
  return target;
}

const NO_SECRETS = { secret: null, headers: {} };
const item = (terminalId: TerminalId, second: number): ForwardedItem => ({
  vehicleId: `vehicle of ${terminalId}` as VehicleId,
  vehicleName: 'Van',
  fact: { type: 'position', terminalId, position: blankPosition(NOON + second * 1000, 59.9, 30.3) },
  json: () => ({}),
});
const batch = (...items: ForwardedItem[]) => ({ id: 'b', items });
const secondsOf = (received: readonly [string, number][], terminalId: string) =>
  received.filter(([id]) => id === terminalId).map(([, second]) => second);

test('Wialon IPS: each terminal logs in by itself, and what the platform does not know is counted', async () => {
  const peer = await platform(wialonIps);
  const target = open('wialon-ips', { host: '127.0.0.1', port: peer.port, tls: false }, 'word');
  const many = Array.from({ length: 250 }, (_, nth) => item(FIRST, nth));
  const refusals = await target.send(batch(...many, item(SECOND, 1), item(UNKNOWN, 1), item(SECOND, 2)));
  expect(refusals).toEqual({ count: 1, reason: `Terminal ${UNKNOWN}: the login was answered #AL#0.` });
  expect(secondsOf(peer.received, FIRST)).toEqual(many.map((_, nth) => nth));
  expect(secondsOf(peer.received, SECOND)).toEqual([1, 2]);
  expect(peer.connections).toBe(3);
  // Connections stay, and a terminal that is not known is not logged in each time.
  expect((await target.send(batch(item(FIRST, 300), item(UNKNOWN, 2)))).count).toBe(1);
  expect(peer.connections).toBe(3);
});

test('Wialon IPS: an id that no login can carry is counted', async () => {
  const peer = await platform(wialonIps);
  const target = open('wialon-ips', { host: '127.0.0.1', port: peer.port, tls: false });
  expect(await target.send(batch(item('a;b' as TerminalId, 1)))).toMatchObject({ count: 1 });
  expect(peer.connections).toBe(0);
});

test('EGTS: records of several vehicles in one connection, each confirmed', async () => {
  const letIn: LetIn = ([terminalId], secret) =>
    terminalId !== '42441039' && secret === 'word' ? { type: 'taken', terminalId } : { type: 'refused' };
  const peer = await platform(egts, letIn);
  const settings = { host: '127.0.0.1', port: peer.port, tls: false, dispatcherId: 7, username: 'us' };
  const target = open('egts', settings, 'word');
  const many = Array.from({ length: 120 }, (_, nth) => item(FIRST, nth));
  const refusals = await target.send(
    batch(...many, item(SECOND, 1), item(UNKNOWN, 1), item('serial' as TerminalId, 1)),
  );
  expect(refusals.count).toBe(2);
  expect(secondsOf(peer.received, '42441013')).toEqual(many.map((_, nth) => nth));
  expect(secondsOf(peer.received, '42441021')).toEqual([1]);
  expect(peer.connections).toBe(1);
});

test('numbers of objects in EGTS', () => {
  expect(egtsObjectId('70001' as TerminalId)).toBe(70_001);
  expect(egtsObjectId('4294967295' as TerminalId)).toBe(4_294_967_295);
  expect(egtsObjectId(FIRST)).toBe(42_441_013);
  for (const id of ['0', 'serial', '356307000000000']) expect(egtsObjectId(id as TerminalId), id).toBeNull();
});

test.each([
  ['wialon-ips', wialonIps, {}, 'word'],
  ['egts', egts, { dispatcherId: 7, username: null }, null],
] as const)('%s: what was not confirmed has failed, and is sent anew', async (kind, protocol, more, secret) => {
  const peer = await platform(protocol);
  const settings = { host: '127.0.0.1', port: peer.port, tls: false, ...more };
  const target = open(kind, settings, secret);
  await target.send(batch(item(FIRST, 1)));
  peer.isHeld = true;
  const sending = target.send(batch(item(FIRST, 2)));
  await expect.poll(() => peer.received.length).toBe(2);
  peer.kill();
  await expect(sending).rejects.toBeInstanceOf(ForwardingError);
  await target.close();
  peer.isHeld = false;
  await open(kind, settings, secret).send(batch(item(FIRST, 2)));
  expect(peer.received.map(([, second]) => second)).toEqual([1, 2, 2]);
});

test.each([
  ['wialon-ips', { tls: false }, null],
  ['egts', { tls: false, dispatcherId: 7, username: null }, null],
  ['mqtt', { tls: false, username: null, topicPrefix: 'a', homeAssistant: false, discoveryPrefix: 'b' }, null],
] as const)('%s: nothing inside the own network is reached', async (kind, settings, secret) => {
  const peer = await platform(wialonIps);
  const target = open(kind, { host: '127.0.0.1', port: peer.port, ...settings }, secret, false);
  await expect(target.send(batch(item(FIRST, 1)))).rejects.toThrow('loopback address');
  const byName = open(kind, { host: 'localhost', port: peer.port, ...settings }, secret, false);
  await expect(byName.send(batch(item(FIRST, 1)))).rejects.toThrow(ForwardingError);
  expect(peer.connections).toBe(0);
});

test('Kafka: nothing inside the own network is reached', async () => {
  const peer = await platform(wialonIps);
  const settings = { brokers: [`127.0.0.1:${peer.port}`], topic: 'fleet', tls: false, mechanism: null, username: null };
  await expect(open('kafka', settings, null, false).send(batch(item(FIRST, 1)))).rejects.toThrow(ForwardingError);
  expect(peer.connections).toBe(0);
});

test('a test logs in, and says why it could not', async () => {
  const peer = await platform(egts, () => ({ type: 'refused' }));
  const destination = {
    id: 'd1',
    kind: 'egts',
    settings: { host: '127.0.0.1', port: peer.port, tls: false, dispatcherId: 7, username: null },
  };
  expect(await testDestination(destination, NO_SECRETS, true)).toBeNull();
  peer.kill();
  const closed = { ...destination, settings: { ...destination.settings, port: 1 } };
  expect(await testDestination(closed, NO_SECRETS, true)).toContain('ECONNREFUSED');
  const wialon = await platform(wialonIps);
  const settings = { host: '127.0.0.1', port: wialon.port, tls: false };
  expect(await testDestination({ id: 'd2', kind: 'wialon-ips', settings }, NO_SECRETS, true)).toBeNull();
});
