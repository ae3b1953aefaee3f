import {
  type CounterSums,
  counterNameKey,
  type EventId,
  type GroupId,
  MAINTENANCE_STAGES,
  type MaintenanceDue,
  type MaintenancePlan,
  type MaintenancePlanId,
  type MaintenanceSpan,
  type MaintenanceState,
  type ServiceFile,
  type ServiceFileId,
  type ServiceRecord,
  type ServiceRecordId,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import type { AuditNote, AuditSubjectKind } from '../audit/audit-notes.ts';
import { NotFoundError, StaleVersionError, TooManyError } from '../store/errors.ts';
import { type Page, type Paging, pageOf } from '../store/page.ts';
import { requireStorage } from '../store/quotas.ts';
import type { MaintenancePlanRow, MaintenanceStateRow, ServiceFileRow, ServiceRecordRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { correctionIdsOf, mark, sumsAt } from './counters.ts';

export type PlanFields = Pick<
  MaintenancePlan,
  'name' | 'description' | 'vehicleId' | 'groupId' | 'counterName' | 'every' | 'warning' | 'dealerId'
> & { startsAtMs?: number };
export type ServiceFields = Omit<ServiceRecord, 'id' | 'createdAtMs' | 'files' | 'createdBy'> & { createdBy: UserId };

/** How a plan stands, with the events that were made since the last service, and what was not sent yet. */
export interface KeptState extends MaintenanceState {
  /** Each in its latest phase. */
  published: readonly MaintenanceDue[];
  /** Those of them that the archive has by {@link written}. */
  rewritten: readonly EventId[];
  /** Ids that something was published with since the last service, or since people changed what it goes by. */
  sentIds: readonly EventId[];
  /** How often people changed what it goes by: part of the ids of its events. */
  generation: number;
  /** Nothing begins before: what it goes by was said then. */
  floorMs: number;
  /** {@link PlanBase.key} and {@link PlanBase.said}, when it was judged. */
  base: string;
  said: string;
  /** {@link KeptCounters.epoch}, when its events were compared with history. */
  epoch: number;
  /** Its events are right by what was said when they began, and not by what was said since. */
  isFrozen: boolean;
  /** Events that are to be put into the log. */
  unsent: readonly MaintenanceDue[];
  /** Events that are to be put into the archive in the place of others, and those that they replace. */
  written: readonly MaintenanceDue[];
  removed: readonly MaintenanceDue[];
}

/** How many changes of a state wait to be published. */
export function pendingOf({ unsent, written, removed }: Pick<KeptState, 'unsent' | 'written' | 'removed'>): number {
  return unsent.length + written.length + removed.length;
}

/** A file that was put. */
export interface StoredServiceFile extends ServiceFile {
  /** Of its bytes, in hexadecimal. */
  sha256: string;
}
export interface NotedServiceFile extends StoredServiceFile {
  createdAtMs: number;
}

/** What a plan is counted from. */
export interface PlanBase {
  /** Of the service, or of the plan. */
  key: string;
  sinceMs: number;
  /** When it was said: the plan or the service. */
  saidAtMs: number;
  /** Stands for all that people said of it: the plan, the service, and the corrections of counters that it goes by. */
  said: string;
  /** What was counted up to then; null until it is known. */
  sums: CounterSums | null;
  /** As the counters were read then. */
  read: { odometerM: number | null; engineMs: number | null };
}

/** What dealers may have at most, and one vehicle. */
export const MAX_PLANS_PER_DEALER = 1000;
export const MAX_RECORDS_PER_VEHICLE = 2000;
export const MAX_FILES_PER_RECORD = 10;

/** Plans of maintenance, how they stand, and the services that were done. */
export class Maintenance {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws {TooManyError} */
  createPlan(fields: PlanFields): Promise<MaintenancePlan> {
    return this.#store.write((writer) => addPlan(writer, fields));
  }

  /** Makes many, or none. @throws {TooManyError} */
  createPlans(all: readonly PlanFields[]): Promise<MaintenancePlan[]> {
    return this.#store.write(async (writer) => {
      const plans: MaintenancePlan[] = [];
      for (const fields of all) plans.push(await addPlan(writer, fields));
      return plans;
    });
  }

  /** @throws {NotFoundError} {StaleVersionError} */
  updatePlan(id: MaintenancePlanId, version: number | null, patch: Partial<PlanFields>): Promise<MaintenancePlan> {
    return this.#store.write(async (writer) => {
      const before = await planOf(writer.tx, id);
      if (before === null) throw new NotFoundError('maintenance-plan', id);
      if (version !== null && version !== before.version)
        throw new StaleVersionError('maintenance-plan', id, before.version);
      const next: MaintenancePlan = { ...before, ...patch, version: before.version + 1 };
      const plan = isSameSpan(before, next) ? next : { ...next, changedAtMs: writer.nowMs };
      await writer.tx.updateTable('maintenancePlans').set(planRow(plan)).where('id', '=', id).execute();
      writer.note(planNote(before, plan));
      return plan;
    });
  }

  /** What lasts of it ends with the next look at how plans stand. @throws {NotFoundError} {StaleVersionError} */
  deletePlan(id: MaintenancePlanId, version: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const before = await planOf(writer.tx, id);
      if (before === null) throw new NotFoundError('maintenance-plan', id);
      if (version !== null && version !== before.version)
        throw new StaleVersionError('maintenance-plan', id, before.version);
      await writer.tx.deleteFrom('maintenancePlans').where('id', '=', id).execute();
      await writer.tx.updateTable('serviceRecords').set({ planId: null }).where('planId', '=', id).execute();
      writer.note(planNote(before, null));
    });
  }

  plan(id: MaintenancePlanId): Promise<MaintenancePlan | null> {
    return planOf(this.#store.db, id);
  }

  /** All plans, by their ids: there are few. */
  async plans(): Promise<MaintenancePlan[]> {
    const rows = await this.#store.db.selectFrom('maintenancePlans').selectAll().orderBy('id').execute();
    return rows.map(fromPlanRow);
  }

  // How they stand

  async states(filter: { vehicleIds: readonly VehicleId[] } | { planId: MaintenancePlanId }): Promise<KeptState[]> {
    if ('planId' in filter) {
      const query = this.#store.db.selectFrom('maintenanceStates').selectAll();
      return (await query.where('planId', '=', filter.planId).execute()).map(fromStateRow);
    }
    const states: KeptState[] = [];
    for (const some of inChunks(filter.vehicleIds)) {
      const query = this.#store.db.selectFrom('maintenanceStates').selectAll();
      states.push(...(await query.where('vehicleId', 'in', some).execute()).map(fromStateRow));
    }
    return states;
  }

  /** Plans that something is kept of, deleted ones included. */
  async plansWithStates(): Promise<MaintenancePlanId[]> {
    const rows = await this.#store.db.selectFrom('maintenanceStates').select('planId').distinct().execute();
    return rows.map(({ planId }) => planId as MaintenancePlanId);
  }

  /** @param gone plans and vehicles that do not go together any more, with nothing left to send */
  saveStates(
    states: readonly KeptState[],
    gone: readonly Pick<KeptState, 'planId' | 'vehicleId'>[] = [],
  ): Promise<void> {
    return this.#store.db.transaction().execute(async (tx) => {
      for (const state of states) {
        const { planId, vehicleId, stage, share } = state;
        const fields = { stage, share, state: JSON.stringify(state), unsent: pendingOf(state) };
        await tx
          .insertInto('maintenanceStates')
          .values({ planId, vehicleId, ...fields })
          .onConflict((c) => c.columns(['planId', 'vehicleId']).doUpdateSet(fields))
          .execute();
      }
      for (const { planId, vehicleId } of gone)
        await tx
          .deleteFrom('maintenanceStates')
          .where('planId', '=', planId)
          .where('vehicleId', '=', vehicleId)
          .execute();
    });
  }

  /** Those with events that are to be put into the log. */
  async unsent(limit: number): Promise<KeptState[]> {
    const query = this.#store.db.selectFrom('maintenanceStates').selectAll().where('unsent', '>', 0).limit(limit);
    return (await query.execute()).map(fromStateRow);
  }

  /** What a plan is counted from, vehicle by vehicle: the newest service, or the start of the plan. */
  async basesOf(plan: MaintenancePlan, vehicleIds: readonly VehicleId[]): Promise<Map<VehicleId, PlanBase>> {
    const { db } = this.#store;
    const newest = new Map<VehicleId, ServiceRecordRow>();
    for (const some of inChunks(vehicleIds)) {
      const rows = await db
        .selectFrom('serviceRecords')
        .selectAll()
        .where('planId', '=', plan.id)
        .where('vehicleId', 'in', some)
        .orderBy('atMs')
        .orderBy('id')
        .execute();
      for (const row of rows) newest.set(row.vehicleId as VehicleId, row);
    }
    const sums = await sumsAt(db, vehicleIds);
    const corrections = await correctionIdsOf(
      db,
      vehicleIds.filter((id) => isRead(newest.get(id))),
    );
    const bases = new Map<VehicleId, PlanBase>();
    for (const vehicleId of vehicleIds) {
      const record = newest.get(vehicleId);
      const sinceMs = record === undefined ? plan.startsAtMs : Number(record.atMs);
      if (!sums.get(vehicleId)?.has(sinceMs)) {
        await mark(db, vehicleId, sinceMs);
        const known = (await sumsAt(db, [vehicleId])).get(vehicleId);
        if (known !== undefined) sums.set(vehicleId, known);
      }
      bases.set(vehicleId, {
        key: record?.id ?? plan.id,
        sinceMs,
        saidAtMs: Math.max(plan.changedAtMs, Number(record?.createdAtMs ?? 0)),
        said: [plan.changedAtMs, ...(isRead(record) ? (corrections.get(vehicleId) ?? []) : [])].join(),
        sums: sums.get(vehicleId)?.get(sinceMs) ?? null,
        read: { odometerM: record?.odometerM ?? null, engineMs: record?.engineMs ?? null },
      });
    }
    return bases;
  }

  // Services

  /** @throws {NotFoundError} {TooManyError} */
  record(fields: ServiceFields): Promise<ServiceRecord> {
    return this.#store.write(async (writer) => {
      const { tx, newId, nowMs } = writer;
      const { vehicleId, cost, ...rest } = fields;
      const count = await tx
        .selectFrom('serviceRecords')
        .select((e) => e.fn.countAll<number>().as('count'))
        .where('vehicleId', '=', vehicleId)
        .executeTakeFirst();
      if (Number(count?.count ?? 0) >= MAX_RECORDS_PER_VEHICLE)
        throw new TooManyError(`A vehicle may have ${MAX_RECORDS_PER_VEHICLE} service records`);
      const id = newId() as ServiceRecordId;
      await tx
        .insertInto('serviceRecords')
        .values({
          ...rest,
          id,
          vehicleId,
          createdAtMs: nowMs,
          costMinor: cost?.amountMinor ?? null,
          currency: cost?.currency ?? null,
        })
        .execute();
      await mark(tx, vehicleId, fields.atMs);
      const record: ServiceRecord = { ...fields, id, createdAtMs: nowMs, files: [] };
      writer.note(await this.#note(writer, 'created', record));
      return record;
    });
  }

  async serviceRecord(id: ServiceRecordId): Promise<ServiceRecord | null> {
    const row = await this.#store.db.selectFrom('serviceRecords').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : ((await withFiles(this.#store.db, [row]))[0] ?? null);
  }

  /** The newest first, by their ids. */
  async records(
    vehicleIds: readonly VehicleId[],
    paging: Paging,
    planId?: MaintenancePlanId,
  ): Promise<Page<ServiceRecord>> {
    const rows: ServiceRecordRow[] = [];
    for (const some of inChunks(vehicleIds)) {
      let query = this.#store.db
        .selectFrom('serviceRecords')
        .selectAll()
        .where('vehicleId', 'in', some)
        .orderBy('id', 'desc')
        .limit(paging.limit + 1);
      if (paging.after !== null) query = query.where('id', '<', paging.after);
      if (planId !== undefined) query = query.where('planId', '=', planId);
      rows.push(...(await query.execute()));
    }
    rows.sort((a, b) => (a.id < b.id ? 1 : -1));
    const page = pageOf(rows.slice(0, paging.limit + 1), paging);
    return { ...page, items: await withFiles(this.#store.db, page.items) };
  }

  /** Of a time range, by their time, for reports. */
  async recordsBetween(vehicleIds: readonly VehicleId[], fromMs: number, toMs: number): Promise<ServiceRecord[]> {
    const rows: ServiceRecordRow[] = [];
    for (const some of inChunks(vehicleIds))
      rows.push(
        ...(await this.#store.db
          .selectFrom('serviceRecords')
          .selectAll()
          .where('vehicleId', 'in', some)
          .where('atMs', '>=', fromMs)
          .where('atMs', '<', toMs)
          .orderBy('atMs')
          .execute()),
      );
    return withFiles(this.#store.db, rows);
  }

  /** What most services of a time range were paid in; null: nothing was paid. */
  async currencyOf(vehicleIds: readonly VehicleId[], fromMs: number, toMs: number): Promise<string | null> {
    const counts = new Map<string, number>();
    for (const some of inChunks(vehicleIds)) {
      const rows = await this.#store.db
        .selectFrom('serviceRecords')
        .select(['currency', (e) => e.fn.countAll<number>().as('count')])
        .where('vehicleId', 'in', some)
        .where('atMs', '>=', fromMs)
        .where('atMs', '<', toMs)
        .where('currency', 'is not', null)
        .groupBy('currency')
        .execute();
      for (const { currency, count } of rows)
        if (currency !== null) counts.set(currency, (counts.get(currency) ?? 0) + Number(count));
    }
    const [first] = [...counts].toSorted(([a, of], [b, than]) => than - of || (a < b ? -1 : 1));
    return first?.[0] ?? null;
  }

  /** @returns its files, which are to be removed from the store */
  removeRecord(id: ServiceRecordId): Promise<readonly ServiceFile[]> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const row = await tx.selectFrom('serviceRecords').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) throw new NotFoundError('service-record', id);
      const [record] = await withFiles(tx, [row]);
      await tx.deleteFrom('serviceFiles').where('recordId', '=', id).execute();
      await tx.deleteFrom('serviceRecords').where('id', '=', id).execute();
      if (record !== undefined) writer.note(await this.#note(writer, 'deleted', record));
      return record?.files ?? [];
    });
  }

  /**
   * Notes a file that was put.
   *
   * @throws {NotFoundError} {TooManyError} {QuotaExceededError}
   */
  addFile(recordId: ServiceRecordId, file: StoredServiceFile, createdBy: UserId): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const { record, vehicle } = await recordAndVehicle(tx, recordId);
      if (record.files.length >= MAX_FILES_PER_RECORD)
        throw new TooManyError(`A service record may have ${MAX_FILES_PER_RECORD} files`);
      await requireStorage(writer, { account: createdBy, dealer: vehicle.dealerId }, file.bytes);
      const row = { ...file, recordId, vehicleId: record.vehicleId, createdBy, createdAtMs: nowMs };
      await tx.insertInto('serviceFiles').values(row).execute();
      writer.note(fileNote('created', record, vehicle.dealerId, file));
    });
  }

  async file(recordId: ServiceRecordId, id: ServiceFileId): Promise<NotedServiceFile | null> {
    const query = this.#store.db.selectFrom('serviceFiles').selectAll().where('id', '=', id);
    const row = await query.where('recordId', '=', recordId).executeTakeFirst();
    return row === undefined
      ? null
      : { ...serviceFileOf(row), sha256: row.sha256, createdAtMs: Number(row.createdAtMs) };
  }

  /** Forgets a file, which is then removed from the store. @throws {NotFoundError} */
  removeFile(recordId: ServiceRecordId, id: ServiceFileId): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const { record, vehicle } = await recordAndVehicle(tx, recordId);
      const file = record.files.find((each) => each.id === id);
      if (file === undefined) throw new NotFoundError('service-record', id);
      await tx.deleteFrom('serviceFiles').where('id', '=', id).execute();
      writer.note(fileNote('deleted', record, vehicle.dealerId, file));
    });
  }

  /** Those of the files that a record has. */
  async knownFiles(ids: readonly string[]): Promise<Set<string>> {
    const known = new Set<string>();
    for (const some of inChunks(ids)) {
      const query = this.#store.db.selectFrom('serviceFiles').select('id').where('id', 'in', some);
      for (const { id } of await query.execute()) known.add(id);
    }
    return known;
  }

  async #note({ tx }: Writer, action: 'created' | 'deleted', record: ServiceRecord): Promise<AuditNote> {
    const { id, files, createdBy, createdAtMs, ...fields } = record;
    const vehicle = await tx
      .selectFrom('vehicles')
      .select('dealerId')
      .where('id', '=', record.vehicleId)
      .executeTakeFirst();
    return {
      action,
      subject: { kind: 'service-record', id, name: record.title },
      before: action === 'deleted' ? fields : null,
      after: action === 'created' ? fields : null,
      dealerIds: vehicle?.dealerId == null ? [] : [vehicle.dealerId as UserId],
    };
  }
}

