import {
  type CounterSource,
  type CustomCounter,
  type CustomCounterId,
  counterNameKey,
  counterTermsOf,
  MAX_CUSTOM_COUNTERS,
  type Sensor,
  type SensorId,
  type UserId,
  type Vehicle,
  type VehicleId,
  withTerms,
} from '@outrider/domain';
import type { AuditNote } from '../audit/audit-notes.ts';
import { ConflictError, NotFoundError, StaleVersionError, TooManyError } from '../store/errors.ts';
import type { Store, Writer } from '../store/store.ts';
import { outdate, touchCounters } from './counters.ts';
import { customCountersOf, customRow } from './custom-counter-rows.ts';
import { renameInPlans } from './maintenance.ts';

export interface CustomCounterFields {
  name: string;
  unit: string;
  source: CounterSource;
  /** Sensor of the vehicle; null where only people change the counter. */
  sensorId: SensorId | null;
  /** Unix milliseconds from which it counts; default: now. */
  startsAtMs?: number;
}

/** Counters that people define for vehicles. Their values are in {@link Counters}. */
export class CustomCounters {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** By vehicle, in the order of their creation. */
  of(vehicleIds: readonly VehicleId[]): Promise<Map<VehicleId, CustomCounter[]>> {
    return customCountersOf(this.#store.db, vehicleIds);
  }

  /** @throws {NotFoundError} without the vehicle {TooManyError} {ConflictError} */
  create(vehicleId: VehicleId, fields: CustomCounterFields): Promise<CustomCounter> {
    return this.#store.write(async (writer) => {
      const { tx, newId, nowMs } = writer;
      const vehicle = await requireVehicle(writer, vehicleId);
      const others = (await customCountersOf(tx, [vehicleId])).get(vehicleId) ?? [];
      if (others.length >= MAX_CUSTOM_COUNTERS)
        throw new TooManyError(`A vehicle may have ${MAX_CUSTOM_COUNTERS} custom counters`);
      requireFreeName(fields.name, others);
      const { startsAtMs = nowMs, ...rest } = fields;
      const counter: CustomCounter = {
        ...rest,
        id: newId() as CustomCounterId,
        version: 1,
        vehicleId,
        startsAtMs,
        terms: withTerms([], counterTermsOf(fields, vehicle), startsAtMs),
        createdAtMs: nowMs,
      };
      await tx.insertInto('customCounters').values(customRow(counter)).execute();
      await countedFrom(writer, vehicleId, startsAtMs);
      writer.note(noteOf(null, counter, vehicle.dealerId));
      return counter;
    });
  }

  /**
   * Keeps what was counted. The changed definition applies from now on. Plans of the vehicle follow a new name.
   *
   * @throws {NotFoundError} {StaleVersionError} {ConflictError}
   */
  change(
    vehicleId: VehicleId,
    id: CustomCounterId,
    version: number | null,
    patch: Partial<Omit<CustomCounterFields, 'startsAtMs'>>,
  ): Promise<CustomCounter> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const vehicle = await requireVehicle(writer, vehicleId);
      const all = (await customCountersOf(tx, [vehicleId])).get(vehicleId) ?? [];
      const before = asExpected(all, id, version);
      const others = all.filter((each) => each !== before);
      const next = { ...before, ...patch, version: before.version + 1 };
      requireFreeName(next.name, others);
      const isOther = next.source !== before.source || next.sensorId !== before.sensorId;
      const counter = isOther
        ? { ...next, terms: withTerms(before.terms, counterTermsOf(next, vehicle), nowMs) }
        : next;
      const { id: _, ...columns } = customRow(counter);
      await tx.updateTable('customCounters').set(columns).where('id', '=', id).execute();
      if (isOther) await countedFrom(writer, vehicleId, nowMs);
      if (counter.name !== before.name) await renameInPlans(writer, vehicleId, before.name, counter.name);
      writer.note(noteOf(before, counter, vehicle.dealerId));
      return counter;
    });
  }

  /** Removes a counter with its corrections. @throws {NotFoundError} {StaleVersionError} */
  remove(vehicleId: VehicleId, id: CustomCounterId, version: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const vehicle = await requireVehicle(writer, vehicleId);
      const before = asExpected((await customCountersOf(tx, [vehicleId])).get(vehicleId) ?? [], id, version);
      await tx.deleteFrom('counterCorrections').where('vehicleId', '=', vehicleId).where('counter', '=', id).execute();
      await tx.deleteFrom('customCounters').where('id', '=', id).execute();
      await touchCounters(tx, vehicleId);
      writer.note(noteOf(before, null, vehicle.dealerId));
    });
  }
}

