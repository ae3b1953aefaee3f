import { type FleetEvent, type GeofenceId, type VehicleId, watches } from '@outrider/domain';
import { correctionsTopic, lateEventsTopic } from '@outrider/log';
import type { JobFacts, JobOutcome, LeasedJob, ServiceJobFields } from '@outrider/registry';
import { appendAll } from '../append-all.ts';
import { ArchiveBehind, ArchiveProgress } from './archive-progress.ts';
import type { Correction } from './correction.ts';
import { Engines } from './engines.ts';
import { HistoryOfMany } from './history-of-many.ts';
import { scopeOf, TooManyEventsError } from './history-run.ts';
import { MAX_LATE_MS, mergedIntervals, NOTHING, type Progress, type RecalculatedInterval } from './intervals.ts';
import type { recalculatorMetrics } from './metrics.ts';
import { type History, recalculateVehicle, UNTOUCHED, type VehicleOutcome } from './recalculate-vehicle.ts';
import type { ArrivalHistory, RecalculatorParts } from './recalculator.ts';

/** Jobs that are leased and recalculated together. */
export interface RecalculationTask {
  group: readonly LeasedJob[];
  /** Whether another worker has leased one of them. */
  isLost: boolean;
}

export interface RecalculationTimes {
  leaseMs: number;
  turnMs: number;
  retryMs: number;
  againMs: number;
}

/** With pauses that double up to the longest, this takes some twenty minutes: enough to restart the archive. */
const MAX_FAILURES = 10;
const LONGEST_RETRY_MS = 300_000;
const LONGEST_AGAIN_MS = 6 * 3_600_000;
/** Fixes that arrive in order have arrived this long after their time. */
const ARRIVED_MS = 10_000;
/** Data that the gateway received this recently may be archived before the live rules have processed it. */
const FRESH_MS = 2000;
/** Margin after {@link FRESH_MS}: then the live rules have processed the data. */
const SOON_MS = 1000;
const TOO_MUCH = 'Too many events in this time range: request a shorter one.';

/** The job was cancelled, another worker has it, or the service stops. */
class BrokenOff extends Error {
  readonly why: 'cancel' | 'lost' | 'stop';
  constructor(why: BrokenOff['why']) {
    super(why);
    this.why = why;
  }
}

type Renewal = (progress: { percent: number; positions: number }, resume: JobFacts | null) => Promise<void>;

/** Runs the recalculations of leased jobs, and settles the jobs. */
export class Recalculations {
  readonly #parts: RecalculatorParts;
  readonly #times: RecalculationTimes;
  readonly #metrics: ReturnType<typeof recalculatorMetrics>;
  readonly #engines = new Engines();
  readonly #archive: ArchiveProgress;

  constructor(parts: RecalculatorParts, times: RecalculationTimes, metrics: ReturnType<typeof recalculatorMetrics>) {
    this.#parts = parts;
    this.#times = times;
    this.#metrics = metrics;
    this.#archive = new ArchiveProgress(parts.log, parts.checkpoints, parts.clock, parts.hurryArchiver);
  }