/** Plans for a vehicle or a group end with it; what was done stays until it is erased. */
export async function dropMaintenance(
  writer: Writer,
  of: { vehicleId: VehicleId } | { groupId: GroupId },
): Promise<void> {
  const { tx } = writer;
  const [column, id] = 'vehicleId' in of ? (['vehicleId', of.vehicleId] as const) : (['groupId', of.groupId] as const);
  for (const row of await tx.selectFrom('maintenancePlans').selectAll().where(column, '=', id).execute())
    writer.note(planNote(fromPlanRow(row), null));
  const plans = tx.selectFrom('maintenancePlans').select('id').where(column, '=', id);
  await tx.updateTable('serviceRecords').set({ planId: null }).where('planId', 'in', plans).execute();
  await tx.deleteFrom('maintenancePlans').where(column, '=', id).execute();
  if (column === 'vehicleId') await tx.deleteFrom('maintenanceStates').where('vehicleId', '=', id).execute();
}

/** A custom counter of a vehicle is called otherwise: plans for that vehicle name it so. */
export async function renameInPlans(
  writer: Writer,
  vehicleId: VehicleId,
  before: string,
  after: string,
): Promise<void> {
  const { tx } = writer;
  for (const row of await tx.selectFrom('maintenancePlans').selectAll().where('vehicleId', '=', vehicleId).execute()) {
    const plan = fromPlanRow(row);
    if (plan.counterName === null || counterNameKey(plan.counterName) !== counterNameKey(before)) continue;
    const renamed = { ...plan, counterName: after, version: plan.version + 1 };
    await tx.updateTable('maintenancePlans').set(planRow(renamed)).where('id', '=', plan.id).execute();
    writer.note(planNote(plan, renamed));
  }
}

