import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryHub } from '@outrider/hub';
import { createLogger, Lifecycle, Metrics, NotReadyError, readConfig, whole } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { backingOf, checksOf, defineService, mergedChecks, openStores, ownVariables, startService } from './index.ts';

const logger = createLogger('silent', 'json');

/** What a new service consists of: this, three lines of `main.ts`, and a line in the list of one process. */
const counting = defineService({
  name: 'counter',
  settings: { COUNT_FROM: whole(0, 10, 1, 'Where it begins.') },
  stores: ['log', 'checkpoints'],
  patient: ['checkpoints'],
  prepare: async ({ config }) => config.COUNT_FROM,
  async start({ prepared, checkpoints, life }) {
    await checkpoints.save('counter', 0, { offsets: { telemetry: prepared }, changed: [] });
    await life.start({ name: 'counter', start: async () => {}, stop: async () => {} });
    return { checks: { counter: async () => {} }, ports: { counter: 1 } };
  },
});

let folder: string;
let life: Lifecycle;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-service-'));
  life = new Lifecycle(logger);
});
afterEach(async () => {
  await life.stop();
  rmSync(folder, { recursive: true });
});

const contextOf = (environment: Record<string, string> = {}) => {
  const config = readConfig(ownVariables(counting), { ...SERVERS, ...environment });
  const backing = { ...backingOf(config, folder), log: { ...backingOf(config, folder).log, brokers: null } };
  const shared = { life, loggerOf: () => logger, metrics: new Metrics(), now: Date.now };
  return { ...shared, config: config as never, backing: { ...backing, redisUrl: null } };
};
const SERVERS = { KAFKA_BROKERS: 'kafka:9092', REDIS_URL: 'redis://redis:6379' };

test('a process of its own reads the settings of its stores, and demands their servers', () => {
  const variables = ownVariables(counting);
  expect(Object.keys(variables)).toEqual(expect.arrayContaining(['COUNT_FROM', 'TELEMETRY_RETENTION_HOURS']));
  expect(Object.keys(variables)).not.toContain('GEOCODER_URL');
  expect(readConfig(variables, { ...SERVERS, COUNT_FROM: '7' })).toMatchObject({ COUNT_FROM: 7 });
  expect(() => readConfig(variables, { KAFKA_BROKERS: 'kafka:9092' })).toThrow(/REDIS_URL/);
});

test('it is started on its stores after what it prepares, and they are closed with it', async () => {
  const context = contextOf({ COUNT_FROM: '3' });
  const { refresh, ...stores } = await openStores(counting, context);
  const close = vi.spyOn(stores.checkpoints, 'close');
  const started = await startService(counting, { ...context, ...stores, refresh } as never);
  expect(await stores.checkpoints.load('counter', 0)).toMatchObject({ offsets: { telemetry: 3 } });
  expect(started.ports).toEqual({ counter: 1 });
  const checks = mergedChecks([checksOf(stores), started.checks ?? {}]);
  expect(Object.keys(checks).sort()).toEqual(['counter', 'log']);
  await checks.log?.();
  await life.stop();
  await expect(checks.log?.()).rejects.toThrow();
  expect(close).toHaveBeenCalledOnce();
});

test('a store that is open already is not opened again', async () => {
  const hub = new MemoryHub();
  const stores = await openStores({ ...counting, stores: ['hub'] as never }, contextOf(), { hub });
  expect(stores).toMatchObject({ hub });
});

test('a store that needs another one which the service does not name before it is an error of the service', async () => {
  const wrong = defineService({ ...counting, stores: ['directory', 'log'] } as never);
  await expect(openStores(wrong, contextOf())).rejects.toThrow('does not name store registry before it is needed');
});

test('of several checks of one part all must hold, and it is as far behind as the farthest', async () => {
  const log = async () => ({ warnings: ['full'], behind: { telemetry: 1, events: 5 } });
  const other = async () => ({ warnings: ['full', 'cut'], behind: { telemetry: 3 } });
  const merged = mergedChecks([{ log }, { log: other, hub: async () => {} }]);
  expect(await merged.log?.()).toEqual({ warnings: ['full', 'cut'], behind: { telemetry: 3, events: 5 } });
  const away = async () => Promise.reject(new NotReadyError('away', []));
  await expect(mergedChecks([{ log }, { log: away }]).log?.()).rejects.toThrow('away');
});
