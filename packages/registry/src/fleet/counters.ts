import {
  COUNTERS,
  type CounterCorrection,
  type CounterCorrectionId,
  type CounterKey,
  type CounterSums,
  type CustomSums,
  offsetOf,
  type ShownCounter,
  sumOf,
  type UserId,
  type VehicleCounters,
  type VehicleId,
} from '@outrider/domain';
import { NotFoundError } from '../store/errors.ts';
import type { CounterCorrectionRow, CounterMarkRow, VehicleCountersRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { customCountersOf } from './custom-counter-rows.ts';

/** Stored counters of a vehicle, for the service that counts them. */
export interface KeptCounters {
  vehicleId: VehicleId;
  /** Grows with each change. Results that were counted from an older revision are refused. */
  revision: number;
  /** Unix milliseconds: everything counted from here on is outdated. */
  staleFromMs: number | null;
  /** When the newest counted packet of the vehicle was received. */
  contactAtMs: number;
  throughMs: number;
  /** State from which counting continues, as JSON. */
  state: string;
  sums: CounterSums;
  /** Amount that the counters show in addition to the sums, where nobody corrected them. */
  first: CounterSums;
  /** Grows each time that the past changed. */
  epoch: number;
}

/** Result of counting further records of a vehicle. */
export interface CountedOn extends Omit<KeptCounters, 'staleFromMs' | 'epoch'> {
  /** The state before each day, by its time. */
  days: readonly { throughMs: number; state: string }[];
  /** From this time on, stored days and marks are replaced by the given ones. */
  fromMs: number;
  /** Records from before those counted already were counted again. */
  isRecount: boolean;
  marks: readonly { atMs: number; sums: CounterSums }[];
}

export interface NewCorrection {
  vehicleId: VehicleId;
  counter: CounterKey;
  atMs: number;
  value: number;
  note: string | null;
  /** Null: the service itself. */
  createdBy: UserId | null;
}

/** For how long the states of days are kept; of older ones the first of each month is. */
const DAYS_KEPT_MS = 62 * 86_400_000;
/** Corrections kept for the standard counters together, and for each custom counter. The oldest are deleted. */
const MAX_CORRECTIONS = 200;
const NOTHING: CounterSums = { odometerM: 0, engineMs: 0, custom: {} };

/** Counters of vehicles: what was counted, and how people corrected it. */
export class Counters {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Counters of the vehicles among these that have any data or correction, in no order. */
  of(vehicleIds: readonly VehicleId[]): Promise<VehicleCounters[]> {
    return countersOf(this.#store.db, vehicleIds);
  }

  /** Sums of records, without corrections. */
  async kept(vehicleIds: readonly VehicleId[]): Promise<KeptCounters[]> {
    const kept: KeptCounters[] = [];
    for (const some of inChunks(vehicleIds)) {
      const rows = await this.#store.db
        .selectFrom('vehicleCounters')
        .selectAll()
        .where('vehicleId', 'in', some)
        .execute();
      kept.push(...rows.map(keptOf));
    }
    return kept;
  }

  /**
   * The newest stored state of a vehicle from before a time, as JSON; null without any. Where the vehicle's history is
   * erased up to a limit, the oldest state after it: records before that are missing, and would not be counted again.
   */
  async dayBefore(vehicleId: VehicleId, ms: number): Promise<string | null> {
    const { db } = this.#store;
    const days = db.selectFrom('counterDays').select('state').where('vehicleId', '=', vehicleId);
    const before = days.where('throughMs', '<', ms).orderBy('throughMs', 'desc').limit(1);
    const state = (await before.executeTakeFirst())?.state ?? null;
    if (state !== null) return state;
    const { isCut, states } = await this.days(vehicleId);
    return isCut ? (states[0] ?? null) : null;
  }

  /**
   * The stored states of a vehicle, as JSON, in the order of their times.
   *
   * @returns `isCut`: records from before the first state may have been erased. Then at least one state is returned,
   *   if anything was counted
   */
  async days(vehicleId: VehicleId): Promise<{ states: string[]; isCut: boolean }> {
    const { db } = this.#store;
    const query = db.selectFrom('counterDays').select('state').where('vehicleId', '=', vehicleId);
    const states = (await query.orderBy('throughMs').execute()).map(({ state }) => state);
    const limit = db.selectFrom('historyLimits').select('beforeMs').where('vehicleId', '=', vehicleId);
    const isCut = (await limit.executeTakeFirst()) !== undefined;
    if (!isCut || states.length > 0) return { states, isCut };
    const now = db.selectFrom('vehicleCounters').select('state').where('vehicleId', '=', vehicleId);
    const state = (await now.executeTakeFirst())?.state;
    return { states: state ? [state] : [], isCut };
  }

  /** Times at which the sums of vehicles are requested, ascending. */
  async marksOf(vehicleIds: readonly VehicleId[]): Promise<Map<VehicleId, number[]>> {
    const marks = new Map<VehicleId, number[]>();
    for (const some of inChunks(vehicleIds)) {
      const query = this.#store.db.selectFrom('counterMarks').select(['vehicleId', 'atMs']);
      for (const { vehicleId, atMs } of await query.where('vehicleId', 'in', some).orderBy('atMs').execute())
        listIn(marks, vehicleId as VehicleId).push(Number(atMs));
    }
    return marks;
  }

  /**
   * Stores the results of counting, for vehicles whose counters did not change meanwhile.
   *
   * @returns the vehicles whose results were stored
   */
  save(counted: readonly CountedOn[]): Promise<VehicleId[]> {
    return this.#store.db.transaction().execute(async (tx) => {
      const saved: CountedOn[] = [];
      for (const each of counted) if (await saveCounted(tx, each)) saved.push(each);
      for (const { vehicleId, marks } of saved)
        for (const { atMs, sums } of marks)
          await tx
            .updateTable('counterMarks')
            .set(markColumns(sums))
            .where('vehicleId', '=', vehicleId)
            .where('atMs', '=', atMs)
            .execute();
      const corrections = await correctionsOf(
        tx,
        saved.map(({ vehicleId }) => vehicleId),
      );
      for (const each of saved) {
        const { vehicleId, sums, fromMs } = each;
        const ofVehicle = corrections.get(vehicleId) ?? [];
        if (ofVehicle.length > 0)
          await tx
            .updateTable('vehicleCounters')
            .set(shownSums(ofVehicle, sums, each.first))
            .where('vehicleId', '=', vehicleId)
            .execute();
        if (each.days.length === 0 && !each.isRecount) continue;
        await tx
          .deleteFrom('counterDays')
          .where('vehicleId', '=', vehicleId)
          .where('throughMs', '>=', fromMs)
          .execute();
        for (const { throughMs, state } of each.days)
          await tx
            .insertInto('counterDays')
            .values({ vehicleId, throughMs, state })
            .onConflict((c) => c.columns(['vehicleId', 'throughMs']).doUpdateSet({ state }))
            .execute();
        if (each.days.length > 0) await forgetDays(tx, vehicleId, each.throughMs - DAYS_KEPT_MS);
      }
      return saved.map(({ vehicleId }) => vehicleId);
    });
  }

  /** Outdates counters from a time on, because older records arrived after later ones were counted. */
  async outdate(vehicleId: VehicleId, fromMs: number): Promise<void> {
    await outdate(this.#store.db, vehicleId, fromMs);
  }

  /** Vehicles whose counters are outdated. */
  async stale(limit: number): Promise<VehicleId[]> {
    const rows = await this.#store.db
      .selectFrom('vehicleCounters')
      .select('vehicleId')
      .where('staleFromMs', 'is not', null)
      .limit(limit)
      .execute();
    return rows.map((row) => row.vehicleId as VehicleId);
  }

  /** The newest first. */
  async corrections(vehicleId: VehicleId): Promise<CounterCorrection[]> {
    return (await correctionsOf(this.#store.db, [vehicleId])).get(vehicleId) ?? [];
  }

  /** The newest first, by vehicle. */
  correctionsOf(vehicleIds: readonly VehicleId[]): Promise<Map<VehicleId, CounterCorrection[]>> {
    return correctionsOf(this.#store.db, vehicleIds);
  }

  /**
   * Sets what a counter showed at a time.
   *
   * @throws {NotFoundError} without the vehicle
   */
  correct(fields: NewCorrection): Promise<CounterCorrection> {
    return this.#store.write((writer) => addCorrection(writer, fields));
  }

  /** Sets all of them, or none. @throws {NotFoundError} without one of the vehicles */
  correctAll(all: readonly NewCorrection[]): Promise<CounterCorrection[]> {
    return this.#store.write(async (writer) => {
      const corrections: CounterCorrection[] = [];
      for (const fields of all) corrections.push(await addCorrection(writer, fields));
      return corrections;
    });
  }

  /** @throws {NotFoundError} */
  removeCorrection(vehicleId: VehicleId, id: CounterCorrectionId): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const row = await tx
        .selectFrom('counterCorrections')
        .selectAll()
        .where('id', '=', id)
        .where('vehicleId', '=', vehicleId)
        .executeTakeFirst();
      if (row === undefined) throw new NotFoundError('counter-correction', id);
      const vehicle = await nameOf(writer, vehicleId);
      await tx.deleteFrom('counterCorrections').where('id', '=', id).execute();
      await showCorrected(tx, vehicleId);
      if (isCustom(row.counter)) await renewHistory(tx, vehicleId);
      const { counter, atMs, value, note } = row;
      writer.note({
        action: 'deleted',
        subject: { kind: 'counter-correction', id, name: vehicle.name },
        before: { vehicleId, counter, atMs: Number(atMs), value, note },
        dealerIds: vehicle.dealerId === null ? [] : [vehicle.dealerId],
      });
    });
  }
}

