import { setImmediate as turn } from 'node:timers/promises';
import { Directory, LEARNING_ACCESS, OPEN_ACCESS, type TerminalId, type VehicleId } from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { createLogger, Metrics, NO_TRACING } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FirstContacts } from '../first-contacts.ts';
import { NOON, PATIENCE } from '../gateway.fixture.ts';
import { HeldLog } from '../held-log.fixture.ts';
import { Intake } from '../intake.ts';
import { gatewayMetrics } from '../metrics.ts';
import { PacketTraces } from '../packet-traces.ts';
import type { BrokerEvents } from './connection.ts';
import { BrokerSource } from './source.ts';
import { DEFAULT_TOPICS, matches, topicRoutesOf } from './topics.ts';

/** A broker of one client id: a second connection ends the first. */
class FakeBroker {
  readonly acknowledged: string[] = [];
  connects = 0;
  held = false;
  isAway = false;
  events: BrokerEvents | null = null;

  readonly connect = (events: BrokerEvents) => {
    this.connects++;
    queueMicrotask(() => {
      if (this.isAway) return events.onClosed('ECONNREFUSED');
      const before = this.events;
      this.events = events;
      before?.onClosed('taken over');
      events.onReady();
    });
    return {
      hold: (isHeld: boolean) => {
        this.held = isHeld;
      },
      end: () => {
        if (this.events !== events) return;
        this.events = null;
        events.onClosed('ended');
      },
    };
  };

  deliver(topic: string, message: unknown, name = topic): void {
    const payload = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
    this.events?.onMessage({ topic, payload }, () => this.acknowledged.push(name));
  }
}

const PLACE = { latitude: 52.37, longitude: 4.89 };

let log: HeldLog;
let hub: MemoryHub;
let broker: FakeBroker;
let clock: VirtualClock;
let directory: Directory;
let refusals: string[];
const sources: BrokerSource[] = [];

beforeEach(() => {
  log = new HeldLog();
  clock = new VirtualClock(NOON);
  hub = new MemoryHub(clock);
  broker = new FakeBroker();
  directory = new Directory();
  refusals = [];
});

afterEach(async () => {
  for (const source of sources.splice(0)) await source.stop();
});

function define(nth: number, terminalId: string, access = OPEN_ACCESS): void {
  const id = `0190a000-0000-7000-8000-00000000000${nth}` as VehicleId;
  const definition = sampleVehicle({
    ...{ id, version: 1, name: terminalId, terminalId: terminalId as TerminalId, terminalAccess: access },
  });
  directory.apply({ kind: 'vehicle', id, version: 1, changedAtMs: NOON, definition });
}

function createSource(): BrokerSource {
  const logger = createLogger('silent', 'json');
  const metrics = gatewayMetrics(new Metrics());
  const source: BrokerSource = new BrokerSource({
    ...{
      connect: broker.connect,
      routes: topicRoutesOf(DEFAULT_TOPICS),
      address: 'broker.example',
      clientId: 'outrider',
    },
    ...{ hub, logger, registry: new Metrics(), tracing: NO_TRACING, clock },
    metricsOf: (protocol) => metrics.of(protocol),
    intake: new Intake(log, directory, logger, (isHeld) => source.hold(isHeld), undefined, undefined, clock),
    traces: new PacketTraces(() => 1),
    contacts: new FirstContacts(hub, () => {}),
    vehicleOf: (terminalId) => directory.vehicleOfTerminal(terminalId),
    onRefused: (protocol, reason) => refusals.push(`${protocol} ${reason}`),
    onAccessRefused: () => {},
  });
  sources.push(source);
  return source;
}

async function startSource(): Promise<BrokerSource> {
  const source = createSource();
  source.start();
  await vi.waitFor(() => expect(broker.events).not.toBeNull(), PATIENCE);
  return source;
}

test('a message is acknowledged once its data is durable', async () => {
  define(1, 'van-1');
  await startSource();
  broker.deliver('outrider/van-1/position', PLACE);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  await turn();
  expect(broker.acknowledged).toEqual([]);
  for (const { durable } of log.waiting) durable();
  await vi.waitFor(() => expect(broker.acknowledged).toHaveLength(1), PATIENCE);
  expect(log.written).toMatchObject([{ terminalId: 'van-1', protocol: 'mqtt-json', positions: [PLACE] }]);
});

