import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedHttp } from '@outrider/channels';
import { makeCertificate } from '@outrider/channels/certificate';
import { blankPosition, SYSTEM_CLOCK, type TelemetryPacket, type TerminalId, type VehicleId } from '@outrider/domain';
import { sampleUserFields, sampleVehicleFields } from '@outrider/domain/samples';
import { createForwarder } from '@outrider/forwarder';
import {
  type DestinationKindName,
  type ForwardedItem,
  ForwardingError,
  openTarget,
  type Target,
} from '@outrider/forwarding';
import { openKafkaLog, openSqliteLog, telemetryTopic } from '@outrider/log';
import { type ForwardingFields, followRegistry, openRegistry, Secrets } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createLogger, Metrics } from '@outrider/runtime';
import { Kafka, logLevel } from 'kafkajs';
import { generate, type Packet, parser } from 'mqtt-packet';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Cluster, givenServers } from '../../services/outrider/src/distributed.fixture.ts';
import { receiveWebhooks } from '../../services/outrider/src/webhook-receiver.fixture.ts';
import { startMosquitto } from './mosquitto.ts';
import type { Server } from './server.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const NOON = Date.UTC(2026, 0, 15, 12);
const VAN = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57' as VehicleId;

const servers = givenServers();
const here = test.skipIf(servers === null);
const folder = mkdtempSync(join(tmpdir(), 'outrider-forwarding-'));
const ends: (() => Promise<unknown> | unknown)[] = [];
const { key, cert } = makeCertificate('localhost', new Date(Date.now() + 86_400_000));
const otherCertificate = makeCertificate('localhost', new Date(Date.now() + 86_400_000)).cert;
const certificate = { keyFile: join(folder, 'key.pem'), certificateFile: join(folder, 'certificate.pem') };
let mosquitto: Server;

beforeAll(async () => {
  if (servers === null) return;
  writeFileSync(certificate.keyFile, key, { mode: 0o600 });
  writeFileSync(certificate.certificateFile, cert);
  mosquitto = await startMosquitto(join(folder, 'mosquitto'), certificate);
  ends.push(() => mosquitto.stop());
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
});

/** Subscribes to everything below a topic, and collects what comes; the broker sends what is retained first. */
async function subscribe(filter: string) {
  const received: { topic: string; payload: string; retain: boolean }[] = [];
  const socket = connect(mosquitto.port, '127.0.0.1');
  const packets = parser({ protocolVersion: 4 });
  const send = (packet: Packet) => socket.write(generate(packet));
  let isReady = false;
  packets.on('packet', (packet) => {
    if (packet.cmd === 'connack') send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: filter, qos: 0 }] });
    if (packet.cmd === 'suback') isReady = true;
    if (packet.cmd === 'publish')
      received.push({ topic: packet.topic, payload: packet.payload.toString(), retain: packet.retain });
  });
  socket.on('data', (chunk: Buffer) => packets.parse(chunk));
  socket.on('error', () => {});
  send({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clientId: randomUUID(), clean: true, keepalive: 0 });
  ends.push(() => socket.destroy());
  await vi.waitFor(() => expect(isReady).toBe(true), PATIENCE);
  return received;
}

function open(kind: DestinationKindName, settings: object, ca?: string): Target {
  const http = createGuardedHttp({
    allowPrivateAddresses: true,
    timeoutMs: 1000,
    maxResponseBytes: 1024,
    now: Date.now,
  });
  const context = { id: randomUUID(), isTest: false, http, allowPrivateAddresses: true, ca, now: Date.now };
  const target = openTarget({ kind, settings }, { secret: null, headers: {} }, context);
  ends.push(() => target.close());
  return target;
}
const mqttSettings = (topicPrefix: string, more: object = {}) => ({
  host: '127.0.0.1',
  port: mosquitto.port,
  tls: false,
  username: null,
  topicPrefix,
  homeAssistant: false,
  discoveryPrefix: `${topicPrefix}-ha`,
  ...more,
});

function destination(kind: DestinationKindName, settings: object): ForwardingFields {
  const filter = { vehicleIds: null, groupIds: null, positions: true, events: false, eventKinds: null };
  return { name: 'Other', kind, settings, endpoint: 'localhost', filter, active: true };
}

const packetOf = (vehicleId: VehicleId, second: number): TelemetryPacket => ({
  vehicleId,
  terminalId: '356307042441013' as TerminalId,
  protocol: 'teltonika',
  receivedAtMs: NOON + 3_600_000,
  positions: [blankPosition(NOON + second * 1000, 1, 2)],
});

