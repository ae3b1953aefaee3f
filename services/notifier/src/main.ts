import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { arrivalOf, sourceOf, trustedProxies } from '@outrider/auth';
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
  mailVariables,
  openDirectory,
  openHub,
  openLog,
  openRegistry,
  openTokens,
  pushVariables,
  serverVariablesWith,
} from '@outrider/backing';
import { boundServer, HTTP_TIMES, refuseUpgrade, runService } from '@outrider/runtime';
import { createNotifier } from './live/notifier.ts';
import { liveConfigOf, notifierVariables } from './settings.ts';
import { startNotifications } from './start-notifications.ts';

const VARIABLES = {
  ...accessVariables,
  ...commandVariables,
  ...geocoderVariables,
  ...notifierVariables,
  ...mailVariables,
  ...pushVariables,
  ...logVariables,
  ...serverVariablesWith(['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL']),
};

/**
 * The notifier in a process of its own. Each instance serves WebSockets, wherever the clients of its users are
 * connected; the holding of events against notification rules is shared among the instances, and so are the deliveries.
 */
await runService('notifier', VARIABLES, async ({ config, logger, metrics, tracing, life, now }) => {
  const backing = backingOf(config, null);
  const registry = await life.open('registry', () => openRegistry(backing, logger));
  const log = await life.open('log', () => openLog(backing, logger, metrics));
  const hub = await life.open('hub', () => openHub(backing, logger));
  const { tokens, close } = await openTokens(config, registry, logger, now);
  life.own('keys', close);

  const definitions = await openDirectory(registry, log, 'commands', logger);
  await life.start(definitions);
  await startNotifications(life, {
    config,
    registry,
    directory: definitions.directory,
    log,
    hub,
    geocoder: geocoderOf(config, logger),
    loggerOf: () => logger,
    metrics,
    tracing,
    now,
  });
  const trusted = trustedProxies(config.TRUSTED_PROXIES);
  const notifier = createNotifier({
    config: liveConfigOf(config),
    log,
    hub,
    inbox: registry.notifications,
    verify: (token) => tokens.verify(token),
    async cookieSession(request) {
      const { cookie, origin } = arrivalOf(request.socket, headerOf(request), trusted);
      return cookie === null || origin() !== 'same' ? null : tokens.verifyCookie(cookie);
    },
    mayConnect: (request) => arrivalOf(request.socket, headerOf(request), trusted).mayConnect(config.CORS_ORIGINS),
    geofenceOwners: (ids) => registry.geofences.ownersOf(ids),
    driverAssignments: (question) => registry.driverAssignments.list(question),
    counters: (vehicleIds) => registry.counters.of(vehicleIds),
    addressKey: (request) => sourceOf(arrivalOf(request.socket, headerOf(request), trusted).address),
    keyIsGood: (keyId) => tokens.keyIsGood(keyId),
    liveSessions: (ids) => registry.sessions.liveAmong(ids),
    apiKeysAmong: (ids) => registry.apiKeys.grantsAmong(ids),
    noteApiKeyUse: (id, address) => registry.apiKeys.touch(id, address),
    clientAddress: (request) => arrivalOf(request.socket, headerOf(request), trusted).address,
    logger,
    metrics,
    now,
  });
  const server = createServer(HTTP_TIMES, (_, response) => response.writeHead(426, { upgrade: 'websocket' }).end());
  const { upgraded } = boundServer(server, {
    ...httpBoundsOf(config),
    maxUpgraded: config.MAX_LIVE_CONNECTIONS,
    logger,
    metrics,
  });
  server.on('upgrade', (request, socket, head) => {
    upgraded(socket);
    if (request.url?.split('?', 1)[0] === '/live') notifier.upgrade(request, socket, head);
    else refuseUpgrade(socket, '404 Not Found');
  });
  await life.start(notifier);
  server.listen(config.PORT, config.HOST);
  await once(server, 'listening');
  // Open WebSockets are the notifier's to close, which stops next.
  life.own('http', () => {
    server.close();
    server.closeIdleConnections();
  });
  return {
    checks: { log: logCheck(log), hub: hubCheck(hub, now), registry: () => registry.ping() },
    ports: { live: (server.address() as AddressInfo).port },
  };
});

function headerOf(request: IncomingMessage): (name: string) => string | undefined {
  return (name) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(',') : value;
  };
}
