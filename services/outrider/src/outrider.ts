import { MessageChannel } from 'node:worker_threads';
import {
  type Api,
  apiConfigOf,
  createAccountExpiry,
  createApi,
  createErasureRunner,
  createHistoryErasure,
  createHousekeeping,
  createRegistryCheck,
  createRelay,
  createServiceFileCleaning,
  createTerminalBindings,
  listenApi,
} from '@outrider/api';
import { type Archiver, createArchiveCheck, createArchiver } from '@outrider/archiver';
import { sourceOf } from '@outrider/auth';
import { httpBoundsOf, logWarnings, openTokens } from '@outrider/backing';
import type { Directory, ProtocolName } from '@outrider/domain';
import { createForwarder, forwarderConfigOf } from '@outrider/forwarder';
import { gatewayConfigOf, isBrokerWarning } from '@outrider/gateway';
import { createNotifier, liveConfigOf, startNotifications } from '@outrider/notifier';
import { followRegistry, type Registry } from '@outrider/registry';
import { createCounterKeeper, createRecalculator, rulesConfigOf } from '@outrider/rules';
import {
  allowedConnections,
  type Config,
  createDescriptorWatch,
  createMetricsAccess,
  Lifecycle,
  type MetricsAccess,
  mergedMetrics,
  NotReadyError,
  openMetricsServer,
  type ReadyCheck,
  type RootLogger,
  refuseUpgrade,
  snapshotOf,
} from '@outrider/runtime';
import { createVideo, openDrivers, videoConfigOf } from '@outrider/video';
import { createArchiveHold } from './backup/archive-hold.ts';
import { variables } from './config.ts';
import { openDataDir } from './data-dir.ts';
import type { GatewaySettings } from './gateway-thread.ts';
import type { ReporterSettings } from './reporter-thread.ts';
import type { RulesSettings } from './rules-thread.ts';
import { type Context, openContext, openStores, type Stores } from './stores.ts';
import { openTerminalSecret } from './terminal-secret.ts';
import { createServiceThread } from './threads.ts';

/** A running service. */
export interface Outrider {
  /** Ports that it listens on. */
  ports: { http: number; video: number; metrics?: number } & Partial<Record<ProtocolName, number>>;
  /** The operator's password if this start generated it: printed this once. */
  generatedPassword: string | null;
  registry: Registry;
  /** Rejects when a part fails; never resolves. */
  failed: Promise<never>;
  /** Accepts no more packets, stores everything that it acknowledged, and closes everything. */
  stop(): Promise<void>;
}

/**
 * Starts the whole service in one process, in the order in which data needs its parts: stores, readers of the log,
 * servers for people, and the terminals' ports last. It stops in the reverse order.
 *
 * @param prepare called when the stores are open and nothing reads the log yet, with the paths of files in the folder
 * @throws {DataDirError} when the folder can't be used
 * @throws {Error} when a port is in use or a store can't be opened; what had started is stopped again
 */
export async function startOutrider(
  config: Config<typeof variables>,
  logger: RootLogger,
  prepare?: (stores: Stores, file: (name: string) => string) => Promise<void>,
): Promise<Outrider> {
  const dataDir = openDataDir(config.DATA_DIR);
  const life = new Lifecycle(logger);
  try {
    life.own('data folder', () => dataDir.release());
    const context = await openContext(config, logger, life, dataDir);
    const stores = await openStores(context);
    await prepare?.(stores, dataDir.file);
    const readers = await startReaders(context, stores);
    const { tokens, close } = await openTokens(config, stores.registry, context.loggerOf('auth'), context.now);
    life.own('keys', close);
    const gateway = await createGatewayThread(context, stores);
    const workers = await startWorkers(context, stores, readers.archiver);
    const parts = { ...readers, ...workers, gateway };
    const metricsAccess = metricsAccessOf(context, parts);
    const api = createRestApi(context, stores, { ...parts, tokens, metricsAccess });
    life.own('api', () => api.close());
    await startHousekeeping(context, stores);
    if (config.CLICKHOUSE_URL === null)
      await life.start(
        createArchiveHold({
          dataDir: dataDir.path,
          warehouse: stores.warehouse,
          logger: context.loggerOf('backup'),
        }),
      );
    const notifier = await startNotifier(context, stores, workers.directory, tokens, api);
    const ports = await listen(context, api, notifier, metricsAccess);
    await life.start(gateway);

    return {
      ports: { ...ports, video: workers.mediaPort, ...gateway.result().ports },
      generatedPassword: stores.generatedPassword,
      registry: stores.registry,
      failed: life.failed,
      stop: () => life.stop(),
    };
  } catch (error) {
    // Errors while stopping are logged; the error that is thrown says why the start failed.
    await life.stop().catch(() => {});
    throw error;
  }
}

