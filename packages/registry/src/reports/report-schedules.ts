import {
  nextRun,
  type ReportSchedule,
  type ReportScheduleId,
  type ScheduledRun,
  type ScheduleRest,
  type ScheduleTerms,
  type UserId,
} from '@outrider/domain';
import type { AuditedFields, AuditNote } from '../audit/audit-notes.ts';
import { ConflictError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import { asExpected } from '../store/resource.ts';
import type { ReportScheduleRow } from '../store/schema.ts';
import { differences, type Reader, type Store, type Writer } from '../store/store.ts';
import { type JobFacts, newJobRow } from '../work/jobs.ts';

/** Fields of a schedule that the caller provides; the registry assigns the others. */
export type ReportScheduleFields = Omit<
  ReportSchedule,
  'kind' | 'id' | 'version' | 'inactiveReason' | 'lastPeriod' | 'nextAtMs' | 'nextPeriod'
>;
export type ReportSchedulePatch = Partial<Omit<ReportScheduleFields, 'ownerId'>>;

/** Job of a schedule for a period; null: there is nothing to do, and the schedule is switched off. */
export type ScheduledJob = { kind: string; subjectId: string | null; parameters: JobFacts } | null;

/** Schedules of recurring reports, each with one owner. */
export class ReportSchedules {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @throws {ConflictError} when the owner already has a schedule of that name
   * @throws {QuotaExceededError}
   */
  create(fields: ReportScheduleFields): Promise<ReportSchedule> {
    return this.#store.write(async (writer) => {
      const { tx, newId, nowMs } = writer;
      const schedule = due(
        {
          ...fields,
          kind: 'report-schedule',
          id: newId() as ReportScheduleId,
          version: 1,
          inactiveReason: fields.active ? null : 'switched-off',
          lastPeriod: null,
          nextAtMs: null,
          nextPeriod: null,
        },
        nowMs,
      );
      await requireName(writer, schedule);
      await tx.insertInto('reportSchedules').values(toRow(schedule)).execute();
      writer.note(noteOf(null, schedule));
      writer.growth.add(schedule.ownerId, 'reportSchedules', 1);
      return schedule;
    });
  }

  async get(id: ReportScheduleId): Promise<ReportSchedule | null> {
    const row = await this.#store.db.selectFrom('reportSchedules').selectAll().where('id', '=', id).executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /** In the order of their ids, which is that of their creation. */
  async list(filter: { ownerId?: UserId }, paging: Paging): Promise<Page<ReportSchedule>> {
    let query = this.#store.db.selectFrom('reportSchedules').selectAll();
    if (filter.ownerId !== undefined) query = query.where('ownerId', '=', filter.ownerId);
    return readPage(query, paging, (rows) => rows.map(fromRow));
  }

  /**
   * A schedule that was switched off stays off until it is switched on again. It then continues with the next due time.
   *
   * @param expectedVersion version that the caller last saw; null: any
   * @throws {NotFoundError} {StaleError} {ConflictError}
   */
  update(
    id: ReportScheduleId,
    expectedVersion: number | null,
    patch: ReportSchedulePatch,
    rest: ScheduleRest = 'switched-off',
  ): Promise<ReportSchedule> {
    return this.#store.write(async (writer) => {
      const current = await requireSchedule(writer, id, expectedVersion);
      const changed = differences<ReportSchedulePatch>(current, patch);
      if (Object.keys(changed).length === 0) return current;
      return change(writer, current, changed, rest);
    });
  }

  /** @throws {NotFoundError} {StaleError} */
  delete(id: ReportScheduleId, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      await remove(writer, await requireSchedule(writer, id, expectedVersion));
    });
  }

  /**
   * Creates the jobs of all due schedules and sets their next times, in one transaction: one job for each period, even
   * with several schedulers. A schedule waits until its last job has ended.
   *
   * @param jobOf the job for a period
   * @returns how many were processed
   */
  async runDue(jobOf: (schedule: ReportSchedule, period: string) => ScheduledJob, limit: number): Promise<number> {
    const dueOf = (db: Reader, nowMs: number) =>
      db
        .selectFrom('reportSchedules')
        .selectAll()
        .where('nextAtMs', '<=', nowMs)
        .where((e) =>
          e.not(
            e.exists(
              e
                .selectFrom('jobs')
                .select('jobs.id')
                .whereRef('jobs.scheduleId', '=', 'reportSchedules.id')
                .where('jobs.state', 'in', ['queued', 'running']),
            ),
          ),
        )
        .orderBy('nextAtMs')
        .limit(limit)
        .execute();
    const run = async (writer: Writer, rows: readonly ReportScheduleRow[]) => {
      const { tx, nowMs, newId } = writer;
      for (const row of rows) {
        const schedule = fromRow(row);
        const { id: scheduleId, ownerId: userId } = schedule;
        const { period, atMs } = notTooOld(schedule, nowMs);
        const job = jobOf(schedule, period);
        if (job === null) {
          await change(writer, schedule, { active: false }, 'nothing-to-tell');
          continue;
        }
        await tx
          .insertInto('jobs')
          .values(newJobRow({ ...job, userId, dueAtMs: nowMs }, newId(), nowMs, { scheduleId, period }))
          .execute();
        const next = nextRun(schedule, atMs, period);
        await tx
          .updateTable('reportSchedules')
          .set({ lastPeriod: period, nextAtMs: next.atMs, nextPeriod: next.period })
          .where('id', '=', scheduleId)
          .execute();
      }
      return [...rows];
    };
    const ran = await this.#store.writeDue('report schedules', dueOf, run, () => this.nextDueMs());
    return ran.length;
  }

  /** When the next schedule is due, even if its last job has not ended; null: none is. */
  async nextDueMs(): Promise<number | null> {
    const { at } = await this.#store.db
      .selectFrom('reportSchedules')
      .select((e) => e.fn.min('nextAtMs').as('at'))
      .executeTakeFirstOrThrow();
    return at === null ? null : Number(at);
  }
}

