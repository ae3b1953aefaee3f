import {
  dealerStorageBytes,
  dealerStorageVariables,
  defineService,
  folderVariables,
  videoStoreVariables,
} from '@outrider/backing';
import { DEFAULT_QUOTAS } from '@outrider/domain';
import { createDiskWatch, diskVariables } from '@outrider/runtime';
import { openDrivers } from './drivers.ts';
import { videoConfigOf, videoVariables } from './settings.ts';
import { createVideo } from './video.ts';

/**
 * The video service. Instances share the tasks by lease. As a separate process, each needs its own `DATA_DIR` for files
 * being fetched, and its own address to which terminals can connect.
 */
export const service = defineService({
  name: 'video',
  settings: {
    ...folderVariables,
    ...diskVariables,
    ...videoVariables,
    ...videoStoreVariables,
    ...dealerStorageVariables,
  },
  stores: ['registry', 'log', 'hub', 'videoFiles', 'directory'],
  storeOptions(config) {
    const dealer = { ...DEFAULT_QUOTAS.dealer, storageBytes: dealerStorageBytes(config) };
    return { registry: { quotas: { ...DEFAULT_QUOTAS, dealer } } };
  },
  async start({ config, life, registry, hub, videoFiles, directory, isOwnProcess, ...parts }) {
    const { loggerOf, metrics, tracing, clock } = parts;
    const logger = loggerOf('video');
    const { drivers, mediaPort } = await openDrivers(config, { hub, metrics, logger });
    const video = createVideo({
      // Without DATABASE_URL, no other process works on these tasks.
      config: videoConfigOf(config, config.DATABASE_URL === null),
      registry,
      directory,
      files: videoFiles,
      hub,
      drivers,
      logger,
      metrics,
      tracing,
      clock,
      random: Math.random,
    });
    await life.start(video);
    const disk = isOwnProcess
      ? createDiskWatch({ folder: config.DATA_DIR, warningMb: config.DISK_WARNING_MB, logger, metrics })
      : null;
    if (disk !== null) await life.start(disk);
    return {
      checks: {
        ...(disk && { disk: async () => ({ warnings: disk.warnings() }) }),
        async video() {
          if (!video.healthy) throw new Error('video tasks are not processed');
        },
      },
      ports: { video: mediaPort },
    };
  },
});
