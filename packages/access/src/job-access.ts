import type {
  Directory,
  Geofence,
  GeofenceId,
  GroupId,
  JobId,
  User,
  UserId,
  Vehicle,
  VehicleId,
} from '@outrider/domain';
import { groupLimitOf, isoTime } from '@outrider/domain';
import { DamagedFileError, type Files } from '@outrider/files';
import {
  dealersOfUser,
  ERASE_HISTORY,
  ERASURE,
  type ErasureFacts,
  type Job,
  type JobFilter,
  type Page,
  type Paging,
  RETENTION,
  type Registry,
  type ReportFile,
  TooManyJobsError,
} from '@outrider/registry';
import { REPORT_JOB, type ReportRequest, requestOf, subjectOf } from '@outrider/reports';
import { type ExportedPerson, mayExport, PERSON_EXPORT } from './accounts/person-export.ts';
import { badField, badParameter, notFound, Problem } from './problem.ts';
import { quotaExceeded } from './quota-access.ts';
import { maySeeStill, type NamedByReport, seenDrivers, seenVehicles, unseenIn } from './report-access.ts';
import { isOperator, rightToGeofence, rightToGroup, rightToVehicle } from './rights.ts';

/** A time range in the past, in Unix milliseconds; the end is exclusive. */
export interface TimeRange {
  fromMs: number;
  toMs: number;
}

/** The longest time range of one recalculation. */
export const MAX_RECALCULATED_DAYS = 31;

/** The data behind a caller's jobs. */
export interface JobSources {
  registry: Pick<Registry, 'jobs' | 'quotas' | 'reportFiles'>;
  directory: Directory;
  /** Files of reports. */
  reportFiles: Pick<Files, 'get' | 'info'>;
  config: { reports: ReportJobsConfig; erasure: ErasureConfig };
}

/** Settings of the erasure of deleted objects' data. */
export interface ErasureConfig {
  /** Time for which an erasure can be cancelled. */
  graceMs: number;
}

export interface ReportJobsConfig {
  /** Days for which the file of a report is kept. */
  retentionDays: number;
}

const DAY_MS = 86_400_000;

/** A caller's own jobs, as the part of `Access` for them. Operators see everyone's. */
export class JobAccess {
  readonly #caller: User;
  readonly #sources: JobSources;

  constructor(caller: User, sources: JobSources) {
    this.#caller = caller;
    this.#sources = sources;
  }

