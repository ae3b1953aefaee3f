import type { GeofenceId, UserId, VehicleId } from '@outrider/domain';
import type { AuditSubjectKind } from '../audit/audit-notes.ts';
import { deleteNotifications } from '../notifications/notifications.ts';
import type { StoredReport } from '../reports/report-files.ts';
import { fromReportRow, STORED_REPORT } from '../reports/report-files.ts';
import { inChunks, type Store, type Writer } from '../store/store.ts';
import { deleteTasks, type StoredVideo, storedVideo } from '../video/video-task-rows.ts';
import { type JobFacts, jobLeases, type LeasedJob, newJobRow, settleJob } from '../work/jobs.ts';
import type { Leases } from '../work/leases.ts';

/** Kind of the jobs that erase what is stored of vehicles and accounts that were deleted. */
export const ERASURE = 'erasure';
/** Minimum delay of an erasure: data that was in flight at the deletion is stored by then, and is erased too. */
const SOONEST_MS = 600_000;
export const DEFAULT_ERASURE_GRACE_MS = 7 * 86_400_000;
/** Audit subjects that belong to an account. */
const USER_SUBJECTS = [
  'geofence',
  'notification-rule',
  'report-schedule',
  'share-link',
  'api-key',
  'forwarding-destination',
] as const;
/** Audit subjects that belong to a vehicle and refer to it by its id. */
const VEHICLE_SUBJECTS = [
  'video-profile',
  'video-task',
  'share-link',
  'command',
  'counter-correction',
  'custom-counter',
  'maintenance-plan',
  'service-record',
] as const;

/** Replaces erased names and addresses in the audit trail. */
export const ERASED = '(erased)';

/** Parameters of an erasure job. */
export interface ErasureFacts extends JobFacts {
  subject: 'vehicle' | 'user';
  requestedBy: UserId | null;
  dueAtMs: number;
}

/** Vehicles and accounts whose data is to be erased. */
export interface ErasedSubjects {
  vehicleIds: readonly VehicleId[];
  userIds: readonly UserId[];
}

/** Plans the erasure of a subject that is being deleted, in the transaction of the deletion. */
export async function planErasure(
  writer: Writer,
  subject: ErasureFacts['subject'],
  id: string,
  graceMs: number,
): Promise<void> {
  const dueAtMs = writer.nowMs + Math.max(graceMs, SOONEST_MS);
  const parameters: ErasureFacts = { subject, requestedBy: writer.actor.user?.id ?? null, dueAtMs };
  const row = newJobRow(
    { kind: ERASURE, userId: null, subjectId: id, parameters, dueAtMs },
    writer.newId(),
    writer.nowMs,
  );
  await writer.tx.insertInto('jobs').values(row).execute();
}

/**
 * Permanent removal of the data that the registry holds about deleted vehicles and accounts. Each call removes a
 * bounded part and may be repeated. The caller repeats it until nothing is left.
 */
export class Erasures {
  readonly #store: Store;
  readonly #jobs: Leases<'jobs'>;

  constructor(store: Store) {
    this.#store = store;
    this.#jobs = jobLeases(store);
  }

