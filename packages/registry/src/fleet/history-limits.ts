import type { User, UserId, VehicleId } from '@outrider/domain';
import { sql } from 'kysely';
import { type AuditNote, dealersOfUser } from '../audit/audit-notes.ts';
import { deleteNotifications } from '../notifications/notifications.ts';
import type { StoredReport } from '../reports/report-files.ts';
import { fromReportRow, STORED_REPORT } from '../reports/report-files.ts';
import { inChunks, type Reader, type Store } from '../store/store.ts';
import { deleteTasks, type StoredVideo, storedVideo } from '../video/video-task-rows.ts';
import { addUserJob, type Job, newJobRow } from '../work/jobs.ts';

/** Kind of the jobs that erase what a vehicle did before a time. */
export const ERASE_HISTORY = 'erase-history';
/** Kind of the daily job that erases what groups and fleets keep no longer. */
export const RETENTION = 'retention';

/** What a vehicle did before this time is erased, and stays so. */
export interface HistoryLimit {
  vehicleId: VehicleId;
  /** Unix milliseconds. */
  beforeMs: number;
}

const DAY_MS = 86_400_000;
/** Owner of the vehicles that no dealer has. */
const OPERATOR = 'operator';

/** Whose vehicles are the fleet of an account's organisation: its dealer's, or the operator's own. */
function fleetOwnerOf({ id, role, dealerId }: Pick<User, 'id' | 'role' | 'dealerId'>): string {
  return role === 'dealer' ? id : (dealerId ?? OPERATOR);
}

/**
 * Up to when the histories of vehicles are erased. A limit only ever rises, and stays: what comes later of the time
 * before it, by late data, a replay or an import, is erased by the next daily job. Each removal is of a bounded part,
 * and may be repeated.
 */
export class HistoryLimits {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Those of the vehicles that have one, in no order. */
  async of(vehicleIds: readonly VehicleId[]): Promise<HistoryLimit[]> {
    const limits: HistoryLimit[] = [];
    for (const some of inChunks(vehicleIds)) {
      const rows = await this.#store.db
        .selectFrom('historyLimits')
        .selectAll()
        .where('vehicleId', 'in', some)
        .execute();
      limits.push(...rows.map(fromRow));
    }
    return limits;
  }

  /** The latest limit of the vehicles that is after a time; null without any. */
  async latestAfter(vehicleIds: readonly VehicleId[], fromMs: number): Promise<number | null> {
    let latest: number | null = null;
    for (const some of inChunks(vehicleIds)) {
      const row = await this.#store.db
        .selectFrom('historyLimits')
        .select((e) => e.fn.max('beforeMs').as('beforeMs'))
        .where('vehicleId', 'in', some)
        .where('beforeMs', '>', fromMs)
        .executeTakeFirst();
      if (row?.beforeMs != null) latest = Math.max(latest ?? 0, Number(row.beforeMs));
    }
    return latest;
  }

  /** In the order of the vehicles' ids, beginning after one; `''`: with the first. */
  async page(after: string, limit: number): Promise<HistoryLimit[]> {
    const rows = await this.#store.db
      .selectFrom('historyLimits')
      .selectAll()
      .where('vehicleId', '>', after)
      .orderBy('vehicleId')
      .limit(limit)
      .execute();
    return rows.map(fromRow);
  }