async function addPlan(writer: Writer, fields: PlanFields): Promise<MaintenancePlan> {
  const { tx, newId, nowMs } = writer;
  const scope = tx.selectFrom('maintenancePlans').select((e) => e.fn.countAll<number>().as('count'));
  const owned =
    fields.dealerId === null ? scope.where('dealerId', 'is', null) : scope.where('dealerId', '=', fields.dealerId);
  if (Number((await owned.executeTakeFirst())?.count ?? 0) >= MAX_PLANS_PER_DEALER)
    throw new TooManyError(`There may be ${MAX_PLANS_PER_DEALER} maintenance plans`);
  const plan: MaintenancePlan = {
    ...fields,
    id: newId() as MaintenancePlanId,
    version: 1,
    startsAtMs: fields.startsAtMs ?? nowMs,
    createdAtMs: nowMs,
    changedAtMs: nowMs,
  };
  await tx.insertInto('maintenancePlans').values(planRow(plan)).execute();
  writer.note(planNote(null, plan));
  return plan;
}

function isSameSpan(a: MaintenancePlan, b: MaintenancePlan): boolean {
  const spanOf = ({ counterName, every, warning, startsAtMs }: MaintenancePlan) =>
    JSON.stringify([counterName, every, warning, startsAtMs]);
  return spanOf(a) === spanOf(b);
}