const at = (second: number): ForwardedItem => ({
  vehicleId: VAN,
  vehicleName: 'Van',
  fact: {
    type: 'position',
    terminalId: '356307042441013' as TerminalId,
    position: blankPosition(NOON + second * 1000, 1, 2),
  },
  json: () => ({ type: 'position', vehicleId: VAN, second }),
});
const upTo = (count: number) => Array.from({ length: count }, (_, nth) => nth + 1);

here('MQTT: the newest position is retained, Home Assistant finds the vehicle, late data has a topic', async () => {
  const target = open('mqtt', mqttSettings('home', { homeAssistant: true }));
  await target.send({ id: 'a', items: [...upTo(250).map(at), at(100)] });
  const retained = await subscribe('home/#');
  await vi.waitFor(() => expect(retained).toHaveLength(1), PATIENCE);
  expect(retained[0]).toMatchObject({ topic: `home/vehicles/${VAN}/position`, retain: true });
  expect(JSON.parse(retained[0]?.payload ?? '')).toEqual({ type: 'position', vehicleId: VAN, second: 250 });
  const live = await subscribe('home/+/+/late-position');
  await target.send({ id: 'b', items: [at(7)] });
  await vi.waitFor(() => expect(live).toHaveLength(1), PATIENCE);

  const discovered = await subscribe('home-ha/#');
  await vi.waitFor(() => expect(discovered.length).toBeGreaterThanOrEqual(7), PATIENCE);
  const [tracker] = discovered.filter(({ topic }) => topic.includes('/device_tracker/'));
  const object = `outrider_${VAN.replaceAll('-', '')}`;
  expect(tracker?.topic).toBe(`home-ha/device_tracker/${object}/config`);
  expect(JSON.parse(tracker?.payload ?? '')).toMatchObject({
    unique_id: object,
    json_attributes_topic: `home/vehicles/${VAN}/position`,
    device: { identifiers: [object], name: 'Van' },
  });
  for (const { payload } of discovered) expect(JSON.parse(payload).device.identifiers).toEqual([object]);
});

here('MQTT over TLS needs a certificate that holds', async () => {
  const port = Number(new URL(mosquitto.environment.MQTTS_URL ?? '').port);
  const settings = mqttSettings('secure', { host: 'localhost', port, tls: true });
  await expect(open('mqtt', settings).test()).rejects.toBeInstanceOf(ForwardingError);
  const received = await subscribe('secure/#');
  await open('mqtt', settings, cert).test();
  // One of the destination goes before that of the service.
  await open('mqtt', { ...settings, ca: cert }, otherCertificate).test();
  await expect(open('mqtt', { ...settings, ca: otherCertificate }, cert).test()).rejects.toThrow(/SELF_SIGNED_CERT/);
  await vi.waitFor(() => expect(received).toHaveLength(2), PATIENCE);
  expect(received[0]?.topic).toBe('secure/test');
});

here('MQTT: a broker that is stopped and started gets everything, in order', async () => {
  const log = openSqliteLog({ path: join(folder, 'log.sqlite'), startsRun: true });
  const registry = await openTestRegistry({ path: join(folder, 'registry.sqlite') });
  const { directory, stop } = await followRegistry(registry);
  const boss = await registry.users.create(sampleUserFields({ login: 'boss', role: 'operator' }), 'a long password 1');
  const van = (await registry.vehicles.create(sampleVehicleFields({ name: 'Van' }))).id;
  const { id } = await registry.forwardingDestinations.create(boss.id, destination('mqtt', mqttSettings('restart')), {
    secret: null,
    headers: {},
  });
  const forwarder = createForwarder({
    config: { allowPrivateAddresses: true, pollMs: 50 },
    log,
    registry,
    directory,
    logger: createLogger('silent', 'json'),
    metrics: new Metrics(),
    clock: SYSTEM_CLOCK,
    random: () => 0,
  });
  await forwarder.start();
  ends.push(async () => {
    await forwarder.stop();
    stop();
    await registry.close();
    await log.close();
  });
  let second = 0;
  const drive = async (until: number) => {
    while (second < until) await log.append(telemetryTopic, [packetOf(van, ++second)]);
  };
  const secondsOf = (received: readonly { payload: string }[]) =>
    received.map(({ payload }) => (Date.parse(JSON.parse(payload).fixTime) - NOON) / 1000);
  const before = await subscribe('restart/#');
  await drive(20);
  await vi.waitFor(() => expect(secondsOf(before)).toEqual(upTo(20)), PATIENCE);
  await mosquitto.stop();
  await drive(300);
  await vi.waitFor(
    async () => expect((await registry.forwardingDestinations.get(id))?.failures).toBeGreaterThan(0),
    PATIENCE,
  );
  await mosquitto.start();
  const after = await subscribe('restart/#');
  const seen = () => [...new Set([...secondsOf(before), ...secondsOf(after)])];
  // Where the forwarder was faster than this subscription, only the newest was retained.
  await vi.waitFor(() => expect(seen().at(-1)).toBe(300), PATIENCE);
  await vi.waitFor(
    async () => expect((await registry.forwardingDestinations.get(id))?.positionsSent).toBe(300),
    PATIENCE,
  );
  expect(seen()).toEqual(seen().toSorted((a, b) => a - b));
});

