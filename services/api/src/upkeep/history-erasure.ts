import type { Clock } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Hub } from '@outrider/hub';
import { ERASE_HISTORY, type HistoryLimit, type LeasedJob, RETENTION, type Registry } from '@outrider/registry';
import { jointPart, type Logger, type Part, poller, worker } from '@outrider/runtime';
import { MAX_CUTS, type Warehouse } from '@outrider/warehouse';
import { AT_ONCE, eraseReports, eraseRows, eraseVideos } from './erasure-steps.ts';
import { settleCounters } from './settle-counters.ts';

export interface HistoryErasureParts {
  config?: {
    /** Polling interval for jobs. Default 5000. */
    pollMs?: number;
    /** Lease duration, renewed while a job is worked at. Default 30,000. */
    leaseMs?: number;
    /** Interval at which the archive is asked whether its rows are gone. Default 2000. */
    archivePollMs?: number;
  };
  registry: Pick<Registry, 'jobs' | 'historyLimits' | 'storedVideos' | 'reportFiles' | 'counters' | 'customCounters'>;
  warehouse: Pick<Warehouse, 'eraseBefore' | 'countedTracks'>;
  hub: Pick<Hub, 'latest' | 'forgetLatest'>;
  videoFiles: Pick<Files, 'delete'>;
  reportFiles: Pick<Files, 'delete'>;
  logger: Logger;
  clock: Clock;
}

export interface HistoryErasure extends Part {
  /** False while erasures of histories fail. */
  readonly healthy: boolean;
  /**
   * Runs one due job.
   *
   * @returns false if none is due
   */
  work(): Promise<boolean>;
}

/** Counts of what was removed, as the job shows them. */
interface HistoryResult extends Record<string, number> {
  vehicles: number;
  archiveRows: number;
  videos: number;
  reports: number;
  notifications: number;
}

const PLAN_EVERY_MS = 600_000;
/** Statuses that are read from the hub by one query. */
const STATUSES = 500;
const RETRY_MS = 60_000;
/** Retry interval while counters are being recounted. The wait is bounded, because their worker may be gone. */
const COUNTED_RETRY_MS = 5000;
const MAX_COUNTING_MS = 600_000;
/** A job is retried without limit: each attempt continues with what is left. */
const MAX_ATTEMPTS = Number.MAX_SAFE_INTEGER;

/** A job, with the position at which another worker would resume it. */
type Task = Pick<LeasedJob, 'job' | 'lease' | 'resume'> & { percent: number };

class BrokenOff extends Error {}
class BeingCounted extends Error {}

/**
 * Erases the history of vehicles before their limits (`HistoryLimits`): of one vehicle on request, and daily of all
 * vehicles that have a limit. The daily job first raises the limits to the retention of groups and fleets. Each step
 * removes what is left and can be repeated, so any instance can continue an interrupted job.
 */
