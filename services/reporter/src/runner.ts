import { setTimeout as wait } from 'node:timers/promises';
import { maySeeStill, questionFor, ReportAccess, unseenIn } from '@outrider/access';
import {
  type Directory,
  type GeofenceId,
  isoTime,
  REPORT_JOB_CHANNEL,
  type ReportJobNews,
  type User,
} from '@outrider/domain';
import { type Files, FilesFullError } from '@outrider/files';
import type { Hub } from '@outrider/hub';
import type { JobProgress, LeasedJob, Registry } from '@outrider/registry';
import type { Format } from '@outrider/reports';
import {
  allRows,
  formatOf,
  kindOf,
  type Question,
  REPORT_JOB,
  type ReportArchive,
  type ReportKind,
  type ReportRequest,
  type ReportSources,
  type Row,
  requestOf,
  TooManyRowsError,
} from '@outrider/reports';
import {
  Counter,
  inSpan,
  type Logger,
  type Registry as Metrics,
  NO_TRACING,
  type Part,
  type Span,
  type Tracing,
} from '@outrider/runtime';
import { BusyError, TooMuchError, WarehouseFullError } from '@outrider/warehouse';
import { progressOf } from './progress.ts';
import { ReportShelf, type ReportShelfConfig, ReportTooLargeError } from './report-files.ts';

export interface ReportRunnerConfig extends ReportShelfConfig {
  /** Default 500. */
  pollMs?: number;
  /** A process that says nothing for so long is taken for dead. Default 20,000. */
  leaseMs?: number;
  /** So many reports are made at a time, wherever; of one tenant half of them. Default 4. */
  atOnce?: number;
  /** Of these in this process, each of another tenant. Default 2. */
  atOnceHere?: number;
  /** After a failure it is tried again no sooner than this. Default 5000. */
  retryMs?: number;
}

export interface ReportRunnerParts {
  config: ReportRunnerConfig;
  registry: Pick<Registry, 'jobs' | 'reportFiles' | 'geofences'>;
  directory: Directory;
  /** As of the API: a job may name what another instance has just made. */
  refresh?: () => Promise<void>;
  hub: Pick<Hub, 'latest' | 'connections' | 'publish'>;
  reportArchive: ReportArchive;
  files: Files;
  logger: Logger;
  metrics: Metrics;
  /** Default: none. */
  tracing?: Tracing;
  /** Unix milliseconds. */
  now(): number;
}

export interface ReportRunner extends Part {
  /** False while jobs can't be asked for. */
  readonly healthy: boolean;
}

/** What of it is written in the end is bounded by its bytes. */
const MAX_ROWS = 100_000_000;
/** A process that dies over a report, or a report that fails, is tried so often. */
const MAX_ATTEMPTS = 5;
const TIDY_EVERY_MS = 60_000;
const SWEEP_EVERY_MS = 3_600_000;

/** It was called off, is another's, or the service stops. */
class BrokenOff extends Error {
  readonly why: 'cancel' | 'lost' | 'stop';
  constructor(why: BrokenOff['why']) {
    super(why);
    this.why = why;
  }
}

/** There is no such report for this account: it is told why. */
class Refused extends Error {}

/** What the report tells of is not the account's to see any more: it is made anew. */
class RightsChanged extends Error {}

/**
 * Makes the reports that were asked for as jobs, for the tenants in turn. A process makes two at a time, of different tenants:
 * so a report that takes minutes delays those of its own tenant alone.
 *
 * Why it comes out right whatever dies:
 * - A job is leased; what dies over it is begun anew from the first row. A file is put whole or not at all, under a name
 *   of the attempt, and is noted with the end of its job in one transaction.
 * - What a report holds is decided by the rights of its user while it is made, and looked at once more when it is done;
 *   whoever fetches it must have them still.
 */
