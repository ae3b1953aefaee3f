import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { TerminalId } from '@outrider/domain';
import { createTeltonikaSimulator } from '@outrider/protocols';
import { reservePort } from '@outrider/testing/port';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { connectPeer, type Peer } from '../../services/gateway/src/gateway.fixture.ts';
import {
  Cluster,
  callAt,
  givenServers,
  type Instance,
  logInAt,
} from '../../services/outrider/src/distributed.fixture.ts';
import { OPERATOR_PASSWORD } from '../../services/outrider/src/service.fixture.ts';
import { startCaddy, startHaproxy, startNames } from './proxies.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };
/** Where clients and terminals come from, seen by the proxies. */
const CLIENT = '127.0.0.91';
const TERMINAL = '127.0.0.92';
const VEHICLES = 4000;

const here = test.skipIf(givenServers() === null);
const folder = mkdtempSync(join(tmpdir(), 'outrider-proxies-'));
const ends: (() => Promise<unknown> | unknown)[] = [];
let cluster: Cluster;
let api: Instance;
let jwt: string;
let caddy: Awaited<ReturnType<typeof startCaddy>>;
let ca: Buffer;

beforeAll(async () => {
  const servers = givenServers();
  if (servers === null) return;
  cluster = await Cluster.open(servers, process.env.CLICKHOUSE_URL ?? null);
  ends.push(() => cluster.close());
  api = await cluster.start('api', { TRUSTED_PROXIES: '127.0.0.1' });
  const notifier = await cluster.start('notifier', { TRUSTED_PROXIES: '127.0.0.1' });
  jwt = await logInAt(api);
  caddy = await startCaddy(join(folder, 'caddy'), {
    API_HOST: 'localhost',
    API_PORT: String(api.ports.http),
    LIVE_HOST: 'localhost',
    LIVE_PORT: String(notifier.ports.live),
  });
  ends.push(() => caddy.server.stop());
  // It makes its authority once it runs.
  await vi.waitFor(() => {
    ca = readFileSync(caddy.authority);
  }, PATIENCE);
}, 240_000);

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
});

function open(): Promise<ClientHttp2Session> {
  const { port } = caddy.server;
  const options = { host: '127.0.0.1', servername: 'localhost', port, ca, localAddress: CLIENT, ALPNProtocols: ['h2'] };
  const session = connect(`https://localhost:${port}`, { createConnection: () => connectTls(options) });
  ends.push(() => session.destroy());
  return new Promise((resolve, reject) => session.once('connect', () => resolve(session)).once('error', reject));
}

async function call(session: ClientHttp2Session, path: string, headers = {}, body?: string) {
  const stream = session.request({ ':path': path, ':method': body === undefined ? 'GET' : 'POST', ...headers });
  let status = 0;
  stream.on('response', (answer) => {
    status = Number(answer[':status']);
  });
  stream.end(body);
  const chunks = await stream.toArray();
  return { status, text: Buffer.concat(chunks).toString() };
}

here('TLS and HTTP/2 end at the proxy, which says who the client is and believes no client about it', async () => {
  const session = await vi.waitFor(open, PATIENCE);
  expect(session.alpnProtocol).toBe('h2');
  const authorization = `JWT ${jwt}`;
  const { key } = await callAt<{ key: string }>(api, jwt, 'POST', '/api/v1/api-keys', {
    name: 'program',
    scopes: ['read'],
  });
  const listed = await call(session, '/api/v1/vehicles', {
    authorization: `Bearer ${key}`,
    'x-forwarded-for': '203.0.113.7',
  });
  expect(listed.status).toBe(200);
  await vi.waitFor(async () => {
    const keys = JSON.parse((await call(session, '/api/v1/api-keys', { authorization })).text) as {
      items: { lastUsedAddress: string | null }[];
    };
    expect(keys.items.map(({ lastUsedAddress }) => lastUsedAddress)).toEqual([CLIENT]);
  }, PATIENCE);
  expect((await call(session, '/metrics')).status).toBe(404);
  expect((await call(session, '/docs/')).status).toBe(200);
  // A cookie of the console is marked as one for TLS: the proxy says by which scheme the client came.
  const login = session.request({ ':path': '/auth/login', ':method': 'POST', 'content-type': 'application/json' });
  const answered = new Promise<string>((resolve) =>
    login.once('response', (headers) => resolve(String(headers['set-cookie']))),
  );
  login.end(JSON.stringify({ login: 'admin', password: OPERATOR_PASSWORD }));
  expect(await answered).toMatch(/Secure/);
  login.resume();
});