  /**
   * Renews the leases of late data; a task that lost one breaks off. Other jobs are only renewed with their progress: a
   * stuck one passes to another worker.
   */
  async renew(task: RecalculationTask): Promise<void> {
    if (task.group[0]?.job.kind !== 'late-data') return;
    if (!(await this.#parts.jobs.renewTogether(task.group, this.#times.leaseMs))) task.isLost = true;
  }

  /** Recalculates one job vehicle by vehicle, and saves the progress after each. */
  async runAlone(task: RecalculationTask, leased: LeasedJob, stop: AbortSignal): Promise<void> {
    const { jobs, history, logger, clock, refresh } = this.#parts;
    const { job } = leased;
    let done = { ...NOTHING, ...(leased.resume as Partial<Progress> | null) };
    const renewal = this.#renewalOf(task, leased, stop);
    const begunAtMs = clock.now();
    try {
      const freshMs = clock.now() - FRESH_MS;
      await this.#archive.caughtUp(() => renewal({ percent: 0, positions: done.positions }, null), stop);
      await refresh?.();
      const all = this.#vehiclesOf(leased);
      const todo = all.filter((id) => done.afterVehicleId === null || id > done.afterVehicleId);
      for (const [nth, vehicleId] of todo.entries()) {
        const before = done;
        const percent = (share: number) => (100 * (all.length - todo.length + nth + share)) / all.length;
        const outcome = await this.#recalculate(leased, vehicleId, freshMs, history, (share, positions) =>
          renewal({ percent: percent(share), positions: before.positions + positions }, null),
        );
        const next = outcome.settled ? null : this.#again(leased, vehicleId, outcome.awaitsData);
        if (next !== null) await jobs.add(next, mergedIntervals);
        done = {
          afterVehicleId: vehicleId,
          vehicles: done.vehicles + 1,
          positions: done.positions + outcome.positions,
          added: done.added + outcome.added,
          changed: done.changed + outcome.changed,
          removed: done.removed + outcome.removed,
          failures: 0,
        };
        this.#metrics.positions.inc(outcome.positions);
        this.#metrics.corrected.inc(outcome.added + outcome.changed + outcome.removed);
        await renewal({ percent: percent(1), positions: done.positions }, { ...done });
        if (clock.now() - begunAtMs >= this.#times.turnMs && nth + 1 < todo.length) {
          await jobs.settle(leased, { state: 'queued', resume: { ...done }, dueAtMs: clock.now() });
          return;
        }
      }
      const { vehicles, positions, added, changed, removed } = done;
      await jobs.settle(leased, { state: 'done', result: { vehicles, positions, added, changed, removed } });
      this.#metrics.jobs.inc({ kind: job.kind });
      if (added + changed + removed > 0)
        logger.info(
          { job: job.id, kind: job.kind, vehicles, positions, added, changed, removed },
          'events recalculated',
        );
    } catch (error) {
      await jobs.settle(leased, this.#outcomeOf(leased, done, stop.aborted ? new BrokenOff('stop') : error));
    }
  }

  /** Recalculates late data of many vehicles concurrently. Each job ends as it would alone. */
  async runTogether(task: RecalculationTask, stop: AbortSignal): Promise<void> {
    const { jobs, history, refresh, clock } = this.#parts;
    const { group } = task;
    const added: ServiceJobFields[] = [];
    const outcomeOf = (leased: LeasedJob, error: unknown) => {
      const done = { ...NOTHING, ...(leased.resume as Partial<Progress> | null) };
      return { leased, outcome: this.#outcomeOf(leased, done, stop.aborted ? new BrokenOff('stop') : error) };
    };
    let settled: { leased: LeasedJob; outcome: JobOutcome }[];
    try {
      const check = async () => this.#check(task, stop);
      const freshMs = clock.now() - FRESH_MS;
      await this.#archive.caughtUp(check, stop);
      await refresh?.();
      const side = async (some: readonly LeasedJob[]) => {
        const together = new HistoryOfMany(history);
        return together.run(
          some.map((leased) => async () => {
            const [vehicleId] = this.#vehiclesOf(leased);
            if (vehicleId === undefined) return { ...NOTHING };
            const outcome = await this.#recalculate(leased, vehicleId, freshMs, together, check);
            const next = outcome.settled ? null : this.#again(leased, vehicleId, outcome.awaitsData);
            if (next !== null) added.push(next);
            return { ...NOTHING, ...outcome, vehicles: 1 };
          }),
        );
      };
      // Two halves: while the archive answers one, the rules run over the other.
      const half = Math.ceil(group.length / 2);
      const results = (await Promise.all([side(group.slice(0, half)), side(group.slice(half))])).flat();
      this.#count(results);
      settled = group.map((leased, nth) => {
        const result = results[nth] as PromiseSettledResult<Progress>;
        if (result.status === 'rejected') return outcomeOf(leased, result.reason);
        const { vehicles, positions, added, changed, removed } = result.value;
        const outcome = { state: 'done', positions, result: { vehicles, positions, added, changed, removed } } as const;
        return { leased, outcome };
      });
    } catch (error) {
      settled = group.map((leased) => outcomeOf(leased, error));
    }
    await jobs.settleTogether(settled, added, mergedIntervals);
  }

  #count(results: readonly PromiseSettledResult<Progress>[]): void {
    const sum = { vehicles: 0, positions: 0, added: 0, changed: 0, removed: 0 };
    const fulfilled = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    for (const value of fulfilled)
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += value[name];
    const corrected = sum.added + sum.changed + sum.removed;
    this.#metrics.positions.inc(sum.positions);
    this.#metrics.corrected.inc(corrected);
    this.#metrics.jobs.inc({ kind: 'late-data' }, fulfilled.length);
    if (corrected > 0)
      this.#parts.logger.info({ kind: 'late-data', jobs: results.length, ...sum }, 'events recalculated');
  }

  /** Vehicles of a job, in the order of processing. */
  #vehiclesOf({ job }: LeasedJob): VehicleId[] {
    const { directory } = this.#parts;
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

  async #recalculate(
    { job }: LeasedJob,
    vehicleId: VehicleId,
    freshMs: number,
    history: History & ArrivalHistory,
    onProgress: (share: number, positions: number) => Promise<void>,
  ): Promise<VehicleOutcome> {
    const { jobs, directory, counters, clock } = this.#parts;
    const { fromMs, toMs, receivedAtMs, isRepeat = false } = job.parameters as unknown as RecalculatedInterval;
    const isLateData = job.kind === 'late-data' || job.kind === 'old-data';
    // A fix with a time in the future is recalculated once its time has come.
    if (job.kind === 'late-data' && toMs > clock.now()) {
      const rest: RecalculatedInterval & JobFacts = { fromMs: Math.max(fromMs, clock.now()), toMs, receivedAtMs: null };
      const dueAtMs = Math.min(toMs, clock.now() + LONGEST_AGAIN_MS) + ARRIVED_MS;
      await jobs.add({ kind: 'late-data', subjectId: vehicleId, parameters: rest, dueAtMs }, mergedIntervals);
    }
    const geofenceId = job.kind === 'recalculate-geozone' ? (job.subjectId as GeofenceId) : null;
    const scope = scopeOf(directory, vehicleId, geofenceId);
    if (scope === null) return UNTOUCHED;
    if (receivedAtMs !== null) {
      const question = { vehicleId, fromMs, throughMs: toMs, receivedFromMs: receivedAtMs };
      if (!(await history.hasLateArrivals(question))) return UNTOUCHED;
    }
    if (isLateData) await counters?.outdate(vehicleId, fromMs);
    const engine = this.#engines.engineFor(scope);
    try {
      return await recalculateVehicle(
        history,
        {
          scope,
          engine,
          isLateData,
          isRepeat,
          publish: job.kind === 'late-data' ? (events) => this.#publish(events, receivedAtMs ?? 0) : null,
          announce: (correction) => this.#announce(correction),
          fromMs,
          toMs,
          freshMs,
          number: clock.now(),
        },
        onProgress,
      );
    } finally {
      this.#engines.release(engine, scope);
    }
  }

  /** @param sinceMs when the late data was received: what it implies for later fixes was unknown before */
  async #publish(events: readonly FleetEvent[], sinceMs: number): Promise<void> {
    const known = events.map((event) => ({ ...event, receivedAtMs: Math.max(event.receivedAtMs ?? 0, sinceMs) }));
    await appendAll(this.#parts.log, lateEventsTopic, known, () => this.#metrics.logFull.inc(), this.#parts.clock);
    this.#metrics.published.inc(known.length);
  }

  async #announce({ written, removed }: Pick<Correction, 'written' | 'removed'>): Promise<void> {
    // Removed events go first: such an event may appear again under another id.
    const corrections = [
      ...removed.map((event) => ({ event, removed: true })),
      ...written.map((event) => ({ event, removed: false })),
    ];
    await appendAll(
      this.#parts.log,
      correctionsTopic,
      corrections,
      () => this.#metrics.logFull.inc(),
      this.#parts.clock,
    );
  }