  /** Ids among these that exist: their data must not be erased. */
  async existing({ vehicleIds, userIds }: ErasedSubjects): Promise<Set<string>> {
    const found = new Set<string>();
    for (const [table, ids] of [
      ['vehicles', vehicleIds],
      ['users', userIds],
    ] as const)
      for (const some of inChunks<string>(ids))
        for (const { id } of await this.#store.db.selectFrom(table).select('id').where('id', 'in', some).execute())
          found.add(id);
    return found;
  }

  /** Number of unfinished erasures that were due before a time. */
  async overdue(beforeMs: number): Promise<number> {
    const { count } = await this.#store.db
      .selectFrom('jobs')
      .select((e) => e.fn.countAll<number>().as('count'))
      .where('kind', '=', ERASURE)
      .where('finishedAtMs', 'is', null)
      .where('dueAtMs', '<', beforeMs)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Geofences that were deleted with accounts. Visits to them reveal where their owners are. */
  async geofencesOf(userIds: readonly UserId[]): Promise<GeofenceId[]> {
    const ids: GeofenceId[] = [];
    for (const some of inChunks(userIds)) {
      const rows = await this.#store.db
        .selectFrom('deletedGeofences')
        .select('id')
        .where('ownerId', 'in', some)
        .execute();
      ids.push(...rows.map(({ id }) => id as GeofenceId));
    }
    return ids;
  }

  /** Videos of the vehicles whose files are stored. */
  async videoFiles(vehicleIds: readonly VehicleId[], limit: number): Promise<StoredVideo[]> {
    for (const some of inChunks(vehicleIds)) {
      const rows = await this.#store.db
        .selectFrom('videoTasks')
        .select(['id', 'fileBytes', 'finishedAtMs'])
        .where('vehicleId', 'in', some)
        .where('fileBytes', '>', 0)
        .limit(limit)
        .execute();
      if (rows.length > 0) return rows.map(storedVideo);
    }
    return [];
  }

  /** Files of the vehicles' service records. */
  async serviceFiles(vehicleIds: readonly VehicleId[], limit: number): Promise<string[]> {
    for (const some of inChunks(vehicleIds)) {
      const query = this.#store.db.selectFrom('serviceFiles').select('id').where('vehicleId', 'in', some);
      const rows = await query.limit(limit).execute();
      if (rows.length > 0) return rows.map(({ id }) => id);
    }
    return [];
  }

  async forgetServiceFiles(ids: readonly string[]): Promise<void> {
    for (const some of inChunks(ids)) await this.#store.db.deleteFrom('serviceFiles').where('id', 'in', some).execute();
  }

  /** Stored reports about the vehicles, and those that the accounts requested. */
  async reportFiles({ vehicleIds, userIds }: ErasedSubjects, limit: number): Promise<StoredReport[]> {
    for (const id of vehicleIds) {
      const rows = await this.#store.db
        .selectFrom('reportFiles')
        .select(STORED_REPORT)
        .where('vehicles', 'like', `%"${id}"%`)
        .limit(limit)
        .execute();
      if (rows.length > 0) return rows.map(fromReportRow);
    }
    for (const some of inChunks(userIds)) {
      const rows = await this.#store.db
        .selectFrom('reportFiles')
        .select(STORED_REPORT)
        .where('userId', 'in', some)
        .limit(limit)
        .execute();
      if (rows.length > 0) return rows.map(fromReportRow);
    }
    return [];
  }

  /**
   * Removes notifications of the vehicles from all inboxes, with their deliveries and incidents.
   *
   * @returns how many were removed; less than `limit` when none are left
   */
  removeNotifications(vehicleIds: readonly VehicleId[], limit: number): Promise<number> {
    return this.#store.db.transaction().execute(async (tx) => {
      let removed = 0;
      for (const some of inChunks(vehicleIds)) {
        const rows = await tx
          .selectFrom('notifications')
          .select('id')
          .where('vehicleId', 'in', some)
          .limit(limit - removed)
          .execute();
        await deleteNotifications(tx, rows);
        removed += rows.length;
        if (removed >= limit) break;
      }
      return removed;
    });
  }

