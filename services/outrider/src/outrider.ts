import { MessageChannel } from 'node:worker_threads';
import {
  checksOf,
  mergedChecks,
  type Neighbours,
  placesOf,
  type Service,
  type Stores as ServiceStores,
  type StartedService,
} from '@outrider/backing';
import type { ProtocolName } from '@outrider/domain';
import { followRegistry, type Registry } from '@outrider/registry';
import {
  allowedConnections,
  type Config,
  createDescriptorWatch,
  createMetricsAccess,
  Lifecycle,
  mergedMetrics,
  openMetricsServer,
  type ReadyCheck,
  type RootLogger,
  snapshotOf,
} from '@outrider/runtime';
import { createArchiveHold } from './backup/archive-hold.ts';
import { variables } from './config.ts';
import { openDataDir } from './data-dir.ts';
import { threadOnDemand } from './on-demand.ts';
import { SERVICES } from './services.ts';
import { type Context, openContext, openStores, type Stores } from './stores.ts';
import { createServiceThread, type ThreadOfService } from './threads.ts';

/** A running service. */
export interface Outrider {
  /** Listening ports. */
  ports: { http: number; video: number; metrics?: number } & Partial<Record<ProtocolName, number>>;
  /** The operator's password if this start generated it. Only available this once. */
  generatedPassword: string | null;
  registry: Registry;
  /** Rejects when a part fails; never resolves. */
  failed: Promise<never>;
  /** Stops accepting packets, stores everything that was acknowledged, and closes everything. */
  stop(): Promise<void>;
}

/**
 * Starts the whole service in one process: its stores, and all {@link SERVICES} on them.
 *
 * @param prepare called when the stores are open and nothing reads the log yet, with the paths of files in the folder
 * @throws {DataDirError} when the folder can't be used
 * @throws {Error} when a port is in use or a store can't be opened; then started parts are stopped again
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
    const ports = await startServices(context, stores);
    return {
      ports: ports as Outrider['ports'],
      generatedPassword: stores.generatedPassword,
      registry: stores.registry,
      failed: life.failed,
      stop: () => life.stop(),
    };
  } catch (error) {
    // Errors while stopping are logged. The thrown error is the reason why the start failed.
    await life.stop().catch(() => {});
    throw error;
  }
}

async function startServices(context: Context, stores: Stores): Promise<Record<string, number>> {
  const { config, life, metrics, tracing, loggerOf, clock, now } = context;
  const { directory, stop: unfollow } = await followRegistry(stores.registry);
  life.own('definitions', unfollow);
  const shared: ServiceStores = { ...stores, directory };
  const threads: ThreadOfService[] = [];
  const metricsAccess = createMetricsAccess(
    async () => mergedMetrics(await Promise.all([snapshotOf(metrics), ...threads.map((thread) => thread.metrics())])),
    config.METRICS_TOKEN,
  );
  const checks: Record<string, ReadyCheck> = {
    start: () => Promise.reject(new Error('the service is still starting')),
  };
  const neighbours: Neighbours = {};
  const parts = {
    ...{ config, life, loggerOf, metrics, metricsAccess, tracing, clock, now, checks, neighbours, ...shared },
    ...{ ...placesOf(context.backing), refresh: null, isOwnProcess: false },
  };
  const prepared = new Map<Service, unknown>();
  for (const service of SERVICES) prepared.set(service, await service.prepare?.(parts as never));
  const ports: Record<string, number> = {};
  const found: Readonly<Record<string, ReadyCheck>>[] = [];
  const note = (
    started: Pick<StartedService, 'ports' | 'terminalPorts'>,
    own: Readonly<Record<string, ReadyCheck>>,
  ) => {
    Object.assign(ports, started.ports);
    const { terminalPorts } = started;
    if (terminalPorts !== undefined) neighbours.terminalPorts = () => terminalPorts;
    found.push(own);
  };
  note({}, await startWatches(context, stores));
  for (const service of SERVICES)
    if (service.thread === undefined) {
      const started = await service.start({ ...parts, prepared: prepared.get(service) } as never);
      Object.assign(neighbours, started.neighbours);
      note(started, started.checks ?? {});
    } else {
      const thread = threadOf(service, context, stores);
      threads.push(thread);
      await life.start(thread);
      const started = thread.started();
      note(started, Object.fromEntries(started.checks.map((name) => [name, () => thread.check(name)])));
    }
  if (config.METRICS_PORT !== null) {
    const metricsServer = await openMetricsServer({
      ...{ host: config.HOST, port: config.METRICS_PORT, metricsAccess, metrics },
      logger: loggerOf('metrics'),
    });
    life.own('metrics', () => metricsServer.close());
    ports.metrics = metricsServer.port;
  }
  Object.assign(checks, mergedChecks(found));
  delete checks.start;
  return ports;
}

/** Starts the watches of the process and its folder. Returns the checks of these and of the stores. */
async function startWatches(context: Context, { registry, warehouse, log, videoFiles, diskWarnings }: Stores) {
  const { config, life, dataDir, metrics, loggerOf } = context;
  const descriptors = createDescriptorWatch({
    logger: loggerOf('process'),
    metrics,
    allowed: allowedConnections(variables, config),
  });
  await life.start(descriptors);
  if (config.CLICKHOUSE_URL === null)
    await life.start(createArchiveHold({ dataDir: dataDir.path, warehouse, logger: loggerOf('backup') }));
  return {
    ...checksOf({ registry, warehouse, log, videoFiles }),
    disk: async () => ({ warnings: diskWarnings() }),
    process: async () => ({ warnings: descriptors.warnings() }),
  };
}

function threadOf(service: Service, { config, backing, tracingConfig, loggerOf, clock, now }: Context, stores: Stores) {
  const { module = '', isBusyWriter = false, youngMb = null, onDemand } = service.thread ?? {};
  const createThread = (): ThreadOfService => {
    const channel =
      config.CLICKHOUSE_URL === null && service.stores.includes('warehouse') ? new MessageChannel() : null;
    if (channel !== null) stores.warehouse.share(channel.port1);
    return createServiceThread(
      service.name,
      {
        module,
        config,
        backing,
        commitGapMs: isBusyWriter ? config.COMMIT_GAP_MS : 0,
        warehouse: channel?.port2 ?? null,
      },
      stores.hub,
      { level: config.LOG_LEVEL, format: config.LOG_FORMAT },
      tracingConfig,
      youngMb,
    );
  };
  if (onDemand === undefined) return createThread();
  return threadOnDemand({
    name: service.name,
    checks: onDemand.checks,
    nextWorkMs: onDemand.workOf({ config: config as never, registry: stores.registry, now }),
    createThread,
    logger: loggerOf('threads'),
    clock,
  });
}
