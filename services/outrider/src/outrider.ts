import { MessageChannel } from 'node:worker_threads';
import {
  type Api,
  apiConfigOf,
  createApi,
  createErasureRunner,
  createHousekeeping,
  createRelay,
  createTerminalBindings,
  listenApi,
} from '@outrider/api';
import { createArchiver } from '@outrider/archiver';
import { sourceOf } from '@outrider/auth';
import { httpBoundsOf, logWarnings, openTokens } from '@outrider/backing';
import type { ProtocolName } from '@outrider/domain';
import { gatewayConfigOf } from '@outrider/gateway';
import { createNotifier, liveConfigOf, refuseUpgrade, startNotifications } from '@outrider/notifier';
import { followRegistry, type Registry } from '@outrider/registry';
import { createRecalculator, rulesConfigOf } from '@outrider/rules';
import {
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
  snapshotOf,
} from '@outrider/runtime';
import { createVideo, openDrivers, videoConfigOf } from '@outrider/video';
import type { variables } from './config.ts';
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
 * @throws {DataDirError} when the folder can't be used
 * @throws {Error} when a port is in use or a store can't be opened; what had started is stopped again
 */
export async function startOutrider(config: Config<typeof variables>, logger: RootLogger): Promise<Outrider> {
  const dataDir = openDataDir(config.DATA_DIR);
  const life = new Lifecycle(logger);
  try {
    life.own('data folder', () => dataDir.release());
    const context = await openContext(config, logger, life, dataDir);
    const stores = await openStores(context);
    const readers = await startReaders(context, stores);
    const { tokens, close } = await openTokens(config, stores.registry, context.loggerOf('auth'), context.now);
    life.own('keys', close);
    const gateway = await createGatewayThread(context, stores);
    const workers = await startWorkers(context, stores);
    const parts = { ...readers, ...workers, gateway };
    const metricsAccess = metricsAccessOf(context, parts);
    const api = createRestApi(context, stores, { ...parts, tokens, metricsAccess });
    life.own('api', () => api.close());
    await startHousekeeping(context, stores);
    const notifier = await startNotifier(context, stores, tokens, api);
    const ports = await listen(context, api, notifier, metricsAccess);
    await life.start(gateway);

    return {
      ports: { ...ports, video: workers.mediaPort, ...gateway.result() },
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
  const relay = createRelay({ registry, log, logger: loggerOf('relay'), now });
  await life.start(relay);

  const archiver = createArchiver({
    config: { maxDelayMs: config.ARCHIVE_MS },
    log,
    checkpoints,
    warehouse,
    logger: loggerOf('archiver'),
    metrics,
    tracing,
    now,
  });
  await life.start(archiver);

  const rules = createServiceThread<RulesSettings, null>(
    'rules',
    new URL('./rules-thread.ts', import.meta.url),
    { config: rulesConfigOf(config), backing },
    hub,
    threadLoggerOf(config),
    context.tracingConfig,
  );
  await life.start(rules);
  return { relay, archiver, rules };
}

/** The gateway, which is started last. */
async function createGatewayThread({ config, dataDir, backing, tracingConfig }: Context, { hub }: Stores) {
  const terminalSecret = config.TERMINAL_SECRET ?? (await openTerminalSecret(dataDir.file('terminal-secret')));
  return createServiceThread<GatewaySettings, Partial<Record<ProtocolName, number>>>(
    'gateway',
    new URL('./gateway-thread.ts', import.meta.url),
    { config: gatewayConfigOf(config, terminalSecret), backing },
    hub,
    threadLoggerOf(config),
    tracingConfig,
  );
}

/** Starts the workers on tasks of the registry: recalculations, videos, reports, erasures. */
async function startWorkers(context: Context, stores: Stores) {
  const { config, life, metrics, tracing, loggerOf, now } = context;
  const { registry, log, checkpoints, warehouse, videoFiles, reportFiles, hub } = stores;
  const { directory, stop: unfollow } = await followRegistry(registry);
  life.own('definitions', unfollow);
  const recalculator = createRecalculator({
    log,
    checkpoints,
    jobs: registry.jobs,
    history: warehouse,
    directory,
    logger: loggerOf('recalculator'),
    metrics,
    now,
  });
  await life.start(recalculator);
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

  const descriptors = createDescriptorWatch({ logger: loggerOf('process'), metrics });
  await life.start(descriptors);
  const erasures = createErasureRunner({
    registry,
    warehouse,
    hub,
    videoFiles,
    reportFiles,
    logger: loggerOf('erasures'),
    metrics,
    now,
  });
  await life.start(erasures);
  return { directory, recalculator, video, mediaPort, reporter, descriptors, erasures };
}

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
  );
}

