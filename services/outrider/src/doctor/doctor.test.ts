import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerFacts } from '@outrider/backing';
import { makeCertificate } from '@outrider/channels/certificate';
import { protocols } from '@outrider/protocols';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataDir } from '../data-dir.ts';
import { runDoctor } from './doctor.ts';
import type { Finding } from './finding.ts';
import { checkServer } from './servers.ts';

let folder: string;
const servers: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-doctor-'));
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** With no fixed ports, no ffmpeg and a bound on connections that any limit of files allows, unless said otherwise. */
function environmentOf(more: Record<string, string> = {}): Record<string, string> {
  return {
    ...Object.fromEntries(
      ['PORT', 'VIDEO_MEDIA_PORT', ...protocols.map((each) => `${each.settingPrefix}_PORT`)].map((name) => [name, '0']),
    ),
    ...{ DATA_DIR: join(folder, 'data'), HOST: '127.0.0.1', FFMPEG: process.execPath },
    ...{ MAX_TERMINAL_CONNECTIONS: '10', MAX_LIVE_CONNECTIONS: '10', MAX_HTTP_CONNECTIONS: '10', DISK_WARNING_MB: '0' },
    TELEMETRY_RETENTION_MB: '64',
    ...more,
  };
}

async function examine(more?: Record<string, string>): Promise<{ code: number; findings: Finding[] }> {
  const printed: string[] = [];
  const code = await runDoctor(['--json'], environmentOf(more), (line) => printed.push(line));
  return { code, findings: JSON.parse(printed.join('\n')) };
}

async function of(check: string, more?: Record<string, string>): Promise<Finding[]> {
  return (await examine(more)).findings.filter((finding) => finding.check === check);
}

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

test('where all is well each check is one line, and nothing is made', async () => {
  const lines: string[] = [];
  expect(await runDoctor([], environmentOf(), (line) => lines.push(line))).toBe(0);
  expect(lines.at(-1)).toBe('problems: 0, warnings: 0');
  expect(lines.slice(0, -1).filter((line) => !line.startsWith('ok  '))).toEqual([]);
  expect(lines.join('\n')).toContain('will be made by the first start');
  expect(readdirSync(folder)).toEqual([]);
  await expect(runDoctor(['--fast'], {}, () => {})).rejects.toThrow('it is: doctor');
});

test('all settings that can not be used are named at once', async () => {
  const { code, findings } = await examine({
    PORT: '80x',
    LOG_LEVEL: 'loud',
    TELTONIKA_TLS_PORT: '0',
    KAFKA_BROKER: 'a:1',
  });
  expect(code).toBe(1);
  const problems = findings.filter(({ check }) => check === 'configuration');
  expect(problems.map(({ status }) => status)).toEqual(Array(4).fill('problem'));
  const details = problems.map(({ detail }) => detail).join('\n');
  for (const name of ['PORT', 'LOG_LEVEL', 'TERMINAL_TLS_CERTIFICATE', 'KAFKA_BROKERS'])
    expect(details).toContain(name);
});

test('a port that another program has is named with the program, and one that two settings have', async () => {
  const port = String(await listening(createServer()));
  const { code, findings } = await examine({ TELTONIKA_PORT: port });
  expect(code).toBe(1);
  const detail = expect.stringMatching(`^TELTONIKA_PORT ${port} \\(tcp\\) is in use by .*process ${process.pid}`);
  expect(findings).toContainEqual(expect.objectContaining({ check: 'ports', status: 'problem', detail }));
  const both = await of('ports', { METRICS_PORT: '23', PORT: '23' });
  expect(both).toEqual([expect.objectContaining({ detail: 'PORT and METRICS_PORT are both 23 (tcp)' })]);
  const [host] = await of('ports', { HOST: '203.0.113.1', PORT: port });
  expect(host?.detail).toBe('HOST 203.0.113.1 is no address of this machine');
});

test('DATA_DIR: in use, of another format, not restored to its end, open to others, not writable', async () => {
  const path = join(folder, 'data');
  const dataDir = openDataDir(path);
  expect((await of('DATA_DIR'))[0]).toMatchObject({ status: 'ok', detail: `${path}: in use by a running service` });
  dataDir.release();
  expect((await of('DATA_DIR'))[0]?.detail).toBe(`${path}: written by a stopped service`);
  chmodSync(path, 0o755);
  expect((await of('DATA_DIR'))[0]).toMatchObject({ status: 'warning', todo: expect.stringContaining('chmod 700') });
  writeFileSync(join(path, 'format'), '1\n');
  expect((await of('DATA_DIR'))[0]).toMatchObject({
    status: 'problem',
    detail: `${path} is of format 1, and this version reads 2`,
  });
  writeFileSync(join(path, 'restoring'), '');
  expect((await of('DATA_DIR'))[0]?.detail).toContain('not restored to its end');
  writeFileSync(join(folder, 'file'), '');
  const [unusable] = await of('DATA_DIR', { DATA_DIR: join(folder, 'file', 'data') });
  expect(unusable?.status).toBe('problem');
});

