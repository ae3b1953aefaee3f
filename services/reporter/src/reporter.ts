import { MailPolicy, type Owned } from '@outrider/access';
import {
  type accessVariables,
  geocoderOf,
  type geocoderVariables,
  mailChannelOf,
  mailLimitsOf,
  type mailVariables,
  publicUrlOf,
  reportStoreOf,
} from '@outrider/backing';
import { createEmailChannel } from '@outrider/channels';
import type { Clock, Directory } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Hub } from '@outrider/hub';
import type { Registry } from '@outrider/registry';
import type { ReportArchive } from '@outrider/reports';
import type { Config, Lifecycle, Logger, Metrics, Tracing } from '@outrider/runtime';
import { createPersonExports } from './person-exports.ts';
import { createReportMail } from './report-mail.ts';
import { createReportRunner } from './runner.ts';
import { createReportScheduler } from './scheduler.ts';
import { type reporterVariables, reportMailOf } from './settings.ts';

export type ReporterSettings = Config<
  typeof reporterVariables & typeof geocoderVariables & typeof mailVariables & typeof accessVariables
>;

export interface ReporterParts {
  config: ReporterSettings;
  registry: Registry;
  /** All current definitions. */
  directory: Directory;
  /** Brings the directory up to date: a job may name something that was defined a moment ago. */
  refresh(): Promise<void>;
  hub: Pick<Hub, 'latest' | 'connections' | 'publish'>;
  reportArchive: Owned<ReportArchive>;
  files: Files;
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing;
  clock: Clock;
}

/** Starts report jobs, schedules and report mails; `life` stops them. */
export async function startReporter(life: Lifecycle, parts: ReporterParts): Promise<{ readonly healthy: boolean }> {
  const { config, registry, directory, files, logger, metrics, clock } = parts;
  const { now } = clock;
  const email = createEmailChannel({ ...mailChannelOf(config), now });
  life.own('report e-mail', () => email.close());
  const geocoder = geocoderOf(config, logger);
  const runner = createReportRunner({ ...parts, geocoder, config: reportStoreOf(config) });
  await life.start(runner);
  await life.start(createPersonExports({ ...parts, geocoder, config: reportStoreOf(config) }));
  await life.start(createReportScheduler({ registry, directory, logger, clock }));
  await life.start(
    createReportMail({
      config: { ...reportMailOf(config), publicUrl: publicUrlOf(config) },
      registry,
      directory,
      files,
      email,
      mailPolicy: new MailPolicy(mailLimitsOf(config), registry, metrics, now),
      logger,
      metrics,
      clock,
      random: Math.random,
    }),
  );
  return runner;
}