here('a file of 200 kB is taken, and pages of HTTP lead to HTTPS', async () => {
  const session = await vi.waitFor(open, PATIENCE);
  const rows = Array.from({ length: VEHICLES }, (_, nth) => `Vehicle number ${nth} of the fleet,${9e14 + nth}`);
  const body = `name,terminalId\n${rows.join('\n')}\n`;
  const headers = { authorization: `JWT ${jwt}`, 'content-type': 'text/csv' };
  const answer = await call(session, '/api/v1/vehicles/import?dryRun=true', headers, body);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  const location = await new Promise<string | undefined>((resolve, reject) =>
    request({ port: caddy.httpPort, host: '127.0.0.1', path: '/docs/', headers: { host: 'localhost' } }, (response) => {
      response.resume();
      resolve(response.headers.location);
    })
      .on('error', reject)
      .end(),
  );
  expect(location).toBe('https://localhost/docs/');
});

here('/live goes through it to the notifier', async () => {
  await vi.waitFor(async () => {
    const socket = new WebSocket(`wss://localhost:${caddy.server.port}/live`, { ca });
    ends.push(() => socket.terminate());
    const said = new Promise<string>((resolve, reject) =>
      socket.once('message', (data) => resolve(String(data))).once('error', reject),
    );
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send(JSON.stringify({ type: 'authorize', jwt }));
    expect(JSON.parse(await said)).toMatchObject({ type: 'authorized' });
  }, PATIENCE);
});

here(
  'terminals are shared among gateways, which know their addresses, and leave one that ends',
  { timeout: 240_000 },
  async () => {
    const [port, healthPort] = [await reservePort(), await reservePort()];
    const startGateway = (host: string) =>
      cluster.start('gateway', {
        HOST: host,
        TELTONIKA_PORT: String(port),
        HEALTH_PORT: String(healthPort),
        TERMINAL_PROXIES: '127.0.0.1',
        TERMINAL_UDP: 'no',
        METRICS_TOKEN: 'of-the-test',
      });
    let addresses: string[] = ['127.0.0.71'];
    const first = await startGateway('127.0.0.71');
    const names = await startNames(() => addresses);
    ends.push(() => names.close());
    const haproxy = await startHaproxy(join(folder, 'haproxy'), port, {
      DNS: names.address,
      GATEWAY: 'gateway',
      MAX_CONNECTIONS: '1000',
      HEALTH_PORT: String(healthPort),
    });
    ends.push(() => haproxy.stop());

    const peers: Peer[] = [];
    ends.push(() => peers.forEach(({ socket }) => void socket.destroy()));
    const terminal = async (id: string) => {
      const peer = await connectPeer(port, TERMINAL);
      peers.push(peer);
      peer.socket.write(createTeltonikaSimulator(id as TerminalId).hello() as Buffer);
      return peer;
    };
    // One that no vehicle has is listed, with its own address.
    await vi.waitFor(async () => {
      await terminal('356307042443099');
      const unknown = await callAt<{ items: { address: string }[] }>(api, jwt, 'GET', '/api/v1/unknown-terminals');
      expect(unknown.items.map(({ address }) => address)).toContain(TERMINAL);
    }, PATIENCE);

    const ids = Array.from({ length: 12 }, (_, nth) => `35630704244${2000 + nth}`);
    for (const [nth, terminalId] of ids.entries())
      await callAt(api, jwt, 'POST', '/api/v1/vehicles', { name: `Van ${nth}`, terminalId });
    const accepted = async (id: string) => {
      await vi.waitFor(async () => {
        const peer = await terminal(id);
        await vi.waitFor(() => expect(peer.hex + peer.closed).not.toBe('false'), PATIENCE);
        expect(peer.hex).toBe('01');
      }, PATIENCE);
    };
    // A second gateway is found without a word to the proxy.
    const second = await startGateway('127.0.0.72');
    addresses = ['127.0.0.71', '127.0.0.72'];
    const connections = (host: string) => connectionsAt(host, healthPort);
    await vi.waitFor(async () => {
      for (const id of ids.slice(0, 4)) await accepted(id);
      expect(await connections('127.0.0.72')).toBeGreaterThan(0);
    }, PATIENCE);
    expect(await connections('127.0.0.71')).toBeGreaterThan(0);
    addresses = ['127.0.0.72'];
    expect(await first.terminate()).toBe(0);
    for (const id of ids) await accepted(id);
    expect(await second.terminate()).toBe(0);
  },
);

async function connectionsAt(host: string, port: number): Promise<number> {
  const answer = await fetch(`http://${host}:${port}/metrics`, { headers: { authorization: 'Bearer of-the-test' } });
  return [...(await answer.text()).matchAll(/^outrider_terminal_connections\{[^}]*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