  /**
   * Removes video tasks without a file, finished jobs and their e-mails, and the names of the accounts' geofences.
   *
   * @returns how many video tasks were removed
   */
  removeRest({ vehicleIds, userIds }: ErasedSubjects): Promise<number> {
    return this.#store.write(async ({ tx }) => {
      let tasks = 0;
      for (const some of inChunks(vehicleIds)) {
        const rows = await tx
          .selectFrom('videoTasks')
          .select('id')
          .where('vehicleId', 'in', some)
          .where('fileBytes', '=', 0)
          .where('finishedAtMs', 'is not', null)
          .execute();
        tasks += rows.length;
        await deleteTasks(tx, rows);
        await tx.deleteFrom('ruleFirings').where('vehicleId', 'in', some).execute();
        await tx.deleteFrom('waitingNotifications').where('vehicleId', 'in', some).execute();
        await tx.deleteFrom('vehicleCommands').where('vehicleId', 'in', some).execute();
        for (const table of [
          'vehicleCounters',
          'counterDays',
          'counterMarks',
          'counterCorrections',
          'customCounters',
          'maintenanceStates',
          'serviceRecords',
          'historyLimits',
        ] as const)
          await tx.deleteFrom(table).where('vehicleId', 'in', some).execute();
        const ofVehicle = tx.deleteFrom('jobs').where('subjectId', 'in', some).where('kind', '!=', ERASURE);
        await ofVehicle.where('finishedAtMs', 'is not', null).execute();
      }
      for (const some of inChunks(userIds)) {
        for (const table of ['vehicleCommands', 'counterCorrections', 'serviceRecords', 'serviceFiles'] as const)
          await tx.updateTable(table).set({ createdBy: null }).where('createdBy', 'in', some).execute();
        await tx.deleteFrom('reportDeliveries').where('userId', 'in', some).execute();
        await tx.deleteFrom('deletedGeofences').where('ownerId', 'in', some).execute();
        // Of a dealer: the addresses that it and its accounts wrote to.
        await tx.deleteFrom('mailAddresses').where('tenantId', 'in', some).execute();
        // Sources that the accounts logged in from.
        await tx.deleteFrom('loginSources').where('userId', 'in', some).execute();
        const ofUser = tx
          .deleteFrom('jobs')
          .where((e) => e.or([e('userId', 'in', some), e('subjectId', 'in', some)]))
          .where('kind', '!=', ERASURE);
        await ofUser.where('finishedAtMs', 'is not', null).execute();
      }
      return tasks;
    });
  }

  /**
   * Removes personal data from the audit trail: names, logins, addresses, and field values of the deleted things. The
   * action, its time, and the ids of subject and user stay: the data controller must be able to prove the action.
   *
   * @returns how many lines were changed
   */
  async redactAudit({ vehicleIds, userIds }: ErasedSubjects): Promise<number> {
    const subjects = new Set<string>([...vehicleIds, ...userIds]);
    // Things that belonged to the subjects are found by the lines of their creation and deletion. The queries run one
    // after the other, because each reads all lines of these kinds.
    for (const id of vehicleIds) await this.#collect(subjects, VEHICLE_SUBJECTS, id);
    for (const id of userIds) await this.#collect(subjects, USER_SUBJECTS, id);
    let lines = 0;
    for (const some of inChunks([...subjects]))
      lines += await this.#store.write(async ({ tx }) => {
        const changed = await tx
          .updateTable('audit')
          .set({ subjectName: ERASED, before: null, after: null })
          .where('subjectId', 'in', some)
          .where('action', 'not in', ['erasure-cancelled', 'erased'])
          .executeTakeFirst();
        await tx.updateTable('audit').set({ subjectName: ERASED }).where('subjectId', 'in', some).execute();
        return Number(changed.numUpdatedRows);
      });
    for (const some of inChunks(userIds))
      lines += await this.#store.write(async ({ tx }) => {
        const changed = await tx
          .updateTable('audit')
          .set({ userLogin: ERASED, address: null, sessionId: null, apiKeyId: null })
          .where('userId', 'in', some)
          .executeTakeFirst();
        return Number(changed.numUpdatedRows);
      });
    return lines;
  }

  async #collect(subjects: Set<string>, kinds: readonly AuditSubjectKind[], id: string): Promise<void> {
    const rows = await this.#store.db
      .selectFrom('audit')
      .select('subjectId')
      .distinct()
      .where('subjectKind', 'in', kinds)
      .where((e) => e.or([e('before', 'like', `%"${id}"%`), e('after', 'like', `%"${id}"%`)]))
      .execute();
    for (const { subjectId } of rows) if (subjectId !== null) subjects.add(subjectId);
  }

  /**
   * Ends the jobs of an erasure, each with a line in the audit trail.
   *
   * @returns false when another worker holds the jobs by now
   */
  finish(group: readonly Pick<LeasedJob, 'job' | 'lease'>[], result: JobFacts): Promise<boolean> {
    return this.#store.write(async (writer) => {
      for (const leased of group) {
        if (!(await settleJob(this.#jobs, writer.tx, leased, { state: 'done', result }, writer.nowMs))) return false;
        const { job } = leased;
        const { subject } = job.parameters as ErasureFacts;
        writer.note({
          action: 'erased',
          subject: { kind: subject, id: job.subjectId, name: ERASED },
        });
      }
      return true;
    });
  }
}
