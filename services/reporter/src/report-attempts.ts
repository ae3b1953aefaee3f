import { maySeeStill, questionFor, ReportAccess, unseenIn } from '@outrider/access';
import {
  callerWithin,
  type GeofenceId,
  isoTime,
  REPORT_JOB_CHANNEL,
  type ReportJobNews,
  type User,
} from '@outrider/domain';
import type { JobProgress, LeasedJob } from '@outrider/registry';
import {
  allRows,
  type Format,
  formatOf,
  GroupTotals,
  kindOf,
  type Question,
  type ReportKind,
  type ReportRequest,
  type ReportSources,
  type Row,
  requestOf,
  shownAs,
  summaryLines,
  TooManyRowsError,
} from '@outrider/reports';
import { Counter, type Span } from '@outrider/runtime';
import { TooMuchError } from '@outrider/warehouse';
import type { ReportFailure } from '@outrider/words/messages';
import { progressOf } from './progress.ts';
import { type ReportFileStore, ReportTooLargeError } from './report-files.ts';
import { isPassing, MAX_ATTEMPTS } from './retries.ts';
import type { ReportRunnerParts } from './runner.ts';

/** A report that is being made. */
export interface ReportTask {
  leased: LeasedJob;
  progress: JobProgress;
  /** Aborted with a {@link BrokenOff} when the job was cancelled or its lease is lost. */
  ending: AbortController;
}

/** How long one job may wait for addresses; a call waits less. */
const ADDRESSES_MS = 120_000;
/** Never attained in practice: the limit of bytes ends a report earlier. */
const MAX_ROWS = 100_000_000;

/** The job was cancelled, another worker has it, or the service stops. */
class BrokenOff extends Error {
  readonly why: 'cancel' | 'lost' | 'stop';
  constructor(why: BrokenOff['why']) {
    super(why);
    this.why = why;
  }
}

/** The account may not have the report; the message says why. */
class Refused extends Error {
  readonly reason: ReportFailure;
  constructor(message: string, reason: ReportFailure) {
    super(message);
    this.reason = reason;
  }
}

/** The account lost the right to see part of the report: it is made again. */
class RightsChanged extends Error {}

/**
 * Attempts at report jobs.
 *
 * Why a crash leads neither to a wrong report nor to a missing one:
 * - The next worker begins a job again from the first row. A file is stored whole or not at all, under a name of the
 *   attempt, and is recorded together with the end of its job in one transaction.
 * - The rights of the user decide what a report contains. They are checked while it is made, when it is done, and when
 *   it is fetched.
 */
export class ReportAttempts {
  readonly #parts: ReportRunnerParts;
  readonly #store: ReportFileStore;
  readonly #times: { leaseMs: number; retryMs: number };
  readonly #ended: Counter<'report' | 'state'>;

