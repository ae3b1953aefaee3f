import {
  backingOf,
  logCheck,
  logVariables,
  needServers,
  openCheckpoints,
  openLog,
  openWarehouse,
  patientCheckpoints,
  serverVariables,
} from '@outrider/backing';
import { runService } from '@outrider/runtime';
import { createArchiver } from './archiver.ts';
import { archiverVariables } from './settings.ts';

/** The archiver in a process of its own; members share the partitions of what they archive. */
await runService('archiver', { ...archiverVariables, ...logVariables, ...serverVariables }, async (parts) => {
  const { config, logger, metrics, tracing, life, now } = parts;
  needServers(config, ['KAFKA_BROKERS', 'REDIS_URL', 'CLICKHOUSE_URL']);
  const backing = backingOf(config, null);
  const log = await openLog(backing, logger, metrics);
  life.own('log', () => log.close());
  const checkpoints = patientCheckpoints(await openCheckpoints(backing, logger), logger);
  life.own('checkpoints', () => checkpoints.close());
  const warehouse = await openWarehouse(backing, { retentionDays: config.ARCHIVE_RETENTION_DAYS });
  life.own('warehouse', () => warehouse.close());
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
  return {
    checks: {
      log: logCheck(log),
      warehouse: () => warehouse.ping(),
      async archive() {
        if (!archiver.healthy) throw new Error('the warehouse takes no rows');
      },
    },
  };
});