test('a message of several terminals is acknowledged once all of them are durable', async () => {
  define(1, 'van-1');
  define(2, 'van-2');
  await startSource();
  const messages = ['van-1', 'van-2', 'van-3'].map((ident) => ({
    ident,
    'position.latitude': 1,
    'position.longitude': 2,
  }));
  broker.deliver('flespi/message/gw/devices/7', messages);
  await vi.waitFor(() => expect(log.waiting.flatMap(({ packets }) => packets)).toHaveLength(2), PATIENCE);
  expect(broker.acknowledged).toEqual([]);
  for (const { durable } of log.waiting) durable();
  await vi.waitFor(() => expect(broker.acknowledged).toHaveLength(1), PATIENCE);
  expect(refusals).toEqual(['flespi unknown-terminal']);
});

test('what can never be taken is counted and acknowledged: the broker would send it for ever', async () => {
  define(1, 'van-1', { ...LEARNING_ACCESS, protocol: 'teltonika' });
  await startSource();
  broker.deliver('outrider/van-1/position', '{', 'garbage');
  broker.deliver('outrider/van-1/position', { ...PLACE, speed: 1 }, 'unknown name');
  broker.deliver('owntracks/anna/phone', { _type: 'encrypted' }, 'encrypted');
  broker.deliver('owntracks/anna/phone', { _type: 'lwt' }, 'will');
  broker.deliver('somewhere/else', '{}', 'another topic');
  broker.deliver('outrider/van-9/position', PLACE, 'unknown terminal');
  broker.deliver('outrider/van-9/position', PLACE, 'unknown terminal again');
  broker.deliver('outrider/van-1/position', PLACE, 'bound to another protocol');
  expect(broker.acknowledged).toHaveLength(8);
  expect(refusals).toEqual([
    'mqtt-json bad-content',
    'mqtt-json bad-content',
    'owntracks unsupported',
    'mqtt unsupported',
    'mqtt-json unknown-terminal',
    'mqtt-json unknown-terminal',
    'mqtt-json wrong-protocol',
  ]);
  const [unknown] = await hub.unknownTerminals();
  expect(unknown).toMatchObject({ terminalId: 'van-9', protocol: 'mqtt-json', address: 'broker.example', attempts: 1 });
  expect(log.waiting).toEqual([]);
});

test('a broker that is away is tried again, and shown as a warning until it is back', async () => {
  broker.isAway = true;
  const source = createSource();
  source.start();
  // After 0.5 to 1 s, 1 to 2 s, and 2 to 4 s.
  await clock.advance(7000);
  expect(broker.connects).toBeGreaterThan(2);
  expect(source.warnings).toEqual([expect.stringContaining('what is published there waits (ECONNREFUSED)')]);
  broker.isAway = false;
  await clock.advance(16_000);
  expect(source.warnings).toEqual([]);
});

test('one gateway reads; another one takes over where it ends or dies', async () => {
  const first = await startSource();
  const second = createSource();
  second.start();
  const { connects } = broker;
  await clock.advance(60_000);
  expect(broker.connects).toBe(connects);
  expect(second.warnings).toEqual([]);
  await first.stop();
  await clock.advance(5000);
  expect(broker.connects).toBe(connects + 1);
  expect(broker.events).not.toBeNull();
});

test('a log that refuses holds the broker until it takes again', async () => {
  define(1, 'van-1');
  await startSource();
  broker.deliver('outrider/van-1/position', PLACE);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  log.waiting.shift()?.refuse(new Error('full'));
  await vi.waitFor(() => expect(broker.held).toBe(true), PATIENCE);
  await clock.advance(100);
  for (const { durable } of log.waiting.splice(0)) durable();
  await vi.waitFor(() => expect(broker.held).toBe(false), PATIENCE);
  expect(broker.acknowledged).toHaveLength(1);
});

test.each([
  ['a/b', 'a/b', true],
  ['a/+', 'a/b', true],
  ['a/+', 'a/b/c', false],
  ['a/#', 'a/b/c', true],
  ['a/#', 'a', true],
  ['#', 'a/b', true],
  ['+/b', 'a/c', false],
  ['a/b', 'a', false],
  ['$share/group/a/+', 'a/b', true],
])('filter %s and topic %s: %s', (filter, topic, expected) => {
  expect(matches(filter, topic)).toBe(expected);
});

test('topics of a protocol that is not published, and filters that are none, are refused', () => {
  expect(topicRoutesOf('owntracks:a/#, flespi:b/+')).toMatchObject([{ filter: 'a/#' }, { filter: 'b/+' }]);
  for (const text of ['teltonika:a/#', 'owntracks', '', 'owntracks:a/#/b', 'owntracks:a+/b'])
    expect(() => topicRoutesOf(text)).toThrow(TypeError);
});