  /**
   * Raises the limit of a vehicle, and adds the job that erases what is before it.
   *
   * @param about what the audit trail says of it
   * @throws {TooManyJobsError} when the user has as many open as one may have
   */
  request({ vehicleId, beforeMs }: HistoryLimit, userId: UserId, about: Omit<AuditNote, 'before'>): Promise<Job> {
    return this.#store.write(async (writer) => {
      await raise(writer.tx, [{ vehicleId, beforeMs }]);
      const fields = { kind: ERASE_HISTORY, userId, subjectId: vehicleId, parameters: { beforeMs }, dueAtMs: 0 };
      const job = await addUserJob(writer, fields);
      writer.note({ ...about, before: null });
      return job;
    });
  }

  /** For how many days the fleet of the account's organisation keeps histories; null: for as long as the service. */
  async fleetRetention(user: Pick<User, 'id' | 'role' | 'dealerId'>): Promise<number | null> {
    const query = this.#store.db.selectFrom('fleetRetentions').select('retentionDays');
    return (await query.where('owner', '=', fleetOwnerOf(user)).executeTakeFirst())?.retentionDays ?? null;
  }

  /** @param user a dealer, or an operator, for the vehicles that no dealer has */
  setFleetRetention(user: User, retentionDays: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const owner = fleetOwnerOf(user);
      const old = await tx.deleteFrom('fleetRetentions').where('owner', '=', owner).returningAll().executeTakeFirst();
      if (retentionDays !== null) await tx.insertInto('fleetRetentions').values({ owner, retentionDays }).execute();
      const before = old?.retentionDays ?? null;
      if (before === retentionDays) return;
      writer.note({
        action: 'changed',
        subject: { kind: 'user', id: user.id, name: user.login },
        before: { fleetRetentionDays: before },
        after: { fleetRetentionDays: retentionDays },
        dealerIds: dealersOfUser(user),
      });
    });
  }

  /**
   * Adds the job of the day that erases what groups and fleets keep no longer, unless there is one, or nothing limits
   * any history.
   *
   * @returns whether it was added
   */
  planRetention(): Promise<boolean> {
    return this.#store.write(async ({ tx, nowMs, newId }) => {
      if (!(await this.#isAnyLimited(tx))) return false;
      const known = await tx
        .selectFrom('jobs')
        .select('id')
        .where('kind', '=', RETENTION)
        .where((e) => e.or([e('createdAtMs', '>=', startOfDay(nowMs)), e('state', 'in', ['queued', 'running'])]))
        .limit(1)
        .executeTakeFirst();
      if (known !== undefined) return false;
      const fields = { kind: RETENTION, userId: null, subjectId: null, parameters: {}, dueAtMs: nowMs };
      await tx
        .insertInto('jobs')
        .values(newJobRow(fields, newId(), nowMs))
        .execute();
      return true;
    });
  }

  /** Is there a limit, or a vehicle that gets one? What comes again of before a limit is erased each day. */
  async #isAnyLimited(db: Reader): Promise<boolean> {
    const limited = db.selectFrom('historyLimits').select('vehicleId').limit(1);
    const queries = [limited, limitedByGroup(db).select('memberId').limit(1), limitedByFleet(db).select('id').limit(1)];
    for (const query of queries) if ((await query.execute()).length > 0) return true;
    return false;
  }

  /**
   * Raises the limits of vehicles to what their groups and the fleet of their owner keep, in whole days (UTC). Of
   * several, the shortest one counts.
   */
  async raiseByRetention(): Promise<void> {
    const { db } = this.#store;
    const byGroup = await limitedByGroup(db)
      .select((e) => ['memberId as id', e.fn.min('retentionDays').as('days')])
      .groupBy('memberId')
      .execute();
    const byFleet = await limitedByFleet(db).select(['vehicles.id as id', 'retentionDays as days']).execute();
    const today = startOfDay(this.#store.now());
    // A limit never falls, so of several the one that comes to the latest time stays.
    for (const rows of [byGroup, byFleet]) {
      const limits = rows.map(({ id, days }) => ({
        vehicleId: id as VehicleId,
        beforeMs: today - Number(days) * DAY_MS,
      }));
      for (const some of inChunks(limits)) await raise(db, some);
    }
  }

  /**
   * Has counters never be counted from before the limit again, before records are missing there: the states of days
   * before it are forgotten, and what is being counted now is counted again.
   */
  async cutCounters(limits: readonly HistoryLimit[]): Promise<void> {
    for (const [beforeMs, vehicleIds] of byTime(limits))
      for (const some of inChunks(vehicleIds))
        await this.#store.db.transaction().execute(async (tx) => {
          await tx.deleteFrom('counterDays').where('vehicleId', 'in', some).where('throughMs', '<', beforeMs).execute();
          await tx
            .updateTable('vehicleCounters')
            .set((e) => ({ revision: e('revision', '+', 1) }))
            .where('vehicleId', 'in', some)
            .execute();
        });
  }

  /** Those of the vehicles whose counters are being counted anew from before the limit: their records are needed. */
  async beingCounted(limits: readonly HistoryLimit[]): Promise<Set<VehicleId>> {
    const counted = new Set<VehicleId>();
    for (const [beforeMs, vehicleIds] of byTime(limits))
      for (const some of inChunks(vehicleIds)) {
        const rows = await this.#store.db
          .selectFrom('vehicleCounters')
          .select('vehicleId')
          .where('vehicleId', 'in', some)
          .where('staleFromMs', '<', beforeMs)
          .execute();
        for (const { vehicleId } of rows) counted.add(vehicleId as VehicleId);
      }
    return counted;
  }

  /** How many videos are stored, and how many notifications kept, of before a limit. */
  async counts({ vehicleId, beforeMs }: HistoryLimit): Promise<{ videos: number; notifications: number }> {
    const { db } = this.#store;
    const videos = await db
      .selectFrom('videoTasks')
      .select((e) => e.fn.countAll<number>().as('count'))
      .where('vehicleId', '=', vehicleId)
      .where('startMs', '<', beforeMs)
      .where('fileBytes', '>', 0)
      .executeTakeFirstOrThrow();
    const notifications = await db
      .selectFrom('notifications')
      .select((e) => e.fn.countAll<number>().as('count'))
      .where('vehicleId', '=', vehicleId)
      .where((e) => e.or([e('createdAtMs', '<', beforeMs), e(this.#startedAtMs, '<', beforeMs)]))
      .executeTakeFirstOrThrow();
    return { videos: Number(videos.count), notifications: Number(notifications.count) };
  }

  /** When the event of a notification began. */
  get #startedAtMs() {
    return sql<number>`cast(${this.#store.jsonText('event', 'startedAtMs')} as bigint)`;
  }

  /** Videos that begin before the limit and whose files are stored. */
  async videoFiles(limits: readonly HistoryLimit[], limit: number): Promise<StoredVideo[]> {
    for (const [beforeMs, vehicleIds] of byTime(limits))
      for (const some of inChunks(vehicleIds)) {
        const rows = await this.#store.db
          .selectFrom('videoTasks')
          .select(['id', 'fileBytes', 'finishedAtMs'])
          .where('vehicleId', 'in', some)
          .where('startMs', '<', beforeMs)
          .where('fileBytes', '>', 0)
          .limit(limit)
          .execute();
        if (rows.length > 0) return rows.map(storedVideo);
      }
    return [];
  }

  /** Removes tasks of video that ended, have no file, and are of before the limit. */
  removeVideoTasks(limits: readonly HistoryLimit[]): Promise<void> {
    return this.#store.db.transaction().execute(async (tx) => {
      for (const [beforeMs, vehicleIds] of byTime(limits))
        for (const some of inChunks(vehicleIds)) {
          const rows = await tx
            .selectFrom('videoTasks')
            .select('id')
            .where('vehicleId', 'in', some)
            .where('startMs', '<', beforeMs)
            .where('fileBytes', '=', 0)
            .where('finishedAtMs', 'is not', null)
            .execute();
          await deleteTasks(tx, rows);
        }
    });
  }

  /**
   * Removes notifications from all inboxes, with what was sent of them: those created before the limit, and of one
   * vehicle also those of events that began before it.
   *
   * @returns how many were removed; less than `limit` when none are left
   */
  removeNotifications(limits: readonly HistoryLimit[], limit: number): Promise<number> {
    return this.#store.db.transaction().execute(async (tx) => {
      let removed = 0;
      for (const [beforeMs, vehicleIds] of byTime(limits))
        for (const some of inChunks(vehicleIds)) {
          if (removed >= limit) return removed;
          const query = tx.selectFrom('notifications').select('id').where('vehicleId', 'in', some);
          const old =
            limits.length > 1
              ? query.where('createdAtMs', '<', beforeMs)
              : query.where((e) => e.or([e('createdAtMs', '<', beforeMs), e(this.#startedAtMs, '<', beforeMs)]));
          const rows = await old.limit(limit - removed).execute();
          await deleteNotifications(tx, rows);
          removed += rows.length;
        }
      return removed;
    });
  }

  /** Files of reports about a vehicle that may hold what was before the limit, made before a time. */
  async reportFiles({ vehicleId, beforeMs }: HistoryLimit, storedBeforeMs: number, limit: number) {
    const fromMs = sql<number | null>`cast(${this.#store.jsonText('jobs.parameters', 'fromMs')} as bigint)`;
    const rows = await this.#store.db
      .selectFrom('reportFiles')
      .leftJoin('jobs', 'jobs.id', 'reportFiles.jobId')
      .select(STORED_REPORT.map((column) => `reportFiles.${column}` as const))
      .where('vehicles', 'like', `%"${vehicleId}"%`)
      .where('storedAtMs', '<', storedBeforeMs)
      // Without a range it is about the moment at which it was made.
      .where((e) => e(e.fn.coalesce(fromMs, 'reportFiles.storedAtMs'), '<', beforeMs))
      .limit(limit)
      .execute();
    return rows.map((row): StoredReport => fromReportRow(row));
  }
}

/** Vehicles of groups with a retention. */
function limitedByGroup(db: Reader) {
  return db
    .selectFrom('vehicleGroupMembers')
    .innerJoin('vehicleGroups', 'vehicleGroups.id', 'vehicleGroupMembers.groupId')
    .where('retentionDays', 'is not', null);
}

/** Vehicles of owners with a retention. */
function limitedByFleet(db: Reader) {
  return db
    .selectFrom('vehicles')
    .innerJoin('fleetRetentions', (join) =>
      join.on((e) => e('fleetRetentions.owner', '=', e.fn.coalesce('vehicles.dealerId', e.val(OPERATOR)))),
    );
}

/** A limit never falls. */
async function raise(db: Pick<Store['db'], 'insertInto'>, limits: readonly HistoryLimit[]): Promise<void> {
  if (limits.length === 0) return;
  await db
    .insertInto('historyLimits')
    .values(limits.map(({ vehicleId, beforeMs }) => ({ vehicleId, beforeMs })))
    .onConflict((c) =>
      c
        .column('vehicleId')
        .doUpdateSet((e) => ({ beforeMs: e.ref('excluded.beforeMs') }))
        .whereRef('historyLimits.beforeMs', '<', 'excluded.beforeMs'),
    )
    .execute();
}

function byTime(limits: readonly HistoryLimit[]): Map<number, VehicleId[]> {
  const grouped = new Map<number, VehicleId[]>();
  for (const { vehicleId, beforeMs } of limits) grouped.set(beforeMs, [...(grouped.get(beforeMs) ?? []), vehicleId]);
  return grouped;
}

function startOfDay(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

function fromRow({ vehicleId, beforeMs }: { vehicleId: string; beforeMs: number }): HistoryLimit {
  return { vehicleId: vehicleId as VehicleId, beforeMs: Number(beforeMs) };
}