function createRestApi(
  context: Context,
  stores: Stores,
  parts: Readers & Workers & { tokens: Tokens; gateway: Gateway; metricsAccess: MetricsAccess },
): Api {
  const { registry, warehouse, videoFiles, reportFiles, hub } = stores;
  const api: Api = createApi({
    config: apiConfigOf(context.config),
    registry,
    directory: parts.directory,
    tokens: parts.tokens,
    hub,
    trackReport: warehouse,
    reportArchive: warehouse,
    eventReport: warehouse,
    videoFiles,
    reportFiles,
    checks: { ...readyChecks(stores, parts), access: async () => api.warnings() },
    metricsAccess: parts.metricsAccess,
    logger: context.loggerOf('api'),
    metrics: context.metrics,
    tracing: context.tracing,
    now: context.now,
  });
  return api;
}

/** The checks of `/health/ready`, by part. */
function readyChecks(
  { registry, warehouse, log, videoFiles }: Stores,
  parts: Readers & Workers & { gateway: Gateway },
): Record<string, ReadyCheck> {
  const { relay, archiver, rules, recalculator, video, reporter, descriptors, erasures, gateway } = parts;
  const healthyOrThrow = (healthy: boolean, what: string) => {
    if (!healthy) throw new Error(what);
  };
  return {
    registry: () => registry.ping(),
    warehouse: () => warehouse.ping(),
    async log() {
      const warnings = [...new Set([...logWarnings(log), ...(await gateway.warnings())])];
      if (!(await gateway.healthy())) throw new NotReadyError('the log takes no packets', warnings);
      return warnings;
    },
    definitions: async () => healthyOrThrow(relay.healthy, 'definitions do not reach the log'),
    async rules() {
      healthyOrThrow(await rules.healthy(), 'the rules do not run');
      return rules.warnings();
    },
    archiver: async () => healthyOrThrow(archiver.healthy, 'the warehouse takes no rows'),
    jobs: async () => healthyOrThrow(recalculator.healthy, 'recalculations are not worked at'),
    video: async () => healthyOrThrow(video.healthy, 'video tasks are not worked at'),
    async reports() {
      healthyOrThrow(await reporter.healthy(), 'cannot lease report jobs');
      return reporter.warnings();
    },
    erasures: async () => healthyOrThrow(erasures.healthy, 'stored data of what was deleted is not erased'),
    files: () => videoFiles.ping(),
    process: async () => descriptors.warnings(),
  };
}

async function startHousekeeping({ config, life, loggerOf, now }: Context, { registry, hub }: Stores): Promise<void> {
  await life.start(createTerminalBindings({ hub, registry, logger: loggerOf('terminal bindings') }));
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
async function startNotifier(context: Context, { registry, log, hub }: Stores, tokens: Tokens, api: Api) {
  const { config, life, metrics, tracing, loggerOf, now } = context;
  await startNotifications(life, { config, registry, log, hub, loggerOf, metrics, tracing, now });
  return createNotifier({
    config: liveConfigOf(config),
    log,
    hub,
    inbox: registry.notifications,
    verify: (token) => tokens.verify(token),
    cookieSession: (request) => api.cookieSession(request),
    geofenceOwners: (ids) => registry.geofences.ownersOf(ids),
    addressKey: (request) => sourceOf(api.clientAddress(request)),
    keyIsGood: (keyId) => tokens.keyIsGood(keyId),
    liveSessions: (ids) => registry.sessions.liveAmong(ids),
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
    else refuseUpgrade(socket, '404 Not Found');
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
