import { ensureAdmin, refuseLostRegistry } from '@outrider/api';
import { service as api } from '@outrider/api/service';
import { service as archiver } from '@outrider/archiver/service';
import {
  backingOf,
  openLog,
  openStores as openStoresOf,
  registryName,
  type StoreName,
  type StoreUse,
} from '@outrider/backing';
import { SYSTEM_CLOCK } from '@outrider/domain';
import {
  type Config,
  createDiskWatch,
  type Lifecycle,
  logPrivateFolder,
  Metrics,
  measureBuild,
  measureThread,
  openTracing,
  type RootLogger,
  tracingConfigOf,
} from '@outrider/runtime';
import type { variables } from './config.ts';
import type { openDataDir } from './data-dir.ts';
import { createLogFillWatch, measureLog } from './disk.ts';

/** Context shared by all parts of the process. */
export type Context = Awaited<ReturnType<typeof openContext>>;
export type Stores = Awaited<ReturnType<typeof openStores>>;

export async function openContext(
  config: Config<typeof variables>,
  logger: RootLogger,
  life: Lifecycle,
  dataDir: ReturnType<typeof openDataDir>,
) {
  const metrics = new Metrics();
  measureThread('main', metrics);
  measureBuild(metrics);
  logPrivateFolder(dataDir.path, dataDir.rights, logger);
  const tracingConfig = tracingConfigOf(config, 'outrider');
  const tracing = await life.open('traces', () => openTracing(tracingConfig, logger));
  return {
    config,
    life,
    dataDir,
    backing: backingOf(config, dataDir.path),
    metrics,
    tracing,
    tracingConfig,
    loggerOf: (part: string) => logger.child({ part }),
    clock: SYSTEM_CLOCK,
    now: SYSTEM_CLOCK.now,
  };
}

/** Opens all stores, and creates the operator `admin` at the first start. */
export async function openStores(context: Context) {
  const { config, life, dataDir, backing, metrics, loggerOf, clock } = context;
  const diskWatch = createDiskWatch({
    folder: dataDir.path,
    warningMb: config.DISK_WARNING_MB,
    logger: loggerOf('disk'),
    metrics,
  });
  await life.start(diskWatch);
  const openedLog = () => openLog(backing, loggerOf('log'), metrics, { startsRun: true });
  const { refresh: _, ...stores } = await openStoresOf(ALL_STORES, context, {}, { log: openedLog });
  const { registry, log } = stores;
  await refuseLostRegistry(registry, log, registryName(backing));
  const generatedPassword = await ensureAdmin(registry, config.ADMIN_PASSWORD, loggerOf('registry'));
  const logFill = backing.log.brokers === null ? await startLogFillWatch() : null;
  const diskWarnings = () => [...diskWatch.warnings(), ...(logFill?.warnings() ?? [])];
  return { ...stores, generatedPassword, diskWarnings };

  async function startLogFillWatch() {
    const path = dataDir.file('log.sqlite');
    measureLog(path, metrics);
    const maxBytes = backing.log.retentionMb * 1024 * 1024;
    const watch = createLogFillWatch({ path, maxBytes, log, logger: loggerOf('log'), metrics, clock });
    await life.start(watch);
    return watch;
  }
}

/** Stores shared by services, opened as required by the services that write to them. */
const ALL_STORES: StoreUse<typeof variables, Exclude<StoreName, 'directory'>> = {
  name: 'outrider',
  stores: [
    ...(['registry', 'log', 'checkpoints', 'warehouse', 'videoFiles', 'reportFiles', 'serviceFiles'] as const),
    ...(['hub', 'tokens', 'geocoder'] as const),
  ],
  storeOptions: (config, parts) => ({
    ...api.storeOptions?.(config, parts as never),
    ...archiver.storeOptions?.(config, parts),
  }),
  patient: ['checkpoints'],
};
