import { accessVariables, defineService, geocoderVariables, mailVariables, reportStoreOf } from '@outrider/backing';
import { startReporter } from './reporter.ts';
import { reporterVariables } from './settings.ts';
import { upcomingWork } from './upcoming.ts';

/** Report jobs, schedules and report mails. Instances share the work by leases. */
export const service = defineService({
  name: 'reporter',
  settings: { ...accessVariables, ...geocoderVariables, ...mailVariables, ...reporterVariables },
  stores: ['registry', 'log', 'hub', 'warehouse', 'reportFiles', 'directory'],
  // A thread of its own: making a report delays no REST call. It is mostly idle, and makes a page of rows at a time.
  thread: {
    module: import.meta.url,
    youngMb: 12,
    onDemand: {
      checks: ['reports'],
      workOf: ({ config, registry, now }) =>
        upcomingWork({ registry, retentionDays: reportStoreOf(config).retentionDays, now }),
    },
  },
  async start({ config, life, registry, hub, warehouse, reportFiles, directory, refresh, ...parts }) {
    const { loggerOf, metrics, tracing, clock } = parts;
    const reporter = await startReporter(life, {
      ...{ config, registry, directory, hub, files: reportFiles, reportArchive: warehouse, metrics, tracing, clock },
      refresh: refresh ?? (async () => {}),
      logger: loggerOf('reports'),
    });
    return {
      checks: {
        async reports() {
          if (!reporter.healthy) throw new Error('cannot lease report jobs');
        },
      },
    };
  },
});
