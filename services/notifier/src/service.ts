import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { arrivalOfUpgrade, cookieSession, sourceOf, trustedProxies } from '@outrider/auth';
import {
  accessVariables,
  commandVariables,
  defineService,
  geocoderVariables,
  httpBoundsOf,
  mailVariables,
  pushVariables,
  type TakeUpgrade,
} from '@outrider/backing';
import { boundServer, type Config, HTTP_TIMES, type hostVariables, refuseUpgrade } from '@outrider/runtime';
import { createNotifier } from './live/notifier.ts';
import { liveConfigOf, notifierVariables } from './settings.ts';
import { startNotifications } from './start-notifications.ts';

/**
 * The notifier. Each instance serves WebSockets, wherever clients connect. The instances share the evaluation of events
 * by notification rules, and the deliveries.
 */
export const service = defineService({
  name: 'notifier',
  settings: {
    ...accessVariables,
    ...commandVariables,
    ...geocoderVariables,
    ...notifierVariables,
    ...mailVariables,
    ...pushVariables,
  },
  stores: ['registry', 'log', 'hub', 'tokens', 'directory', 'geocoder'],
  definitionsReader: 'commands',
  async start({ config, life, registry, log, hub, tokens, directory, geocoder, neighbours, ...parts }) {
    const { loggerOf, metrics, tracing, clock } = parts;
    await startNotifications(life, {
      ...{ config, registry, directory, log, hub, geocoder, loggerOf, metrics, tracing, clock },
    });
    const trusted = trustedProxies(config.TRUSTED_PROXIES);
    const arrival = (request: IncomingMessage) => arrivalOfUpgrade(request, trusted);
    const notifier = createNotifier({
      config: liveConfigOf(config),
      log,
      hub,
      inbox: registry.inboxes,
      verify: (token) => tokens.verify(token),
      cookieSession: (request) => cookieSession(arrival(request), tokens),
      mayConnect: (request) => arrival(request).mayConnect(config.CORS_ORIGINS),
      geofenceOwners: (ids) => registry.geofences.ownersOf(ids),
      driverAssignments: (question) => registry.driverAssignments.list(question),
      counters: (vehicleIds) => registry.counters.of(vehicleIds),
      addressKey: (request) => sourceOf(arrival(request).address),
      keyIsGood: (keyId) => tokens.keyIsGood(keyId),
      liveSessions: (ids) => registry.sessions.liveAmong(ids),
      apiKeysAmong: (ids) => registry.apiKeys.grantsAmong(ids),
      noteApiKeyUse: (id, address) => registry.apiKeys.touch(id, address),
      clientAddress: (request) => arrival(request).address,
      logger: loggerOf('notifier'),
      metrics,
      clock,
    });
    // Started after its server and so stopped before it: a server does not close while WebSockets are open.
    await life.start(notifier);
    const take: TakeUpgrade = (request, socket, head) => notifier.upgrade(request, socket, head);
    if (neighbours.takeUpgrades !== undefined) {
      neighbours.takeUpgrades('/live', take);
      return {};
    }
    const server = createServer(HTTP_TIMES, (_, response) => response.writeHead(426, { upgrade: 'websocket' }).end());
    const { upgraded } = boundServer(server, {
      ...httpBoundsOf(config),
      maxUpgraded: config.MAX_LIVE_CONNECTIONS,
      logger: loggerOf('notifier'),
      metrics,
    });
    server.on('upgrade', (request, socket, head) => {
      upgraded(socket);
      if (request.url?.split('?', 1)[0] === '/live') take(request, socket, head);
      else refuseUpgrade(socket, '404 Not Found');
    });
    server.listen(config.PORT, (config as Config<typeof hostVariables>).HOST);
    await once(server, 'listening');
    // The server does not wait for open WebSockets: the notifier, which stops next, closes them.
    life.own('http', () => {
      server.close();
      server.closeIdleConnections();
    });
    return { ports: { live: (server.address() as AddressInfo).port } };
  },
});
