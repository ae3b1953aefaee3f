import { type ExportedPerson, exportOf, mayExport, PERSON_EXPORT, ReportAccess } from '@outrider/access';
import { isoTime } from '@outrider/domain';
import type { LeasedJob } from '@outrider/registry';
import { type Part, worker } from '@outrider/runtime';
import { ReportFileStore, ReportTooLargeError } from './report-files.ts';
import { isPassing, MAX_ATTEMPTS } from './retries.ts';
import type { ReportRunnerParts } from './runner.ts';

export interface PersonExportParts extends Omit<ReportRunnerParts, 'registry'> {
  registry: ReportRunnerParts['registry'] & Parameters<typeof exportOf>[2]['registry'];
}

const LEASE_MS = 60_000;
const RETRY_MS = 10_000;
const FILE_TYPE = { mediaType: 'application/json', extension: 'json' };

interface Task {
  leased: LeasedJob;
  /** Aborted when the job was cancelled or its lease is lost. */
  ending: AbortController;
}

/** The account may not have the export (any more); the message says why. */
class Refused extends Error {}

/**
 * Makes the exports of personal data, one at a time in each process. Their files are kept like those of reports. A file
 * is stored whole or not at all, under a name of the attempt, and is recorded together with the end of its job.
 */
export function createPersonExports(parts: PersonExportParts): Part & { readonly healthy: boolean } {
  const { config, registry, directory, logger, clock } = parts;
  const store = new ReportFileStore(parts.files, registry.reportFiles, config, logger, clock.now);

  async function make({ leased, ending }: Task, stop: AbortSignal): Promise<void> {
    const { job, lease } = leased;
    await parts.refresh?.();
    const caller = directory.userOf(job);
    const person = { subject: job.parameters.subject, id: job.subjectId } as ExportedPerson;
    if (caller === undefined || caller.blocked || !mayExport(caller, person, directory))
      throw new Refused('The account was blocked, or lost the right to the data.');
    const signal = AbortSignal.any([ending.signal, stop]);
    const nowMs = clock.now();
    const access = new ReportAccess(caller, parts);
    const sources = { registry, reports: access.sources, vehicles: access.vehicles(null), nowMs, signal };
    const counted = { rows: 0 };
    const written = untilAborted(exportOf(caller, person, sources), counted, signal);
    const file = await store.put(job.id, lease, FILE_TYPE.extension, written);
    const result = {
      ...{ rows: counted.rows, bytes: file.bytes, mediaType: FILE_TYPE.mediaType },
      name: `${person.subject}-${person.id}-${isoTime(nowMs).slice(0, 10)}.json`,
    };
    const noted = { ...file, ...result, vehicleIds: [], geofenceIds: [] };
    // If this fails, the file stays: the sweep removes it unless the job ended with it.
    if (!(await registry.reportFiles.finish(leased, result, noted))) await store.delete(file.id);
  }

  async function run(task: Task, stop: AbortSignal): Promise<void> {
    const { leased, ending } = task;
    try {
      if (leased.attempts > MAX_ATTEMPTS) throw new Refused(`It was interrupted ${MAX_ATTEMPTS} times.`);
      await make(task, stop);
    } catch (error) {
      if (ending.signal.aborted) {
        await registry.jobs.settle(leased, { state: 'cancelled' });
        return;
      }
      const failures = Number(leased.resume?.failures ?? 0) + (stop.aborted || isPassing(error) ? 0 : 1);
      const isFinal = error instanceof Refused || error instanceof ReportTooLargeError || failures >= MAX_ATTEMPTS;
      if (isFinal) {
        const known = error instanceof Refused || error instanceof ReportTooLargeError;
        const said = known ? error.message : 'It failed repeatedly. The log of the service contains the cause.';
        await registry.jobs.settle(leased, { state: 'failed', error: said });
      } else {
        const dueAtMs = clock.now() + (stop.aborted ? 0 : RETRY_MS);
        await registry.jobs.settle(leased, { state: 'queued', resume: { failures }, dueAtMs });
      }
      if (!stop.aborted && !(error instanceof Refused)) throw error;
    }
  }

  return worker<Task>({
    name: 'person exports',
    atOnce: 1,
    async lease() {
      const options = { kinds: [PERSON_EXPORT], leaseMs: LEASE_MS, atOnce: 2, maxAttempts: MAX_ATTEMPTS + 1 };
      const leased = await registry.jobs.lease(options);
      return leased === null ? [] : [{ leased, ending: new AbortController() }];
    },
    run,
    renew: {
      everyMs: LEASE_MS / 4,
      leases: (tasks) =>
        Promise.all(
          tasks.map(async ({ leased, ending }) => {
            const held = await registry.jobs.renew(leased, LEASE_MS, { percent: 0, positions: 0 }, null);
            if (held !== 'held') ending.abort();
          }),
        ),
    },
    clock,
    facts: ({ leased }) => ({ job: leased.job.id }),
    pollMs: config.pollMs ?? 500,
    logger,
  });
}

/** Passes the parts on until the export must not go on. */
async function* untilAborted(
  parts: AsyncIterable<string>,
  counted: { rows: number },
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const part of parts) {
    signal.throwIfAborted();
    counted.rows += 1;
    yield part;
  }
}
