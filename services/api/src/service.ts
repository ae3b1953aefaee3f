import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  accessVariables,
  commandVariables,
  defineService,
  geocoderVariables,
  httpBoundsOf,
  pushVariables,
  reportStoreVariables,
  type TakeUpgrade,
  videoStoreVariables,
} from '@outrider/backing';
import type { UserId } from '@outrider/domain';
import { refuseUpgrade } from '@outrider/runtime';
import { type Api, createApi } from './api.ts';
import { ADMIN_LOGIN, ensureAdmin, refuseLostRegistry } from './first-start.ts';
import { listenApi } from './http/listen.ts';
import { createRelay } from './http/relay.ts';
import { apiConfigOf, apiVariables, quotasOf } from './settings.ts';
import { createAccountExpiry } from './sign-in/account-expiry.ts';
import { terminalPortVariables } from './terminal-listeners.ts';
import { createErasureRunner } from './upkeep/erasure.ts';
import { createHistoryErasure } from './upkeep/history-erasure.ts';
import { createHousekeeping } from './upkeep/housekeeping.ts';
import { createRegistryCheck } from './upkeep/registry-check.ts';
import { createServiceFileCleaning } from './upkeep/service-file-cleaning.ts';
import { createTerminalBindings } from './upkeep/terminal-bindings.ts';

/**
 * The REST API, with the relay of definitions. Any number of instances run side by side: a change made by one is in
 * force for every later call to the others. Only one relay works at a time.
 */
export const service = defineService({
  name: 'api',
  settings: {
    ...accessVariables,
    ...commandVariables,
    ...apiVariables,
    ...pushVariables,
    ...geocoderVariables,
    ...reportStoreVariables,
    ...videoStoreVariables,
    ...terminalPortVariables,
  },
  stores: [
    'registry',
    'log',
    'hub',
    'warehouse',
    'videoFiles',
    'reportFiles',
    'serviceFiles',
    'tokens',
    'directory',
    'geocoder',
  ],
  storeOptions: (config) => ({ registry: { quotas: quotasOf(config) } }),
  onForeignChange({ kind, id }, { tokens }) {
    if (kind === 'user') tokens.revokeUser(id as UserId);
  },
  /** Publishes what an earlier run committed and did not publish, before anything reads the log. */
  async prepare({ config, life, registry, log, registryName, loggerOf, metrics, clock, isOwnProcess }) {
    if (isOwnProcess) {
      await refuseLostRegistry(registry, log, registryName);
      const generatedPassword = await ensureAdmin(registry, config.ADMIN_PASSWORD, loggerOf('registry'));
      if (generatedPassword !== null)
        process.stdout.write(`first login: ${ADMIN_LOGIN} / ${generatedPassword}   (shown only once)\n`);
    }
    const relay = createRelay({ registry, log, logger: loggerOf('relay'), metrics, clock });
    await life.start(relay);
    const registryCheck = createRegistryCheck({ registry, log, logger: loggerOf('registry'), metrics, clock });
    await life.start(registryCheck);
    return { relay, registryCheck };
  },
  async start({ config, prepared, life, refresh, checks, neighbours, ...parts }) {
    const { registry, log, hub, warehouse, videoFiles, reportFiles, serviceFiles, tokens, directory, geocoder } = parts;
    const { loggerOf, metrics, metricsAccess, tracing, clock } = parts;
    const files = { videoFiles, reportFiles, serviceFiles };
    const erasures = createErasureRunner({
      ...{ registry, warehouse, hub, ...files, metrics, clock },
      logger: loggerOf('erasures'),
    });
    await life.start(erasures);
    const histories = createHistoryErasure({
      ...{ registry, warehouse, hub, videoFiles, reportFiles, clock },
      logger: loggerOf('history erasures'),
    });
    await life.start(histories);
    await life.start(
      createServiceFileCleaning({ registry, files: serviceFiles, logger: loggerOf('service files'), clock }),
    );
    await life.start(createTerminalBindings({ hub, registry, logger: loggerOf('terminal bindings'), clock }));
    await life.start(createAccountExpiry({ registry, logger: loggerOf('expiry of accounts'), clock }));
    await life.start(
      createHousekeeping({
        config: { auditRetentionDays: config.AUDIT_RETENTION_DAYS },
        registry,
        logger: loggerOf('housekeeping'),
        clock,
      }),
    );
    const api: Api = createApi({
      config: apiConfigOf(config),
      ...{ registry, directory, tokens, hub, geocoder, ...files, checks, metricsAccess, log, metrics, tracing, clock },
      ...(refresh && { refresh }),
      ...{ trackReport: warehouse, reportArchive: warehouse, archiveGaps: warehouse },
      ...{ eventReport: warehouse, historyArchive: warehouse },
      openTerminalPorts: () => neighbours.terminalPorts?.(),
      countersRead: () => neighbours.countersRead?.(),
      logger: loggerOf('api'),
    });
    life.own('api', () => api.close());
    // Setting of the live API, if this process serves it as well.
    const { MAX_LIVE_CONNECTIONS: maxUpgraded } = config as { MAX_LIVE_CONNECTIONS?: number };
    const bounds = {
      ...{ ...httpBoundsOf(config), logger: loggerOf('api'), metrics },
      ...(maxUpgraded !== undefined && { maxUpgraded }),
    };
    const http = await listenApi(api, { host: config.HOST, port: config.PORT, bounds });
    life.own('http', () => http.close());
    const others = new Map<string, TakeUpgrade>();
    http.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      http.upgraded(socket);
      const other = others.get(request.url?.split('?', 1)[0] ?? '');
      if (other !== undefined) other(request, socket, head);
      else if (!api.upgrade(request, socket, head)) refuseUpgrade(socket, '404 Not Found');
    });
    return {
      checks: {
        async registry() {
          await registry.ping();
          return prepared.registryCheck.check();
        },
        definitions: () => prepared.relay.check(),
        async erasures() {
          if (!erasures.healthy) throw new Error('stored data of what was deleted is not erased');
          if (!histories.healthy) throw new Error('history of vehicles is not erased');
        },
        access: async () => ({ warnings: api.warnings() }),
      },
      ports: { http: http.port },
      neighbours: { takeUpgrades: (path, take) => void others.set(path, take) },
    };
  },
});
