import type { Socket } from 'node:net';
import {
  blankPosition,
  type DefinitionChange,
  hashOfSecret,
  OPEN_ACCESS,
  type TerminalAccess,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { type DispatcherReply, EgtsDispatcher } from '@outrider/protocols';
import { Metrics } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FirstContacts } from '../first-contacts.ts';
import { connectPeer, NOON, PATIENCE, refusalsOf, startGateway } from '../gateway.fixture.ts';
import type { Gateway, GatewayConfig } from '../gateway.ts';
import { HeldLog } from '../held-log.fixture.ts';
import { TerminalCheck } from '../terminal-check.ts';
import { CarriedTerminals } from './carried-terminals.ts';

/** A platform forwards its vehicles by one connection. */

let log: HeldLog;
let hub: MemoryHub;
let metrics: Metrics;
let gateway: Gateway;
let clock: VirtualClock;
let version = 0;
const sockets: Socket[] = [];

beforeEach(() => {
  log = new HeldLog();
  hub = new MemoryHub();
  metrics = new Metrics();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  log.letGo();
  await gateway.stop();
});

async function start(config: Partial<GatewayConfig> = {}): Promise<void> {
  clock = new VirtualClock(NOON);
  gateway = await startGateway({ log, hub, metrics, clock }, config);
  for (const objectId of [1, 2]) define(objectId);
}

function define(objectId: number, access: Partial<TerminalAccess> = {}): void {
  version += 1;
  const id = `0190a000-0000-7000-8000-00000000000${objectId}` as VehicleId;
  const terminalAccess = { ...OPEN_ACCESS, ...access };
  const definition = sampleVehicle({ id, version, terminalId: `${objectId}` as TerminalId, terminalAccess });
  log.define({ kind: 'vehicle', id, version, changedAtMs: NOON, definition } satisfies DefinitionChange);
}

async function platform(password: string | null = null, localAddress?: string) {
  const peer = await connectPeer(gateway.ports.egts, localAddress);
  sockets.push(peer.socket);
  const dispatcher = new EgtsDispatcher(42, password === null ? null : { user: 'platform', password });
  const replies: DispatcherReply[] = [];
  peer.socket.on('data', (chunk: Buffer) => replies.push(...dispatcher.receive(chunk)));
  peer.socket.write(dispatcher.hello());
  await vi.waitFor(() => expect(replies).toEqual([{ type: 'welcome' }]), PATIENCE);
  replies.length = 0;
  return {
    peer,
    get results() {
      return replies.map((reply) => (reply.type === 'record' ? reply.isAccepted : reply.type));
    },
    send(...objectIds: number[]) {
      const positions = objectIds.map((objectId) => ({ objectId, position: blankPosition(NOON, objectId, 2) }));
      peer.socket.write(dispatcher.encode(positions).bytes);
    },
  };
}

/** Makes durable what waits. */
const sync = () => {
  for (const { durable } of log.waiting.splice(0)) durable();
};
const written = () => log.written.map(({ terminalId, positions }) => [terminalId, positions.length]);
const connected = async (...ids: string[]) => [...(await hub.connections(ids as TerminalId[])).keys()].sort();

