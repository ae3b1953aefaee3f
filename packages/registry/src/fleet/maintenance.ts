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
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import type { AuditNote, AuditSubjectKind } from '../audit/audit-notes.ts';
import { NotFoundError, StaleVersionError, TooManyError } from '../store/errors.ts';
import type { MaintenancePlanRow, MaintenanceStateRow, ServiceRecordRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { correctionIdsOf, mark, sumsAt } from './counters.ts';

export type PlanFields = Pick<
  MaintenancePlan,
  'name' | 'description' | 'vehicleId' | 'groupId' | 'counterName' | 'every' | 'warning' | 'dealerId'
> & { startsAtMs?: number };
/** State of a plan for a vehicle, with the events since the last service, and what was not published yet. */
export interface KeptState extends MaintenanceState {
  /** Events since the last service, each in its latest phase. */
  published: readonly MaintenanceDue[];
  /** Those of them that are in the archive by way of {@link written}. */
  rewritten: readonly EventId[];
  /** Ids of events that were published since the last service, or since people changed the plan's basis. */
  sentIds: readonly EventId[];
  /** Counts changes that people made to the plan's basis: part of the ids of its events. */
  generation: number;
  /** No event begins before this time, at which the plan's basis was entered. */
  floorMs: number;
  /** {@link PlanBase.key} and {@link PlanBase.said} at the last evaluation. */
  base: string;
  said: string;
  /** {@link KeptCounters.epoch} when its events were last compared with history. */
  epoch: number;
  /** Its events are right by what was entered when they began, although other data was entered since. */
  isFrozen: boolean;
  /** Events to append to the log. */
  unsent: readonly MaintenanceDue[];
  /** Events to write into the archive in place of others, and the events that they replace. */
  written: readonly MaintenanceDue[];
  removed: readonly MaintenanceDue[];
}

/** Number of unpublished changes of a state. */
export function pendingOf({ unsent, written, removed }: Pick<KeptState, 'unsent' | 'written' | 'removed'>): number {
  return unsent.length + written.length + removed.length;
}

/** Basis that a plan is counted from. */
export interface PlanBase {
  /** Id of the service, or of the plan. */
  key: string;
  sinceMs: number;
  /** When the plan or the service was entered. */
  saidAtMs: number;
  /** Fingerprint of what people entered: the plan, the service, and the corrections of counters that it depends on. */
  said: string;
  /** Sums at that time; null until they are known. */
  sums: CounterSums | null;
  /** Counter readings at the service. */
  read: { odometerM: number | null; engineMs: number | null };
}

export const MAX_PLANS_PER_DEALER = 1000;

/** Maintenance plans and their states. */
export class Maintenance {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws {TooManyError} */
  createPlan(fields: PlanFields): Promise<MaintenancePlan> {
    return this.#store.write((writer) => addPlan(writer, fields));
  }

  /** Creates all of them, or none. @throws {TooManyError} */
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

  /** Its open events end with the next evaluation of plans. @throws {NotFoundError} {StaleVersionError} */
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

  /** All plans, in the order of their ids. They are few. */
  async plans(): Promise<MaintenancePlan[]> {
    const rows = await this.#store.db.selectFrom('maintenancePlans').selectAll().orderBy('id').execute();
    return rows.map(fromPlanRow);
  }

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

  /** Plans with stored states, deleted plans included. */
  async plansWithStates(): Promise<MaintenancePlanId[]> {
    const rows = await this.#store.db.selectFrom('maintenanceStates').select('planId').distinct().execute();
    return rows.map(({ planId }) => planId as MaintenancePlanId);
  }

  /** @param gone plans and vehicles that no longer belong together, with nothing left to publish */
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

  /** States with changes that are to be published. */
  async unsent(limit: number): Promise<KeptState[]> {
    const query = this.#store.db.selectFrom('maintenanceStates').selectAll().where('unsent', '>', 0).limit(limit);
    return (await query.execute()).map(fromStateRow);
  }

  /** Basis of a plan for each vehicle: the newest service, or the start of the plan. */
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
}

/** Deletes the plans of a deleted vehicle or group. Service records stay until they are erased. */
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

/** Applies the new name of a custom counter to the plans of its vehicle. */
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

/** Whether counters were read at a service. The plan then goes by the shown values, else by the sums. */
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
  // A state stored by an earlier release lacks custom counters, and the ids that were sent.
  const sentIds = state.sentIds ?? published.map(({ id }) => id);
  return { ...state, left: { ...left, counter: left.counter ?? null }, counterUnit: counterUnit ?? null, sentIds };
}

/** The most urgent first. */
export function byUrgency(a: MaintenanceState, b: MaintenanceState): number {
  const rank = ({ stage }: MaintenanceState) => -MAINTENANCE_STAGES.indexOf(stage);
  return rank(a) - rank(b) || a.share - b.share || (a.vehicleId < b.vehicleId ? -1 : 1);
}
