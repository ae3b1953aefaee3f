import { setTimeout as wait } from 'node:timers/promises';
import {
  type Directory,
  type FleetEvent,
  type GeofenceId,
  type LateInterval,
  type VehicleId,
  watches,
} from '@outrider/domain';
import {
  type Batch,
  type Checkpoints,
  eventsTopic,
  type Log,
  lateEventsTopic,
  lateTopic,
  resumeFromStore,
  type Subscription,
  type Topic,
  telemetryTopic,
} from '@outrider/log';
import type { JobFacts, JobOutcome, Jobs, LeasedJob, ServiceJobFields } from '@outrider/registry';
import type { Logger, Part, Registry } from '@outrider/runtime';
import { appendAll } from '../append-all.ts';
import { Engines } from './engines.ts';
import { HistoryOfMany, type ManyHistory } from './history-of-many.ts';
import { scopeOf, TooManyEventsError } from './history-run.ts';
import { recalculatorMetrics } from './metrics.ts';
import {
  type History,
  type LateArrivalsQuestion,
  recalculateVehicle,
  type VehicleOutcome,
} from './recalculate-vehicle.ts';

/** Kinds of jobs that recalculate. */
export const RECALCULATIONS = ['late-data', 'recalculate-vehicle', 'recalculate-geozone'] as const;

export interface RecalculatorConfig {
  /** Late data waits for this long for more of it. Default 2000. */
  lateDelayMs?: number;
  /** What is not settled is looked at again no sooner than this. Default 300,000. */
  againMs?: number;
  /** Default 500. */
  pollMs?: number;
  /** A process that says nothing for this long is taken for dead. Default 20,000. */
  leaseMs?: number;
  /** A job gives way to others after this time. Default 5000. */
  turnMs?: number;
  /** After a failure it is tried again no sooner than this. Default 5000. */
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
  /**
   * Brings the directory up to what other processes committed before the call: a job may be about what was made a
   * moment ago. Undefined where none exists.
   */
  refresh?: () => Promise<void>;
  logger: Logger;
  metrics: Registry;
  /** Unix milliseconds. */
  now(): number;
}

export interface Recalculator extends Part {
  readonly failed: Promise<never>;
  /** False when jobs could not be asked for lately. */
  readonly healthy: boolean;
}

/** The archive, as it says what came late and not again. */
interface ArrivalHistory {
  hasLateArrivals(question: LateArrivalsQuestion): Promise<boolean>;
}

/** What a job of any of {@link RECALCULATIONS} is asked for. */
interface Interval {
  fromMs: number;
  toMs: number;
  /** Late data: when the gateway had the first of it; null: it is to be gone through in any case. */
  receivedAtMs: number | null;
}

/** What has come out up to now, and where to go on. */
interface Progress {
  /** The last vehicle that is done. */
  afterVehicleId: VehicleId | null;
  vehicles: number;
  positions: number;
  added: number;
  changed: number;
  removed: number;
  /** How often it failed without getting any further. */
  failures: number;
}

const CONSUMER = 'recalculator';
/** Late data of longer ago is archived, and changes events only where somebody asks for it. */
export const MAX_LATE_MS = 31 * 86_400_000;
/**
 * Late data of so many vehicles is recalculated side by side: what they ask of the archive is asked in a few
 * statements.
 */
const TOGETHER = { kind: 'late-data', max: 200 };
/** One at a time: of two at once about one vehicle, each would correct what the other is just correcting. */
const AT_ONCE = 1;
/**
 * With pauses that double up to the longest, this is some twenty minutes: an archive that is started anew is waited
 * for.
 */
const MAX_FAILURES = 10;
const LONGEST_RETRY_MS = 300_000;
const LONGEST_AGAIN_MS = 6 * 3_600_000;
/** Fixes that come in order are archived this long after their time. */
const ARRIVED_MS = 10_000;
const CATCH_UP_MS = 60_000;
/** What the gateway had so short a time ago may be archived and not yet judged by the live rules. */
const FRESH_MS = 2000;
const TOO_MUCH = 'Too much happened in this stretch of time: ask for a shorter one.';
const NOTHING: Progress = {
  afterVehicleId: null,
  vehicles: 0,
  positions: 0,
  added: 0,
  changed: 0,
  removed: 0,
  failures: 0,
};

/** It was called off, is another's, or the service stops. */
class BrokenOff extends Error {
  readonly why: 'cancel' | 'lost' | 'stop';
  constructor(why: BrokenOff['why']) {
    super(why);
    this.why = why;
  }
}

/** The archive is behind the log. */
class ArchiveBehind extends Error {}