type Gateway = Awaited<ReturnType<typeof createGatewayThread>>;
type Readers = Awaited<ReturnType<typeof startReaders>>;
type Workers = Awaited<ReturnType<typeof startWorkers>>;
type Tokens = Awaited<ReturnType<typeof openTokens>>['tokens'];

/** Starts the relay into the log, and the readers of the log. */
async function startReaders(context: Context, { registry, log, checkpoints, warehouse, hub }: Stores) {
  const { config, life, backing, metrics, tracing, loggerOf, now } = context;
  // Publishes what an earlier run committed and did not publish, before anything reads the log.
  const relay = createRelay({ registry, log, logger: loggerOf('relay'), metrics, now });
  await life.start(relay);
  const registryCheck = createRegistryCheck({ registry, log, logger: loggerOf('registry'), metrics });
  await life.start(registryCheck);

  // All queries of an embedded archive are made here, so it can wait for the next of them.
  const isEmbedded = config.CLICKHOUSE_URL === null;
  const archiver = createArchiver({
    config: {
      maxDelayMs: config.ARCHIVE_MS,
      ...(isEmbedded ? { maxUnreadDelayMs: Math.max(config.ARCHIVE_MS, config.ARCHIVE_UNREAD_MS) } : {}),
    },
    log,
    checkpoints,
    warehouse,
    logger: loggerOf('archiver'),
    metrics,
    tracing,
    now,
  });
  if (isEmbedded) warehouse.beforeQueries(() => archiver.hurry());
  await life.start(archiver);
  const archive = createArchiveCheck({
    ...{ log, warehouse, metrics },
    isMine: () => archiver.isFirst,
    logger: loggerOf('archiver'),
  });
  await life.start(archive);

  const rules = createServiceThread<RulesSettings, null>(
    'rules',
    new URL('./rules-thread.ts', import.meta.url),
    { config: rulesConfigOf(config), backing },
    hub,
    threadLoggerOf(config),
    context.tracingConfig,
  );
  await life.start(rules);
  return { relay, registryCheck, archiver, archive, rules };
}

/** Open ports by protocol. */
type GatewayPorts = Record<'ports' | 'tlsPorts' | 'udpPorts', Partial<Record<ProtocolName, number>>>;

/** The gateway, which is started last. */
async function createGatewayThread({ config, dataDir, backing, tracingConfig }: Context, { hub }: Stores) {
  const terminalSecret = config.TERMINAL_SECRET ?? (await openTerminalSecret(dataDir.file('terminal-secret')));
  return createServiceThread<GatewaySettings, GatewayPorts>(
    'gateway',
    new URL('./gateway-thread.ts', import.meta.url),
    { config: gatewayConfigOf(config, terminalSecret), backing, commitGapMs: config.COMMIT_GAP_MS },
    hub,
    threadLoggerOf(config),
    tracingConfig,
  );
}

/** Starts the workers on tasks of the registry: recalculations, videos, reports, forwarding, erasures. */
async function startWorkers(context: Context, stores: Stores, archiver: Archiver) {
  const { config, life, metrics, tracing, loggerOf, now } = context;
  const { registry, log, checkpoints, warehouse, videoFiles, reportFiles, serviceFiles, hub } = stores;
  const { directory, stop: unfollow } = await followRegistry(registry);
  life.own('definitions', unfollow);
  const hurryArchiver = () => archiver.hurry();
  const recalculator = await createRecalculator({
    log,
    checkpoints,
    jobs: registry.jobs,
    history: warehouse,
    directory,
    counters: registry.counters,
    hurryArchiver,
    logger: loggerOf('recalculator'),
    metrics,
    now,
  });
  await life.start(recalculator);
  const counters = await createCounterKeeper({
    log,
    checkpoints,
    hub,
    registry,
    history: warehouse,
    directory,
    hurryArchiver,
    logger: loggerOf('counters'),
    metrics,
    now,
  });
  await life.start(counters);
  const { drivers, mediaPort } = await openDrivers(config, { hub, metrics, logger: loggerOf('video') });
  const video = createVideo({
    // Without DATABASE_URL, no other process works on these tasks.
    config: videoConfigOf(config, config.DATABASE_URL === null),
    registry,
    directory,
    files: videoFiles,
    hub,
    drivers,
    logger: loggerOf('video'),
    metrics,
    tracing,
    now,
    random: Math.random,
  });
  await life.start(video);

  const reporter = createReporterThread(context, stores);
  await life.start(reporter);

  const forwarder = createForwarder({
    // Without DATABASE_URL, no other process forwards.
    config: forwarderConfigOf(config, config.DATABASE_URL === null),
    log,
    registry,
    directory,
    logger: loggerOf('forwarder'),
    metrics,
    now,
    random: Math.random,
  });
  await life.start(forwarder);

  const descriptors = createDescriptorWatch({
    logger: loggerOf('process'),
    metrics,
    allowed: allowedConnections(variables, config),
  });
  await life.start(descriptors);
  const erasures = createErasureRunner({
    registry,
    warehouse,
    hub,
    videoFiles,
    reportFiles,
    serviceFiles,
    logger: loggerOf('erasures'),
    metrics,
    now,
  });
  await life.start(erasures);
  const histories = createHistoryErasure({
    ...{ registry, warehouse, hub, videoFiles, reportFiles, now },
    logger: loggerOf('history erasures'),
  });
  await life.start(histories);
  await life.start(
    createServiceFileCleaning({ registry, files: serviceFiles, logger: loggerOf('service files'), now }),
  );
  return { directory, recalculator, counters, video, mediaPort, reporter, forwarder, descriptors, erasures, histories };
}

