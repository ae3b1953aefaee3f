import {
  accessVariables,
  backingOf,
  commandVariables,
  geocoderOf,
  geocoderVariables,
  httpBoundsOf,
  hubCheck,
  logCheck,
  logVariables,
  openDirectory,
  openHub,
  openLog,
  openRegistry,
  openReportFiles,
  openServiceFiles,
  openTokens,
  openVideoFiles,
  openWarehouse,
  pushVariables,
  registryName,
  reportStoreVariables,
  serverVariablesWith,
  videoStoreVariables,
} from '@outrider/backing';
import type { UserId } from '@outrider/domain';
import { refuseUpgrade, runService } from '@outrider/runtime';
import { createAccountExpiry } from './account-expiry.ts';
import { createApi } from './api.ts';
import { createErasureRunner } from './erasure.ts';
import { ADMIN_LOGIN, ensureAdmin, refuseLostRegistry } from './first-start.ts';
import { createHistoryErasure } from './history-erasure.ts';
import { createHousekeeping } from './housekeeping.ts';
import { listenApi } from './listen.ts';
import { createRegistryCheck } from './registry-check.ts';
import { createRelay } from './relay.ts';
import { createServiceFileCleaning } from './service-file-cleaning.ts';
import { apiConfigOf, apiVariables, quotasOf } from './settings.ts';
import { createTerminalBindings } from './terminal-bindings.ts';
import { terminalPortVariables } from './terminal-listeners.ts';

const VARIABLES = {
  ...accessVariables,
  ...commandVariables,
  ...apiVariables,
  ...pushVariables,
  ...geocoderVariables,
  ...reportStoreVariables,
  ...videoStoreVariables,
  ...logVariables,
  ...serverVariablesWith(['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL', 'S3_URL']),
  ...terminalPortVariables,
};

/**
 * The REST API in a process of its own, with the relay of definitions. Any number of instances answer side by side:
 * what one changes is in force for every call that another answers from then on; of the relays one works at a time.
 */
await runService('api', VARIABLES, async ({ config, logger, metrics, tracing, life, now, ...own }) => {
  const backing = backingOf(config, null);
  const registry = await life.open('registry', () => openRegistry(backing, logger, { quotas: quotasOf(config) }));
  const log = await life.open('log', () => openLog(backing, logger, metrics));
  await refuseLostRegistry(registry, log, registryName(backing));
  const generatedPassword = await ensureAdmin(registry, config.ADMIN_PASSWORD, logger);
  if (generatedPassword !== null)
    process.stdout.write(`first login: ${ADMIN_LOGIN} / ${generatedPassword}   (shown only once)\n`);
  const hub = await life.open('hub', () => openHub(backing, logger));
  const warehouse = await life.open('warehouse', () => openWarehouse(backing));
  const videoFiles = await openVideoFiles(backing);
  const reportFiles = await openReportFiles(backing);
  const serviceFiles = await openServiceFiles(backing);
  const relay = createRelay({ registry, log, logger, metrics, now });
  await life.start(relay);
  const registryCheck = createRegistryCheck({ registry, log, logger, metrics });
  await life.start(registryCheck);

  const { tokens, close } = await openTokens(config, registry, logger, now);
  life.own('keys', close);
  const definitions = await openDirectory(registry, log, 'api', logger, ({ kind, id }) => {
    if (kind === 'user') tokens.revokeUser(id as UserId);
  });
  await life.start(definitions);
  await life.start(
    createHousekeeping({ config: { auditRetentionDays: config.AUDIT_RETENTION_DAYS }, registry, logger, now }),
  );
  await life.start(createAccountExpiry({ registry, logger }));
  await life.start(createTerminalBindings({ hub, registry, logger }));
  const { directory, refresh } = definitions;
  const erasures = createErasureRunner({
    registry,
    warehouse,
    hub,
    videoFiles,
    reportFiles,
    serviceFiles,
    logger,
    metrics,
    now,
  });
  await life.start(erasures);
  const histories = createHistoryErasure({ registry, warehouse, hub, videoFiles, reportFiles, logger, now });
  await life.start(histories);
  await life.start(createServiceFileCleaning({ registry, files: serviceFiles, logger, now }));

  const checks = {
    async registry() {
      await registry.ping();
      return registryCheck.check();
    },
    warehouse: () => warehouse.ping(),
    hub: hubCheck(hub, now),
    log: logCheck(log),
    definitions: () => relay.check(),
    async erasures() {
      if (!erasures.healthy) throw new Error('stored data of what was deleted is not erased');
      if (!histories.healthy) throw new Error('history of vehicles is not erased');
    },
    files: () => videoFiles.ping(),
    process: own.processCheck,
    access: async () => ({ warnings: api.warnings() }),
  };
  const api = createApi({
    config: apiConfigOf(config),
    registry,
    directory,
    refresh,
    tokens,
    hub,
    trackReport: warehouse,
    reportArchive: warehouse,
    archiveGaps: warehouse,
    geocoder: geocoderOf(config, logger),
    eventReport: warehouse,
    historyArchive: warehouse,
    videoFiles,
    reportFiles,
    serviceFiles,
    checks,
    metricsAccess: own.metricsAccess,
    log,
    logger,
    metrics,
    tracing,
    now,
  });
  life.own('api', () => api.close());
  const bounds = { ...httpBoundsOf(config), logger, metrics };
  const http = await listenApi(api, { host: config.HOST, port: config.PORT, bounds });
  life.own('http', () => http.close());
  http.server.on('upgrade', (request, socket, head) => {
    http.upgraded(socket);
    if (!api.upgrade(request, socket, head)) refuseUpgrade(socket, '404 Not Found');
  });
  return { checks, ports: { http: http.port } };
});
