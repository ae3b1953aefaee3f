import type { Directory, Geofence, GeofenceId, JobId, User, Vehicle, VehicleId } from '@outrider/domain';
import { isoTime } from '@outrider/domain';
import { type Job, type JobFilter, type Page, type Paging, type Registry, TooManyJobsError } from '@outrider/registry';
import { badParameter, notFound, Problem } from './problem.ts';
import { isOperator, rightToGeofence, rightToVehicle } from './rights.ts';

/** A stretch of the past, in Unix milliseconds: its start, and the moment after its end. */
export interface Stretch {
  fromMs: number;
  toMs: number;
}

/** How long a stretch can be recalculated at once. */
export const MAX_RECALCULATED_DAYS = 31;

/** The data behind a caller's jobs. */
export interface JobSources {
  registry: Pick<Registry, 'jobs'>;
  directory: Directory;
}

/** A caller's jobs, and nothing else: the part of `Reach` that they are reached by. An operator sees everybody's. */
export class JobReach {
  readonly #caller: User;
  readonly #sources: JobSources;

  constructor(caller: User, sources: JobSources) {
    this.#caller = caller;
    this.#sources = sources;
  }

  /** @param geofence that the caller may change */
  recalculateGeofence(geofence: Geofence, stretch: Stretch): Promise<Job> {
    const { id, name, ownerId } = geofence;
    return this.#add('recalculate-geozone', stretch, {
      subject: { kind: 'geofence', id, name },
      dealerIds: [],
      ownerIds: [ownerId],
    });
  }

  /** @param vehicle that the caller may change */
  recalculateVehicle(vehicle: Vehicle, stretch: Stretch): Promise<Job> {
    const { id, name, dealerId } = vehicle;
    return this.#add('recalculate-vehicle', stretch, {
      subject: { kind: 'vehicle', id, name },
      dealerIds: dealerId === null ? [] : [dealerId],
      ownerIds: [],
    });
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

  /** Calls it off; what it has done stays done. */
  async cancel(id: JobId): Promise<Job> {
    await this.#job(id);
    return this.#shown(await this.#sources.registry.jobs.cancel(id));
  }

  async #add(
    kind: string,
    { fromMs, toMs }: Stretch,
    about: Pick<Parameters<Registry['jobs']['create']>[1], 'subject' | 'dealerIds' | 'ownerIds'>,
  ): Promise<Job> {
    if (toMs <= fromMs) throw badParameter('to', 'It must be later than from.');
    if (toMs - fromMs > MAX_RECALCULATED_DAYS * 86_400_000)
      throw badParameter('to', `It may be ${MAX_RECALCULATED_DAYS} days after from at most.`);
    try {
      return await this.#sources.registry.jobs.create(
        {
          kind,
          userId: this.#caller.id,
          subjectId: about.subject.id,
          // A job's stretch has its last millisecond.
          parameters: { fromMs, toMs: toMs - 1, receivedAtMs: null },
          dueAtMs: 0,
        },
        { ...about, action: 'recalculated', after: { from: isoTime(fromMs), to: isoTime(toMs) } },
      );
    } catch (error) {
      if (error instanceof TooManyJobsError)
        throw new Problem('conflict', `${error.most} of your jobs are not over: wait for one, or cancel one.`);
      throw error;
    }
  }

  async #job(id: JobId): Promise<Job> {
    const job = await this.#sources.registry.jobs.get(id);
    if (job === null || !this.#sees(job)) throw notFound();
    return job;
  }

  #sees({ userId }: Job): boolean {
    return isOperator(this.#caller) || userId === this.#caller.id;
  }

  /** Without what it is about, where the caller may not see that any more. */
  #shown(job: Job): Job {
    const { directory } = this.#sources;
    const { subjectId } = job;
    const vehicle = directory.vehicles.get(subjectId as VehicleId);
    const geofence = directory.geofences.get(subjectId as GeofenceId);
    const owner = geofence && directory.users.get(geofence.ownerId);
    const isSeen =
      (vehicle !== undefined && rightToVehicle(this.#caller, vehicle) !== 'none') ||
      (geofence !== undefined && rightToGeofence(this.#caller, geofence, owner) !== 'none');
    return isSeen ? job : { ...job, subjectId: null };
  }
}