/** @see Counters.of */
export async function countersOf(db: Reader, vehicleIds: readonly VehicleId[]): Promise<VehicleCounters[]> {
  const counters: VehicleCounters[] = [];
  for (const some of inChunks(vehicleIds)) {
    const rows = await db.selectFrom('vehicleCounters').selectAll().where('vehicleId', 'in', some).execute();
    const custom = await shownCountersOf(db, rows);
    counters.push(...rows.map((row) => shownOf(row, custom.get(row.vehicleId as VehicleId) ?? [])));
  }
  return counters;
}

export async function addCorrection(writer: Writer, fields: NewCorrection): Promise<CounterCorrection> {
  const { tx, newId, nowMs } = writer;
  const { vehicleId, atMs } = fields;
  const vehicle = await nameOf(writer, vehicleId);
  const id = newId() as CounterCorrectionId;
  await tx
    .insertInto('counterCorrections')
    .values({ id, ...fields, createdAtMs: nowMs })
    .execute();
  const rows = (await correctionsOf(tx, [vehicleId])).get(vehicleId) ?? [];
  const alike = rows.filter(({ counter }) =>
    isCustom(fields.counter) ? counter === fields.counter : !isCustom(counter),
  );
  for (const { id: oldest } of alike.slice(MAX_CORRECTIONS))
    await tx.deleteFrom('counterCorrections').where('id', '=', oldest).execute();
  await mark(tx, vehicleId, atMs);
  await showCorrected(tx, vehicleId);
  if (isCustom(fields.counter)) await renewHistory(tx, vehicleId);
  writer.note({
    action: 'created',
    subject: { kind: 'counter-correction', id, name: vehicle.name },
    after: { vehicleId, counter: fields.counter, atMs, value: fields.value, note: fields.note },
    dealerIds: vehicle.dealerId === null ? [] : [vehicle.dealerId],
  });
  return { id, ...fields, sum: null, createdAtMs: nowMs };
}

