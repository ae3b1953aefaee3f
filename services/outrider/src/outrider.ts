import { MessageChannel } from 'node:worker_threads';
import {
  apiConfigOf,
  createApi,
  createErasureRunner,
  createHousekeeping,
  createRelay,
  createTerminalBindings,
  ensureAdmin,
  listenApi,
  quotasOf,
} from '@outrider/api';
import { createArchiver } from '@outrider/archiver';
import { sourceOf } from '@outrider/auth';
import {
  backingOf,
  httpBoundsOf,
  logWarnings,
  openCheckpoints,
  openHub,
  openLog,
  openRegistry,
  openReportFiles,
  openTokens,
  openVideoFiles,
  openWarehouse,
  patientCheckpoints,
} from '@outrider/backing';
import type { ProtocolName } from '@outrider/domain';
import { gatewayConfigOf } from '@outrider/gateway';
import { isDiskOutage } from '@outrider/log';
import { createNotifier, liveConfigOf, refuseUpgrade, startNotifications } from '@outrider/notifier';
import { followRegistry, type Registry } from '@outrider/registry';
import { createRecalculator, rulesConfigOf } from '@outrider/rules';
import {
  type Config,
  createDescriptorWatch,
  createDiskWatch,
  createMetricsAccess,
  Lifecycle,
  logPrivateFolder,
  Registry as Metrics,
  measureBuild,
  measureThread,
  mergedMetrics,
  NotReadyError,
  openMetricsServer,
  openTracing,
  type RootLogger,
  snapshotOf,
  tracingConfigOf,
} from '@outrider/runtime';
import { createVideo, openDrivers, videoConfigOf } from '@outrider/video';
import type { variables } from './config.ts';
import { openDataDir } from './data-dir.ts';
import { measureLog } from './disk.ts';
import type { GatewaySettings } from './gateway-thread.ts';
import type { ReporterSettings } from './reporter-thread.ts';
import type { RulesSettings } from './rules-thread.ts';
import { openTerminalSecret } from './terminal-secret.ts';
import { createServiceThread } from './threads.ts';

/** A service that runs, as its command line sees it. */
export interface Outrider {
  /** Ports that are listened on. */
  ports: { http: number; video: number; metrics?: number } & Partial<Record<ProtocolName, number>>;
  /** The operator's password where one was made up at this start: it is told this once. */
  generatedPassword: string | null;
  registry: Registry;
  /** Rejects when a part fails; never resolves. */
  failed: Promise<never>;
  /** Takes no more packets, writes down everything that was taken, and lets go of all. */
  stop(): Promise<void>;
}

/**
 * The whole service in one process, in the order in which data needs its parts: stores, then what reads the log, then
 * what lets people in, and the terminals last. It stops the other way round.
 *
 * @throws {DataDirError} when the folder can't be used
 * @throws {Error} when a port is in use or a store can't be opened; what had started is stopped again
 */
