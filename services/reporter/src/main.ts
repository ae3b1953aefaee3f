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
  openRegistryWithoutSecrets,
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
  const registry = await openRegistryWithoutSecrets(backing, logger);
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
