import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleRuleFields, sampleUserFields } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { createLogger, explainStart, readConfig, StartError } from '@outrider/runtime';
import { expect, test, vi } from 'vitest';
import {
  type Backing,
  backingOf,
  newSecretsKey,
  openCheckpoints,
  openHub,
  openLog,
  openRegistry,
  openTokens,
  openVideoFiles,
  openWarehouse,
  SECRETS_KEY_FILE,
  SIGNING_KEYS_FILE,
} from './index.ts';
import { mailVariables } from './mail-variables.ts';
import { logVariables, serverVariables, serverVariablesWith } from './variables.ts';

const variables = { ...logVariables, ...serverVariables };
const read = (environment: Record<string, string>, folder: string | null = null) =>
  backingOf(readConfig(variables, environment), folder);
const logger = createLogger('silent', 'json');

test('without servers everything is in the folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-backing-'));
  const backing = read({}, folder);
  const log = await openLog(backing, logger);
  const checkpoints = await openCheckpoints(backing, logger);
  const registry = await openRegistry(backing, logger);
  await checkpoints.save('test', 0, { offsets: { telemetry: 7 }, changed: [] });
  expect(await checkpoints.load('test', 0)).toMatchObject({ offsets: { telemetry: 7 } });
  await registry.ping();
  const files = await openVideoFiles(backing);
  expect(await files.put('a.mp4', (async function* () {})())).toMatchObject({ bytes: 0 });
  const hub = await openHub(backing, logger);
  expect(hub).toBeInstanceOf(MemoryHub);
  for (const part of [hub, registry, checkpoints, log]) await part.close();
  rmSync(folder, { recursive: true });
});

test('new keys in the place of lost ones end sessions, and a warning says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-backing-'));
  const config = { DATA_DIR: folder, JWT_TTL_SECONDS: 3600, SESSION_TTL_SECONDS: 86_400 } as Parameters<
    typeof openTokens
  >[0];
  const registry = await openRegistry(read({}, folder), logger);
  const warn = vi.fn();
  const watched = { ...logger, info() {}, error() {}, warn } as unknown as Parameters<typeof openTokens>[2];
  const open = async () => (await openTokens(config, registry, watched, Date.now)).close();
  await open();
  const { id } = await registry.users.create(sampleUserFields({ login: 'anna' }), 'a long password');
  await registry.sessions.create(id, 86_400_000, '192.0.2.1', 'browser');
  await open();
  expect(warn).not.toHaveBeenCalled();
  rmSync(join(folder, SIGNING_KEYS_FILE));
  await open();
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    { file: join(folder, SIGNING_KEYS_FILE) },
    expect.stringMatching(/all users have to log in again/),
  );
  await registry.close();
  rmSync(folder, { recursive: true });
});

test('secrets that another key sealed are an error that names the setting, and a key is made once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-backing-'));
  const registry = await openRegistry(read({}, folder), logger);
  const { id: ownerId } = await registry.users.create(sampleUserFields({ login: 'anna' }), 'a long password');
  const rule = sampleRuleFields({ ownerId, webhookUrl: 'https://hooks.example/' });
  await registry.notificationRules.create(rule, 'whsec_secret');
  await registry.close();
  const other = { SECRETS_KEY: newSecretsKey() };
  await expect(openRegistry(read(other, folder), logger)).rejects.toThrow(/key [0-9a-f]{8}.*set SECRETS_KEY/);
  // Both keys, in a file: the new one first.
  const file = join(folder, 'keys');
  writeFileSync(file, `${other.SECRETS_KEY}\n${readFileSync(join(folder, SECRETS_KEY_FILE), 'utf8')}`);
  const rotated = await openRegistry(read({ SECRETS_KEY_FILE: file }, folder), logger);
  expect(await rotated.rotateSecrets()).toBe(2);
  await rotated.close();
  await (await openRegistry(read(other, folder), logger)).close();
  await expect(openRegistry(read({}, folder), logger)).rejects.toThrow(StartError);
  rmSync(folder, { recursive: true });
});

test.each([
  ['no base64', 'not a key'],
  ['too short', Buffer.alloc(16).toString('base64')],
  ['only separators', ' , '],
])('a key that is %s is refused, and not printed', (_, key) => {
  const refused = () => read({ SECRETS_KEY: key });
  expect(refused).toThrow(/SECRETS_KEY must be keys of 32 bytes/);
  expect(refused).not.toThrow(key);
  expect(() => read({ SECRETS_KEY: newSecretsKey(), SECRETS_KEY_FILE: '/run/key' })).toThrow(/must not be set where/);
});