export async function startOutrider(config: Config<typeof variables>, logger: RootLogger): Promise<Outrider> {
  const dataDir = openDataDir(config.DATA_DIR);
  const life = new Lifecycle(logger);
  const metrics = new Metrics();
  measureThread('main', metrics);
  measureBuild(metrics);
  const now = Date.now;
  const part = (name: string) => logger.child({ part: name });

  try {
    life.own('data folder', () => dataDir.release());
    logPrivateFolder(dataDir.path, dataDir.rights, logger);
    const tracingConfig = tracingConfigOf(config, 'outrider');
    const tracing = await openTracing(tracingConfig, logger);
    life.own('traces', () => tracing.close());

    const backing = backingOf(config, dataDir.path);
    await life.start(
      createDiskWatch({ folder: dataDir.path, warningMb: config.DISK_WARNING_MB, logger: part('disk'), metrics }),
    );
    if (backing.log.brokers === null) measureLog(dataDir.file('log.sqlite'), metrics);
    const registry = await openRegistry(backing, part('registry'), { quotas: quotasOf(config) });
    life.own('registry', () => registry.close());
    const generatedPassword = await ensureAdmin(registry, config.ADMIN_PASSWORD);

    const log = await openLog(backing, part('log'), metrics, { startsRun: true });
    life.own('log', () => log.close());
    const checkpoints = patientCheckpoints(
      await openCheckpoints(backing, part('checkpoints')),
      part('checkpoints'),
      isDiskOutage,
    );
    life.own('checkpoints', () => checkpoints.close());
    const warehouse = await openWarehouse(backing, { retentionDays: config.ARCHIVE_RETENTION_DAYS });
    life.own('warehouse', () => warehouse.close());
    const videoFiles = await openVideoFiles(backing);
    const reportFiles = await openReportFiles(backing);
    const hub = await openHub(backing, part('hub'));
    life.own('hub', () => hub.close());

    // What an earlier run committed and did not tell comes into the log before anyone reads it.
    const relay = createRelay({ registry, log, logger: part('relay'), now });
    await life.start(relay);

    const archiver = createArchiver({
      config: { maxDelayMs: config.ARCHIVE_MS },
      log,
      checkpoints,
      warehouse,
      logger: part('archiver'),
      metrics,
      tracing,
      now,
    });
    await life.start(archiver);

    const threadLogger = { level: config.LOG_LEVEL, format: config.LOG_FORMAT };
    const rules = createServiceThread<RulesSettings, null>(
      'rules',
      new URL('./rules-thread.ts', import.meta.url),
      { config: rulesConfigOf(config), backing },
      hub,
      threadLogger,
      tracingConfig,
    );
    await life.start(rules);

    const { tokens, close: closeTokens } = await openTokens(config, registry, part('auth'), now);
    life.own('keys', closeTokens);
    const terminalSecret = config.TERMINAL_SECRET ?? (await openTerminalSecret(dataDir.file('terminal-secret')));
    const gateway = createServiceThread<GatewaySettings, Partial<Record<ProtocolName, number>>>(
      'gateway',
      new URL('./gateway-thread.ts', import.meta.url),
      { config: gatewayConfigOf(config, terminalSecret), backing },
      hub,
      threadLogger,
      tracingConfig,
    );

    const { directory, stop: unfollow } = await followRegistry(registry);
    life.own('definitions', unfollow);
    const recalculator = createRecalculator({
      log,
      checkpoints,
      jobs: registry.jobs,
      history: warehouse,
      directory,
      logger: part('recalculator'),
      metrics,
      now,
    });
    await life.start(recalculator);
    const { drivers, mediaPort } = await openDrivers(config, { hub, metrics, logger: part('video') });
    const video = createVideo({
      // A database of its own means that nobody else works at its tasks.
      config: videoConfigOf(config, config.DATABASE_URL === null),
      registry,
      directory,
      files: videoFiles,
      hub,
      drivers,
      logger: part('video'),
      metrics,
      tracing,
      now,
      random: Math.random,
    });
    await life.start(video);

    const reporterPort = config.CLICKHOUSE_URL === null ? new MessageChannel() : null;
    if (reporterPort !== null) warehouse.share(reporterPort.port1);
    const reporter = createServiceThread<ReporterSettings, null>(
      'reporter',
      new URL('./reporter-thread.ts', import.meta.url),
      { config, backing, warehouse: reporterPort?.port2 ?? null },
      hub,
      threadLogger,
      tracingConfig,
      reporterPort === null ? [] : [reporterPort.port2],
    );
    await life.start(reporter);

    const metricsAccess = createMetricsAccess(
      async () =>
        mergedMetrics(await Promise.all([snapshotOf(metrics), reporter.metrics(), rules.metrics(), gateway.metrics()])),
      config.METRICS_TOKEN,
    );
    const descriptors = createDescriptorWatch({ logger: part('process'), metrics });
    await life.start(descriptors);
    const erasures = createErasureRunner({
      registry,
      warehouse,
      hub,
      videoFiles,
      reportFiles,
      logger: part('erasures'),
      metrics,
      now,
    });
    await life.start(erasures);

    const healthyOrThrow = (healthy: boolean, what: string) => {
      if (!healthy) throw new Error(what);
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
      videoFiles,
      reportFiles,
      checks: {
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
        access: async () => api.warnings(),
      },
      metricsAccess,
      logger: part('api'),
      metrics,
      tracing,
      now,
    });
    life.own('api', () => api.close());

    await life.start(createTerminalBindings({ hub, registry, logger: part('terminal bindings') }));
    await life.start(
      createHousekeeping({
        config: { auditRetentionDays: config.AUDIT_RETENTION_DAYS },
        registry,
        logger: part('housekeeping'),
        now,
      }),
    );

    await startNotifications(life, {
      config,
      registry,
      log,
      hub,
      loggerOf: part,
      metrics,
      tracing,
      now,
    });
    const notifier = createNotifier({
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
      logger: part('notifier'),
      metrics,
      now,
    });

    // People may look from here on; terminals come last, when all that their packets need is there.
    const http = await listenApi(api, {
      host: config.HOST,
      port: config.PORT,
      bounds: {
        ...httpBoundsOf(config),
        maxUpgraded: config.MAX_LIVE_CONNECTIONS,
        logger: part('api'),
        metrics,
      },
    });
    life.own('http', () => http.close());
    let metricsPort: number | null = null;
    if (config.METRICS_PORT !== null) {
      const metricsServer = await openMetricsServer({
        host: config.HOST,
        port: config.METRICS_PORT,
        metricsAccess,
        logger: part('metrics'),
        metrics,
      });
      life.own('metrics', () => metricsServer.close());
      metricsPort = metricsServer.port;
    }
    // Started after the server and so stopped before it: a server does not close while WebSockets are open.
    await life.start(notifier);
    http.server.on('upgrade', (request, socket, head) => {
      http.upgraded(socket);
      if (request.url?.split('?', 1)[0] === '/live') notifier.upgrade(request, socket, head);
      else refuseUpgrade(socket, '404 Not Found');
    });
    await life.start(gateway);

    return {
      ports: {
        http: http.port,
        video: mediaPort,
        ...(metricsPort === null ? {} : { metrics: metricsPort }),
        ...gateway.told(),
      },
      generatedPassword,
      registry,
      failed: life.failed,
      stop: () => life.stop(),
    };
  } catch (error) {
    // What does not stop cleanly is told in the logger; what people need to know is why it did not start.
    await life.stop().catch(() => {});
    throw error;
  }
}
