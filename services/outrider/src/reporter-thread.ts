import type { MessagePort } from 'node:worker_threads';
import {
  type Backing,
  logWarnings,
  openDirectory,
  openLog,
  openRegistry,
  openReportFiles,
  openWarehouse,
} from '@outrider/backing';
import { type ReporterSettings as Config, startReporter } from '@outrider/reporter';
import { Lifecycle } from '@outrider/runtime';
import { runInThread } from './threads.ts';

export interface ReporterSettings {
  config: Config;
  backing: Backing;
  /** To the thread that has chDB; null where ClickHouse is a server. */
  warehouse: MessagePort | null;
}

/** The reporter in a thread of its own: making a report delays no REST call. */
await runInThread<ReporterSettings>(async ({ settings, hub, logger, metrics, tracing }) => {
  const { config, backing } = settings;
  const life = new Lifecycle(logger);
  const log = await openLog(backing, logger, metrics);
  let reporter: { readonly healthy: boolean } | null = null;
  return {
    part: {
      name: 'reporter',
      failed: life.failed,
      async start() {
        life.own('log', () => log.close());
        const registry = await openRegistry(backing, logger);
        life.own('registry', () => registry.close());
        const warehouse = await openWarehouse(backing, {}, settings.warehouse);
        life.own('warehouse', () => warehouse.close());
        const definitions = await openDirectory(registry, log, 'reporter', logger);
        await life.start(definitions);
        const { directory, refresh } = definitions;
        reporter = await startReporter(life, {
          config,
          registry,
          directory,
          refresh,
          hub,
          reportArchive: warehouse,
          files: await openReportFiles(backing),
          logger: logger.child({ part: 'reports' }),
          metrics,
          tracing,
          now: Date.now,
        });
      },
      stop: () => life.stop(),
    },
    result: () => null,
    healthy: () => reporter?.healthy ?? false,
    warnings: () => logWarnings(log),
    behind: () => log.behind(),
    close: async () => {},
  };
});