/** Runs that were missed for longer are skipped, if a newer one is due. */
const MISSED_FOR_MS = 7 * 86_400_000;

function notTooOld(schedule: ReportSchedule, nowMs: number): ScheduledRun {
  const { id, nextPeriod: period, nextAtMs: atMs } = schedule;
  if (period === null || atMs === null) throw new Error(`schedule ${id} is due for no day`);
  const oldestMs = nowMs - MISSED_FOR_MS;
  const newer = atMs < oldestMs ? nextRun(schedule, oldestMs, period) : null;
  return newer !== null && newer.atMs <= nowMs ? newer : { period, atMs };
}

/** Switches the schedules of a blocked account off, until somebody switches them on again. */
export async function restSchedulesOf(writer: Writer, ownerId: UserId): Promise<void> {
  for (const schedule of await ofOwner(writer, ownerId))
    if (schedule.active) await change(writer, schedule, { active: false }, 'owner-blocked');
}

export async function deleteSchedulesOf(writer: Writer, ownerId: UserId): Promise<void> {
  for (const schedule of await ofOwner(writer, ownerId)) await remove(writer, schedule);
}

async function ofOwner({ tx }: Writer, ownerId: UserId): Promise<ReportSchedule[]> {
  const rows = await tx
    .selectFrom('reportSchedules')
    .selectAll()
    .where('ownerId', '=', ownerId)
    .orderBy('id')
    .execute();
  return rows.map(fromRow);
}

async function change(
  writer: Writer,
  current: ReportSchedule,
  changed: ReportSchedulePatch,
  rest: ScheduleRest,
): Promise<ReportSchedule> {
  const active = changed.active ?? current.active;
  const schedule = due(
    {
      ...current,
      ...changed,
      version: current.version + 1,
      inactiveReason: active ? null : (current.inactiveReason ?? rest),
    },
    writer.nowMs,
  );
  await requireName(writer, schedule);
  const { id, ...columns } = toRow(schedule);
  await writer.tx.updateTable('reportSchedules').set(columns).where('id', '=', id).execute();
  writer.note(noteOf(current, schedule));
  return schedule;
}