export function createHistoryErasure(parts: HistoryErasureParts): HistoryErasure {
  const { registry, logger } = parts;
  const { historyLimits } = registry;
  const { pollMs = 5000, leaseMs = 30_000 } = parts.config ?? {};

  async function* limitsOf({ job, resume }: Task): AsyncGenerator<HistoryLimit[]> {
    if (job.kind === ERASE_HISTORY) {
      yield await historyLimits.of([job.subjectId as HistoryLimit['vehicleId']]);
      return;
    }
    await historyLimits.raiseByRetention();
    for (let after = String(resume?.after ?? ''); ; ) {
      const page = await historyLimits.page(after, MAX_CUTS);
      if (page.length > 0) yield page;
      if (page.length < MAX_CUTS) return;
      after = page.at(-1)?.vehicleId ?? '';
    }
  }

  const renew = (task: Task) =>
    registry.jobs.renew(task, leaseMs, { percent: task.percent, positions: 0 }, task.resume);

  /**
   * Ensures that counters lose nothing by the erasure.
   *
   * @returns vehicles that may be erased now; the daily job leaves the others to the next day
   * @throws {BeingCounted} when an erasure on request has to wait
   */
  async function countedOnes(all: readonly HistoryLimit[], { kind, createdAtMs }: LeasedJob['job']) {
    const isPatient = kind === RETENTION || parts.clock.now() - createdAtMs < MAX_COUNTING_MS;
    const without = (limits: readonly HistoryLimit[], counted: ReadonlySet<string>) => {
      if (!isPatient || counted.size === 0) return limits;
      if (kind === ERASE_HISTORY) throw new BeingCounted();
      return limits.filter(({ vehicleId }) => !counted.has(vehicleId));
    };
    const limits = without(all, await historyLimits.beingCounted(all));
    await historyLimits.cutCounters(limits);
    return without(limits, await settleCounters(registry, parts.warehouse, limits));
  }

  async function runJob(task: Task, stop: AbortSignal): Promise<HistoryResult> {
    const { job } = task;
    const before = task.resume?.result as HistoryResult | undefined;
    const result = { vehicles: 0, archiveRows: 0, videos: 0, reports: 0, notifications: 0, ...before };
    for await (const all of limitsOf(task)) {
      const limits = await countedOnes(all, job);
      const reached = async (percent: number, after?: string) => {
        stop.throwIfAborted();
        if (after !== undefined && job.kind === RETENTION) task.resume = { after, result: { ...result } };
        task.percent = percent;
        if ((await renew(task)) === 'lost') throw new BrokenOff();
      };
      await eraseBefore(parts, limits, job.kind === ERASE_HISTORY ? job.createdAtMs : null, result, reached, stop);
      result.vehicles += limits.length;
      await reached(90, all.at(-1)?.vehicleId);
    }
    return result;
  }

  async function workOn(task: Task, stop: AbortSignal): Promise<void> {
    const { job } = task;
    try {
      const result = await runJob(task, stop);
      if (!(await registry.jobs.settle(task, { state: 'done', result }))) return;
      logger.info({ job: job.id, kind: job.kind, ...result }, 'history of vehicles erased');
    } catch (error) {
      if (error instanceof BrokenOff) return;
      const isWaiting = error instanceof BeingCounted;
      const delayMs = stop.aborted ? 0 : isWaiting ? COUNTED_RETRY_MS : RETRY_MS;
      const dueAtMs = parts.clock.now() + delayMs;
      await registry.jobs.settle(task, { state: 'queued', resume: task.resume, dueAtMs });
      if (!stop.aborted && !isWaiting) throw error;
    }
  }

  async function lease(): Promise<Task | null> {
    const options = { kinds: [ERASE_HISTORY, RETENTION], leaseMs, atOnce: 1, maxAttempts: MAX_ATTEMPTS };
    const leased = await registry.jobs.lease(options);
    return leased && { ...leased, percent: 0 };
  }
  const jobs = worker<Task>({
    name: 'history erasures',
    atOnce: 1,
    async lease() {
      const task = await lease();
      return task === null ? [] : [task];
    },
    run: workOn,
    renew: { everyMs: leaseMs / 3, leases: (tasks) => Promise.all(tasks.map(renew)) },
    facts: ({ job }) => ({ job: job.id }),
    pollMs,
    logger,
    clock: parts.clock,
  });
  const planning = poller({
    name: 'daily erasure of history',
    work: async () => {
      await historyLimits.planRetention();
    },
    everyMs: PLAN_EVERY_MS,
    logger,
    clock: parts.clock,
  });
  return Object.assign(jointPart(jobs, planning), {
    async work() {
      const task = await lease();
      if (task !== null) await workOn(task, new AbortController().signal);
      return task !== null;
    },
  });
}

/**
 * @param askedAtMs time of the request: reports made before it are erased as well; null: reports are left to expire by
 *   age
 * @param reached renews the lease; rejects if the job must stop
 */
async function eraseBefore(
  parts: HistoryErasureParts,
  limits: readonly HistoryLimit[],
  askedAtMs: number | null,
  result: HistoryResult,
  reached: (percent: number) => Promise<void>,
  stop: AbortSignal,
): Promise<void> {
  const { registry, warehouse, hub, config } = parts;
  const { historyLimits } = registry;
  result.archiveRows += await eraseRows(
    () => warehouse.eraseBefore(limits),
    config?.archivePollMs,
    () => reached(10),
    stop,
  );
  await reached(50);
  await forgetLatest(hub, limits);
  result.videos += await eraseVideos(
    parts,
    () => historyLimits.videoFiles(limits, AT_ONCE),
    () => reached(60),
  );
  await historyLimits.removeVideoTasks(limits);
  for (let removed = AT_ONCE; removed >= AT_ONCE; ) {
    removed = await historyLimits.removeNotifications(limits, AT_ONCE);
    result.notifications += removed;
    await reached(70);
  }
  const [limit] = limits;
  if (askedAtMs === null || limit === undefined) return;
  result.reports += await eraseReports(
    parts,
    () => historyLimits.reportFiles(limit, askedAtMs + 1, AT_ONCE),
    () => reached(80),
  );
}

/** Erases the last known state of vehicles whose last position is before their limit. */
async function forgetLatest(hub: HistoryErasureParts['hub'], limits: readonly HistoryLimit[]): Promise<void> {
  for (let at = 0; at < limits.length; at += STATUSES) {
    const some = new Map(limits.slice(at, at + STATUSES).map(({ vehicleId, beforeMs }) => [vehicleId, beforeMs]));
    const statuses = await hub.latest([...some.keys()]);
    const old = statuses.filter(
      ({ vehicleId, position }) => position !== null && position.fixTimeMs < (some.get(vehicleId) ?? 0),
    );
    if (old.length > 0) await hub.forgetLatest(old.map(({ vehicleId }) => vehicleId));
  }
}
