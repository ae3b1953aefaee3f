import type { User, UserId, VehicleId } from '@outrider/domain';
import { sql } from 'kysely';
import { type AuditNote, dealersOfUser } from '../audit/audit-notes.ts';
import { deleteNotifications } from '../notifications/notifications.ts';
import type { StoredReport } from '../reports/report-files.ts';
import { fromReportRow, STORED_REPORT } from '../reports/report-files.ts';
import { inChunks, type Reader, type Store } from '../store/store.ts';
import { deleteTasks, type StoredVideo, storedVideo } from '../video/video-task-rows.ts';
import { addUserJob, type Job, newJobRow } from '../work/jobs.ts';

/** Kind of the jobs that erase the history of a vehicle before a time. */
export const ERASE_HISTORY = 'erase-history';
/** Kind of the daily job that erases what exceeds the retention of groups and fleets. */
export const RETENTION = 'retention';

/** The history of a vehicle before this time is erased permanently. */
export interface HistoryLimit {
  vehicleId: VehicleId;
  /** Unix milliseconds. */
  beforeMs: number;
}

const DAY_MS = 86_400_000;
/** Owner of the vehicles that no dealer has. */
const OPERATOR = 'operator';

/** Owner of the fleet of an account's organisation: the dealer, or the operator. */
function fleetOwnerOf({ id, role, dealerId }: Pick<User, 'id' | 'role' | 'dealerId'>): string {
  return role === 'dealer' ? id : (dealerId ?? OPERATOR);
}

/**
 * Times up to which the histories of vehicles are erased. A limit only ever rises, and stays in force: data from before
 * it that arrives later, by late packets, a replay or an import, is erased by the next daily job. Each removal removes
 * a bounded part, and may be repeated.
 */
export class HistoryLimits {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Limits of the vehicles among these that have one, in no order. */
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

  /** The latest limit of these vehicles, if it is after the time; else null. */
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

  /** In the order of the vehicles' ids, after the given id; `''`: from the first. */
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
   * @param about the entry for the audit trail
   * @throws {TooManyJobsError} when the user has the maximum of open jobs
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
   * Adds today's job that erases what exceeds the retention of groups and fleets, unless it exists or no history is
   * limited.
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

  /** Whether any vehicle has a limit or gets one. Data that arrives for the time before a limit is erased each day. */
  async #isAnyLimited(db: Reader): Promise<boolean> {
    const limited = db.selectFrom('historyLimits').select('vehicleId').limit(1);
    const queries = [limited, limitedByGroup(db).select('memberId').limit(1), limitedByFleet(db).select('id').limit(1)];
    for (const query of queries) if ((await query.execute()).length > 0) return true;
    return false;
  }

  /**
   * Raises the limits of vehicles to the retention of their groups and of their owner's fleet, in whole days (UTC). The
   * shortest retention applies.
   */
  async raiseByRetention(): Promise<void> {
    const { db } = this.#store;
    const byGroup = await limitedByGroup(db)
      .select((e) => ['memberId as id', e.fn.min('retentionDays').as('days')])
      .groupBy('memberId')
      .execute();
    const byFleet = await limitedByFleet(db).select(['vehicles.id as id', 'retentionDays as days']).execute();
    const today = startOfDay(this.#store.now());
    // A limit never falls, so the latest of several wins.
    for (const rows of [byGroup, byFleet]) {
      const limits = rows.map(({ id, days }) => ({
        vehicleId: id as VehicleId,
        beforeMs: today - Number(days) * DAY_MS,
      }));
      for (const some of inChunks(limits)) await raise(db, some);
    }
  }

  /**
   * Prevents counters from being counted again from before the limit, where records will be missing: deletes the states
   * of days before it, and discards results that are being counted.
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

  /** Vehicles whose counters are being counted again from before the limit: their records are still needed. */
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

  /** Numbers of stored videos and notifications from before a limit. */
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

  /** Start of a notification's event. */
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

  /** Removes finished video tasks from before the limit that have no file. */
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
   * Removes notifications from all inboxes, with their deliveries and incidents: those created before the limit, and
   * for a single vehicle also those of events that began before it.
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

  /** Report files about a vehicle that may contain data from before the limit, and that were stored before a time. */
  async reportFiles({ vehicleId, beforeMs }: HistoryLimit, storedBeforeMs: number, limit: number) {
    const fromMs = sql<number | null>`cast(${this.#store.jsonText('jobs.parameters', 'fromMs')} as bigint)`;
    const rows = await this.#store.db
      .selectFrom('reportFiles')
      .leftJoin('jobs', 'jobs.id', 'reportFiles.jobId')
      .select(STORED_REPORT.map((column) => `reportFiles.${column}` as const))
      .where('vehicles', 'like', `%"${vehicleId}"%`)
      .where('storedAtMs', '<', storedBeforeMs)
      // A report without a time range is about the moment at which it was made.
      .where((e) => e(e.fn.coalesce(fromMs, 'reportFiles.storedAtMs'), '<', beforeMs))
      .limit(limit)
      .execute();
    return rows.map((row): StoredReport => fromReportRow(row));
  }
}

/** Vehicles in groups that have a retention. */
function limitedByGroup(db: Reader) {
  return db
    .selectFrom('vehicleGroupMembers')
    .innerJoin('vehicleGroups', 'vehicleGroups.id', 'vehicleGroupMembers.groupId')
    .where('retentionDays', 'is not', null);
}

/** Vehicles whose owners have a retention. */
function limitedByFleet(db: Reader) {
  return db
    .selectFrom('vehicles')
    .innerJoin('fleetRetentions', (join) =>
      join.on((e) => e('fleetRetentions.owner', '=', e.fn.coalesce('vehicles.dealerId', e.val(OPERATOR)))),
    );
}

/** Never lowers a limit. */
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