/** It has little to do most of the time, and a report is made a page of rows at a time. */
const REPORTER_YOUNG_MB = 12;

function createReporterThread({ config, backing, tracingConfig }: Context, { warehouse, hub }: Stores) {
  const channel = config.CLICKHOUSE_URL === null ? new MessageChannel() : null;
  if (channel !== null) warehouse.share(channel.port1);
  return createServiceThread<ReporterSettings, null>(
    'reporter',
    new URL('./reporter-thread.ts', import.meta.url),
    { config, backing, warehouse: channel?.port2 ?? null },
    hub,
    threadLoggerOf(config),
    tracingConfig,
    channel === null ? [] : [channel.port2],
    REPORTER_YOUNG_MB,
  );
}

function createRestApi(
  context: Context,
  stores: Stores,
  parts: Readers & Workers & { tokens: Tokens; gateway: Gateway; metricsAccess: MetricsAccess },
): Api {
  const { registry, warehouse, videoFiles, reportFiles, serviceFiles, hub } = stores;
  const api: Api = createApi({
    config: apiConfigOf(context.config),
    registry,
    directory: parts.directory,
    tokens: parts.tokens,
    hub,
    trackReport: warehouse,
    reportArchive: warehouse,
    archiveGaps: warehouse,
    geocoder: context.geocoder,
    eventReport: warehouse,
    historyArchive: warehouse,
    videoFiles,
    reportFiles,
    serviceFiles,
    checks: { ...readyChecks(stores, parts), access: async () => ({ warnings: api.warnings() }) },
    openTerminalPorts: () => parts.gateway.result(),
    metricsAccess: parts.metricsAccess,
    log: stores.log,
    logger: context.loggerOf('api'),
    metrics: context.metrics,
    tracing: context.tracing,
    now: context.now,
  });
  return api;
}

/** Of each topic, the reader that has the most left. */
function farthest(one: Readonly<Record<string, number>>, other: Readonly<Record<string, number>>) {
  const behind = { ...one };
  for (const [topic, records] of Object.entries(other)) behind[topic] = Math.max(behind[topic] ?? 0, records);
  return behind;
}

/** The checks of `/health/ready`, by part. */
function readyChecks(
  { registry, warehouse, log, videoFiles, diskWarnings }: Stores,
  parts: Readers & Workers & { gateway: Gateway },
): Record<string, ReadyCheck> {
  const {
    relay,
    registryCheck,
    archiver,
    archive,
    rules,
    recalculator,
    counters,
    video,
    reporter,
    forwarder,
    descriptors,
    erasures,
    gateway,
  } = parts;
  const healthyOrThrow = (healthy: boolean, what: string) => {
    if (!healthy) throw new Error(what);
  };
  return {
    async registry() {
      await registry.ping();
      return registryCheck.check();
    },
    warehouse: () => warehouse.ping(),
    async log() {
      const ofGateway = (await gateway.warnings()).filter((warning) => !isBrokerWarning(warning));
      const warnings = [...new Set([...logWarnings(log), ...ofGateway])];
      if (!(await gateway.healthy())) throw new NotReadyError('the log takes no packets', warnings);
      return { warnings, behind: farthest(await log.behind(), await gateway.behind()) };
    },
    broker: async () => ({ warnings: (await gateway.warnings()).filter(isBrokerWarning) }),
    definitions: () => relay.check(),
    async rules() {
      healthyOrThrow(await rules.healthy(), 'the rules do not run');
      return { warnings: await rules.warnings(), behind: await rules.behind() };
    },
    async archiver() {
      healthyOrThrow(archiver.healthy, 'the warehouse takes no rows');
      return { warnings: archive.warnings() };
    },
    jobs: async () => healthyOrThrow(recalculator.healthy, 'recalculations are not worked at'),
    counters: async () => healthyOrThrow(counters.healthy, 'counters of vehicles are not kept'),
    video: async () => healthyOrThrow(video.healthy, 'video tasks are not worked at'),
    async reports() {
      healthyOrThrow(await reporter.healthy(), 'cannot lease report jobs');
      return { warnings: await reporter.warnings(), behind: await reporter.behind() };
    },
    forwarder: async () => healthyOrThrow(forwarder.healthy, 'forwarding destinations are not worked at'),
    erasures: async () => healthyOrThrow(erasures.healthy, 'stored data of what was deleted is not erased'),
    files: () => videoFiles.ping(),
    disk: async () => ({ warnings: diskWarnings() }),
    process: async () => ({ warnings: descriptors.warnings() }),
  };
}

