import { ensureAdmin, quotasOf, refuseLostRegistry } from '@outrider/api';
import { rememberArchive } from '@outrider/archiver';
import {
  backingOf,
  geocoderOf,
  openCheckpoints,
  openHub,
  openLog,
  openRegistry,
  openReportFiles,
  openServiceFiles,
  openVideoFiles,
  openWarehouse,
  patientCheckpoints,
  registryName,
} from '@outrider/backing';
import { isDiskOutage } from '@outrider/log';
import {
  type Config,
  createDiskWatch,
  type Lifecycle,
  logPrivateFolder,
  Registry as Metrics,
  measureBuild,
  measureThread,
  openTracing,
  type RootLogger,
  tracingConfigOf,
} from '@outrider/runtime';
import type { variables } from './config.ts';
import type { openDataDir } from './data-dir.ts';
import { createLogFillWatch, measureLog } from './disk.ts';

/** What every part of the process shares. */
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
    now: Date.now,
    /** One for all that runs here: its calls a second are of the process. */
    geocoder: geocoderOf(config, logger.child({ part: 'geocoder' })),
  };
}

/** Opens all stores, and creates the operator `admin` at the first start. */
export async function openStores({ config, life, dataDir, backing, metrics, loggerOf, now }: Context) {
  const diskWatch = createDiskWatch({
    folder: dataDir.path,
    warningMb: config.DISK_WARNING_MB,
    logger: loggerOf('disk'),
    metrics,
  });
  await life.start(diskWatch);
  const registry = await life.open('registry', () =>
    openRegistry(backing, loggerOf('registry'), { quotas: quotasOf(config) }),
  );
  const log = await life.open('log', () => openLog(backing, loggerOf('log'), metrics, { startsRun: true }));
  await refuseLostRegistry(registry, log, registryName(backing));
  const generatedPassword = await ensureAdmin(registry, config.ADMIN_PASSWORD, loggerOf('registry'));
  const logFill = backing.log.brokers === null ? await startLogFillWatch() : null;
  const checkpoints = patientCheckpoints(
    await openCheckpoints(backing, loggerOf('checkpoints')),
    loggerOf('checkpoints'),
    isDiskOutage,
  );
  life.own('checkpoints', () => checkpoints.close());
  const warehouse = await life.open('warehouse', () =>
    openWarehouse(backing, {
      retentionDays: config.ARCHIVE_RETENTION_DAYS,
      whenNeeded: true,
      onOpened: rememberArchive({ log, checkpoints, logger: loggerOf('archiver'), now }),
    }),
  );
  const videoFiles = await openVideoFiles(backing);
  const reportFiles = await openReportFiles(backing);
  const serviceFiles = await openServiceFiles(backing);
  const hub = await life.open('hub', () => openHub(backing, loggerOf('hub')));
  const diskWarnings = () => [...diskWatch.warnings(), ...(logFill?.warnings() ?? [])];
  return {
    ...{ registry, generatedPassword, log, checkpoints, warehouse, videoFiles, reportFiles, serviceFiles, hub },
    diskWarnings,
  };

  async function startLogFillWatch() {
    const path = dataDir.file('log.sqlite');
    measureLog(path, metrics);
    const maxBytes = backing.log.retentionMb * 1024 * 1024;
    const watch = createLogFillWatch({ path, maxBytes, log, logger: loggerOf('log'), metrics });
    await life.start(watch);
    return watch;
  }
}
