import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { makeCertificate } from '@outrider/channels/certificate';
import type { TerminalId, VehicleId } from '@outrider/domain';
import { generateDrive, playDrive } from '@outrider/simulator';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  Cluster,
  callAt,
  givenServers,
  type Instance,
  logInAt,
  type ServiceName,
} from '../../services/outrider/src/distributed.fixture.ts';
import { archivedTimes, asDriven, type Reached } from '../../services/outrider/src/end-to-end.fixture.ts';
import { startKafka } from './kafka.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { Security, Server } from './server.ts';

const PATIENCE = { timeout: 90_000, interval: 200 };
const FIXES = 60;
const TERMINAL = '356307042443001' as TerminalId;

/** Servers cost something: these are started where others are given too. */
const here = test.skipIf(givenServers() === null);
const folder = mkdtempSync(join(tmpdir(), 'outrider-secure-'));
const ends: (() => Promise<unknown> | unknown)[] = [];
let cluster: Cluster;
/** What the services need to trust the servers' certificate. */
let trust: Record<string, string>;
let secure: Record<string, string>;

beforeAll(async () => {
  if (givenServers() === null) return;
  // PostgreSQL runs as another user where this runs as root.
  chmodSync(folder, 0o755);
  const certificate = makeCertificate('localhost', new Date(Date.now() + 86_400_000));
  const security: Security = {
    keyFile: join(folder, 'key.pem'),
    certificateFile: join(folder, 'certificate.pem'),
    user: 'fleet',
    password: 'between-servers',
  };
  writeFileSync(security.keyFile, certificate.key, { mode: 0o600 });
  writeFileSync(security.certificateFile, certificate.cert);
  trust = { NODE_EXTRA_CA_CERTS: security.certificateFile };
  const servers: Server[] = await Promise.all([
    startRedis(join(folder, 'redis'), undefined, security),
    startPostgres(join(folder, 'postgres'), undefined, security),
    startKafka(join(folder, 'kafka'), undefined, [], security),
  ]);
  for (const server of servers) ends.push(() => server.stop());
  const plain = Object.assign({}, ...servers.map(({ environment }) => environment)) as Record<string, string>;
  const { KAFKA_BROKERS: kafkaBrokers = '', REDIS_URL: redisUrl = '', DATABASE_URL: databaseUrl = '' } = plain;
  secure = Object.assign({}, ...servers.map(({ secureEnvironment }) => secureEnvironment));
  cluster = await Cluster.open({ kafkaBrokers, redisUrl, databaseUrl }, null, async (environment) => ({
    ...secure,
    // A database of its own, as it was made.
    DATABASE_URL: withPath(secure.DATABASE_URL, new URL(environment.DATABASE_URL ?? '').pathname),
    REDIS_URL: withPath(secure.REDIS_URL, new URL(environment.REDIS_URL ?? '').pathname),
    CLICKHOUSE_URL: await overTls(environment.CLICKHOUSE_URL ?? '', certificate),
    S3_URL: await overTls(environment.S3_URL ?? '', certificate),
  }));
  ends.push(() => cluster.close());
}, 240_000);

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
});

function withPath(url: string | undefined, pathname: string): string {
  const changed = new URL(url ?? '');
  changed.pathname = pathname;
  return changed.href;
}

/** A proxy before a server that speaks TLS. @returns the address by it */
async function overTls(url: string, { key, cert }: { key: string; cert: string }): Promise<string> {
  const target = new URL(url);
  const proxy = createServer({ key, cert }, (inbound) => {
    const outbound = connect(Number(target.port), '127.0.0.1');
    for (const socket of [inbound, outbound])
      socket
        .on('error', () => {})
        .on('close', () => {
          inbound.destroy();
          outbound.destroy();
        });
    inbound.pipe(outbound).pipe(inbound);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  ends.push(() => proxy.close());
  // `new URL` changes the scheme of no address from one kind to another; the text does.
  return url.replace(/^http:/, 'https:').replace(target.host, `localhost:${(proxy.address() as AddressInfo).port}`);
}

here(
  'over TLS, logged in, a drive comes from the terminal to the archive, and a report of it into the storage',
  {
    timeout: 240_000,
  },
  async () => {
    const start = (service: ServiceName) => cluster.start(service, trust);
    const api = await start('api');
    const others = await Promise.all(
      (['gateway', 'rules', 'archiver', 'notifier', 'reporter', 'forwarder'] as const).map(start),
    );
    const jwt = await logInAt(api);
    const call: Reached['call'] = (method, path, body) => callAt(api, jwt, method, path, body);
    const vehicle = await call<{ id: VehicleId }>('POST', '/api/v1/vehicles', {
      name: 'Van 1',
      terminalId: TERMINAL,
    });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const positions = asDriven(generateDrive(FIXES, 31));
    const [gateway] = others as [Instance];
    await playDrive({
      protocol: 'teltonika',
      terminalId: TERMINAL,
      host: '127.0.0.1',
      port: gateway.ports.teltonika as number,
      positions,
      positionsPerPacket: 5,
    });
    const sent = positions.map(({ fixTimeMs }) => new Date(fixTimeMs).toISOString());
    await vi.waitFor(async () => expect(await archivedTimes(call, vehicle.id)).toEqual(sent), PATIENCE);
    await vi.waitFor(async () => {
      const path = `/api/v1/vehicles/${vehicle.id}/state`;
      const state = await call<{ position: { fixTime: string } | null }>('GET', path);
      expect(state.position?.fixTime).toBe(sent.at(-1));
    }, PATIENCE);

    const job = await call<{ id: string }>('POST', '/api/v1/report-jobs', {
      kind: 'track',
      vehicleId: vehicle.id,
      from: sent[0],
      to: new Date(Date.parse(sent.at(-1) ?? '') + 1000).toISOString(),
      format: 'csv',
    });
    await vi.waitFor(async () => {
      const { state } = await call<{ state: string }>('GET', `/api/v1/jobs/${job.id}`);
      expect(state).toBe('done');
    }, PATIENCE);
    const file = await fetch(`http://127.0.0.1:${api.ports.http}/api/v1/report-jobs/${job.id}/file`, {
      headers: { Authorization: `JWT ${jwt}` },
    });
    expect((await file.text()).trim().split('\n')).toHaveLength(FIXES + 1);
    for (const instance of [...others, api])
      expect([instance.service, await instance.terminate()]).toEqual([instance.service, 0]);
  },
);

here.each([
  ['rules', 'KAFKA_SASL_PASSWORD', 'Kafka'],
  ['rules', 'REDIS_URL', 'Redis'],
  ['api', 'DATABASE_URL', 'PostgreSQL'],
  ['archiver', 'CLICKHOUSE_URL', 'ClickHouse'],
] as const)(
  '%s says so when %s has a wrong password, and ends',
  { timeout: 120_000 },
  async (service, setting, server) => {
    const wrong = (cluster.settings[setting] ?? '').replace(/between-servers|outrider(?=@)/, 'guessed');
    const spawned = cluster.spawn(service, { ...trust, [setting]: wrong });
    expect(await spawned.ready).toBeNull();
    expect(spawned.stderrText()).toContain(server);
    expect(spawned.stderrText()).not.toContain('guessed');
  },
);

here.each([
  ['archiver', 'ClickHouse'],
  ['api', 'PostgreSQL'],
] as const)(
  '%s does not trust a certificate that nobody vouches for, and says whose (%s)',
  { timeout: 120_000 },
  async (service, _server) => {
    const spawned = cluster.spawn(service);
    expect(await spawned.ready).toBeNull();
    expect(spawned.stderrText()).toMatch(/self-signed certificate/);
  },
);