/** Were the counters read at a service? Then the plan goes by what they show, and else by what was counted. */
function isRead(record: ServiceRecordRow | undefined): boolean {
  return record !== undefined && (record.odometerM !== null || record.engineMs !== null);
}

async function planOf(db: Reader, id: MaintenancePlanId): Promise<MaintenancePlan | null> {
  const row = await db.selectFrom('maintenancePlans').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : fromPlanRow(row);
}

function planRow(plan: MaintenancePlan): MaintenancePlanRow {
  const { every, warning, ...fields } = plan;
  return {
    ...fields,
    everyM: every.distanceM,
    everyEngineMs: every.engineMs,
    everyDays: every.days,
    everyCounter: every.counter,
    warningM: warning.distanceM,
    warningEngineMs: warning.engineMs,
    warningDays: warning.days,
    warningCounter: warning.counter,
  };
}

function fromPlanRow(row: MaintenancePlanRow): MaintenancePlan {
  const span = (
    distanceM: number | null,
    engineMs: number | null,
    days: number | null,
    counter: number | null,
  ): MaintenanceSpan => ({ distanceM, engineMs, days, counter });
  return {
    id: row.id as MaintenancePlanId,
    version: row.version,
    dealerId: row.dealerId as UserId | null,
    name: row.name,
    description: row.description,
    vehicleId: row.vehicleId as VehicleId | null,
    groupId: row.groupId as GroupId | null,
    counterName: row.counterName,
    every: span(row.everyM, row.everyEngineMs, row.everyDays, row.everyCounter),
    warning: span(row.warningM, row.warningEngineMs, row.warningDays, row.warningCounter),
    startsAtMs: Number(row.startsAtMs),
    createdAtMs: Number(row.createdAtMs),
    changedAtMs: Number(row.changedAtMs),
  };
}

