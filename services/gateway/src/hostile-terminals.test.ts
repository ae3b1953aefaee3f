import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { DefinitionChange, TerminalId, VehicleId } from '@outrider/domain';
import { blankPosition } from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { createTeltonikaSimulator, encodeOsmandQuery } from '@outrider/protocols';
import { Metrics } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ConnectedTerminals, type TerminalLink } from './connection/connected-terminals.ts';
import { UnreadAnswers } from './connection/unread-answers.ts';
import { connectPeer, NOON, PATIENCE, refusalsOf, startGateway } from './gateway.fixture.ts';
import type { Gateway, GatewayConfig } from './gateway.ts';
import { HeldLog } from './held-log.fixture.ts';

/** What somebody tries who reaches the ports of the gateway, and perhaps knows the id of a terminal. */

const IMEI = '356307042441013' as TerminalId;
/** Addresses of this machine that are counted as others are: 127.0.0.1 is not. */
const ELSEWHERE = '127.0.0.2';
const HERE = '127.0.0.1';

let log: HeldLog;
let hub: MemoryHub;
let metrics: Metrics;
let gateway: Gateway;
let clock: VirtualClock;
const sockets: Socket[] = [];

beforeEach(() => {
  clock = new VirtualClock(NOON);
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
  gateway = await startGateway({ log, hub, metrics, clock }, config);
  log.define(vehicle(1, IMEI));
}

function vehicle(nth: number, terminalId: TerminalId): DefinitionChange {
  const id = `0190a000-0000-7000-8000-00000000000${nth}` as VehicleId;
  const definition = sampleVehicle({ id, version: 1, name: 'car', terminalId });
  return { kind: 'vehicle', id, version: 1, changedAtMs: NOON, definition };
}

async function open(localAddress: string) {
  const peer = await connectPeer(gateway.ports.teltonika, localAddress);
  const { socket } = peer;
  sockets.push(socket);
  return {
    socket,
    get received() {
      return peer.hex;
    },
    get closed() {
      return peer.closed;
    },
    identify(terminalId: TerminalId = IMEI) {
      socket.write(createTeltonikaSimulator(terminalId).hello() ?? '');
    },
  };
}
async function identified(localAddress: string) {
  const peer = await open(localAddress);
  peer.identify();
  await vi.waitFor(() => expect(peer.received).toBe('01'), PATIENCE);
  return peer;
}
const refusals = () => refusalsOf(metrics);

describe('places', () => {
  test('bytes that trickle in hold no place: a terminal identifies itself in time, however much it sends', async () => {
    await start({ idleTimeoutMs: 300 });
    const slow = await open(HERE);
    slow.socket.write(Buffer.from([0, 15]));
    await vi.waitFor(async () => {
      slow.socket.write('3');
      await clock.advance(50);
      expect(slow.closed).toBe(true);
    }, PATIENCE);
    expect(await refusals()).toEqual({ 'not-identified-in-time': 1 });
  });

  test('one address can not take them all, and this machine’s own is not counted', async () => {
    await start({ maxConnectionsPerAddress: 2, maxConnections: 5 });
    await open(ELSEWHERE);
    await open(ELSEWHERE);
    const third = await open(ELSEWHERE);
    await vi.waitFor(() => expect(third.closed).toBe(true), PATIENCE);
    for (let n = 0; n < 3; n++) await identified(HERE);
    expect(await refusals()).toEqual({ 'too-many-of-address': 1 });
    const over = await open(HERE);
    await vi.waitFor(() => expect(over.closed).toBe(true), PATIENCE);
  });

  test('without the id of a terminal an address gets a few of them, until others of its connections identify themselves', async () => {
    await start({ maxConnectionsPerAddress: 60 });
    const silent = await Promise.all(Array.from({ length: 50 }, () => open(ELSEWHERE)));
    const over = await open(ELSEWHERE);
    await vi.waitFor(() => expect(over.closed).toBe(true), PATIENCE);
    expect(await refusals()).toEqual({ 'too-many-unidentified': 1 });
    silent[0]?.identify();
    await vi.waitFor(() => expect(silent[0]?.received).toBe('01'), PATIENCE);
    expect((await identified(ELSEWHERE)).closed).toBe(false);
  });

  test('one id has four of them: the connection that was silent longest is closed', async () => {
    await start();
    const peers: Awaited<ReturnType<typeof identified>>[] = [];
    for (let n = 0; n < 4; n++) {
      await clock.advance(1000);
      peers.push(await identified(HERE));
    }
    await clock.advance(1000);
    peers[0]?.socket.write(createTeltonikaSimulator(IMEI).encode([blankPosition(clock.now(), 52, 13)]));
    await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
    await clock.advance(1000);
    peers.push(await identified(HERE));
    await vi.waitFor(
      () => expect(peers.map(({ closed }) => closed)).toEqual([false, true, false, false, false]),
      PATIENCE,
    );
    expect(await refusals()).toEqual({ superseded: 1 });
  });

  test('answers that nobody reads are bounded in sum, at the cost of those who read nothing', () => {
    const unread = new UnreadAnswers();
    const each = 60 * 1024;
    let taken = 0;
    while (unread.note(0, each)) taken++;
    expect(taken * each).toBeLessThanOrEqual(32 * 1024 * 1024);
    expect((taken + 1) * each).toBeGreaterThan(32 * 1024 * 1024);
    expect(unread.note(0, 1000)).toBe(true);
    unread.note(each, 0);
    unread.note(each, 0);
    expect(unread.note(0, each)).toBe(true);
    expect(unread.note(0, 65 * 1024)).toBe(false);
  });
});

describe('ids that are tried', () => {
  const id = (n: number) => `35630704244${2000 + n}` as TerminalId;

  test('an address that tries many is not answered any more, and terminals that came from there before are', async () => {
    await start();
    await identified(ELSEWHERE);
    log.define(vehicle(2, id(0)));
    for (let n = 1; n <= 4; n++) {
      const peer = await open(ELSEWHERE);
      peer.identify(id(n));
      await vi.waitFor(() => expect(peer.closed).toBe(true), PATIENCE);
    }
    const probing = async (from: string, terminalId: TerminalId) => {
      const peer = await open(from);
      peer.identify(terminalId);
      await vi.waitFor(() => expect(peer.closed || peer.received !== '').toBe(true), PATIENCE);
      return peer.received;
    };
    await vi.waitFor(async () => expect(await probing(ELSEWHERE, id(0))).toBe(''), PATIENCE);
    expect(await probing(ELSEWHERE, IMEI)).toBe('01');
    expect(await probing(HERE, id(0))).toBe('01');
    await clock.advance(61_000);
    expect(await probing(ELSEWHERE, id(0))).toBe('01');
    const { 'address-blocked': blocked = 0 } = await refusals();
    expect(blocked).toBeGreaterThan(0);
  });

  test('one that waits for its profile uses the budget up once, however often it comes', async () => {
    await start();
    for (let n = 0; n < 10; n++) {
      const peer = await open(ELSEWHERE);
      peer.identify(id(1));
      await vi.waitFor(() => expect(peer.closed).toBe(true), PATIENCE);
    }
    expect((await identified(ELSEWHERE)).closed).toBe(false);
    expect(await refusals()).toEqual({ 'unknown-terminal': 10 });
  });

  test('by HTTP as well', async () => {
    await start({ unknownPerMinute: 0 });
    const ask = async (terminalId: TerminalId) => {
      const query = encodeOsmandQuery(terminalId, blankPosition(NOON, 52, 13));
      const socket = connect({ port: gateway.ports.osmand ?? 0, host: '127.0.0.1', localAddress: ELSEWHERE });
      sockets.push(socket);
      socket.write(`GET ${query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      return chunk.toString().split(' ', 2)[1];
    };
    expect(await ask(id(1))).toBe('404');
    await vi.waitFor(async () => expect(await ask(IMEI)).toBe('429'), PATIENCE);
  });
});

describe('commands', () => {
  const link = (address: string, more: Partial<TerminalLink> = {}): TerminalLink => ({
    address,
    takesCommands: true,
    isAuthenticated: false,
    lastReceivedMs: clock.now(),
    hasRivals: false,
    supersede() {},
    command: async () => ({ outcome: 'offline' }),
    ...more,
  });
  const terminals = (hub: MemoryHub = new MemoryHub()) => new ConnectedTerminals(hub, () => {}, clock);
  beforeEach(() => start());

  test('stay with a connection that is in use, and go to a newer one once it is silent or closed', () => {
    const connected = terminals();
    const own = link('192.0.2.1');
    const forged = link('198.51.100.9');
    connected.came(IMEI, own, 'jt808', clock.now());
    connected.came(IMEI, forged, 'jt808', clock.now());
    expect(connected.of(IMEI)).toBe(own);
    expect(own.hasRivals && forged.hasRivals).toBe(true);
    clock.setForward(31_000);
    expect(connected.of(IMEI)).toBe(forged);
    Object.assign(own, { lastReceivedMs: clock.now() });
    expect(connected.of(IMEI)).toBe(own);
    expect(connected.went(IMEI, own)).toBe(false);
    expect(connected.of(IMEI)).toBe(forged);
    expect(forged.hasRivals).toBe(false);
    expect(connected.went(IMEI, forged)).toBe(true);
  });

  test('never go from an authenticated connection to one that is not, and at once the other way', () => {
    const connected = terminals();
    const anyone = link('198.51.100.9');
    const own = link('192.0.2.1', { isAuthenticated: true });
    connected.came(IMEI, anyone, 'jt808', clock.now());
    connected.came(IMEI, own, 'jt808', clock.now());
    expect(connected.of(IMEI)).toBe(own);
    const later = link('198.51.100.9');
    clock.setForward(100_000);
    connected.came(IMEI, later, 'jt808', clock.now());
    Object.assign(later, { lastReceivedMs: clock.now() });
    expect(connected.of(IMEI)).toBe(own);
    const again = link('192.0.2.77', { isAuthenticated: true });
    connected.came(IMEI, again, 'jt808', clock.now());
    expect(connected.of(IMEI)).toBe(again);
  });

  test('one that speaks through two gateways at a time is contested; one that moved to the other is not', async () => {
    const shared = new MemoryHub();
    const [here, there] = [terminals(shared), terminals(shared)];
    await here.start();
    await there.start();
    try {
      const own = link('192.0.2.1');
      const forged = link('198.51.100.9');
      here.came(IMEI, own, 'jt808', clock.now());
      clock.setForward(1000);
      there.came(IMEI, forged, 'jt808', clock.now());
      await clock.advance(200);
      expect(own.hasRivals).toBe(true);
      clock.setForward(6000);
      Object.assign(forged, { lastReceivedMs: clock.now() });
      expect(here.isContested(IMEI)).toBe(false);
      Object.assign(own, { lastReceivedMs: clock.now() });
      expect(here.isContested(IMEI)).toBe(true);
      here.went(IMEI, own);
      const again = link('192.0.2.1');
      here.came(IMEI, again, 'jt808', clock.now());
      expect(here.isContested(IMEI)).toBe(false);
    } finally {
      await here.close();
      await there.close();
    }
  });

  test('a terminal that speaks from two places at a time is contested; one that came again is not', () => {
    const connected = terminals();
    const one = link('192.0.2.1');
    const other = link('198.51.100.9');
    connected.came(IMEI, one, 'jt808', clock.now());
    connected.came(IMEI, other, 'jt808', clock.now());
    clock.setForward(6000);
    Object.assign(other, { lastReceivedMs: clock.now() });
    expect(connected.isContested(IMEI)).toBe(false);
    Object.assign(one, { lastReceivedMs: clock.now() });
    expect(connected.isContested(IMEI)).toBe(true);
    clock.setForward(301_000);
    Object.assign(other, { lastReceivedMs: clock.now() });
    expect(connected.isContested(IMEI)).toBe(false);
  });

  test('requests from two places in turn are a conflict; a phone that changes networks is none', () => {
    const connected = terminals();
    const note = (address: string, afterMs: number) => {
      clock.setForward(afterMs);
      return connected.noteRequest(IMEI, address);
    };
    expect([note('192.0.2.1', 0), note('192.0.2.1', 10_000), note('198.51.100.9', 10_000)]).toEqual([
      false,
      false,
      false,
    ]);
    expect([note('198.51.100.9', 70_000), note('192.0.2.1', 10_000)]).toEqual([false, false]);
    expect([note('198.51.100.9', 10_000), note('198.51.100.9', 10_000)]).toEqual([true, true]);
    expect(note('198.51.100.9', 310_000)).toBe(false);
    connected.came(IMEI, link('192.0.2.1'), 'jt808', clock.now());
    expect(note('198.51.100.9', 1000)).toBe(true);
  });

  test('while an id is in use at two places, its data says so with an alarm', async () => {
    const one = await identified(HERE);
    const other = await identified(ELSEWHERE);
    const send = async ({ socket }: typeof one, fixTimeMs: number) => {
      const before = log.waiting.length;
      socket.write(createTeltonikaSimulator(IMEI).encode([blankPosition(fixTimeMs, 52, 13)]));
      await vi.waitFor(() => expect(log.waiting).toHaveLength(before + 1), PATIENCE);
      return log.waiting.at(-1)?.packets[0]?.positions.map(({ alarms }) => alarms);
    };
    expect(await send(other, NOON)).toEqual([[]]);
    clock.setForward(6000);
    expect(await send(one, NOON + 1000)).toEqual([['terminal-conflict']]);
    expect(await send(other, NOON + 2000)).toEqual([['terminal-conflict']]);
    // What it waits for is answered before its connection ends.
    for (const { durable } of log.waiting.splice(0)) durable();
    one.socket.destroy();
    await vi.waitFor(async () => {
      expect(await send(other, NOON + 3000)).toEqual([[]]);
    }, PATIENCE);
  });
});
