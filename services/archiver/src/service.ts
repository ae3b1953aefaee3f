import { defineService } from '@outrider/backing';
import { createArchiveCheck } from './archive-check.ts';
import { createArchiver } from './archiver.ts';
import { archiverVariables } from './settings.ts';
import { rememberArchive } from './written-archive.ts';

/** How long ClickHouse stays open after an insert: while it is open, the archive check runs every 5 s. */
const OWN_WORK_MS = 20_000;

/** The archiver. Its members share the partitions of the archived topics. */
export const service = defineService({
  name: 'archiver',
  settings: archiverVariables,
  stores: ['log', 'checkpoints', 'warehouse'],
  storeOptions: (config, { log, checkpoints, loggerOf, now }) => ({
    warehouse: {
      retentionDays: config.ARCHIVE_RETENTION_DAYS,
      whenNeeded: { askedMs: config.ARCHIVE_OPEN_MS, ownMs: Math.min(config.ARCHIVE_OPEN_MS, OWN_WORK_MS) },
      onOpened: rememberArchive({ log, checkpoints, logger: loggerOf('archiver'), now }),
    },
  }),
  patient: ['checkpoints'],
  async start({ config, life, log, checkpoints, warehouse, loggerOf, metrics, tracing, clock }) {
    // All queries of an embedded archive are made in this process, so inserts can wait for the next query.
    const isEmbedded = config.CLICKHOUSE_URL === null;
    const archiveUnreadMs = isEmbedded ? Math.max(config.ARCHIVE_MS, config.ARCHIVE_UNREAD_MS) : config.ARCHIVE_MS;
    const logger = loggerOf('archiver');
    const archiver = createArchiver({
      config: { maxDelayMs: config.ARCHIVE_MS, maxUnreadDelayMs: archiveUnreadMs },
      log,
      checkpoints,
      warehouse,
      logger,
      metrics,
      tracing,
      clock,
    });
    if (isEmbedded) warehouse.beforeQueries(() => archiver.hurry());
    await life.start(archiver);
    const isMine = () => archiver.isFirst;
    const check = createArchiveCheck({ log, warehouse, isMine, logger, metrics, clock });
    await life.start(check);
    return {
      checks: {
        async archiver() {
          if (!archiver.healthy) throw new Error('the warehouse takes no rows');
          return { warnings: check.warnings() };
        },
      },
      neighbours: { hurryArchiver: () => archiver.hurry(), archiveUnreadMs },
    };
  },
});
