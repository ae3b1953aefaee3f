import type { GeofenceId, JobId, UserId, VehicleId } from '@outrider/domain';
import type { ReportFileRow } from '../store/schema.ts';
import { inChunks, type Store } from '../store/store.ts';
import { type JobFacts, jobLeases, type LeasedJob, settleJob } from '../work/jobs.ts';
import type { Leases } from '../work/leases.ts';
import { insertReportDeliveries } from './report-deliveries.ts';

/** File of a report that a job made, and its subjects. */
export interface ReportFile {
  /** Id in the file store. */
  id: string;
  jobId: JobId;
  userId: UserId;
  /** File name suggested to the client. */
  name: string;
  mediaType: string;
  bytes: number;
  /** In hexadecimal. */
  sha256: string;
  storedAtMs: number;
  /** Vehicles that it may be about: only an account that may still see them gets the file. */
  vehicleIds: readonly VehicleId[];
  geofenceIds: readonly GeofenceId[];
}

export type ReportFileFields = Omit<ReportFile, 'jobId' | 'userId' | 'storedAtMs'>;

/** Identifies a file, without its subjects. */
export type StoredReport = Pick<ReportFile, 'id' | 'jobId' | 'userId' | 'bytes' | 'storedAtMs'>;

/** Report files, for as long as they are kept. */
export class ReportFiles {
  readonly #store: Store;
  readonly #jobs: Leases<'jobs'>;

  constructor(store: Store) {
    this.#store = store;
    this.#jobs = jobLeases(store);
  }

  /**
   * Ends a report's job, and records its file in the same transaction.
   *
   * @returns false when another worker held the job by then: nothing was noted
   */
  finish(
    leased: Pick<LeasedJob, 'job' | 'lease'>,
    result: JobFacts & { rows: number },
    file: ReportFileFields,
  ): Promise<boolean> {
    const { userId } = leased.job;
    if (userId === null) throw new Error('a report is made for somebody');
    return this.#store.write(async ({ tx, nowMs, newId }) => {
      if (!(await settleJob(this.#jobs, tx, leased, { state: 'done', result, positions: result.rows }, nowMs)))
        return false;
      const row: ReportFileRow = {
        id: file.id,
        jobId: leased.job.id,
        userId,
        name: file.name,
        mediaType: file.mediaType,
        bytes: file.bytes,
        sha256: file.sha256,
        storedAtMs: nowMs,
        vehicles: JSON.stringify(file.vehicleIds),
        geofences: JSON.stringify(file.geofenceIds),
      };
      await tx.insertInto('reportFiles').values(row).execute();
      await insertReportDeliveries(tx, leased.job, nowMs, newId);
      return true;
    });
  }

  /**
   * Like {@link finish}, for a report that can't be made: the job holds the error.
   *
   * @param reason the same as a keyword, for messages in the language of their reader
   */
  fail(leased: Pick<LeasedJob, 'job' | 'lease'>, error: string, reason: string): Promise<boolean> {
    return this.#store.write(async ({ tx, nowMs, newId }) => {
      if (!(await settleJob(this.#jobs, tx, leased, { state: 'failed', error, result: { reason } }, nowMs)))
        return false;
      await insertReportDeliveries(tx, leased.job, nowMs, newId);
      return true;
    });
  }

  /** Null where the job has no file, or its file was deleted. */
  async of(jobId: JobId): Promise<ReportFile | null> {
    const row = await this.#store.db
      .selectFrom('reportFiles')
      .selectAll()
      .where('jobId', '=', jobId)
      .executeTakeFirst();
    if (!row) return null;
    return {
      ...fromReportRow(row),
      name: row.name,
      mediaType: row.mediaType,
      sha256: row.sha256,
      vehicleIds: JSON.parse(row.vehicles) as VehicleId[],
      geofenceIds: JSON.parse(row.geofences) as GeofenceId[],
    };
  }

  /** Files stored before a time, files of deleted accounts, and exports about deleted people. */
  async outdated(storedBeforeMs: number, limit: number): Promise<StoredReport[]> {
    const rows = await this.#store.db
      .selectFrom('reportFiles')
      .select(STORED_REPORT)
      .where((e) =>
        e.or([
          e('storedAtMs', '<', storedBeforeMs),
          e('userId', 'not in', e.selectFrom('users').select('id')),
          e(
            'jobId',
            'in',
            e
              .selectFrom('jobs')
              .select('jobs.id')
              .where('jobs.kind', '=', 'person-export')
              .where('jobs.subjectId', 'not in', e.selectFrom('users').select('users.id'))
              .where('jobs.subjectId', 'not in', e.selectFrom('drivers').select('drivers.id')),
          ),
        ]),
      )
      .orderBy('storedAtMs')
      .limit(limit)
      .execute();
    return rows.map(fromReportRow);
  }

  /** Total bytes of all files. */
  async usage(): Promise<number> {
    const { bytes } = await this.#store.db
      .selectFrom('reportFiles')
      .select((e) => e.fn.sum<number | null>('bytes').as('bytes'))
      .executeTakeFirstOrThrow();
    return Number(bytes ?? 0);
  }

  /** The oldest file of the account with the most bytes; null where no file exists. */
  async oldestOfTheLargest(): Promise<StoredReport | null> {
    const largest = await this.#store.db
      .selectFrom('reportFiles')
      .select('userId')
      .groupBy('userId')
      .orderBy((e) => e.fn.sum('bytes'), 'desc')
      .orderBy('userId')
      .limit(1)
      .executeTakeFirst();
    if (!largest) return null;
    const row = await this.#store.db
      .selectFrom('reportFiles')
      .select(STORED_REPORT)
      .where('userId', '=', largest.userId)
      .orderBy('storedAtMs')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    return row ? fromReportRow(row) : null;
  }

  /** Deletes the record of a removed file. */
  async forget(id: string): Promise<void> {
    await this.#store.db.deleteFrom('reportFiles').where('id', '=', id).execute();
  }

  /** Ids among these that are recorded. */
  async known(ids: readonly string[]): Promise<Set<string>> {
    const known = new Set<string>();
    for (const some of inChunks(ids)) {
      const rows = await this.#store.db.selectFrom('reportFiles').select('id').where('id', 'in', some).execute();
      for (const { id } of rows) known.add(id);
    }
    return known;
  }
}

/** Columns of a {@link StoredReport}. */
export const STORED_REPORT = ['id', 'jobId', 'userId', 'bytes', 'storedAtMs'] as const;

export function fromReportRow(row: Pick<ReportFileRow, (typeof STORED_REPORT)[number]>): StoredReport {
  return {
    id: row.id,
    jobId: row.jobId as JobId,
    userId: row.userId as UserId,
    bytes: row.bytes,
    storedAtMs: row.storedAtMs,
  };
}
