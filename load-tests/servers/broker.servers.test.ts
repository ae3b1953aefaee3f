import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeCertificate } from '@outrider/channels/certificate';
import { blankPosition, type TerminalId } from '@outrider/domain';
import { mqttJson } from '@outrider/protocols';
import { createMqttTerminal, type TerminalClient } from '@outrider/simulator';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { BrokerConnection } from '../../services/gateway/src/broker/connection.ts';
import { MAX_UNACKNOWLEDGED, mqttConnector } from '../../services/gateway/src/broker/mqtt.ts';
import { givenServers } from '../../services/outrider/src/distributed.fixture.ts';
import { startMosquitto } from './mosquitto.ts';
import type { Server } from './server.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const NOON = Date.UTC(2026, 0, 15, 12);

const here = test.skipIf(givenServers() === null);
const folder = mkdtempSync(join(tmpdir(), 'outrider-broker-'));
const ends: (() => Promise<unknown> | unknown)[] = [];
const { key, cert } = makeCertificate('localhost', new Date(Date.now() + 86_400_000));
const certificate = { keyFile: join(folder, 'key.pem'), certificateFile: join(folder, 'certificate.pem') };
let server: Server;

beforeAll(async () => {
  if (givenServers() === null) return;
  writeFileSync(certificate.keyFile, key, { mode: 0o600 });
  writeFileSync(certificate.certificateFile, cert);
  server = await startMosquitto(folder, certificate);
  ends.push(() => server.stop());
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
});

/** Reads the topics as a gateway does, and collects what comes. */
async function read(clientId: string, scheme = 'mqtt') {
  const reader = open(clientId, server.environment[`${scheme.toUpperCase()}_URL`] ?? '');
  await vi.waitFor(() => expect(reader.isReady).toBe(true), PATIENCE);
  return reader;
}

function open(clientId: string, url: string) {
  const received: { topic: string; acknowledge: () => void }[] = [];
  const reader = {
    received,
    isReady: false,
    closed: null as string | null,
    connection: null as BrokerConnection | null,
  };
  const connect = mqttConnector({
    url,
    clientId,
    filters: [`${clientId}/+/position`],
  });
  reader.connection = connect({
    onReady: () => {
      reader.isReady = true;
    },
    onMessage: ({ topic }, acknowledge) => received.push({ topic, acknowledge: acknowledge ?? (() => {}) }),
    onClosed: (reason) => {
      reader.closed = reason;
    },
  });
  ends.push(() => reader.connection?.end());
  return reader;
}

function publisher(prefix: string): TerminalClient {
  const protocol = {
    ...mqttJson,
    topics: {
      ...mqttJson.topics,
      encode: (terminalId: TerminalId, position: ReturnType<typeof blankPosition>) => ({
        ...mqttJson.topics.encode(terminalId, position),
        topic: `${prefix}/${position.fixTimeMs - NOON}/position`,
      }),
    },
  };
  const { port } = server;
  const client = createMqttTerminal({
    host: '127.0.0.1',
    port,
    terminalId: prefix as TerminalId,
    protocol,
    retryMs: 50,
  });
  ends.push(() => client.close());
  return client;
}

const positions = (count: number, from = 0) =>
  Array.from({ length: count }, (_, nth) => blankPosition(NOON + from + nth, 1, 2));
const numbersOf = (received: readonly { topic: string }[]) => received.map(({ topic }) => Number(topic.split('/')[1]));
const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, nth) => from + nth);

here('what a killed gateway did not acknowledge comes again in its order, and nothing else', async () => {
  const first = await read('kill');
  const client = publisher('kill');
  client.record(positions(50));
  await client.settled();
  await vi.waitFor(() => expect(first.received).toHaveLength(50), PATIENCE);
  // 30 is durable before 20: the broker gets the acknowledgements of 0 to 19 alone.
  for (const [nth, { acknowledge }] of first.received.entries()) if (nth < 20 || nth === 30) acknowledge();
  await new Promise((resolve) => setTimeout(resolve, 300));

  // Same client id: the broker cuts the first connection, as if its gateway had died.
  const second = await read('kill');
  await vi.waitFor(() => expect(numbersOf(second.received)).toEqual(upTo(30, 20)), PATIENCE);
  expect(first.closed).not.toBeNull();
  for (const { acknowledge } of second.received) acknowledge();
  second.connection?.end();

  client.record(positions(10, 50));
  await client.settled();
  const third = await read('kill');
  await vi.waitFor(() => expect(numbersOf(third.received)).toEqual(upTo(10, 50)), PATIENCE);
});

here('a broker that is started again sends what waits', async () => {
  const first = await read('restart');
  const client = publisher('restart');
  client.record(positions(20));
  await client.settled();
  await vi.waitFor(() => expect(first.received).toHaveLength(20), PATIENCE);
  await server.stop();
  await vi.waitFor(() => expect(first.closed).not.toBeNull(), PATIENCE);
  client.record(positions(5, 20));
  await server.start();
  const second = await read('restart');
  await vi.waitFor(() => expect(numbersOf(second.received)).toEqual(upTo(25)), PATIENCE);
});

here('a flood waits at the broker: a bounded number of messages is under way', async () => {
  const reader = await read('flood');
  const client = publisher('flood');
  client.record(positions(3 * MAX_UNACKNOWLEDGED));
  await client.settled();
  await vi.waitFor(() => expect(reader.received.length).toBe(MAX_UNACKNOWLEDGED), PATIENCE);
  let acknowledged = 0;
  await vi.waitFor(() => {
    // What one read of the socket holds may be beyond the bound.
    expect(reader.received.length - acknowledged).toBeLessThan(2 * MAX_UNACKNOWLEDGED);
    for (; acknowledged < reader.received.length; acknowledged++) reader.received[acknowledged]?.acknowledge();
    expect(numbersOf(reader.received)).toEqual(upTo(3 * MAX_UNACKNOWLEDGED));
  }, PATIENCE);
});

here.each(['mqtts', 'wss'])(
  '%s: a certificate that nobody vouches for is refused, and the reason says so',
  async (scheme) => {
    const reader = open('untrusted', server.environment[`${scheme.toUpperCase()}_URL`] ?? '');
    await vi.waitFor(
      () => expect(reader.closed).toMatch(/^the certificate of the broker is refused: self-signed/),
      PATIENCE,
    );
    expect(reader.isReady).toBe(false);
  },
);

here.each(['ws', 'mqtts', 'wss'])('%s: the topics are read, and the name of the certificate counts', async (scheme) => {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, cert]);
  try {
    const reader = await read(scheme, scheme);
    const client = publisher(scheme);
    client.record(positions(20));
    await client.settled();
    await vi.waitFor(() => expect(numbersOf(reader.received)).toEqual(upTo(20)), PATIENCE);
    for (const { acknowledge } of reader.received) acknowledge();
    reader.connection?.end();
    client.record(positions(1, 20));
    await client.settled();
    // What was acknowledged does not come again.
    const second = await read(scheme, scheme);
    await vi.waitFor(() => expect(numbersOf(second.received)).toEqual([20]), PATIENCE);

    if (scheme === 'ws') return;
    const { port } = new URL(server.environment[`${scheme.toUpperCase()}_URL`] ?? '');
    const other = open(`${scheme}-other`, `${scheme}://127.0.0.1:${port}`);
    await vi.waitFor(
      () => expect(other.closed).toMatch(/certificate of the broker is refused: .*does not match/),
      PATIENCE,
    );
  } finally {
    setDefaultCACertificates(trusted);
  }
});