/**
 * Recalculates intervals of the past: those that late data came for, which topic `late` reports, and those that
 * somebody asked for. Both are jobs, and the same thing is done about both.
 *
 * Why it comes out right whatever dies:
 * - A late interval is in the log before the rules' checkpoint knows of it; it is a job, with the consumer's offset, in
 *   one transaction.
 * - A job is leased, vehicle after vehicle is done and noted, and the last one in hand is done again.
 * - What is written of a vehicle is written at once, and is the difference to what is there: doing it again writes
 *   nothing.
 */
export function createRecalculator(parts: RecalculatorParts): Recalculator {
  const { log, checkpoints, jobs, history, directory, logger, now } = parts;
  const {
    lateDelayMs = 2000,
    againMs = 300_000,
    pollMs = 500,
    leaseMs = 20_000,
    turnMs = 5000,
    retryMs = 5000,
  } = parts.config ?? {};
  const metrics = recalculatorMetrics(parts.metrics);
  const engines = new Engines();
  const stopping = new AbortController();
  /**
   * Identity of the log that the archiver's checkpoints are of, by topic and partition: found to be the one that is
   * read here.
   */
  const archivedFrom = new Map<string, string>();
  let subscription: Subscription | null = null;
  let working: Promise<void> = Promise.resolve();
  let healthy = true;
  let urgent = new AbortController();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  /** A registry that is away is waited for: the log keeps what comes. */
  async function gatherUntilItWorks(batch: Batch<LateInterval>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        return await gather(batch);
      } catch (error) {
        logger.error({ err: error, partition: batch.partition }, 'late data could not be noted; trying on');
        await wait(retryMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
    // A batch after this one must not be noted: the offset would go past what was left out.
  }

  async function gather({ partition, records }: Batch<LateInterval>): Promise<void> {
    const oldestMs = now() - MAX_LATE_MS;
    const recent = records.filter(({ value }) => value.toMs >= oldestMs);
    metrics.tooOld.inc(records.length - recent.length);
    const last = records.at(-1);
    if (last === undefined) return;
    await jobs.gather(
      { consumer: CONSUMER, partition, next: last.offset + 1 },
      recent.map(({ offset, value: { vehicleId, fromMs, toMs, receivedAtMs, hasAlarm } }) => ({
        offset,
        kind: 'late-data',
        subjectId: vehicleId,
        parameters: { fromMs: Math.max(fromMs, oldestMs), toMs, receivedAtMs } satisfies Interval,
        // Somebody may have to be notified of an alarm at once: nothing that is only history goes before it.
        dueAtMs: hasAlarm ? 0 : now() + lateDelayMs,
      })),
      merged,
    );
    if (recent.some(({ value }) => value.hasAlarm)) urgent.abort();
    log.release(lateTopic, partition, CONSUMER, last.offset + 1);
  }

  /**
   * Offset up to which the archiver has read the log as it is now: its checkpoint may be of another, or of one that was
   * longer.
   */
  async function archivedUpTo(topic: Topic<unknown>, partition: number): Promise<number> {
    const checkpoint = await checkpoints.load(`archiver/${topic.name}`, partition);
    const offset = checkpoint?.offsets[topic.name];
    if (checkpoint === null || offset === undefined) return 0;
    const identity = checkpoint.identities[topic.name] ?? null;
    const place = `${topic.name}/${partition}`;
    if (identity !== null && archivedFrom.get(place) === identity) return offset;
    const { discontinuity } = await log.locate(topic, partition, { offset, identity });
    if (discontinuity !== null) return 0;
    if (identity !== null) archivedFrom.set(place, identity);
    return offset;
  }

  /** Resolves when all that the log held a moment ago is archived. */
  async function caughtUp(heart: () => Promise<void>): Promise<void> {
    const untilMs = now() + CATCH_UP_MS;
    const topics = [telemetryTopic, eventsTopic] as readonly Topic<unknown>[];
    const ends = await Promise.all(topics.map(async (topic) => [topic, await log.endOffsets(topic)] as const));
    for (const [topic, partitions] of ends)
      for (const [partition, end] of partitions) {
        for (;;) {
          if (end === 0 || (await archivedUpTo(topic, partition)) >= end) break;
          if (now() >= untilMs) throw new ArchiveBehind();
          await heart();
          await wait(50, undefined, { signal: stopping.signal });
        }
      }
  }

  /** Those that a job is about, in the order in which they are done. */
  function vehiclesOf({ job }: LeasedJob): VehicleId[] {
    if (job.kind !== 'recalculate-geozone')
      return directory.vehicles.has(job.subjectId as VehicleId) ? [job.subjectId as VehicleId] : [];
    const geofence = directory.geofences.get(job.subjectId as GeofenceId);
    const owner = directory.ownerOf(geofence);
    if (!geofence || !owner) return [];
    return [...directory.vehicles.values()]
      .filter((vehicle) => watches(geofence, owner, vehicle))
      .map(({ id }) => id)
      .toSorted();
  }

  async function one(
    { job }: LeasedJob,
    vehicleId: VehicleId,
    freshMs: number,
    history: History & ArrivalHistory,
    onProgress: (share: number, positions: number) => Promise<void>,
  ): Promise<VehicleOutcome> {
    const { fromMs, toMs, receivedAtMs } = job.parameters as unknown as Interval;
    // A fix that was ahead of its reception has its place when its time has come.
    if (job.kind === 'late-data' && toMs > now()) {
      const rest: Interval & JobFacts = { fromMs: Math.max(fromMs, now()), toMs, receivedAtMs: null };
      const dueAtMs = Math.min(toMs, now() + LONGEST_AGAIN_MS) + ARRIVED_MS;
      await jobs.add({ kind: 'late-data', subjectId: vehicleId, parameters: rest, dueAtMs }, merged);
    }
    const untouched: VehicleOutcome = { positions: 0, added: 0, changed: 0, removed: 0, settled: true };
    const geofenceId = job.kind === 'recalculate-geozone' ? (job.subjectId as GeofenceId) : null;
    const scope = scopeOf(directory, vehicleId, geofenceId);
    if (scope === null) return untouched;
    if (receivedAtMs !== null) {
      const question = { vehicleId, fromMs, throughMs: toMs, receivedFromMs: receivedAtMs };
      if (!(await history.hasLateArrivals(question))) return untouched;
    }
    const engine = engines.engineFor(scope);
    try {
      return await recalculateVehicle(
        history,
        {
          scope,
          engine,
          isLateData: job.kind === 'late-data',
          publish: job.kind === 'late-data' ? (events) => publish(events, receivedAtMs ?? 0) : null,
          fromMs,
          toMs,
          freshMs,
          number: now(),
        },
        onProgress,
      );
    } finally {
      engines.release(engine, scope);
    }
  }

  /** @param sinceMs when the late data was received: what it says of a later fix was unknown before, too */
  async function publish(events: readonly FleetEvent[], sinceMs: number): Promise<void> {
    const known = events.map((event) => ({ ...event, receivedAtMs: Math.max(event.receivedAtMs ?? 0, sinceMs) }));
    await appendAll(log, lateEventsTopic, known, () => metrics.logFull.inc());
    metrics.published.inc(known.length);
  }

  /**
   * What lasts beyond what can be seen is looked at again: soon, and the longer it lasts the more seldom. Null: no
   * more.
   */
  function again({ job }: LeasedJob, vehicleId: VehicleId): ServiceJobFields | null {
    const { fromMs, toMs } = job.parameters as unknown as Interval;
    if (toMs < now() - MAX_LATE_MS) return null;
    metrics.again.inc();
    const afterMs = Math.round(Math.max(againMs, Math.min((now() - toMs) / 4, LONGEST_AGAIN_MS)));
    const parameters: Interval & JobFacts = { fromMs, toMs, receivedAtMs: null };
    return { kind: 'late-data', subjectId: vehicleId, parameters, dueAtMs: now() + afterMs };
  }

  async function work(leased: LeasedJob): Promise<void> {
    const { job } = leased;
    let done = { ...NOTHING, ...(leased.resume as Partial<Progress> | null) };
    const heart = beat(leased);
    const begunAtMs = now();
    try {
      const freshMs = now() - FRESH_MS;
      await caughtUp(() => heart({ percent: 0, positions: done.positions }, null));
      await parts.refresh?.();
      const all = vehiclesOf(leased);
      const todo = all.filter((id) => done.afterVehicleId === null || id > done.afterVehicleId);
      for (const [nth, vehicleId] of todo.entries()) {
        const before = done;
        const percent = (share: number) => (100 * (all.length - todo.length + nth + share)) / all.length;
        const outcome = await one(leased, vehicleId, freshMs, history, (share, positions) =>
          heart({ percent: percent(share), positions: before.positions + positions }, null),
        );
        const next = outcome.settled ? null : again(leased, vehicleId);
        if (next !== null) await jobs.add(next, merged);
        done = {
          afterVehicleId: vehicleId,
          vehicles: done.vehicles + 1,
          positions: done.positions + outcome.positions,
          added: done.added + outcome.added,
          changed: done.changed + outcome.changed,
          removed: done.removed + outcome.removed,
          failures: 0,
        };
        metrics.positions.inc(outcome.positions);
        metrics.corrected.inc(outcome.added + outcome.changed + outcome.removed);
        await heart({ percent: percent(1), positions: done.positions }, { ...done });
        if (now() - begunAtMs >= turnMs && nth + 1 < todo.length) {
          await jobs.settle(leased, { state: 'queued', resume: { ...done }, dueAtMs: now() });
          return;
        }
      }
      const { vehicles, positions, added, changed, removed } = done;
      await jobs.settle(leased, { state: 'done', result: { vehicles, positions, added, changed, removed } });
      metrics.jobs.inc({ kind: job.kind });
      if (added + changed + removed > 0)
        logger.info(
          { job: job.id, kind: job.kind, vehicles, positions, added, changed, removed },
          'events recalculated',
        );
    } catch (error) {
      await letGo(leased, done, error);
    }
  }

  /** Late data of many vehicles, side by side: each ends as it would alone. */
  async function workTogether(group: readonly LeasedJob[]): Promise<void> {
    const held = holdTogether(group);
    const settled: { leased: LeasedJob; outcome: JobOutcome }[] = [];
    const added: ServiceJobFields[] = [];
    try {
      const freshMs = now() - FRESH_MS;
      await caughtUp(held.check);
      await parts.refresh?.();
      const side = async (some: readonly LeasedJob[]) => {
        const together = new HistoryOfMany(history);
        return together.run(
          some.map((leased) => async () => {
            const [vehicleId] = vehiclesOf(leased);
            if (vehicleId === undefined) return { ...NOTHING };
            const outcome = await one(leased, vehicleId, freshMs, together, held.check);
            const next = outcome.settled ? null : again(leased, vehicleId);
            if (next !== null) added.push(next);
            return { ...NOTHING, ...outcome, vehicles: 1 };
          }),
        );
      };
      // While the archive answers one half, the rules run over the other.
      const half = Math.ceil(group.length / 2);
      const results = (await Promise.all([side(group.slice(0, half)), side(group.slice(half))])).flat();
      const sum = { vehicles: 0, positions: 0, added: 0, changed: 0, removed: 0 };
      for (const [nth, result] of results.entries()) {
        const leased = group[nth] as LeasedJob;
        if (result.status === 'rejected') {
          settled.push({ leased, outcome: outcomeOf(leased, result.reason) });
          continue;
        }
        const { vehicles, positions, added, changed, removed } = result.value;
        settled.push({
          leased,
          outcome: { state: 'done', positions, result: { vehicles, positions, added, changed, removed } },
        });
        sum.vehicles += vehicles;
        sum.positions += positions;
        sum.added += added;
        sum.changed += changed;
        sum.removed += removed;
      }
      metrics.positions.inc(sum.positions);
      metrics.corrected.inc(sum.added + sum.changed + sum.removed);
      metrics.jobs.inc({ kind: TOGETHER.kind }, results.filter(({ status }) => status === 'fulfilled').length);
      if (sum.added + sum.changed + sum.removed > 0)
        logger.info({ kind: TOGETHER.kind, jobs: group.length, ...sum }, 'events recalculated');
    } catch (error) {
      for (const leased of group) settled.push({ leased, outcome: outcomeOf(leased, error) });
    } finally {
      held.end();
    }
    await jobs.settleTogether(settled, added, merged);
  }

  /** What becomes of one of many jobs that did not get to its end. */
  function outcomeOf({ job, resume }: LeasedJob, error: unknown): JobOutcome {
    if (error instanceof BrokenOff || stopping.signal.aborted) return { state: 'queued', resume: null, dueAtMs: now() };
    if (error instanceof ArchiveBehind) return { state: 'queued', resume: null, dueAtMs: now() + retryMs };
    if (error instanceof TooManyEventsError) {
      logger.warn({ err: error, job: job.id, kind: job.kind }, 'not recalculated');
      return { state: 'failed', error: TOO_MUCH };
    }
    logger.error({ err: error, job: job.id, kind: job.kind }, 'a recalculation failed');
    const failures = ((resume as Partial<Progress> | null)?.failures ?? 0) + 1;
    const afterMs = retryAfterMs(failures);
    // Nothing else would ask for late data again.
    return { state: 'queued', resume: { ...NOTHING, failures }, dueAtMs: now() + afterMs };
  }

  function retryAfterMs(failures: number): number {
    return Math.min(retryMs * 2 ** Math.min(failures - 1, MAX_FAILURES), LONGEST_RETRY_MS);
  }

  /** Says time and again that many jobs are in hand, however long a question takes. `check` throws what ends them. */
  function holdTogether(group: readonly LeasedJob[]) {
    let isLost = false;
    const timer = setInterval(() => {
      // What the registry does not answer is no loss yet; a lease that ran out meanwhile is seen when it answers again.
      jobs.renewTogether(group, leaseMs).then(
        (isHeld) => {
          isLost ||= !isHeld;
        },
        () => {},
      );
    }, leaseMs / 4);
    return {
      async check(): Promise<void> {
        if (stopping.signal.aborted) throw new BrokenOff('stop');
        if (isLost) throw new BrokenOff('lost');
      },
      end: () => clearInterval(timer),
    };
  }

  /** Says that a job is in hand, whenever it is time to; throws what ends it. */
  function beat(leased: LeasedJob) {
    let lastMs = now();
    return async (progress: { percent: number; positions: number }, resume: JobFacts | null): Promise<void> => {
      if (stopping.signal.aborted) throw new BrokenOff('stop');
      if (resume === null && now() - lastMs < leaseMs / 20) return;
      lastMs = now();
      const halt = await jobs.renew(leased, leaseMs, progress, resume);
      if (halt !== 'held') throw new BrokenOff(halt);
    };
  }

  async function letGo(leased: LeasedJob, done: Progress, error: unknown): Promise<void> {
    const { job } = leased;
    const later = (ms: number, progress: Progress) =>
      jobs.settle(leased, { state: 'queued', resume: { ...progress }, dueAtMs: now() + ms });
    if (error instanceof BrokenOff || stopping.signal.aborted) {
      const why = error instanceof BrokenOff ? error.why : 'stop';
      if (why === 'cancel') await jobs.settle(leased, { state: 'cancelled' });
      else if (why === 'stop') await later(0, done);
    } else if (error instanceof ArchiveBehind) await later(retryMs, done);
    else if (error instanceof TooManyEventsError) {
      logger.warn({ err: error, job: job.id, kind: job.kind }, 'not recalculated');
      await jobs.settle(leased, {
        state: 'failed',
        error: TOO_MUCH,
      });
    } else {
      logger.error({ err: error, job: job.id, kind: job.kind }, 'a recalculation failed');
      const failures = done.failures + 1;
      if (failures < MAX_FAILURES) await later(retryAfterMs(failures), { ...done, failures });
      else await jobs.settle(leased, { state: 'failed', error: 'It failed again and again; the log says of what.' });
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let pauseMs = pollMs;
      try {
        const leased = await jobs.leaseTogether({ kinds: RECALCULATIONS, leaseMs, atOnce: AT_ONCE }, TOGETHER);
        healthy = true;
        const [first] = leased;
        if (first !== undefined) {
          if (first.job.kind === TOGETHER.kind) await workTogether(leased);
          else await work(first);
          pauseMs = 0;
        }
      } catch (error) {
        // What became of a job could not be written down: its lease runs out, and it is done again.
        healthy = false;
        pauseMs = retryMs;
        logger.error({ err: error }, 'recalculations could not be worked at; trying again');
      }
      if (pauseMs > 0) await pause(pauseMs);
    }
  }

  /** Until something urgent comes, or it is time to look. */
  async function pause(ms: number): Promise<void> {
    urgent = new AbortController();
    await wait(ms, undefined, { signal: AbortSignal.any([stopping.signal, urgent.signal]) }).catch(() => {});
  }

  return {
    name: 'recalculator',
    failed,
    get healthy() {
      return healthy;
    },
    async start() {
      subscription = await log.consume(lateTopic, {
        group: CONSUMER,
        startAt: (partition) => resumeFromStore(log, lateTopic, partition, CONSUMER, jobs),
        onBatch: gatherUntilItWorks,
      });
      subscription.failed.catch(fail);
      working = run();
    },
    async stop() {
      stopping.abort();
      await subscription?.stop();
      await working;
    },
  };
}

/** What one job for two intervals is to do: both, and what lies between. */
function merged(waiting: JobFacts, added: JobFacts): JobFacts {
  const [a, b] = [waiting as unknown as Interval, added as unknown as Interval];
  const receivedAtMs =
    a.receivedAtMs === null || b.receivedAtMs === null ? null : Math.min(a.receivedAtMs, b.receivedAtMs);
  return { fromMs: Math.min(a.fromMs, b.fromMs), toMs: Math.max(a.toMs, b.toMs), receivedAtMs } satisfies Interval;
}