/**
 * Adapts counters to changed vehicles, where a sensor was removed or measures differently from now on. What was counted
 * is kept.
 */
export async function followSensors(writer: Writer, vehicles: readonly Vehicle[]): Promise<void> {
  const { tx, nowMs } = writer;
  const counters = await customCountersOf(
    tx,
    vehicles.map(({ id }) => id),
  );
  for (const vehicle of vehicles) {
    let isChanged = false;
    for (const { id, terms, ...counter } of counters.get(vehicle.id) ?? []) {
      const next = withTerms(terms, counterTermsOf(counter, vehicle), nowMs);
      if (JSON.stringify(next) === JSON.stringify(terms)) continue;
      isChanged = true;
      const columns = { terms: JSON.stringify(next) };
      await tx.updateTable('customCounters').set(columns).where('id', '=', id).execute();
    }
    if (isChanged) await countedFrom(writer, vehicle.id, nowMs);
  }
}

/** Records are counted differently from a time on: results that are being counted are discarded. */
async function countedFrom({ tx }: Writer, vehicleId: VehicleId, fromMs: number): Promise<void> {
  await touchCounters(tx, vehicleId);
  // Records at exactly this time already count by the new definition.
  await outdate(tx, vehicleId, fromMs - 1);
}

function asExpected(all: readonly CustomCounter[], id: CustomCounterId, version: number | null): CustomCounter {
  const counter = all.find((each) => each.id === id);
  if (counter === undefined) throw new NotFoundError('custom-counter', id);
  if (version !== null && version !== counter.version)
    throw new StaleVersionError('custom-counter', id, counter.version);
  return counter;
}

function requireFreeName(name: string, others: readonly CustomCounter[]): void {
  if (others.some((each) => counterNameKey(each.name) === counterNameKey(name)))
    throw new ConflictError('custom-counter', 'name', name);
}

async function requireVehicle(
  { tx }: Writer,
  id: VehicleId,
): Promise<Pick<Vehicle, 'dealerId' | 'sensors' | 'tripGapMinutes'>> {
  const query = tx.selectFrom('vehicles').select(['dealerId', 'sensors', 'tripGapMinutes']).where('id', '=', id);
  const row = await query.executeTakeFirst();
  if (row === undefined) throw new NotFoundError('vehicle', id);
  const { dealerId, sensors, tripGapMinutes } = row;
  return {
    dealerId: dealerId as UserId | null,
    sensors: sensors === null ? [] : (JSON.parse(sensors) as Sensor[]),
    tripGapMinutes,
  };
}

function noteOf(before: CustomCounter | null, after: CustomCounter | null, dealerId: UserId | null): AuditNote {
  const counter = (after ?? before) as CustomCounter;
  const fieldsOf = (each: CustomCounter | null) => {
    if (each === null) return null;
    const { vehicleId, name, unit, source, sensorId, startsAtMs } = each;
    return { vehicleId, name, unit, source, sensorId, startsAtMs };
  };
  return {
    action: before === null ? 'created' : after === null ? 'deleted' : 'changed',
    subject: { kind: 'custom-counter', id: counter.id, name: counter.name },
    before: fieldsOf(before),
    after: fieldsOf(after),
    dealerIds: dealerId === null ? [] : [dealerId],
  };
}