test('a disk and a limit of open files that may not suffice are warned of', async () => {
  expect((await of('disk', { DISK_WARNING_MB: '100000000' }))[0]?.status).toBe('warning');
  expect((await of('disk', { TELEMETRY_RETENTION_MB: '100000000' }))[0]?.detail).toContain('the log may grow by');
  expect(
    (await of('open files', { MAX_TERMINAL_CONNECTIONS: '1000000', MAX_LIVE_CONNECTIONS: '1000000' }))[0]?.todo,
  ).toMatch(/^raise the hard limit to 20\d+ /);
});

test('a server that does not answer is a problem that names its setting', async () => {
  const { code, findings } = await examine({
    REDIS_URL: 'redis://:geheim@127.0.0.1:1',
    DATABASE_URL: 'postgres://fleet:geheim@127.0.0.1:1/fleet',
    CLICKHOUSE_URL: 'http://fleet:geheim@127.0.0.1:1',
    S3_URL: 'http://key:geheim@127.0.0.1:1/bucket',
    SMTP_URL: 'smtp://fleet:geheim@127.0.0.1:1',
  });
  expect(code).toBe(1);
  for (const check of ['Redis', 'PostgreSQL', 'ClickHouse', 'S3', 'mail'])
    expect(findings).toContainEqual(expect.objectContaining({ check, status: 'problem' }));
  expect(findings.find(({ check }) => check === 'PostgreSQL')?.todo).toBe('start the server, or correct DATABASE_URL');
  expect(findings).toContainEqual(
    expect.objectContaining({ check: 'keys', detail: expect.stringContaining('SECRETS_KEY') }),
  );
  expect(JSON.stringify(findings)).not.toContain('geheim');
});

test.each([
  [0, 'ok', /version 17.2/],
  [5000, 'warning', /differ by 5\.\d s/],
  [-3600_000, 'problem', /differ by 3599\.\d s/],
] as const)('a clock that is %i ms ahead is %s', async (aheadMs, status, detail) => {
  const facts = (): ServerFacts => ({ version: '17.2', clockMs: Date.now() + aheadMs, warnings: [] });
  const probe = { setting: 'DATABASE_URL', name: 'PostgreSQL', testedFrom: 15, probe: async () => facts() } as const;
  expect(await checkServer(probe)).toEqual([
    expect.objectContaining({ status, detail: expect.stringMatching(detail) }),
  ]);
});

test('what a server says of itself is read over its protocol: ClickHouse, of an old version and another time', async () => {
  const clickhouse = createHttpServer((request, response) => {
    request.resume();
    response.end(`${JSON.stringify({ version: '24.3.1', clock: Date.now() - 600_000 })}\n`);
  });
  const port = await listening(clickhouse);
  const findings = await of('ClickHouse', { CLICKHOUSE_URL: `http://127.0.0.1:${port}` });
  expect(findings.map(({ status }) => status)).toEqual(['warning', 'problem']);
  expect(findings[0]?.detail).toBe('version 24.3.1');
});

test('a certificate that ends soon, and one with the key of another, are found', async () => {
  const make = (name: string, days: number) => {
    const [certificate, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
    const made = makeCertificate(name, new Date(Date.now() + days * 86_400_000));
    writeFileSync(certificate, made.cert);
    writeFileSync(key, made.key);
    return { TERMINAL_TLS_CERTIFICATE: certificate, TERMINAL_TLS_KEY: key };
  };
  const [soon, long] = [make('soon', 10), make('long', 400)];
  const check = 'TERMINAL_TLS_CERTIFICATE';
  expect((await of(check, long))[0]).toMatchObject({ status: 'ok' });
  expect((await of(check, soon))[0]).toMatchObject({ status: 'warning', detail: expect.stringContaining('CN=soon') });
  const [mixed] = await of(check, { ...long, TERMINAL_TLS_KEY: soon.TERMINAL_TLS_KEY });
  expect(mixed?.detail).toContain('is not the key of');
  const [missing] = await of(check, { ...long, TERMINAL_TLS_CERTIFICATE: join(folder, 'missing.pem') });
  expect(missing).toMatchObject({ status: 'problem', detail: expect.stringContaining('ENOENT') });
});

test('weak settings are named', async () => {
  const findings = await of('weak settings', {
    ADMIN_PASSWORD: 'password123',
    PUBLIC_URL: 'http://fleet.example.com',
    WEBHOOK_ALLOW_PRIVATE: 'yes',
    VIDEO_ALLOW_PRIVATE: 'yes',
    TRUSTED_PROXIES: '0.0.0.0/0',
  });
  expect(findings.map(({ detail }) => detail.split(/[ :]/, 1)[0])).toEqual([
    'ADMIN_PASSWORD',
    'PUBLIC_URL',
    'WEBHOOK_ALLOW_PRIVATE',
    'VIDEO_ALLOW_PRIVATE',
    'TRUSTED_PROXIES',
  ]);
  expect(await of('weak settings', { PUBLIC_URL: 'https://fleet.example.com' })).toMatchObject([{ status: 'ok' }]);
});