describe('several terminals in one connection', () => {
  test('each packet is kept for its vehicle, and acknowledged once all of it is durable', async () => {
    await start();
    const it = await platform();
    it.send(1, 2, 1);
    await vi.waitFor(() => expect(log.waiting).not.toEqual([]), PATIENCE);
    await vi.waitFor(async () => {
      await clock.advance(200);
      expect(await connected('1', '2')).toEqual(['1', '2']);
    }, PATIENCE);
    expect(it.results).toEqual([]);
    sync();
    await vi.waitFor(() => expect(it.results).toEqual([true, true, true]), PATIENCE);
    expect(written()).toEqual([
      ['1', 2],
      ['2', 1],
    ]);

    it.peer.socket.destroy();
    await vi.waitFor(async () => {
      await clock.advance(200);
      expect(await connected('1', '2')).toEqual([]);
    }, PATIENCE);
  });

  test('one that no vehicle has is refused and listed, and the others go on', async () => {
    await start();
    const it = await platform();
    it.send(3, 1, 3);
    await vi.waitFor(() => expect(log.waiting).not.toEqual([]), PATIENCE);
    sync();
    await vi.waitFor(() => expect(it.results).toEqual([false, true, false]), PATIENCE);
    it.send(3);
    await vi.waitFor(() => expect(it.results).toEqual([false, true, false, false]), PATIENCE);
    expect(await hub.unknownTerminals()).toMatchObject([{ terminalId: '3', protocol: 'egts' }]);
    expect(await refusalsOf(metrics, true)).toEqual({ 'egts unknown-terminal': 2 });
    expect(it.peer.closed).toBe(false);

    define(3);
    it.send(3);
    await vi.waitFor(() => expect(log.waiting).not.toEqual([]), PATIENCE);
    sync();
    await vi.waitFor(() => expect(it.results.at(-1)).toBe(true), PATIENCE);
    expect(written()).toEqual([
      ['1', 1],
      ['3', 1],
    ]);
  });

  test.each<[string, Partial<TerminalAccess>, string]>([
    ['another protocol', { protocol: 'teltonika' }, 'wrong-protocol'],
    ['another network', { networks: ['10.0.0.0/8'] }, 'wrong-network'],
    ['a certificate', { certificateSha256: 'ab'.repeat(32) }, 'wrong-certificate'],
    ['a secret', { secretHash: hashOfSecret('another-secret', Buffer.alloc(16, 7)) }, 'wrong-secret'],
  ])('a vehicle that is bound to %s is refused alone', async (_, access, reason) => {
    await start();
    const it = await platform('its-own-secret');
    it.send(2);
    await vi.waitFor(() => expect(log.waiting).not.toEqual([]), PATIENCE);
    sync();
    await vi.waitFor(() => expect(it.results).toEqual([true]), PATIENCE);
    define(2, access);
    it.send(1, 2);
    await vi.waitFor(() => expect(log.waiting).not.toEqual([]), PATIENCE);
    sync();
    await vi.waitFor(() => expect(it.results).toEqual([true, true, false]), PATIENCE);
    expect(await refusalsOf(metrics)).toEqual({ [reason]: 1 });
    await vi.waitFor(async () => {
      await clock.advance(200);
      expect(await connected('1', '2')).toEqual(['1']);
    }, PATIENCE);
  });

  test('the password of the platform is that of a vehicle', async () => {
    await start();
    define(2, { secretHash: hashOfSecret('its-own-secret', Buffer.alloc(16, 7)) });
    const it = await platform('its-own-secret');
    it.send(2);
    await vi.waitFor(() => expect(log.waiting).not.toEqual([]), PATIENCE);
    sync();
    await vi.waitFor(() => expect(it.results).toEqual([true]), PATIENCE);
  });

  test('an address that tries many ids is cut off, and nothing of its packet is acknowledged', async () => {
    await start({ unknownPerMinute: 3 });
    const it = await platform(null, '127.0.0.2');
    it.send(11, 12, 13, 14);
    await vi.waitFor(() => expect(it.results).toEqual([false, false, false, false]), PATIENCE);
    it.send(2, 1);
    await vi.waitFor(() => expect(it.peer.closed).toBe(true), PATIENCE);
    expect(it.results).toHaveLength(4);
    expect(log.waiting).toEqual([]);
    expect(await refusalsOf(metrics)).toMatchObject({ 'address-blocked': 1 });
  });

  test('without one that is known, the connection ends', async () => {
    await start({ idleTimeoutMs: 300 });
    const it = await platform();
    it.send(3);
    await vi.waitFor(async () => expect(await refusalsOf(metrics)).toEqual({ 'unknown-terminal': 1 }), PATIENCE);
    await clock.advance(300);
    await vi.waitFor(() => expect(it.peer.closed).toBe(true), PATIENCE);
    expect(await refusalsOf(metrics)).toEqual({ 'unknown-terminal': 1, 'not-identified-in-time': 1 });
  });
});

describe('the terminals of a connection', () => {
  const names = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `${from + index}` as TerminalId);
  let came: string[];
  let went: string[];
  let terminals: CarriedTerminals;

  beforeEach(async () => {
    await start();
    came = [];
    went = [];
    terminals = new CarriedTerminals('192.0.2.1', {
      idleTimeoutMs: 1000,
      onCarried: (terminalId) => came.push(terminalId),
      onCarriedEnd: (terminalId) => went.push(terminalId),
    });
  });
  const check = new TerminalCheck(
    { protocol: 'egts', address: '192.0.2.1', certificateSha256: null },
    { contacts: new FirstContacts(new MemoryHub(), () => {}), onWrongSecret() {}, onAccessRefused() {} },
  );
  const take = (terminalId: TerminalId, nowMs: number) => {
    if (terminals.get(terminalId) === undefined) terminals.add(terminalId, check, nowMs);
    terminals.note(terminalId, nowMs);
  };

  test('count as disconnected when they were silent for the idle time', () => {
    const [first, second] = names(0, 2) as [TerminalId, TerminalId];
    take(first, 0);
    take(second, 500);
    take(first, 900);
    take(first, 1700);
    expect([came, went]).toEqual([['0', '1'], ['1']]);
    terminals.close();
    expect(went).toEqual(['1', '0']);
  });

  test('are bounded, and so are the dropped ones that are reported', () => {
    for (const terminalId of names(0, 20_003)) take(terminalId, 0);
    expect(went).toEqual(['0', '1', '2']);
    const reported = names(0, 5000).filter((terminalId) => {
      const isFirst = terminals.isFirstDropped(terminalId);
      terminals.noteDropped(terminalId);
      return isFirst;
    });
    expect(reported).toHaveLength(1000);
    expect(terminals.isFirstDropped(reported[0] as TerminalId)).toBe(false);
  });

  test('take no commands, and one that is superseded leaves the others', async () => {
    const [first, second] = names(0, 2) as [TerminalId, TerminalId];
    take(first, 0);
    take(second, 0);
    expect(await terminals.get(first)?.command()).toEqual({ outcome: 'unsupported' });
    terminals.get(first)?.supersede();
    expect(went).toEqual(['0']);
    expect(terminals.get(second)).toBeDefined();
  });
});