async function remove(writer: Writer, schedule: ReportSchedule): Promise<void> {
  await writer.tx.deleteFrom('reportSchedules').where('id', '=', schedule.id).execute();
  writer.note(noteOf(schedule, null));
  writer.growth.add(schedule.ownerId, 'reportSchedules', -1);
}

/** Sets the next due time, from now on. */
function due(schedule: ReportSchedule, nowMs: number): ReportSchedule {
  const next = schedule.active ? nextRun(schedule, nowMs, schedule.lastPeriod) : null;
  return { ...schedule, nextAtMs: next?.atMs ?? null, nextPeriod: next?.period ?? null };
}

async function requireSchedule({ tx }: Writer, id: ReportScheduleId, expectedVersion: number | null) {
  const row = await tx.selectFrom('reportSchedules').selectAll().where('id', '=', id).executeTakeFirst();
  return asExpected(row && fromRow(row), 'report-schedule', id, expectedVersion);
}

async function requireName({ tx }: Writer, { id, ownerId, name }: ReportSchedule): Promise<void> {
  const other = await tx
    .selectFrom('reportSchedules')
    .select('id')
    .where('ownerId', '=', ownerId)
    .where('name', '=', name)
    .where('id', '!=', id)
    .executeTakeFirst();
  if (other) throw new ConflictError('report-schedule', 'name', name);
}

/** Fields that the audit trail shows. Leaves out the vehicles, which its readers may not be allowed to know. */
function shown({ name, active, frequency, hour, covers, timeZone, emails, report }: ReportSchedule): AuditedFields {
  return { name, active, frequency, hour, covers, timeZone, emails, report: report.report, format: report.format };
}

function noteOf(before: ReportSchedule | null, after: ReportSchedule | null): AuditNote {
  const subject = after ?? before;
  if (subject === null) throw new Error('a change is of something');
  const [was, is] = [before && shown(before), after && shown(after)];
  const changed = was && is ? Object.keys(differences(was, is)) : Object.keys(was ?? is ?? {});
  const pick = (fields: AuditedFields | null) =>
    fields && Object.fromEntries(changed.map((name) => [name, fields[name]]));
  return {
    action: before === null ? 'created' : after === null ? 'deleted' : 'changed',
    subject: { kind: 'report-schedule', id: subject.id, name: subject.name },
    before: pick(was),
    after: pick(is),
    ownerIds: [subject.ownerId],
  };
}

/** Fields that no query uses, stored as JSON. */
type Terms = ScheduleTerms & Pick<ReportSchedule, 'report' | 'emails'>;

function fromRow(row: ReportScheduleRow): ReportSchedule {
  const { frequency, hour, covers, timeZone, report, emails } = JSON.parse(row.terms) as Terms;
  return {
    kind: 'report-schedule',
    id: row.id as ReportScheduleId,
    version: row.version,
    ownerId: row.ownerId as UserId,
    name: row.name,
    active: row.inactiveReason === null,
    inactiveReason: row.inactiveReason as ScheduleRest | null,
    frequency,
    hour,
    covers,
    timeZone,
    report,
    emails,
    lastPeriod: row.lastPeriod,
    nextAtMs: row.nextAtMs,
    nextPeriod: row.nextPeriod,
  };
}

function toRow(schedule: ReportSchedule): ReportScheduleRow {
  const { frequency, hour, covers, timeZone, report, emails } = schedule;
  const terms: Terms = { frequency, hour, covers, timeZone, report, emails };
  return {
    id: schedule.id,
    version: schedule.version,
    ownerId: schedule.ownerId,
    name: schedule.name,
    inactiveReason: schedule.inactiveReason,
    terms: JSON.stringify(terms),
    lastPeriod: schedule.lastPeriod,
    nextAtMs: schedule.nextAtMs,
    nextPeriod: schedule.nextPeriod,
  };
}