function planNote(before: MaintenancePlan | null, after: MaintenancePlan | null): AuditNote {
  const plan = (after ?? before) as MaintenancePlan;
  const fieldsOf = (each: MaintenancePlan | null) => {
    if (each === null) return null;
    const { id, version, createdAtMs, changedAtMs, ...fields } = each;
    return fields;
  };
  return {
    action: before === null ? 'created' : after === null ? 'deleted' : 'changed',
    subject: { kind: 'maintenance-plan' satisfies AuditSubjectKind, id: plan.id, name: plan.name },
    before: fieldsOf(before),
    after: fieldsOf(after),
    dealerIds: plan.dealerId === null ? [] : [plan.dealerId],
  };
}

function fromStateRow(row: MaintenanceStateRow): KeptState {
  const state = JSON.parse(row.state) as KeptState;
  const { left, counterUnit, published } = state;
  // Stored by an earlier release, it says nothing of custom counters, nor of what was sent.
  const sentIds = state.sentIds ?? published.map(({ id }) => id);
  return { ...state, left: { ...left, counter: left.counter ?? null }, counterUnit: counterUnit ?? null, sentIds };
}

/** The most urgent first. */
export function byUrgency(a: MaintenanceState, b: MaintenanceState): number {
  const rank = ({ stage }: MaintenanceState) => -MAINTENANCE_STAGES.indexOf(stage);
  return rank(a) - rank(b) || a.share - b.share || (a.vehicleId < b.vehicleId ? -1 : 1);
}