/** Requests the sums at a time. Where it was counted past already, the vehicle is counted again from there. */
export async function mark(tx: Reader, vehicleId: VehicleId, atMs: number): Promise<void> {
  const row = await tx.selectFrom('vehicleCounters').selectAll().where('vehicleId', '=', vehicleId).executeTakeFirst();
  const isNew = row === undefined || Number(row.throughMs) <= atMs;
  const sums = row === undefined ? NOTHING : keptOf(row).sums;
  await tx
    .insertInto('counterMarks')
    .values({ vehicleId, atMs, ...(isNew ? markColumns(sums) : { odometerM: null, engineMs: null, custom: null }) })
    .onConflict((c) => c.columns(['vehicleId', 'atMs']).doNothing())
    .execute();
  if (!isNew) await outdate(tx, vehicleId, atMs);
}

/** Outdates the counters of a vehicle after a time: its records are counted again from there. */
export async function outdate(db: Reader, vehicleId: VehicleId, fromMs: number): Promise<void> {
  await db
    .updateTable('vehicleCounters')
    .set((e) => ({
      revision: e('revision', '+', 1),
      epoch: e('epoch', '+', 1),
      staleFromMs: e.case().when('staleFromMs', '<', fromMs).then(e.ref('staleFromMs')).else(fromMs).end(),
    }))
    .where('vehicleId', '=', vehicleId)
    .where('throughMs', '>', fromMs)
    .execute();
}

