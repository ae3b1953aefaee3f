import type { Owned } from '@outrider/access';
import type { Clock, Directory } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Geocoder } from '@outrider/geocoder';
import type { Hub } from '@outrider/hub';
import type { LeasedJob, Registry } from '@outrider/registry';
import { REPORT_JOB, type ReportArchive, requestOf } from '@outrider/reports';
import {
  inSpan,
  jointPart,
  type Logger,
  type Metrics,
  NO_TRACING,
  type Part,
  poller,
  type Span,
  type Tracing,
  worker,
} from '@outrider/runtime';
import { ReportAttempts, type ReportTask } from './report-attempts.ts';
import { ReportFileStore, type ReportFileStoreConfig } from './report-files.ts';
import { MAX_ATTEMPTS } from './retries.ts';

export interface ReportRunnerConfig extends ReportFileStoreConfig {
  /** Default 500. */
  pollMs?: number;
  /** Lease duration, renewed while a report is made. Default 20,000. */
  leaseMs?: number;
  /** Maximum reports made at a time by all processes; half of them for one tenant. Default 4. */
  atOnce?: number;
  /** Maximum of these in this process, each of a different tenant. Default 2. */
  atOnceHere?: number;
  /** Minimum wait before a retry after a failure. Default 5000. */
  retryMs?: number;
}

export interface ReportRunnerParts {
  config: ReportRunnerConfig;
  registry: Pick<
    Registry,
    | 'jobs'
    | 'reportFiles'
    | 'geofences'
    | 'preferences'
    | 'drivers'
    | 'driverAssignments'
    | 'maintenance'
    | 'serviceRecords'
    | 'historyLimits'
  >;
  directory: Directory;
  /** Brings the directory up to date: a job may name something that another instance has just created. */
  refresh?: () => Promise<void>;
  hub: Pick<Hub, 'latest' | 'connections' | 'publish'>;
  reportArchive: Owned<ReportArchive>;
  geocoder: Geocoder;
  files: Files;
  logger: Logger;
  metrics: Metrics;
  /** Default: none. */
  tracing?: Tracing;
  clock: Clock;
}

export interface ReportRunner extends Part {
  /** False while jobs cannot be leased. */
  readonly healthy: boolean;
}

const TIDY_EVERY_MS = 60_000;
const SWEEP_EVERY_MS = 3_600_000;

/**
 * Makes the reports that were requested as jobs, for the tenants in turn. A process makes two at a time, for different
 * tenants: a report that takes minutes only delays those of its own tenant. See {@link ReportAttempts}.
 */
export function createReportRunner(parts: ReportRunnerParts): ReportRunner {
  const { config, registry, logger, clock } = parts;
  const { pollMs = 500, leaseMs = 20_000, atOnce = 4, atOnceHere = 2, retryMs = 5000 } = config;
  /** Tenants whose reports this process is making. */
  const tenantsHere = new Set<string>();
  const store = new ReportFileStore(parts.files, registry.reportFiles, config, logger, clock.now);
  const attempts = new ReportAttempts(parts, store, { leaseMs, retryMs });

  const jobs = worker<ReportTask>({
    name: 'reports',
    atOnce: Math.min(atOnceHere, atOnce),
    // Leases one job at a time, so that no two are of the same tenant.
    async lease() {
      const leased = await registry.jobs.lease({
        kinds: [REPORT_JOB],
        leaseMs,
        atOnce,
        perTenant: Math.ceil(atOnce / 2),
        withoutTenants: tenantsHere,
        // A job that broke off too often is leased once more, to report that it failed.
        maxAttempts: MAX_ATTEMPTS + 1,
      });
      if (leased === null) return [];
      tenantsHere.add(leased.tenant);
      return [{ leased, progress: { percent: 0, positions: 0 }, ending: new AbortController() }];
    },
    async run(task, signal) {
      try {
        await inSpan(spanOf(task.leased, parts.tracing ?? NO_TRACING), (span) => attempts.run(task, signal, span));
      } finally {
        tenantsHere.delete(task.leased.tenant);
      }
    },
    renew: { everyMs: leaseMs / 20, leases: (tasks) => Promise.all(tasks.map((task) => attempts.renew(task))) },
    facts: ({ leased }) => ({ job: leased.job.id }),
    pollMs,
    retryMs,
    logger,
    clock,
  });
  const tidying = poller({ name: 'report files', work: () => store.tidy(), everyMs: TIDY_EVERY_MS, logger, clock });
  const sweeping = poller({
    name: 'stray report files',
    work: () => store.sweep(),
    everyMs: SWEEP_EVERY_MS,
    logger,
    clock,
  });
  return jointPart(jobs, tidying, sweeping);
}

function spanOf({ job, attempts }: LeasedJob, tracing: Tracing): Span {
  const { report, format } = requestOf(job);
  const facts = { 'outrider.job.id': job.id, 'outrider.report': report, 'outrider.format': format };
  return tracing.begin('report job', { facts: { ...facts, 'outrider.job.attempt': attempts } });
}