  /** @param geofence that the caller may change */
  recalculateGeofence(geofence: Geofence, range: TimeRange): Promise<Job> {
    const { id, name, ownerId } = geofence;
    return this.#add('recalculate-geozone', range, {
      subject: { kind: 'geofence', id, name },
      dealerIds: [],
      ownerIds: [ownerId],
    });
  }

  /** @param vehicle that the caller may change */
  recalculateVehicle(vehicle: Vehicle, range: TimeRange): Promise<Job> {
    const { id, name, dealerId } = vehicle;
    return this.#add('recalculate-vehicle', range, {
      subject: { kind: 'vehicle', id, name },
      dealerIds: dealerId === null ? [] : [dealerId],
      ownerIds: [],
    });
  }

  async addReport(request: ReportRequest): Promise<Job> {
    requireSeen(request, this.#caller, this.#sources.directory);
    // The size of the file is unknown in advance, so the last one may exceed the quota.
    const storage = await this.#sources.registry.quotas.use(this.#caller.id, 'account', 'storageBytes');
    if (storage.used >= storage.limit) throw quotaExceeded({ ...storage, requested: 1 });
    const { id, login } = this.#caller;
    const { report, format, fromMs, toMs, timeZone } = request;
    const at = (timeMs: number | null) => timeMs && isoTime(timeMs);
    return limited(
      this.#sources.registry.jobs.create(
        {
          kind: REPORT_JOB,
          userId: id,
          subjectId: subjectOf(request),
          parameters: { ...request, limitedTo: groupLimitOf(this.#caller) },
          dueAtMs: 0,
        },
        {
          action: 'report-requested',
          subject: { kind: 'user', id, name: login },
          after: { report, format, from: at(fromMs), to: at(toMs), timeZone },
          dealerIds: dealersOfUser(this.#caller),
          ownerIds: [],
        },
      ),
    );
  }

  /**
   * @param person whose data the caller may export
   * @param name as shown in the audit trail
   */
  addExport(person: ExportedPerson, name: string, dealerIds: readonly UserId[]): Promise<Job> {
    return limited(
      this.#sources.registry.jobs.create(
        {
          ...{ kind: PERSON_EXPORT, userId: this.#caller.id, subjectId: person.id, dueAtMs: 0 },
          parameters: { subject: person.subject },
        },
        {
          ...{ action: 'person-exported', after: null, dealerIds, ownerIds: [] },
          subject: { kind: person.subject, id: person.id, name },
        },
      ),
    );
  }

  /** The file of a finished export, for the user who requested it and may still have it. */
  async exportFile(id: JobId): Promise<ReportFile> {
    const job = await this.#job(id);
    if (job.kind !== PERSON_EXPORT || job.userId !== this.#caller.id) throw notFound();
    if (job.state !== 'done') throw notDone(job);
    const { registry, directory, reportFiles, config } = this.#sources;
    const person = { subject: job.parameters.subject, id: job.subjectId } as ExportedPerson;
    const file = await registry.reportFiles.of(id);
    if (file === null || !mayExport(this.#caller, person, directory) || (await reportFiles.info(file.id)) === null)
      throw new Problem('gone', `The file was deleted: exports are kept for ${config.reports.retentionDays} days.`);
    return file;
  }

  async job(id: JobId): Promise<Job> {
    return this.#shown(await this.#job(id));
  }

  /** The newest first. */
  async jobs(filter: Omit<JobFilter, 'userId'>, paging: Paging): Promise<Page<Job>> {
    const own = isOperator(this.#caller) ? {} : { userId: this.#caller.id };
    const page = await this.#sources.registry.jobs.list({ ...filter, ...own }, paging);
    return { ...page, items: page.items.filter((job) => this.#sees(job)).map((job) => this.#shown(job)) };
  }

  /** Time for which the file of a report is kept. */
  get retentionMs(): number {
    return this.#sources.config.reports.retentionDays * DAY_MS;
  }

  /** The file of a finished report, if the caller may see everything in it now. */
  async reportFile(id: JobId): Promise<ReportFile> {
    const job = await this.#job(id);
    if (job.kind !== REPORT_JOB) throw notFound();
    if (job.state !== 'done') throw notDone(job);
    const { registry, directory, reportFiles, config } = this.#sources;
    const file = await registry.reportFiles.of(id);
    const { retentionDays } = config.reports;
    if (file === null)
      throw new Problem('gone', `The file was deleted: files of reports are kept for ${retentionDays} days at most.`);
    if (!this.#isWithinLimit(requestOf(job)) || !maySeeStill(file, this.#caller, directory))
      throw new Problem(
        'gone',
        'The file contains data that this account may no longer see: request the report again.',
      );
    if ((await reportFiles.info(file.id)) === null) throw new DamagedFileError(file.id, 'it is not there');
    return file;
  }

  /** Streams the bytes of a file that {@link reportFile} returned. */
  async *reportBytes(file: ReportFile, start: number, end: number): AsyncIterable<Uint8Array> {
    const bytes = await this.#sources.reportFiles.get(file.id, { start, end });
    if (bytes === null) throw new Error(`the file of ${file.jobId} was deleted meanwhile`);
    yield* bytes;
  }

  /** Cancels a job; completed work is not undone. */
  async cancel(id: JobId): Promise<Job> {
    const job = await this.#job(id);
    if (job.kind === ERASE_HISTORY || job.kind === RETENTION)
      throw new Problem('conflict', 'An erasure of history cannot be cancelled.');
    if (job.kind !== ERASURE) return this.#shown(await this.#sources.registry.jobs.cancel(id));
    const { subject } = job.parameters as ErasureFacts;
    const now = await this.#sources.registry.jobs.cancel(id, {
      action: 'erasure-cancelled',
      subject: { kind: subject, id: job.subjectId, name: job.subjectId ?? '' },
      before: null,
      after: null,
      dealerIds: [],
      ownerIds: [],
    });
    if (now.state === 'running') throw new Problem('conflict', 'The erasure has begun and can no longer be cancelled.');
    return this.#shown(now);
  }

  async #add(
    kind: string,
    { fromMs, toMs }: TimeRange,
    about: Pick<Parameters<Registry['jobs']['create']>[1], 'subject' | 'dealerIds' | 'ownerIds'>,
  ): Promise<Job> {
    if (toMs <= fromMs) throw badParameter('to', 'It must be later than from.');
    if (toMs - fromMs > MAX_RECALCULATED_DAYS * 86_400_000)
      throw badParameter('to', `It must be at most ${MAX_RECALCULATED_DAYS} days after from.`);
    return limited(
      this.#sources.registry.jobs.create(
        {
          kind,
          userId: this.#caller.id,
          subjectId: about.subject.id,
          // The end of a job's time range is inclusive.
          parameters: { fromMs, toMs: toMs - 1, receivedAtMs: null },
          dueAtMs: 0,
        },
        { ...about, action: 'recalculated', after: { from: isoTime(fromMs), to: isoTime(toMs) } },
      ),
    );
  }

  async #job(id: JobId): Promise<Job> {
    const job = await this.#sources.registry.jobs.get(id);
    if (job === null || !this.#sees(job)) throw notFound();
    return job;
  }

  #sees({ userId }: Job): boolean {
    return isOperator(this.#caller) || userId === this.#caller.id;
  }

  /** A report of the whole account names drivers and places that a key which is limited to groups may not see. */
  #isWithinLimit({ limitedTo }: ReportRequest): boolean {
    const limit = groupLimitOf(this.#caller);
    return limit === null || (limitedTo?.every((id) => limit.includes(id)) ?? false);
  }

  /** Hides the subject of a job if the caller may no longer see it. */
  #shown(job: Job): Job {
    const { directory } = this.#sources;
    const { subjectId } = job;
    // An erased object no longer exists, and only operators see these jobs.
    if (job.kind === ERASURE) return job;
    const vehicle = directory.vehicles.get(subjectId as VehicleId);
    const geofence = directory.geofences.get(subjectId as GeofenceId);
    const owner = directory.ownerOf(geofence);
    const group = directory.groups.get(subjectId as GroupId);
    if (job.kind === PERSON_EXPORT) {
      const person = { subject: job.parameters.subject, id: subjectId } as ExportedPerson;
      return mayExport(this.#caller, person, directory) ? job : { ...job, subjectId: null };
    }
    const rights = [
      rightToVehicle(this.#caller, vehicle),
      rightToGeofence(this.#caller, geofence, owner),
      rightToGroup(this.#caller, group),
    ];
    return rights.some((right) => right !== 'none') ? job : { ...job, subjectId: null };
  }
}

/** @throws {Problem} `conflict` where the user has too many open jobs */
export async function limited(created: Promise<Job>): Promise<Job> {
  try {
    return await created;
  } catch (error) {
    if (error instanceof TooManyJobsError)
      throw new Problem(
        'conflict',
        `This account already has ${error.most} unfinished jobs: wait until one has finished, or cancel one.`,
      );
    throw error;
  }
}

function notDone({ state, progress, error }: Job): Problem {
  const why = error === null ? '' : `: ${error}`;
  const detail =
    state === 'queued' || state === 'running'
      ? `The job is ${state}, at ${Math.floor(progress.percent)} %.`
      : `The job is ${state}${why}`;
  return new Problem('not-done', detail, { errors: [{ parameter: 'id', detail: state }] });
}

const NAMED = {
  ...({ vehicleId: 'vehicle', vehicleIds: 'vehicle', groupId: 'group', geozoneId: 'geozone' } as const),
  driverIds: 'driver',
} as const;

/** @throws {Problem} when the caller does not see an object that the report names */
export function requireSeen(request: NamedByReport, caller: User, directory: Directory): void {
  const { vehicleIds, driverIds } = request;
  if (vehicleIds) {
    const seen = new Set(seenVehicles(vehicleIds, caller, directory));
    const nth = vehicleIds.findIndex((id) => !seen.has(id));
    if (nth >= 0) throw badField(`/vehicleIds/${nth}`, 'There is no such vehicle.');
  }
  if (driverIds) {
    const seen = new Set(seenDrivers(driverIds, caller, directory));
    const nth = driverIds.findIndex((id) => !seen.has(id));
    if (nth >= 0) throw badField(`/driverIds/${nth}`, 'There is no such driver.');
  }
  const unseen = unseenIn(request, caller, directory);
  if (unseen !== null) throw badField(`/${unseen}`, `There is no such ${NAMED[unseen]}.`);
}