  /**
   * The job that recalculates a lasting event again. It is due as soon as data in transit has arrived; else the longer
   * the event lasts, the less often. Null: no repetition.
   */
  #again({ job }: LeasedJob, vehicleId: VehicleId, awaitsData: boolean): ServiceJobFields | null {
    const { clock } = this.#parts;
    const { fromMs, toMs, isRepeat = false } = job.parameters as unknown as RecalculatedInterval;
    const isSoon = awaitsData && !isRepeat;
    const isOld = toMs < clock.now() - MAX_LATE_MS;
    if (isOld && !isSoon) return null;
    this.#metrics.again.inc();
    const laterMs = Math.round(Math.max(this.#times.againMs, Math.min((clock.now() - toMs) / 4, LONGEST_AGAIN_MS)));
    const parameters: RecalculatedInterval & JobFacts = { fromMs, toMs, receivedAtMs: null, isRepeat: true };
    const dueAtMs = clock.now() + (isSoon ? FRESH_MS + SOON_MS : laterMs);
    return { kind: isOld ? 'old-data' : 'late-data', subjectId: vehicleId, parameters, dueAtMs };
  }

  /** @throws {BrokenOff} when the task must not go on */
  #check(task: RecalculationTask, stop: AbortSignal): void {
    if (stop.aborted) throw new BrokenOff('stop');
    if (task.isLost) throw new BrokenOff('lost');
  }