/** Stores sums without corrections. @returns false where the counters changed since they were read */
async function saveCounted(tx: Reader, each: CountedOn): Promise<boolean> {
  const { vehicleId, revision, contactAtMs, throughMs, state, sums, first } = each;
  const fields = {
    revision: revision + 1,
    staleFromMs: null,
    contactAtMs,
    throughMs,
    state,
    sumOdometerM: sums.odometerM,
    sumEngineMs: sums.engineMs,
    firstOdometerM: first.odometerM,
    firstEngineMs: first.engineMs,
    sumCustom: customColumn(sums.custom),
    firstCustom: customColumn(first.custom),
    odometerM: sums.odometerM + first.odometerM,
    engineMs: sums.engineMs + first.engineMs,
  };
  if (revision === 0) {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('vehicleCounters')
      .values({ vehicleId, ...fields, epoch: 0 })
      .onConflict((c) => c.column('vehicleId').doNothing())
      .executeTakeFirst();
    return numInsertedOrUpdatedRows === 1n;
  }
  const { numUpdatedRows } = await tx
    .updateTable('vehicleCounters')
    .set(fields)
    .where('vehicleId', '=', vehicleId)
    .where('revision', '=', revision)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Sums at the marked times, by vehicle and time; those not known yet are left out. */
export async function sumsAt(
  db: Reader,
  vehicleIds: readonly VehicleId[],
): Promise<Map<VehicleId, Map<number, CounterSums>>> {
  const sums = new Map<VehicleId, Map<number, CounterSums>>();
  for (const some of inChunks(vehicleIds)) {
    const query = db.selectFrom('counterMarks').selectAll().where('vehicleId', 'in', some);
    for (const { vehicleId, atMs, odometerM, engineMs, custom } of await query.execute()) {
      if (odometerM === null || engineMs === null) continue;
      const ofVehicle = sums.get(vehicleId as VehicleId) ?? new Map<number, CounterSums>();
      sums.set(
        vehicleId as VehicleId,
        ofVehicle.set(Number(atMs), { odometerM, engineMs, custom: fromCustomColumn(custom) }),
      );
    }
  }
  return sums;
}

/** The newest first, by vehicle. */
async function correctionsOf(
  db: Reader,
  vehicleIds: readonly VehicleId[],
): Promise<Map<VehicleId, CounterCorrection[]>> {
  const rows: CounterCorrectionRow[] = [];
  for (const some of inChunks(vehicleIds)) {
    const query = db.selectFrom('counterCorrections').selectAll().where('vehicleId', 'in', some);
    rows.push(...(await query.orderBy('atMs', 'desc').orderBy('id', 'desc').execute()));
  }
  const corrections = new Map<VehicleId, CounterCorrection[]>();
  if (rows.length === 0) return corrections;
  const sums = await sumsAt(db, [...new Set(rows.map(({ vehicleId }) => vehicleId as VehicleId))]);
  for (const row of rows) {
    const vehicleId = row.vehicleId as VehicleId;
    listIn(corrections, vehicleId).push(correctionOf(row, sums.get(vehicleId) ?? new Map()));
  }
  return corrections;
}

/** Ids of the corrections of vehicles, the newest first. */
export async function correctionIdsOf(
  db: Reader,
  vehicleIds: readonly VehicleId[],
): Promise<Map<VehicleId, CounterCorrectionId[]>> {
  const corrections = await correctionsOf(db, vehicleIds);
  return new Map([...corrections].map(([vehicleId, all]) => [vehicleId, all.map(({ id }) => id)]));
}

function listIn<K, V>(lists: Map<K, V[]>, key: K): V[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

function correctionOf(row: CounterCorrectionRow, sums: ReadonlyMap<number, CounterSums>): CounterCorrection {
  const atMs = Number(row.atMs);
  const counter = row.counter as CounterKey;
  const at = sums.get(atMs);
  return {
    id: row.id as CounterCorrectionId,
    vehicleId: row.vehicleId as VehicleId,
    counter,
    atMs,
    value: row.value,
    sum: at === undefined ? null : sumOf(counter, at),
    note: row.note,
    createdBy: row.createdBy as UserId | null,
    createdAtMs: Number(row.createdAtMs),
  };
}

/** Values that counters show: sums with corrections. */
function shownSums(
  corrections: readonly CounterCorrection[],
  sums: CounterSums,
  first: CounterSums,
): Pick<CounterSums, 'odometerM' | 'engineMs'> {
  return {
    odometerM: sums.odometerM + offsetOf('odometer', corrections, sums, first),
    engineMs: sums.engineMs + offsetOf('engine-hours', corrections, sums, first),
  };
}

/** What the custom counters of vehicles show. */
async function shownCountersOf(
  db: Reader,
  rows: readonly VehicleCountersRow[],
): Promise<Map<VehicleId, ShownCounter[]>> {
  const counters = await customCountersOf(
    db,
    rows.map(({ vehicleId }) => vehicleId as VehicleId),
  );
  const corrections = await correctionsOf(db, [...counters.keys()]);
  const shown = new Map<VehicleId, ShownCounter[]>();
  for (const row of rows) {
    const { vehicleId, sums, first } = keptOf(row);
    const ofVehicle = corrections.get(vehicleId) ?? [];
    const values = (counters.get(vehicleId) ?? []).map((counter) => {
      const value = sumOf(counter.id, sums) + offsetOf(counter.id, ofVehicle, sums, first);
      return { ...counter, value };
    });
    shown.set(vehicleId, values);
  }
  return shown;
}

function isCustom(counter: string): boolean {
  return !(COUNTERS as readonly string[]).includes(counter);
}

/** Outdates results of maintenance plans: a correction changed the past, although no record did. */
async function renewHistory(tx: Reader, vehicleId: VehicleId): Promise<void> {
  await tx
    .updateTable('vehicleCounters')
    .set((e) => ({ epoch: e('epoch', '+', 1) }))
    .where('vehicleId', '=', vehicleId)
    .execute();
}

/** A custom counter was changed: results that are being counted are discarded, and counted again. */
export function touchCounters(tx: Reader, vehicleId: VehicleId): Promise<void> {
  return showCorrected(tx, vehicleId);
}

async function showCorrected(tx: Reader, vehicleId: VehicleId): Promise<void> {
  const row = await tx.selectFrom('vehicleCounters').selectAll().where('vehicleId', '=', vehicleId).executeTakeFirst();
  // Corrections are shown even for a vehicle without any data: its counters are read by hand.
  const { sums, first } = row === undefined ? { sums: NOTHING, first: NOTHING } : keptOf(row);
  const shown = shownSums((await correctionsOf(tx, [vehicleId])).get(vehicleId) ?? [], sums, first);
  if (row !== undefined)
    await tx
      .updateTable('vehicleCounters')
      .set((e) => ({ ...shown, revision: e('revision', '+', 1) }))
      .where('vehicleId', '=', vehicleId)
      .execute();
  else
    await tx
      .insertInto('vehicleCounters')
      .values({
        vehicleId,
        revision: 1,
        staleFromMs: null,
        contactAtMs: 0,
        throughMs: 0,
        state: '',
        epoch: 0,
        sumOdometerM: 0,
        sumEngineMs: 0,
        firstOdometerM: 0,
        firstEngineMs: 0,
        sumCustom: null,
        firstCustom: null,
        ...shown,
      })
      .execute();
}

async function nameOf({ tx }: Writer, vehicleId: VehicleId): Promise<{ name: string; dealerId: UserId | null }> {
  const row = await tx
    .selectFrom('vehicles')
    .select(['name', 'dealerId'])
    .where('id', '=', vehicleId)
    .executeTakeFirst();
  if (row === undefined) throw new NotFoundError('vehicle', vehicleId);
  return { name: row.name, dealerId: row.dealerId as UserId | null };
}

/** Deletes states of days before a time, except the first of each month. */
async function forgetDays(tx: Reader, vehicleId: VehicleId, beforeMs: number): Promise<void> {
  const rows = await tx
    .selectFrom('counterDays')
    .select('throughMs')
    .where('vehicleId', '=', vehicleId)
    .where('throughMs', '<', beforeMs)
    .orderBy('throughMs')
    .execute();
  const seen = new Set<string>();
  const forgotten: number[] = [];
  for (const { throughMs } of rows) {
    const month = new Date(Number(throughMs)).toISOString().slice(0, 7);
    if (seen.has(month)) forgotten.push(Number(throughMs));
    seen.add(month);
  }
  for (const some of inChunks(forgotten))
    await tx.deleteFrom('counterDays').where('vehicleId', '=', vehicleId).where('throughMs', 'in', some).execute();
}

function keptOf(row: VehicleCountersRow): KeptCounters {
  return {
    vehicleId: row.vehicleId as VehicleId,
    revision: row.revision,
    staleFromMs: row.staleFromMs === null ? null : Number(row.staleFromMs),
    contactAtMs: Number(row.contactAtMs),
    throughMs: Number(row.throughMs),
    state: row.state,
    sums: { odometerM: row.sumOdometerM, engineMs: row.sumEngineMs, custom: fromCustomColumn(row.sumCustom) },
    first: { odometerM: row.firstOdometerM, engineMs: row.firstEngineMs, custom: fromCustomColumn(row.firstCustom) },
    epoch: row.epoch,
  };
}

function shownOf(row: VehicleCountersRow, custom: readonly ShownCounter[]): VehicleCounters {
  return {
    vehicleId: row.vehicleId as VehicleId,
    atMs: Number(row.throughMs),
    odometerM: row.odometerM,
    engineMs: row.engineMs,
    custom,
    settled: row.staleFromMs === null,
  };
}

function markColumns({ odometerM, engineMs, custom }: CounterSums): Omit<CounterMarkRow, 'vehicleId' | 'atMs'> {
  return { odometerM, engineMs, custom: customColumn(custom) };
}

function customColumn(sums: CustomSums): string | null {
  return Object.keys(sums).length === 0 ? null : JSON.stringify(sums);
}

function fromCustomColumn(column: string | null): CustomSums {
  return column === null ? {} : (JSON.parse(column) as CustomSums);
}