  constructor(parts: ReportRunnerParts, store: ReportFileStore, times: { leaseMs: number; retryMs: number }) {
    this.#parts = parts;
    this.#store = store;
    this.#times = times;
    this.#ended = new Counter({
      name: 'outrider_report_jobs_total',
      help: 'Report jobs, by outcome',
      labelNames: ['report', 'state'],
      registers: [parts.metrics],
    });
  }

  /** Renews the lease, and aborts the attempt when it must not go on. */
  async renew({ leased, progress, ending }: ReportTask): Promise<void> {
    const lease = await this.#parts.registry.jobs.renew(leased, this.#times.leaseMs, progress, null);
    if (lease !== 'held') ending.abort(new BrokenOff(lease));
  }

  async run(task: ReportTask, stop: AbortSignal, span: Span): Promise<void> {
    const { leased, ending } = task;
    const request = requestOf(leased.job);
    try {
      if (leased.attempts > MAX_ATTEMPTS) throw new Refused(`It was interrupted ${MAX_ATTEMPTS} times.`, 'failed');
      const { rows, bytes } = await this.#make(task, request, AbortSignal.any([ending.signal, stop]));
      await this.#publish(leased, request, { state: 'done', rows, bytes, error: null });
    } catch (error) {
      const why = ending.signal.aborted ? ending.signal.reason : stop.aborted ? new BrokenOff('stop') : error;
      span.fail(why instanceof Error ? why.message : String(why));
      await this.#settle(leased, request, why);
    }
  }

  /** @throws {Refused} when the account may not have the report */
  #askerOf({ job }: LeasedJob, request: ReportRequest): User {
    const { directory } = this.#parts;
    const account = directory.userOf(job);
    if (account === undefined || account.blocked) throw new Refused('The account was blocked or deleted.', 'gone');
    const user = callerWithin(account, request.limitedTo);
    const unseen = unseenIn(request, user, directory);
    if (unseen !== null)
      throw new Refused(`An object of ${unseen} does not exist, or the account may not see it.`, 'gone');
    return user;
  }

  async #make({ leased, progress }: ReportTask, request: ReportRequest, signal: AbortSignal) {
    const { job, lease } = leased;
    const { registry, directory, hub, reportArchive, geocoder, clock, refresh } = this.#parts;
    await refresh?.();
    const user = this.#askerOf(leased, request);
    const access = new ReportAccess(user, { directory, hub, registry, reportArchive, geocoder }, ADDRESSES_MS);
    const format = formatOf(request);
    const { columns = null, groupBy = null, language = null, title = null, timeZone } = request;
    const kind = shownAs(kindOf(request), format, columns);
    const question = questionFor(request, access, clock.now(), signal);
    const named = new Set<GeofenceId>(request.geofenceId === null ? [] : [request.geofenceId]);
    const sources = noting(access.sources, named);
    const rows = allRows(kind, sources, question, format.maxRows ?? MAX_ROWS);
    const pages = counted(rows, kindOf(request), question, progress);
    const { fromMs, toMs } = request;
    const isNow = fromMs === null || toMs === null;
    const incomplete = isNow ? [] : await access.incomplete(fromMs, toMs);
    const reading = await access.reading(language, { title, fromMs, toMs, madeAtMs: question.nowMs, incomplete });
    const totals = new GroupTotals(kind, null, timeZone);
    const written = format.write({
      ...{ kind, pages: totalled(pages, totals), timeZone, columns, groupBy, reading, signal },
      archive: sources.archive,
    });
    const file = await this.#store.put(job.id, lease, format.extension, written);
    const contents = { vehicleIds: question.vehicles.map(({ id }) => id), geofenceIds: [...named] };
    try {
      signal.throwIfAborted();
      await refresh?.();
      if (!maySeeStill(contents, this.#askerOf(leased, request), directory)) throw new RightsChanged();
    } catch (error) {
      await this.#store.delete(file.id);
      throw error;
    }
    const { mediaType } = format;
    const summary = await summaryLines(kind, totals, reading, timeZone);
    const historyFromMs = fromMs === null ? null : await access.historyFrom(contents.vehicleIds, fromMs);
    const result = {
      rows: progress.positions,
      bytes: file.bytes,
      name: fileName(kind.name, question, format),
      mediaType,
    };
    // If this fails, the file stays: the sweep removes it unless the job ended with it.
    if (
      await registry.reportFiles.finish(
        leased,
        {
          ...{ ...result, summary },
          ...(historyFromMs !== null && { historyFromMs }),
          ...(incomplete.length > 0 && { incomplete }),
        },
        { ...file, ...result, ...contents },
      )
    )
      return result;
    await this.#store.delete(file.id);
    throw new BrokenOff('lost');
  }

  async #settle(leased: LeasedJob, request: ReportRequest, error: unknown): Promise<void> {
    const { job } = leased;
    const { registry, logger, clock } = this.#parts;
    const { retryMs } = this.#times;
    const failures = Number(leased.resume?.failures ?? 0);
    const later = (ms: number, count: number) =>
      registry.jobs.settle(leased, { state: 'queued', resume: { failures: count }, dueAtMs: clock.now() + ms });
    if (error instanceof BrokenOff) {
      if (error.why === 'cancel') await registry.jobs.settle(leased, { state: 'cancelled' });
      else if (error.why === 'stop') await later(0, failures);
      return;
    }
    const known = reasonOf(error);
    if (known === null) {
      if (isPassing(error)) {
        await later(retryMs, failures);
        return;
      }
      const isAnew = error instanceof RightsChanged;
      if (!isAnew) logger.error({ err: error, job: job.id, report: request.report }, 'report failed');
      if (failures + 1 < MAX_ATTEMPTS) {
        await later(isAnew ? 0 : retryMs * (failures + 1), failures + 1);
        return;
      }
    }
    const { said, reason } = known ?? {
      said: 'It failed repeatedly. The log of the service contains the cause.',
      reason: 'failed' satisfies ReportFailure,
    };
    if (await registry.reportFiles.fail(leased, said, reason))
      await this.#publish(leased, request, { state: 'failed', rows: 0, bytes: 0, error: said });
  }

  /** Notifies connected clients. Others query the job. */
  async #publish(
    { job }: LeasedJob,
    { report, format }: ReportRequest,
    end: Pick<ReportJobNews, 'state' | 'rows' | 'bytes' | 'error'>,
  ): Promise<void> {
    const { hub, logger, clock } = this.#parts;
    this.#ended.inc({ report, state: end.state });
    if (job.userId === null) return;
    const news: ReportJobNews = {
      userId: job.userId,
      jobId: job.id,
      report,
      format,
      ...end,
      finishedAtMs: clock.now(),
    };
    try {
      await hub.publish(REPORT_JOB_CHANNEL, JSON.stringify(news));
    } catch (error) {
      logger.warn({ err: error, job: job.id }, 'end of a report not published');
    }
  }
}

/** Why the report is impossible, as a sentence and as a code for messages; null when another attempt may succeed. */
function reasonOf(error: unknown): { said: string; reason: ReportFailure } | null {
  if (error instanceof Refused) return { said: error.message, reason: error.reason };
  if (error instanceof TooManyRowsError || error instanceof ReportTooLargeError)
    return { said: `${error.message}: request fewer vehicles, or a shorter time range.`, reason: 'too-large' };
  if (error instanceof TooMuchError)
    return {
      said: `It needs more ${error.what} than allowed: request fewer vehicles, or a shorter time range.`,
      reason: 'too-large',
    };
  return null;
}

/** Wraps the sources, and collects the geofences that they name. */
function noting(sources: ReportSources, named: Set<GeofenceId>): ReportSources {
  return {
    ...sources,
    geofenceName(id) {
      const name = sources.geofenceName(id);
      if (name !== null) named.add(id);
      return name;
    },
    async placesOf(points) {
      const places = await sources.placesOf(points);
      for (const place of places) if (place?.geozoneId) named.add(place.geozoneId);
      return places;
    },
  };
}

async function* totalled(pages: AsyncIterable<Row[]>, totals: GroupTotals): AsyncGenerator<Row[]> {
  for await (const rows of pages) {
    for (const row of rows) totals.add(row);
    yield rows;
  }
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
    // The file still has to be written and stored.
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