/** @throws {NotFoundError} */
async function recordAndVehicle(
  tx: Reader,
  id: ServiceRecordId,
): Promise<{ record: ServiceRecord; vehicle: { dealerId: UserId | null } }> {
  const row = await tx.selectFrom('serviceRecords').selectAll().where('id', '=', id).executeTakeFirst();
  const [record] = row === undefined ? [] : await withFiles(tx, [row]);
  if (record === undefined) throw new NotFoundError('service-record', id);
  const vehicle = await tx
    .selectFrom('vehicles')
    .select('dealerId')
    .where('id', '=', record.vehicleId)
    .executeTakeFirst();
  return { record, vehicle: { dealerId: (vehicle?.dealerId ?? null) as UserId | null } };
}

function fileNote(
  action: 'created' | 'deleted',
  { id, vehicleId, title }: ServiceRecord,
  dealerId: UserId | null,
  { name, mediaType, bytes }: ServiceFile,
): AuditNote {
  const fields = { vehicleId, file: { name, mediaType, bytes } };
  return {
    action,
    subject: { kind: 'service-record', id, name: title },
    before: action === 'deleted' ? fields : null,
    after: action === 'created' ? fields : null,
    dealerIds: dealerId === null ? [] : [dealerId],
  };
}

function serviceFileOf({ id, name, mediaType, bytes }: ServiceFileRow): ServiceFile {
  return { id: id as ServiceFileId, name, mediaType: mediaType as ServiceFile['mediaType'], bytes };
}

async function withFiles(db: Reader, rows: readonly ServiceRecordRow[]): Promise<ServiceRecord[]> {
  const files = new Map<string, ServiceFile[]>();
  for (const some of inChunks(rows.map(({ id }) => id)))
    for (const row of await db
      .selectFrom('serviceFiles')
      .selectAll()
      .where('recordId', 'in', some)
      .orderBy('id')
      .execute())
      files.set(row.recordId, [...(files.get(row.recordId) ?? []), serviceFileOf(row)]);
  return rows.map((row) => ({
    id: row.id as ServiceRecordId,
    vehicleId: row.vehicleId as VehicleId,
    planId: row.planId as MaintenancePlanId | null,
    title: row.title,
    atMs: Number(row.atMs),
    odometerM: row.odometerM,
    engineMs: row.engineMs,
    cost:
      row.costMinor === null || row.currency === null ? null : { amountMinor: row.costMinor, currency: row.currency },
    note: row.note,
    createdBy: row.createdBy as UserId | null,
    createdAtMs: Number(row.createdAtMs),
    files: files.get(row.id) ?? [],
  }));
}