async function startHousekeeping({ config, life, loggerOf, now }: Context, { registry, hub }: Stores): Promise<void> {
  await life.start(createTerminalBindings({ hub, registry, logger: loggerOf('terminal bindings') }));
  await life.start(createAccountExpiry({ registry, logger: loggerOf('expiry of accounts') }));
  await life.start(
    createHousekeeping({
      config: { auditRetentionDays: config.AUDIT_RETENTION_DAYS },
      registry,
      logger: loggerOf('housekeeping'),
      now,
    }),
  );
}

/** Starts deliveries of notifications, and creates the live API, which is started after its server. */
async function startNotifier(
  context: Context,
  { registry, log, hub }: Stores,
  directory: Directory,
  tokens: Tokens,
  api: Api,
) {
  const { config, life, metrics, tracing, geocoder, loggerOf, now } = context;
  await startNotifications(life, { config, registry, directory, log, hub, geocoder, loggerOf, metrics, tracing, now });
  return createNotifier({
    config: liveConfigOf(config),
    log,
    hub,
    inbox: registry.notifications,
    verify: (token) => tokens.verify(token),
    cookieSession: (request) => api.cookieSession(request),
    mayConnect: (request) => api.mayConnect(request),
    geofenceOwners: (ids) => registry.geofences.ownersOf(ids),
    driverAssignments: (question) => registry.driverAssignments.list(question),
    counters: (vehicleIds) => registry.counters.of(vehicleIds),
    addressKey: (request) => sourceOf(api.clientAddress(request)),
    keyIsGood: (keyId) => tokens.keyIsGood(keyId),
    liveSessions: (ids) => registry.sessions.liveAmong(ids),
    apiKeysAmong: (ids) => registry.apiKeys.grantsAmong(ids),
    noteApiKeyUse: (id, address) => registry.apiKeys.touch(id, address),
    clientAddress: (request) => api.clientAddress(request),
    logger: loggerOf('notifier'),
    metrics,
    now,
  });
}

/** Opens the servers of REST, the live API and metrics. */
async function listen(
  { config, life, metrics, loggerOf }: Context,
  api: Api,
  notifier: ReturnType<typeof createNotifier>,
  metricsAccess: MetricsAccess,
): Promise<{ http: number; metrics?: number }> {
  const http = await listenApi(api, {
    host: config.HOST,
    port: config.PORT,
    bounds: {
      ...httpBoundsOf(config),
      maxUpgraded: config.MAX_LIVE_CONNECTIONS,
      logger: loggerOf('api'),
      metrics,
    },
  });
  life.own('http', () => http.close());
  const ports: { http: number; metrics?: number } = { http: http.port };
  if (config.METRICS_PORT !== null) {
    const metricsServer = await openMetricsServer({
      host: config.HOST,
      port: config.METRICS_PORT,
      metricsAccess,
      logger: loggerOf('metrics'),
      metrics,
    });
    life.own('metrics', () => metricsServer.close());
    ports.metrics = metricsServer.port;
  }
  // Started after the server and so stopped before it: a server does not close while WebSockets are open.
  await life.start(notifier);
  http.server.on('upgrade', (request, socket, head) => {
    http.upgraded(socket);
    if (request.url?.split('?', 1)[0] === '/live') notifier.upgrade(request, socket, head);
    else if (!api.upgrade(request, socket, head)) refuseUpgrade(socket, '404 Not Found');
  });
  return ports;
}

function metricsAccessOf(
  { config, metrics }: Context,
  { reporter, rules, gateway }: Pick<Readers & Workers, 'reporter' | 'rules'> & { gateway: Gateway },
): MetricsAccess {
  return createMetricsAccess(
    async () =>
      mergedMetrics(await Promise.all([snapshotOf(metrics), reporter.metrics(), rules.metrics(), gateway.metrics()])),
    config.METRICS_TOKEN,
  );
}

function threadLoggerOf({ LOG_LEVEL, LOG_FORMAT }: Config<typeof variables>) {
  return { level: LOG_LEVEL, format: LOG_FORMAT };
}
