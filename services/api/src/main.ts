import {
  accessVariables,
  archiveVariables,
  backingOf,
  hubCheck,
  logCheck,
  logVariables,
  needServers,
  openHub,
  openLog,
  openRegistry,
  openTokens,
  openWarehouse,
  serverVariables,
} from '@outrider/backing';
import type { UserId } from '@outrider/domain';
import { followDefinitions } from '@outrider/log';
import { followRegistry } from '@outrider/registry';
import { runService } from '@outrider/runtime';
import { createApi } from './api.ts';
import { ADMIN_LOGIN, ensureAdmin } from './first-start.ts';
import { createHousekeeping } from './housekeeping.ts';
import { listenApi } from './listen.ts';
import { createRelay } from './relay.ts';
import { apiConfigOf, apiVariables } from './settings.ts';

const VARIABLES = { ...accessVariables, ...apiVariables, ...archiveVariables, ...logVariables, ...serverVariables };

/**
 * The REST API in a process of its own, with the relay of definitions. Any number of instances answer side by side: what one
 * changes is in force in the others once the relay has told it; of the relays one works at a time.
 */
await runService('api', VARIABLES, async ({ config, diary, metrics, life, now }) => {
  needServers(config, ['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL']);
  const backing = backingOf(config, null);
  const registry = await openRegistry(backing, diary);
  life.own('registry', () => registry.close());
  const generatedPassword = await ensureAdmin(registry, config.ADMIN_PASSWORD);
  if (generatedPassword !== null)
    process.stdout.write(`first login: ${ADMIN_LOGIN} / ${generatedPassword}   (told this once)\n`);
  const log = await openLog(backing, diary, metrics);
  life.own('log', () => log.close());
  const hub = await openHub(backing, diary);
  life.own('hub', () => hub.close());
  const warehouse = await openWarehouse(backing, { retentionDays: config.ARCHIVE_RETENTION_DAYS });
  life.own('warehouse', () => warehouse.close());
  const relay = createRelay({ registry, log, diary });
  await life.start(relay);

  const { tokens, close } = await openTokens(config, registry, diary, now);
  life.own('keys', close);
  const { directory, stop: unfollow } = await followRegistry(registry);
  life.own('directory', unfollow);
  // What this instance changed is in force already; of the others' changes it hears here.
  const changes = await followDefinitions(log, 'api', (change) => {
    if (directory.apply(change) !== undefined && change.kind === 'user') tokens.revokeUser(change.id as UserId);
  });
  await life.start({ name: 'changes', start: async () => {}, stop: () => changes.stop(), failed: changes.failed });
  await life.start(
    createHousekeeping({ config: { auditRetentionDays: config.AUDIT_RETENTION_DAYS }, registry, diary, now }),
  );

  const checks = {
    registry: () => registry.ping(),
    warehouse: () => warehouse.ping(),
    hub: hubCheck(hub, now),
    log: logCheck(log),
    async definitions() {
      if (!relay.healthy) throw new Error('definitions do not reach the log');
    },
  };
  const api = createApi({
    config: apiConfigOf(config),
    registry,
    directory,
    tokens,
    hub,
    trackReport: warehouse,
    reportArchive: warehouse,
    eventReport: warehouse,
    checks,
    metricsText: () => metrics.metrics(),
    diary,
    metrics,
    now,
  });
  life.own('api', () => api.close());
  const http = await listenApi(api, { host: config.HOST, port: config.PORT });
  life.own('http', () => http.close());
  return { checks, ports: { http: http.port } };
});