  /** Returns a function that renews the lease and saves progress when due. It throws when the job must not go on. */
  #renewalOf(task: RecalculationTask, leased: LeasedJob, stop: AbortSignal): Renewal {
    const { jobs, clock } = this.#parts;
    const { leaseMs } = this.#times;
    let lastMs = clock.now();
    return async (progress, resume) => {
      this.#check(task, stop);
      if (resume === null && clock.now() - lastMs < leaseMs / 20) return;
      lastMs = clock.now();
      const lease = await jobs.renew(leased, leaseMs, progress, resume);
      if (lease !== 'held') throw new BrokenOff(lease);
    };
  }

  /** Outcome of a job that did not complete. A lost lease settles nothing. */
  #outcomeOf({ job }: LeasedJob, done: Progress, error: unknown): JobOutcome {
    const { logger, clock } = this.#parts;
    const { retryMs } = this.#times;
    const later = (ms: number, progress: Progress): JobOutcome => {
      return { state: 'queued', resume: { ...progress }, dueAtMs: clock.now() + ms };
    };
    if (error instanceof BrokenOff) return error.why === 'cancel' ? { state: 'cancelled' } : later(0, done);
    if (error instanceof ArchiveBehind) return later(retryMs, done);
    if (error instanceof TooManyEventsError) {
      logger.warn({ err: error, job: job.id, kind: job.kind }, 'not recalculated');
      return { state: 'failed', error: TOO_MUCH };
    }
    logger.error({ err: error, job: job.id, kind: job.kind }, 'recalculation failed');
    const failures = done.failures + 1;
    // Late data is retried without end: nothing else would request it again.
    if (failures >= MAX_FAILURES && job.kind !== 'late-data')
      return { state: 'failed', error: 'It failed repeatedly. The log of the service contains the cause.' };
    const afterMs = Math.min(retryMs * 2 ** Math.min(failures - 1, MAX_FAILURES), LONGEST_RETRY_MS);
    return later(afterMs, { ...done, failures });
  }
}
