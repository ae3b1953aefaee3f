import type { Clock, UserId, VehicleId } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Hub } from '@outrider/hub';
import { ERASURE, type ErasedSubjects, type ErasureFacts, type LeasedJob, type Registry } from '@outrider/registry';
import { Counter, Gauge, type Logger, type Metrics, type Part, worker } from '@outrider/runtime';
import type { Warehouse } from '@outrider/warehouse';
import { AT_ONCE, eraseReports, eraseRows, eraseVideos, untilNoneIsLeft } from './erasure-steps.ts';

export interface ErasureRunnerParts {
  config?: {
    /** Polling interval for due erasures. Default 30,000. */
    pollMs?: number;
    /** Lease duration; longer than any query of the archive. Default 300,000. */
    leaseMs?: number;
    /** Interval at which the archive is asked whether its rows are gone. Default 2000. */
    archivePollMs?: number;
  };
  registry: Pick<Registry, 'jobs' | 'erasures' | 'storedVideos' | 'reportFiles'>;
  warehouse: Pick<Warehouse, 'erase'>;
  hub: Pick<Hub, 'forgetLatest'>;
  videoFiles: Pick<Files, 'delete'>;
  reportFiles: Pick<Files, 'delete'>;
  serviceFiles: Pick<Files, 'delete'>;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
}

export interface ErasureRunner extends Part {
  /** False while erasures fail. */
  readonly healthy: boolean;
  /**
   * Performs all due erasures.
   *
   * @returns number of erased subjects
   */
  work(): Promise<number>;
}

/** Vehicles and accounts erased together, because the archive is rewritten once for all of them. */
const TOGETHER = 200;
const RETRY_MS = 60_000;
const OVERDUE_MS = 3_600_000;
/** An erasure is retried without limit: each attempt continues with what is left. */
const MAX_ATTEMPTS = Number.MAX_SAFE_INTEGER;

class BrokenOff extends Error {}

/** Counts of what was removed, as the job shows them. */
interface ErasureResult extends Record<string, number> {
  archiveRows: number;
  videos: number;
  reports: number;
  serviceFiles: number;
  notifications: number;
  auditLines: number;
}

/**
 * Erases the data of deleted vehicles and accounts once the time to cancel is over: rows of the archive, videos, files
 * of reports and services, notifications, the latest state, and personal data in the audit trail. Each step removes
 * what is left and can be repeated, so any instance can restart an interrupted erasure. The log is not touched: its
 * records expire by age (`TELEMETRY_RETENTION_HOURS`).
 */
export function createErasureRunner(parts: ErasureRunnerParts): ErasureRunner {
  const { registry, logger } = parts;
  const { pollMs = 30_000, leaseMs = 300_000 } = parts.config ?? {};
  const erased = new Counter({
    name: 'outrider_erasures_total',
    help: 'Deleted vehicles and accounts whose stored data has been erased',
    labelNames: ['subject'],
    registers: [parts.metrics],
  });

  new Gauge({
    name: 'outrider_erasures_overdue',
    help: 'Erasures that have been due for more than an hour',
    registers: [parts.metrics],
    async collect() {
      // The database has a readiness check of its own.
      const overdue = await registry.erasures.overdue(parts.clock.now() - OVERDUE_MS).catch(() => null);
      if (overdue !== null) this.set(overdue);
    },
  });

  async function workOn(group: readonly LeasedJob[], stop: AbortSignal): Promise<number> {
    const ids = (subject: ErasureFacts['subject']) =>
      group.flatMap(({ job }) => ((job.parameters as ErasureFacts).subject === subject ? [job.subjectId ?? ''] : []));
    const subjects: ErasedSubjects = { vehicleIds: ids('vehicle') as VehicleId[], userIds: ids('user') as UserId[] };
    const reached = async (percent: number) => {
      stop.throwIfAborted();
      for (const leased of group) {
        const state = await registry.jobs.renew(leased, leaseMs, { percent, positions: 0 }, null);
        if (state === 'lost') throw new BrokenOff();
      }
    };
    try {
      const existing = await registry.erasures.existing(subjects);
      if (existing.size > 0) throw new Error(`what is to be erased exists: ${[...existing].join(', ')}`);
      const result = await erase(parts, subjects, reached, stop);
      if (!(await registry.erasures.finish(group, result))) return 0;
      erased.inc({ subject: 'vehicle' }, subjects.vehicleIds.length);
      erased.inc({ subject: 'user' }, subjects.userIds.length);
      logger.info(
        { vehicles: subjects.vehicleIds.length, users: subjects.userIds.length, ...result },
        'stored data of deleted vehicles and accounts erased',
      );
      return group.length;
    } catch (error) {
      if (error instanceof BrokenOff) return 0;
      const isStopping = stop.aborted;
      const dueAtMs = parts.clock.now() + (isStopping ? 0 : RETRY_MS);
      for (const leased of group) await registry.jobs.settle(leased, { state: 'queued', resume: null, dueAtMs });
      if (isStopping) return 0;
      throw error;
    }
  }

  const lease = () =>
    registry.jobs.leaseTogether(
      { kinds: [ERASURE], leaseMs, atOnce: 1, maxAttempts: MAX_ATTEMPTS },
      { kind: ERASURE, max: TOGETHER },
    );
  const erasures = worker<readonly LeasedJob[]>({
    name: 'erasures',
    atOnce: 1,
    async lease() {
      const group = await lease();
      return group.length === 0 ? [] : [group];
    },
    run: workOn,
    facts: (group) => ({ jobs: group.length }),
    pollMs,
    logger,
    clock: parts.clock,
  });
  return Object.assign(erasures, {
    async work() {
      const group = await lease();
      return group.length === 0 ? 0 : workOn(group, new AbortController().signal);
    },
  });
}

/** @param reached renews the leases and shows the progress in percent; rejects if the erasure must stop */
async function erase(
  parts: ErasureRunnerParts,
  subjects: ErasedSubjects,
  reached: (percent: number) => Promise<void>,
  stop: AbortSignal,
): Promise<ErasureResult> {
  const { registry, warehouse, hub, serviceFiles, config } = parts;
  const { erasures } = registry;
  const { vehicleIds, userIds } = subjects;
  await hub.forgetLatest(vehicleIds);
  const geofenceIds = await erasures.geofencesOf(userIds);
  const archiveRows = await eraseRows(
    () => warehouse.erase({ vehicleIds, geofenceIds }),
    config?.archivePollMs,
    () => reached(10),
    stop,
  );
  await reached(50);
  const videos = await eraseVideos(
    parts,
    () => erasures.videoFiles(vehicleIds, AT_ONCE),
    () => reached(60),
  );
  const reports = await eraseReports(
    parts,
    () => erasures.reportFiles(subjects, AT_ONCE),
    () => reached(70),
  );
  const files = await untilNoneIsLeft(
    () => erasures.serviceFiles(vehicleIds, AT_ONCE),
    () => reached(75),
    async (ids) => {
      for (const id of ids) await serviceFiles.delete(id);
      await erasures.forgetServiceFiles(ids);
    },
  );
  let notifications = 0;
  for (let removed = AT_ONCE; removed === AT_ONCE; ) {
    removed = await erasures.removeNotifications(vehicleIds, AT_ONCE);
    notifications += removed;
    await reached(80);
  }
  await erasures.removeRest(subjects);
  await reached(90);
  const auditLines = await erasures.redactAudit(subjects);
  return { archiveRows, videos, reports, serviceFiles: files, notifications, auditLines };
}