export function createReportRunner(parts: ReportRunnerParts): ReportRunner {
  const { config, registry, directory, hub, logger, now, tracing = NO_TRACING } = parts;
  const { pollMs = 500, leaseMs = 20_000, atOnce = 4, atOnceHere = 2, retryMs = 5000 } = config;
  /** Tenants whose reports are made here at this moment. */
  const tenantsHere = new Set<string>();
  const shelf = new ReportShelf(parts.files, registry.reportFiles, config, logger, now);
  const ended = new Counter({
    name: 'outrider_report_jobs_total',
    help: 'Reports that were made as jobs, by how they ended',
    labelNames: ['report', 'state'],
    registers: [parts.metrics],
  });
  const stopping = new AbortController();
  let working: Promise<void> = Promise.resolve();
  let tidying: Promise<void> = Promise.resolve();
  let healthy = true;

  function spanOf({ job, attempts }: LeasedJob): Span {
    const { report, format } = requestOf(job);
    const facts = { 'outrider.job.id': job.id, 'outrider.report': report, 'outrider.format': format };
    return tracing.begin('report job', { facts: { ...facts, 'outrider.job.attempt': attempts } });
  }

  /** Says that a job is in hand for as long as it is, and ends it when it is not to go on. */
  function heartOf(leased: LeasedJob, progress: JobProgress, ending: AbortController) {
    let beating: Promise<void> = Promise.resolve();
    const beat = async () => {
      try {
        const standing = await registry.jobs.renew(leased, leaseMs, progress, null);
        if (standing !== 'held') ending.abort(new BrokenOff(standing));
      } catch (error) {
        // Should it run out, the job is another's, and the next beat says so.
        logger.warn({ err: error, job: leased.job.id }, 'the lease of a report could not be renewed');
      }
    };
    const timer = setInterval(() => {
      beating = beating.then(beat);
    }, leaseMs / 20);
    return async () => {
      clearInterval(timer);
      await beating;
    };
  }

  /** @throws {Refused} when the account may not have it */
  function askerOf({ job }: LeasedJob, request: ReportRequest): User {
    const user = job.userId === null ? undefined : directory.users.get(job.userId);
    if (user === undefined || user.blocked) throw new Refused('The account was blocked or deleted.');
    const unseen = unseenIn(request, user, directory);
    if (unseen !== null) throw new Refused(`What ${unseen} names does not exist, or the account may not see it.`);
    return user;
  }

  async function make(leased: LeasedJob, request: ReportRequest, progress: JobProgress, signal: AbortSignal) {
    const { job, lease } = leased;
    await parts.refresh?.();
    const user = askerOf(leased, request);
    const access = new ReportAccess(user, { directory, hub, registry, reportArchive: parts.reportArchive });
    const [kind, format] = [kindOf(request), formatOf(request)];
    const question = questionFor(request, access, now(), signal);
    const named = new Set<GeofenceId>(request.geofenceId === null ? [] : [request.geofenceId]);
    const sources = noting(access.sources, named);
    const pages = counted(allRows(kind, sources, question, MAX_ROWS), kind, question, progress);
    const { timeZone } = request;
    const written = format.write({ kind, pages, timeZone, archive: sources.archive, signal });
    const file = await shelf.put(job.id, lease, format.extension, written);
    const tells = { vehicleIds: question.vehicles.map(({ id }) => id), geofenceIds: [...named] };
    try {
      signal.throwIfAborted();
      await parts.refresh?.();
      if (!maySeeStill(tells, askerOf(leased, request), directory)) throw new RightsChanged();
    } catch (error) {
      await shelf.delete(file.id);
      throw error;
    }
    const { mediaType } = format;
    const result = {
      rows: progress.positions,
      bytes: file.bytes,
      name: fileName(kind.name, question, format),
      mediaType,
    };
    // Should it not be known whether it was noted, the file stays: the sweep knows later.
    if (await registry.reportFiles.finish(leased, result, { ...file, ...result, ...tells })) return result;
    await shelf.delete(file.id);
    throw new BrokenOff('lost');
  }

  async function work(leased: LeasedJob, span: Span): Promise<void> {
    const request = requestOf(leased.job);
    const progress: JobProgress = { percent: 0, positions: 0 };
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, stopping.signal]);
    const rest = heartOf(leased, progress, ending);
    try {
      if (leased.attempts > MAX_ATTEMPTS) throw new Refused(`It broke off ${MAX_ATTEMPTS} times.`);
      const { rows, bytes } = await make(leased, request, progress, signal);
      await rest();
      await tell(leased, request, { state: 'done', rows, bytes, error: null });
    } catch (error) {
      await rest();
      const why = signal.aborted ? signal.reason : error;
      span.fail(why instanceof Error ? why.message : String(why));
      await letGo(leased, request, why);
    }
  }

  async function letGo(leased: LeasedJob, request: ReportRequest, error: unknown): Promise<void> {
    const { job } = leased;
    const failures = Number(leased.resume?.failures ?? 0);
    const later = (ms: number, count: number) =>
      registry.jobs.settle(leased, { state: 'queued', resume: { failures: count }, dueAtMs: now() + ms });
    if (error instanceof BrokenOff) {
      if (error.why === 'cancel') await registry.jobs.settle(leased, { state: 'cancelled' });
      else if (error.why === 'stop') await later(0, failures);
      return;
    }
    const told = reasonOf(error);
    if (told === null) {
      if (error instanceof BusyError || error instanceof FilesFullError || error instanceof WarehouseFullError) {
        await later(retryMs, failures);
        return;
      }
      const isAnew = error instanceof RightsChanged;
      if (!isAnew) logger.error({ err: error, job: job.id, report: request.report }, 'a report failed');
      if (failures + 1 < MAX_ATTEMPTS) {
        await later(isAnew ? 0 : retryMs * (failures + 1), failures + 1);
        return;
      }
    }
    const reason = told ?? 'It failed again and again; the log says of what.';
    if (await registry.reportFiles.fail(leased, reason))
      await tell(leased, request, { state: 'failed', rows: 0, bytes: 0, error: reason });
  }

  /** Whoever is not there to hear of it asks for the job. */
  async function tell(
    { job }: LeasedJob,
    { report, format }: ReportRequest,
    end: Pick<ReportJobNews, 'state' | 'rows' | 'bytes' | 'error'>,
  ): Promise<void> {
    ended.inc({ report, state: end.state });
    if (job.userId === null) return;
    const news: ReportJobNews = { userId: job.userId, jobId: job.id, report, format, ...end, finishedAtMs: now() };
    try {
      await hub.publish(REPORT_JOB_CHANNEL, JSON.stringify(news));
    } catch (error) {
      logger.warn({ err: error, job: job.id }, 'the end of a report could not be told');
    }
  }

  /** Leases one job at a time, so that two of them never are of one tenant. */
  let leasing: Promise<unknown> = Promise.resolve();

  function leaseNext(): Promise<LeasedJob | null> {
    const next = leasing.then(async () => {
      if (stopping.signal.aborted) return null;
      // One that broke off too often is taken once more, to tell of it.
      const leased = await registry.jobs.lease({
        kinds: [REPORT_JOB],
        leaseMs,
        atOnce,
        perTenant: Math.ceil(atOnce / 2),
        withoutTenants: tenantsHere,
        maxAttempts: MAX_ATTEMPTS + 1,
      });
      if (leased !== null) tenantsHere.add(leased.tenant);
      return leased;
    });
    leasing = next.catch(() => {});
    return next;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const leased = await leaseNext();
        healthy = true;
        if (leased === null) {
          await pause(pollMs);
          continue;
        }
        try {
          await inSpan(spanOf(leased), (span) => work(leased, span));
        } finally {
          tenantsHere.delete(leased.tenant);
        }
      } catch (error) {
        if (healthy) logger.error({ err: error }, 'reports can not be worked at; trying on');
        healthy = false;
        await pause(retryMs);
      }
    }
  }

  async function keepTidy(): Promise<void> {
    let sweptAtMs = Number.NEGATIVE_INFINITY;
    while (!stopping.signal.aborted) {
      try {
        await shelf.tidy();
        if (now() - sweptAtMs >= SWEEP_EVERY_MS) {
          await shelf.sweep();
          sweptAtMs = now();
        }
      } catch (error) {
        logger.error({ err: error }, 'files of reports that are out of date were not removed; trying again later');
      }
      await pause(TIDY_EVERY_MS);
    }
  }

  function pause(ms: number): Promise<void> {
    return wait(ms, undefined, { signal: stopping.signal }).catch(() => {});
  }

  return {
    name: 'reports',
    get healthy() {
      return healthy;
    },
    async start() {
      working = Promise.all(Array.from({ length: Math.min(atOnceHere, atOnce) }, run)).then(() => {});
      tidying = keepTidy();
    },
    async stop() {
      stopping.abort(new BrokenOff('stop'));
      await working;
      await tidying;
    },
  };
}

