import {
  backingOf,
  hubCheck,
  logCheck,
  logVariables,
  needServers,
  openDirectory,
  openHub,
  openLog,
  openRegistry,
  openReportFiles,
  openWarehouse,
  reportStoreOf,
  reportStoreVariables,
  serverVariables,
} from '@outrider/backing';
import { runService } from '@outrider/runtime';
import { createReportRunner } from './runner.ts';
import { createReportScheduler } from './scheduler.ts';

const VARIABLES = { ...reportStoreVariables, ...logVariables, ...serverVariables };

/** Report jobs and schedules in a process of their own. Instances share the jobs by leases. */
await runService('reporter', VARIABLES, async ({ config, logger, metrics, tracing, life, now }) => {
  needServers(config, ['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL', 'S3_URL']);
  const backing = backingOf(config, null);
  const registry = await openRegistry(backing, logger);
  life.own('registry', () => registry.close());
  const log = await openLog(backing, logger, metrics);
  life.own('log', () => log.close());
  const hub = await openHub(backing, logger);
  life.own('hub', () => hub.close());
  const warehouse = await openWarehouse(backing);
  life.own('warehouse', () => warehouse.close());
  const files = await openReportFiles(backing);

  const definitions = await openDirectory(registry, log, 'reporter', logger);
  await life.start(definitions);
  const { directory, refresh } = definitions;
  const reports = createReportRunner({
    config: reportStoreOf(config),
    registry,
    directory,
    refresh,
    hub,
    reportArchive: warehouse,
    files,
    logger,
    metrics,
    tracing,
    now,
  });
  await life.start(reports);
  await life.start(createReportScheduler({ registry, directory, logger }));

  return {
    checks: {
      registry: () => registry.ping(),
      warehouse: () => warehouse.ping(),
      hub: hubCheck(hub, now),
      log: logCheck(log),
      async reports() {
        if (!reports.healthy) throw new Error('cannot lease report jobs');
      },
      files: () => files.ping(),
    },
  };
});
