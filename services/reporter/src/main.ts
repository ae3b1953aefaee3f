import {
  accessVariables,
  backingOf,
  geocoderVariables,
  hubCheck,
  logCheck,
  logVariables,
  mailVariables,
  openDirectory,
  openHub,
  openLog,
  openRegistry,
  openReportFiles,
  openWarehouse,
  serverVariablesWith,
} from '@outrider/backing';
import { runService } from '@outrider/runtime';
import { startReporter } from './reporter.ts';
import { reporterVariables } from './settings.ts';

const VARIABLES = {
  ...accessVariables,
  ...geocoderVariables,
  ...mailVariables,
  ...reporterVariables,
  ...logVariables,
  ...serverVariablesWith(['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL', 'S3_URL']),
};

/** Report jobs, schedules and report mails in a process of their own. Instances share the work by leases. */
await runService('reporter', VARIABLES, async ({ config, logger, metrics, tracing, life, now }) => {
  const backing = backingOf(config, null);
  const registry = await life.open('registry', () => openRegistry(backing, logger));
  const log = await life.open('log', () => openLog(backing, logger, metrics));
  const hub = await life.open('hub', () => openHub(backing, logger));
  const warehouse = await life.open('warehouse', () => openWarehouse(backing));
  const files = await openReportFiles(backing);
  const definitions = await openDirectory(registry, log, 'reporter', logger);
  await life.start(definitions);
  const { directory, refresh } = definitions;
  const shared = { config, registry, directory, refresh, hub, files, logger, metrics, tracing, now };
  const reporter = await startReporter(life, { ...shared, reportArchive: warehouse });
  return {
    checks: {
      registry: () => registry.ping(),
      warehouse: () => warehouse.ping(),
      hub: hubCheck(hub, now),
      log: logCheck(log),
      async reports() {
        if (!reporter.healthy) throw new Error('cannot lease report jobs');
      },
      files: () => files.ping(),
    },
  };
});