/** Why there will be no such report, for whoever asked for it; null where it may come out another time. */
function reasonOf(error: unknown): string | null {
  if (error instanceof Refused) return error.message;
  if (error instanceof TooManyRowsError || error instanceof ReportTooLargeError)
    return `${error.message}: ask for fewer vehicles, or for less time.`;
  if (error instanceof TooMuchError)
    return `It takes more ${error.what} than one question may: ask for fewer vehicles, or for less time.`;
  return null;
}

/** The same sources, that note which geofences they named. */
function noting(sources: ReportSources, named: Set<GeofenceId>): ReportSources {
  return {
    ...sources,
    geofenceName(id) {
      const name = sources.geofenceName(id);
      if (name !== null) named.add(id);
      return name;
    },
  };
}

async function* counted(
  pages: AsyncIterable<Row[]>,
  kind: ReportKind,
  question: Question,
  progress: JobProgress,
): AsyncGenerator<Row[]> {
  const percentOf = progressOf(kind, question);
  for await (const rows of pages) {
    progress.positions += rows.length;
    const last = rows.at(-1);
    // What is left is to be written, and to be put into its place.
    if (last !== undefined) progress.percent = Math.min(percentOf(last), 99);
    yield rows;
  }
}

function fileName(report: string, { fromMs, toMs }: Question, { extension }: Format): string {
  const day = (timeMs: number) => isoTime(timeMs).slice(0, 10);
  return fromMs === 0
    ? `${report}-${day(toMs)}.${extension}`
    : `${report}-${day(fromMs)}-${day(toMs - 1)}.${extension}`;
}