here('Kafka: messages as JSON with the vehicle as their key, in their order; a topic must exist', async () => {
  const brokers = servers?.kafkaBrokers.split(',') ?? [];
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const topic = `forwarded-${randomUUID()}`;
  const settings = { brokers, topic, tls: false, mechanism: null, username: null };
  await expect(open('kafka', settings).test()).rejects.toBeInstanceOf(ForwardingError);
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 3 }], waitForLeaders: true });
  await admin.disconnect();
  const received: [key: string, type: string, second: number][] = [];
  const consumer = kafka.consumer({ groupId: randomUUID() });
  ends.push(() => consumer.disconnect());
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const { second } = JSON.parse(message.value?.toString() ?? '{}');
      received.push([message.key?.toString() ?? '', message.headers?.type?.toString() ?? '', second]);
    },
  });
  const target = open('kafka', settings);
  await target.send({ id: 'a', items: upTo(200).map(at) });
  await target.send({ id: 'b', items: [at(201)] });
  await vi.waitFor(() => expect(received).toHaveLength(201), PATIENCE);
  expect(received).toEqual(upTo(201).map((second) => [VAN, 'position', second]));
});

here(
  'a forwarder that is killed is followed by another process, which goes on where it was',
  async () => {
    if (servers === null) return;
    // The forwarder needs no ClickHouse.
    const cluster = await Cluster.open(servers, 'http://127.0.0.1:1');
    ends.push(() => cluster.close());
    const { DATABASE_URL = '', SECRETS_KEY = '', KAFKA_BROKERS = '' } = cluster.settings;
    const secrets = new Secrets([Buffer.from(SECRETS_KEY, 'base64')]);
    const registry = await openRegistry({ url: DATABASE_URL, secrets });
    const log = await openKafkaLog({ brokers: KAFKA_BROKERS.split(','), prefix: cluster.kafkaPrefix });
    const receiver = await receiveWebhooks(() => 204);
    ends.push(async () => {
      receiver.close();
      await registry.close();
      await log.close();
    });
    const boss = await registry.users.create(
      sampleUserFields({ login: 'boss', role: 'operator' }),
      'a long password 1',
    );
    const van = (await registry.vehicles.create(sampleVehicleFields({ name: 'Van' }))).id;
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const { id } = await registry.forwardingDestinations.create(boss.id, destination('http', { url: receiver.url }), {
      secret,
      headers: {},
    });
    const start = () => cluster.start('forwarder', { WEBHOOK_ALLOW_PRIVATE: 'yes' });
    const seconds = () =>
      receiver.received.flatMap(({ body }) =>
        JSON.parse(body).data.items.map(({ fixTime }: { fixTime: string }) => (Date.parse(fixTime) - NOON) / 1000),
      );
    const drive = async (from: number, to: number) => {
      for (let second = from; second <= to; second++) await log.append(telemetryTopic, [packetOf(van, second)]);
    };
    const first = await start();
    await drive(1, 20);
    await vi.waitFor(() => expect(seconds()).toEqual(upTo(20)), PATIENCE);
    const second = await start();
    await vi.waitFor(
      async () => expect((await registry.forwardingDestinations.get(id))?.positionsSent).toBe(20),
      PATIENCE,
    );
    await first.kill();
    await drive(21, 40);
    // The lease of the killed one lapses first.
    await vi.waitFor(() => expect(seconds()).toEqual(upTo(40)), { timeout: 120_000, interval: 100 });
    expect(await second.terminate()).toBe(0);
    expect((await registry.forwardingDestinations.get(id))?.isLeased).toBe(false);
    expect(cluster.complaints()).toEqual([]);
  },
  240_000,
);
