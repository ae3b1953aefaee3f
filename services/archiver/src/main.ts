import {
  backingOf,
  logCheck,
  logVariables,
  openCheckpoints,
  openLog,
  openWarehouse,
  patientCheckpoints,
  serverVariablesWith,
} from '@outrider/backing';
import { runService } from '@outrider/runtime';
import { createArchiveCheck, createArchiver, rememberArchive } from './archiver.ts';
import { archiverVariables } from './settings.ts';

const VARIABLES = {
  ...archiverVariables,
  ...logVariables,
  ...serverVariablesWith(['KAFKA_BROKERS', 'REDIS_URL', 'CLICKHOUSE_URL']),
};

/** The archiver in a process of its own; members share the partitions of what they archive. */
await runService('archiver', VARIABLES, async (parts) => {
  const { config, logger, metrics, tracing, life, now } = parts;
  const backing = backingOf(config, null);
  const log = await life.open('log', () => openLog(backing, logger, metrics));
  const checkpoints = patientCheckpoints(await openCheckpoints(backing, logger), logger);
  life.own('checkpoints', () => checkpoints.close());
  const warehouse = await life.open('warehouse', () =>
    openWarehouse(backing, {
      retentionDays: config.ARCHIVE_RETENTION_DAYS,
      onOpened: rememberArchive({ log, checkpoints, logger, now }),
    }),
  );
  const archiver = createArchiver({
    config: { maxDelayMs: config.ARCHIVE_MS },
    log,
    checkpoints,
    warehouse,
    logger,
    metrics,
    tracing,
    now,
  });
  await life.start(archiver);
  const isMine = () => archiver.isFirst;
  const check = createArchiveCheck({ log, warehouse, isMine, logger, metrics });
  await life.start(check);
  return {
    checks: {
      log: logCheck(log),
      warehouse: () => warehouse.ping(),
      async archive() {
        if (!archiver.healthy) throw new Error('the warehouse takes no rows');
        return { warnings: check.warnings() };
      },
    },
  };
});
