import {
  backingOf,
  dealerStorageBytes,
  dealerStorageVariables,
  folderVariables,
  hubCheck,
  logCheck,
  logVariables,
  openDirectory,
  openHub,
  openLog,
  openRegistry,
  openVideoFiles,
  serverVariablesWith,
  videoStoreVariables,
} from '@outrider/backing';
import { DEFAULT_QUOTAS } from '@outrider/domain';
import { createDiskWatch, diskVariables, runService } from '@outrider/runtime';
import { openDrivers } from './drivers.ts';
import { videoConfigOf, videoVariables } from './settings.ts';
import { createVideo } from './video.ts';

const VARIABLES = {
  ...folderVariables,
  ...diskVariables,
  ...videoVariables,
  ...videoStoreVariables,
  ...dealerStorageVariables,
  ...logVariables,
  ...serverVariablesWith(['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'S3_URL']),
};

/**
 * The video service in a process of its own; instances share the tasks by lease. Each has a `DATA_DIR` of its own, for
 * what it is just fetching, and an address of its own that terminals reach.
 */
await runService('video', VARIABLES, async ({ config, logger, metrics, tracing, life, now }) => {
  const backing = backingOf(config, null);
  const dealer = { ...DEFAULT_QUOTAS.dealer, storageBytes: dealerStorageBytes(config) };
  const registry = await life.open('registry', () =>
    openRegistry(backing, logger, { quotas: { ...DEFAULT_QUOTAS, dealer } }),
  );
  const log = await life.open('log', () => openLog(backing, logger, metrics));
  const hub = await life.open('hub', () => openHub(backing, logger));
  const files = await openVideoFiles(backing);
  const definitions = await openDirectory(registry, log, 'video', logger);
  await life.start(definitions);
  const { drivers, mediaPort } = await openDrivers(config, { hub, metrics, logger });
  const video = createVideo({
    config: videoConfigOf(config, false),
    registry,
    directory: definitions.directory,
    files,
    hub,
    drivers,
    logger,
    metrics,
    tracing,
    now,
    random: Math.random,
  });
  await life.start(video);
  const disk = createDiskWatch({ folder: config.DATA_DIR, warningMb: config.DISK_WARNING_MB, logger, metrics });
  await life.start(disk);
  return {
    checks: {
      registry: () => registry.ping(),
      log: logCheck(log),
      hub: hubCheck(hub, now),
      files: () => files.ping(),
      disk: async () => ({ warnings: disk.warnings() }),
      async video() {
        if (!video.healthy) throw new Error('video tasks are not worked at');
      },
    },
    ports: { video: mediaPort },
  };
});