test('neither a server nor a folder is an error that says for what', async () => {
  await expect(openLog(read({}), logger)).rejects.toThrow('log.sqlite');
});

const NOBODY = '127.0.0.1:1';

test.each([
  ['Redis', { REDIS_URL: `redis://:geheim@${NOBODY}` }, openHub],
  ['Redis', { REDIS_URL: `redis://:geheim@${NOBODY}` }, openCheckpoints],
  ['PostgreSQL', { DATABASE_URL: `postgres://fleet:geheim@${NOBODY}/fleet` }, openRegistry],
  ['ClickHouse', { CLICKHOUSE_URL: `http://fleet:geheim@${NOBODY}` }, (backing: Backing) => openWarehouse(backing)],
] as const)(
  '%s that does not answer is named with its address, without its password',
  async (server, environment, open) => {
    const error: unknown = await Promise.resolve(open(read(environment), logger)).catch((error) => error);
    expect(error).toBeInstanceOf(StartError);
    const explained = explainStart(error);
    expect(explained).toContain(server);
    expect(explained).toContain(NOBODY);
    expect(explained).toContain('ECONNREFUSED');
    expect(explained).not.toContain('geheim');
    expect(explained).not.toContain('\n');
  },
);

test('TLS and accounts are taken from the settings', () => {
  const backing = read({
    KAFKA_BROKERS: 'a:9093, b:9093',
    KAFKA_SSL: 'yes',
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'outrider',
    KAFKA_SASL_PASSWORD: 'geheim',
    REDIS_URL: 'rediss://redis:6380',
    DATABASE_URL: 'postgres://u:p@db/outrider?sslmode=verify-full',
    CLICKHOUSE_URL: 'https://u:p@clickhouse:8443',
  });
  expect(backing).toMatchObject({
    log: {
      brokers: ['a:9093', 'b:9093'],
      ssl: true,
      sasl: { mechanism: 'scram-sha-512', username: 'outrider', password: 'geheim' },
    },
    redisUrl: 'rediss://redis:6380',
    redisPrefix: 'outrider',
    clickhouseUrl: 'https://u:p@clickhouse:8443',
  });
});

test.each(['mail.example.com:587', 'http://:geheim@mail', 'smtp://', 'smtp:mail'])(
  'SMTP_URL %s is refused when the settings are read',
  (url) => {
    const readMail = () => readConfig(mailVariables, { SMTP_URL: url });
    expect(readMail).toThrow(/SMTP_URL must be an address/);
    expect(readMail).not.toThrow('geheim');
  },
);

test('an account that lacks a part, and an address of another scheme, are said to be wrong', () => {
  expect(() => read({ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'x' })).toThrow('KAFKA_SASL_PASSWORD');
  expect(() => read({ KAFKA_SASL_USERNAME: 'x' })).toThrow('KAFKA_SASL_MECHANISM');
  expect(() => read({ REDIS_URL: 'http://:geheim@redis' })).toThrow(/REDIS_URL must be .*rediss:\/\//);
  expect(() => read({ REDIS_URL: 'http://:geheim@redis' })).not.toThrow('geheim');
  for (const prefix of ['{fleet}', 'two words', 'x'.repeat(65)])
    expect(() => read({ REDIS_KEY_PREFIX: prefix })).toThrow('REDIS_KEY_PREFIX must be');
  expect(() => read({ S3_URL: 'https://key:geheim@storage' })).toThrow(/S3_URL must be .*<bucket>/);
  expect(() => read({ S3_URL: 'https://key:geheim@storage' })).not.toThrow('geheim');
});

test('a service that runs alone gets an error that names every missing server, and everything else that is wrong', () => {
  const needing = { ...logVariables, ...serverVariablesWith(['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL']) };
  const wrong = { REDIS_URL: 'redis://redis', KAFKA_SASL_USERNAME: 'x', REDIS_KEY_PREFIX: '{}' };
  expect(() => readConfig(needing, wrong)).toThrow(
    /REDIS_KEY_PREFIX must be[\s\S]*KAFKA_BROKERS must be set: a service[\s\S]*KAFKA_SASL_MECHANISM[\s\S]*DATABASE_URL must be set/,
  );
  expect(readConfig({ ...serverVariablesWith(['REDIS_URL']) }, { REDIS_URL: 'redis://redis' })).toMatchObject({
    REDIS_URL: 'redis://redis',
  });
});
