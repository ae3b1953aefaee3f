import type { Clock, Directory, LateInterval } from '@outrider/domain';
import { type Batch, type Checkpoints, type Log, lateTopic, resumeFromStore, type Subscription } from '@outrider/log';
import type { Counters, JobFacts, Jobs } from '@outrider/registry';
import { type Logger, type Metrics, type Part, worker } from '@outrider/runtime';
import type { ManyHistory } from './history-of-many.ts';
import { MAX_LATE_MS, mergedIntervals, RECALCULATIONS, type RecalculatedInterval } from './intervals.ts';
import { recalculatorMetrics } from './metrics.ts';
import type { LateArrivalsQuestion } from './recalculate-vehicle.ts';
import { Recalculations, type RecalculationTask } from './recalculations.ts';

export interface RecalculatorConfig {
  /** How long late data waits for more of it. Default 2000. */
  lateDelayMs?: number;
  /** The same for data that is more than 31 days late. Default 10,000. */
  oldDelayMs?: number;
  /** Minimum wait before an unsettled interval is recalculated again. Default 300,000. */
  againMs?: number;
  /** Default 500. */
  pollMs?: number;
  /** Lease duration, renewed while a job runs. Default 20,000. */
  leaseMs?: number;
  /** Time after which a job yields to others. Default 5000. */
  turnMs?: number;
  /** Minimum wait before a retry after a failure. Default 5000. */
  retryMs?: number;
}

export interface RecalculatorParts {
  config?: RecalculatorConfig;
  log: Pick<Log, 'append' | 'consume' | 'endOffsets' | 'resume' | 'locate' | 'release'>;
  checkpoints: Pick<Checkpoints, 'load'>;
  jobs: Pick<
    Jobs,
    'gather' | 'add' | 'places' | 'setPlace' | 'leaseTogether' | 'renew' | 'renewTogether' | 'settle' | 'settleTogether'
  >;
  history: ManyHistory & ArrivalHistory;
  directory: Directory;
  /** Makes the archiver of this process insert its buffered rows. Undefined: it runs elsewhere. */
  hurryArchiver?: () => Promise<void>;
  /** Marks counters of vehicles for a recount from the late data on. Undefined: vehicles are not counted. */
  counters?: Pick<Counters, 'outdate'>;
  /**
   * Brings the directory up to date with what other processes committed before the call: a job may refer to something
   * created a moment ago. Undefined when no other process exists.
   */
  refresh?: () => Promise<void>;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
}

export interface Recalculator extends Part {
  readonly failed: Promise<never>;
  /** False while jobs cannot be leased. */
  readonly healthy: boolean;
}

/** Archive query for data that came late. Repeated data does not count. */
export interface ArrivalHistory {
  hasLateArrivals(question: LateArrivalsQuestion): Promise<boolean>;
}

const CONSUMER = 'recalculator';
/**
 * Maximum number of vehicles whose late data is recalculated concurrently, with a few archive statements for all of
 * them.
 */
const TOGETHER = { kind: 'late-data', max: 200 };
/** Tasks at once: two for the same vehicle would correct each other's corrections. */
const AT_ONCE = 1;

/**
 * Recalculates time ranges of the past: those with late data, from topic `late`, and those that users requested. Both
 * are jobs, and are processed alike.
 *
 * Why a crash leaves the right result:
 * - A late interval is in the log before the rules' checkpoint covers it. Its job is saved with the consumer's offset
 *   in one transaction.
 * - A job is leased. Its progress is saved after each vehicle, and the next worker repeats the one that was in
 *   progress.
 * - The changes of a vehicle are written at once. They are the difference to what is stored: a repetition writes none.
 */
export function createRecalculator(parts: RecalculatorParts): Recalculator {
  const { log, jobs, logger, clock } = parts;
  const {
    lateDelayMs = 2000,
    oldDelayMs = 10_000,
    againMs = 300_000,
    pollMs = 500,
    leaseMs = 20_000,
    turnMs = 5000,
    retryMs = 5000,
  } = parts.config ?? {};
  const metrics = recalculatorMetrics(parts.metrics);
  const recalculations = new Recalculations(parts, { leaseMs, turnMs, retryMs, againMs }, metrics);
  const stopping = new AbortController();
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {});
  let subscription: Subscription | null = null;

  const recalculating = worker<RecalculationTask>({
    name: 'recalculator',
    atOnce: AT_ONCE,
    async lease() {
      const group = await jobs.leaseTogether({ kinds: RECALCULATIONS, leaseMs, atOnce: AT_ONCE }, TOGETHER);
      return group.length === 0 ? [] : [{ group, isLost: false }];
    },
    async run(task, stop) {
      const [first] = task.group;
      if (first === undefined) return;
      if (first.job.kind === TOGETHER.kind) await recalculations.runTogether(task, stop);
      else await recalculations.runAlone(task, first, stop);
    },
    renew: {
      everyMs: leaseMs / 4,
      leases: (tasks) => Promise.all(tasks.map((task) => recalculations.renew(task))),
    },
    facts: ({ group }) => ({ job: group[0]?.job.id, jobs: group.length }),
    pollMs,
    retryMs,
    logger,
    clock,
  });

  /** Retries while the registry is unavailable: the log keeps the records. */
  async function gatherUntilSaved(batch: Batch<LateInterval>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        return await gather(batch);
      } catch (error) {
        logger.error({ err: error, partition: batch.partition }, 'late data not saved; retrying');
        await clock.pause(retryMs, stopping.signal);
      }
    }
    // No later batch is saved: its offset would skip this one.
  }

  async function gather({ partition, records }: Batch<LateInterval>): Promise<void> {
    const nowMs = clock.now();
    const oldestMs = nowMs - MAX_LATE_MS;
    const last = records.at(-1);
    if (last === undefined) return;
    await jobs.gather(
      { consumer: CONSUMER, partition, next: last.offset + 1 },
      records.flatMap(({ offset, value: { vehicleId, fromMs, toMs, receivedAtMs, hasAlarm } }) => {
        const jobOf = (kind: string, from: number, to: number, dueAtMs: number) => {
          const parameters: RecalculatedInterval & JobFacts = { fromMs: from, toMs: to, receivedAtMs };
          return { offset, kind, subjectId: vehicleId, parameters, dueAtMs };
        };
        const found = [];
        if (fromMs < oldestMs) found.push(jobOf('old-data', fromMs, Math.min(toMs, oldestMs - 1), nowMs + oldDelayMs));
        // An alarm may have to be notified at once: it goes before everything that is only history.
        const dueAtMs = hasAlarm ? 0 : nowMs + lateDelayMs;
        if (toMs >= oldestMs) found.push(jobOf('late-data', Math.max(fromMs, oldestMs), toMs, dueAtMs));
        return found;
      }),
      mergedIntervals,
    );
    if (records.some(({ value }) => value.hasAlarm)) recalculating.wake();
    log.release(lateTopic, partition, CONSUMER, last.offset + 1);
  }

  return {
    name: recalculating.name,
    failed,
    get healthy() {
      return recalculating.healthy;
    },
    async start() {
      subscription = await log.consume(lateTopic, {
        group: CONSUMER,
        startAt: (partition) => resumeFromStore(log, lateTopic, partition, CONSUMER, jobs),
        onBatch: gatherUntilSaved,
      });
      subscription.failed.catch(fail);
      await recalculating.start();
    },
    async stop() {
      stopping.abort();
      await subscription?.stop();
      await recalculating.stop();
    },
  };
}
