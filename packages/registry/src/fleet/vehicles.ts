import {
  accessAfter,
  type FirstContact,
  type GroupId,
  identifiedSensors,
  LEARNING_ACCESS,
  OPEN_ACCESS,
  type Predecessor,
  type Sensor,
  type SensorFields,
  type Suspension,
  type TerminalAccess,
  type TerminalAccessPatch,
  type TerminalId,
  type UserId,
  VEHICLE_FIELDS,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { requireDealer } from '../accounts/dealers.ts';
import { DEFAULT_ERASURE_GRACE_MS, planErasure } from '../accounts/erasures.ts';
import { dropFromRules } from '../notifications/notification-rules.ts';
import { ConflictError } from '../store/errors.ts';
import { columnsOfFields, fieldsOfRow } from '../store/field-columns.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import { Resource, revised } from '../store/resource.ts';
import type { VehicleRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { addressConflicts, changedOwners } from '../video/video-addresses.ts';
import { deleteVideoProfileOf } from '../video/video-profiles.ts';
import { type BulkOutcome, BulkPlan, type BulkWrite, inParts, notDealers, writeOrTry } from './bulk.ts';
import { followSensors } from './custom-counters.ts';
import {
  checkExternalIds,
  customColumnsOf,
  customFieldsOf,
  newCustomFields,
  requireFreeExternalId,
  type WithCustomFields,
} from './custom-fields.ts';
import { deleteAssignmentsOfVehicle } from './driver-assignments.ts';
import { dropMaintenance } from './maintenance.ts';
import { groupsOf, setGroups, withSortedGroups } from './memberships.ts';
import { isOfVehicles, type OfVehicles } from './of-vehicles.ts';
import { dropFromShareLinks } from './share-links.ts';
import { heldByOthers, noteHolders } from './terminal-holders.ts';
import { endCommandsOf } from './vehicle-commands.ts';

/**
 * Fields of a vehicle that the caller provides; the registry assigns the others. Without terminal access, the terminal
 * is bound to the first protocol that it uses.
 */
export type VehicleFields = WithCustomFields<
  Omit<Vehicle, 'kind' | 'id' | 'version' | 'terminalAccess' | 'sensors' | 'suspension' | 'predecessor'>
> & {
  terminalAccess?: TerminalAccess;
  /** Default: none. */
  sensors?: readonly SensorFields[];
};

/** Changes of a vehicle. Fields of its terminal access that are not given stay. */
export type VehiclePatch = Partial<Omit<VehicleFields, 'terminalAccess'>> & { terminalAccess?: TerminalAccessPatch };

/** One of many writes of vehicles. */
export type VehicleWrite = BulkWrite<VehicleId, VehicleFields, VehiclePatch>;

/** Matches vehicles for which every given field holds. */
export interface VehicleFilter extends Omit<OfVehicles, 'vehicleId'> {
  terminalId?: TerminalId;
}

/** Vehicle profiles. */
export class Vehicles {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @throws {ConflictError} when the terminal is fitted to another vehicle, or another dealer's video profile has its
   *   address
   * @throws {OperatorOnlyError} when the terminal sent data for another dealer's vehicle before, and the caller is not
   *   an operator
   * @throws {UnknownReferenceError} when the dealer or a group does not exist
   */
  create(fields: VehicleFields): Promise<Vehicle> {
    return this.#store.write((writer) => VEHICLES.create(writer, newVehicle(writer, fields)));
  }

  get(id: VehicleId): Promise<Vehicle | null> {
    return VEHICLES.get(this.#store.db, id);
  }

  /** In the order of their ids, which is that of their creation. */
  async list(filter: VehicleFilter, paging: Paging): Promise<Page<Vehicle>> {
    if (filter.anyOfGroups?.length === 0) return { items: [], next: null };
    let query = this.#store.db.selectFrom('vehicles').selectAll().where(isOfVehicles(filter));
    if (filter.terminalId !== undefined) query = query.where('terminalId', '=', filter.terminalId);
    return readPage(query, paging, (rows) => withGroups(this.#store.db, rows));
  }

  /**
   * @param expectedVersion version that the caller last saw; null: any
   * @returns the vehicle as it now is; a patch that changes nothing makes no new version
   * @throws {NotFoundError} {StaleError} {ConflictError} {UnknownReferenceError}
   */
  update(id: VehicleId, expectedVersion: number | null, patch: VehiclePatch): Promise<Vehicle> {
    return this.#store.write((writer) =>
      VEHICLES.update(writer, id, expectedVersion, (current) => revisedVehicle(writer, current, patch)),
    );
  }

  /**
   * Suspends or resumes a vehicle.
   *
   * @param suspension without its time; null: resumes the vehicle
   * @returns the vehicle as it now is; where nothing changes, no new version is made, and the time stays
   * @throws {NotFoundError}
   */
  suspend(id: VehicleId, suspension: Omit<Suspension, 'sinceMs'> | null): Promise<Vehicle> {
    return this.#store.write(async (writer) => {
      const current = await VEHICLES.expected(writer, id, null);
      const sinceMs = current.suspension?.sinceMs ?? writer.nowMs;
      const vehicle = revised(current, { suspension: suspension && { ...suspension, sinceMs } });
      if (vehicle === current) return current;
      await VEHICLES.updateRow(writer, vehicle);
      writer.changed(vehicle, current);
      return vehicle;
    });
  }

  /**
   * Creates and changes many vehicles in one transaction: all of them, or none. Vehicles may exchange terminals.
   *
   * @param dryRun only checks the writes, and stores nothing
   * @returns the outcome of each write, in the order of `writes`
   * @throws {BulkError} naming each write that can't be made
   */
  writeAll(writes: readonly VehicleWrite[], dryRun: boolean): Promise<BulkOutcome<Vehicle>[]> {
    return writeOrTry(this.#store, dryRun, async (writer) => {
      const plan = await planAll(writer, writes);
      plan.requireAllGood();
      const movedTerminals = plan.updated.filter(({ current, next }) => current.terminalId !== next.terminalId);
      // All of them give up their terminals first, as another may take them.
      for await (const some of inParts(movedTerminals.map(({ next }) => next.id)))
        await writer.tx.updateTable('vehicles').set({ terminalId: null }).where('id', 'in', some).execute();
      const outcomes = await plan.carryOut(writer, 'vehicleGroupMembers', VEHICLES);
      await followSensors(
        writer,
        plan.updated.map(({ next }) => next),
      );
      await noteHolders(writer, plan.planned);
      const conflicts = await addressConflicts(writer, changedOwners(plan.planned));
      for (const { index, next } of plan.planned) {
        const conflict = conflicts.get(next.id);
        if (conflict !== undefined) plan.fail(index, conflict);
      }
      plan.requireAllGood();
      return outcomes;
    });
  }

  /**
   * Records the first contacts of terminals, and binds an unbound terminal to the protocol that it used. Changes
   * nothing for vehicles whose terminal was replaced meanwhile, or for which the contact is known.
   */
  async learn(contacts: readonly FirstContact[]): Promise<void> {
    const learns = (vehicle: Vehicle) => {
      const contact = contacts.find(({ vehicleId }) => vehicleId === vehicle.id);
      return contact?.terminalId === vehicle.terminalId ? accessLearnt(vehicle.terminalAccess, contact) : null;
    };
    const ids = contacts.map(({ vehicleId }) => vehicleId);
    // Every API instance receives this call. Most of them find it recorded and need not write.
    if (!(await VEHICLES.load(this.#store.db, ids)).some((vehicle) => learns(vehicle) !== null)) return;
    await this.#store.write(async (writer) => {
      for (const vehicle of await VEHICLES.load(writer.tx, ids)) {
        const terminalAccess = learns(vehicle);
        if (terminalAccess === null) continue;
        // No new version of the vehicle: clients that edit it know nothing of its terminal's first packet.
        const next = { ...vehicle, terminalAccess };
        await VEHICLES.updateRow(writer, next);
        writer.changed(next, vehicle);
      }
    });
  }

  /**
   * Deletes the records of holders who gave their terminals up before a time: any dealer may claim those from then on.
   *
   * @returns how many they were
   */
  async forgetHolders(beforeMs: number, limit: number): Promise<number> {
    const rows = await this.#store.db
      .selectFrom('terminalHolders')
      .select('terminalId')
      .where('releasedAtMs', '<', beforeMs)
      .limit(limit)
      .execute();
    for (const some of inChunks(rows.map((row) => row.terminalId)))
      await this.#store.db.deleteFrom('terminalHolders').where('terminalId', 'in', some).execute();
    return rows.length;
  }

  /**
   * Deletes a vehicle, and plans the erasure of all that is stored of it.
   *
   * @param graceMs until then the erasure can be cancelled
   * @throws {NotFoundError} {StaleError}
   */
  delete(id: VehicleId, expectedVersion: number | null, graceMs: number = DEFAULT_ERASURE_GRACE_MS): Promise<void> {
    return this.#store.write(async (writer) => {
      const vehicle = await VEHICLES.expected(writer, id, expectedVersion);
      await dropFromRules(writer, 'vehicle', id);
      await deleteVideoProfileOf(writer, vehicle);
      await dropFromShareLinks(writer, id);
      await dropMaintenance(writer, { vehicleId: id });
      await endCommandsOf(writer, id);
      await deleteAssignmentsOfVehicle(writer, id);
      await noteHolders(writer, [{ current: vehicle, next: null }]);
      await writer.tx.deleteFrom('vehicleGroupMembers').where('memberId', '=', id).execute();
      await VEHICLES.deleteRow(writer, id);
      writer.deleted(vehicle);
      await planErasure(writer, 'vehicle', id, graceMs);
    });
  }
}

/** @returns null where nothing is new */
function accessLearnt(
  access: TerminalAccess,
  { protocol, registrationHash }: Pick<FirstContact, 'protocol' | 'registrationHash'>,
): TerminalAccess | null {
  const learnt = {
    ...access,
    seen: true,
    revision: access.revision + 1,
    protocol: access.protocol === 'learn' ? (protocol ?? 'learn') : access.protocol,
    registrationHash:
      access.registrationHash ?? (access.protocol === 'any' || access.secretHash !== null ? null : registrationHash),
  };
  const isNews =
    !access.seen || learnt.protocol !== access.protocol || learnt.registrationHash !== access.registrationHash;
  return isNews ? learnt : null;
}

function newVehicle({ newId }: Writer, fields: VehicleFields): Vehicle {
  return {
    terminalAccess: LEARNING_ACCESS,
    ...withSortedGroups(fields),
    ...newCustomFields(fields),
    kind: 'vehicle',
    sensors: identifiedSensors(fields.sensors ?? [], [], newId),
    suspension: null,
    predecessor: null,
    id: newId() as VehicleId,
    version: 1,
  };
}

function revisedVehicle(
  { newId }: Writer,
  current: Vehicle,
  { terminalAccess = {}, sensors, ...fields }: VehiclePatch,
): Vehicle {
  const isOtherTerminal = fields.terminalId !== undefined && fields.terminalId !== current.terminalId;
  return revised(current, {
    ...withSortedGroups(fields),
    terminalAccess: accessAfter(current.terminalAccess, terminalAccess, isOtherTerminal),
    ...(sensors === undefined ? {} : { sensors: identifiedSensors(sensors, current.sensors, newId) }),
  });
}

export const VEHICLES = new Resource<Vehicle, VehicleRow>({
  kind: 'vehicle',
  table: 'vehicles',
  read: withGroups,
  toRow: toVehicleRow,
  async check(writer, vehicle, current) {
    const { tx } = writer;
    await requireDealer(tx, vehicle.dealerId);
    await requireFreeExternalId(writer, vehicle, vehicle.dealerId);
    if (vehicle.terminalId === null) return;
    const other = await tx
      .selectFrom('vehicles')
      .select('id')
      .where('terminalId', '=', vehicle.terminalId)
      .where('id', '!=', vehicle.id)
      .executeTakeFirst();
    if (other) throw new ConflictError('vehicle', 'terminalId', vehicle.terminalId);
    for (const refusal of (await heldByOthers(writer, [{ current, next: vehicle }])).values()) throw refusal;
  },
  async writeDetails(writer, vehicle, current) {
    if (current !== null) await followSensors(writer, [vehicle]);
    await checkAddresses(writer, vehicle, current);
    await noteHolders(writer, [{ current, next: vehicle }]);
    if (vehicle.groupIds !== current?.groupIds)
      await setGroups(writer, 'vehicleGroupMembers', vehicle.id, vehicle.groupIds);
  },
});

/** @throws {ConflictError} when a dealer's video profile would have the address of another dealer's terminal */
export async function checkAddresses(writer: Writer, next: Vehicle, current: Vehicle | null): Promise<void> {
  const conflict = (await addressConflicts(writer, changedOwners([{ current, next }]))).get(next.id);
  if (conflict !== undefined) throw conflict;
}

async function planAll(writer: Writer, writes: readonly VehicleWrite[]): Promise<BulkPlan<Vehicle>> {
  const plan = new BulkPlan<Vehicle>();
  const known = await VEHICLES.load(
    writer.tx,
    writes.flatMap(({ id }) => (id === null ? [] : [id])),
  );
  plan.take(
    'vehicle',
    writes,
    known,
    (fields) => newVehicle(writer, fields),
    (current, patch) => revisedVehicle(writer, current, patch),
  );
  await plan.checkGroups(writer.tx);
  const wrongDealers = await notDealers(
    writer.tx,
    plan.planned.map(({ next }) => next.dealerId),
  );
  for (const { index, next } of plan.planned) {
    const wrong = wrongDealers.get(next.dealerId);
    if (wrong) plan.fail(index, wrong);
  }
  const held = await heldByOthers(writer, plan.planned);
  for (const { index, current, next } of plan.planned) {
    const refusal = next.terminalId === current?.terminalId ? undefined : held.get(next.terminalId as TerminalId);
    if (refusal !== undefined) plan.fail(index, refusal);
  }
  await plan.checkUnique(
    ({ terminalId }) => terminalId,
    async (values) => {
      const query = writer.tx.selectFrom('vehicles').select(['id', 'terminalId as value']);
      const rows = await query.where('terminalId', 'in', values).execute();
      return rows.flatMap(({ id, value }) => (value === null ? [] : [{ id, value }]));
    },
    (value) => new ConflictError('vehicle', 'terminalId', value),
  );
  await checkExternalIds(writer, plan, 'vehicle', ({ dealerId }) => dealerId);
  return plan;
}

async function withGroups(db: Reader, rows: readonly VehicleRow[]): Promise<Vehicle[]> {
  const ids = rows.map((row) => row.id);
  const groups = await groupsOf(db, 'vehicleGroupMembers', ids);
  return rows.map((row) => fromVehicleRow(row, groups.get(row.id) ?? []));
}

export function fromVehicleRow(row: VehicleRow, groupIds: readonly GroupId[]): Vehicle {
  const { id, version, dealerId, terminalAccess, sensors, suspension, predecessor } = row;
  return {
    kind: 'vehicle',
    id: id as VehicleId,
    version,
    ...fieldsOfRow(VEHICLE_FIELDS, row),
    terminalId: row.terminalId as TerminalId | null,
    ...customFieldsOf(row),
    dealerId: dealerId as UserId | null,
    groupIds,
    sensors: sensors === null ? [] : (JSON.parse(sensors) as Sensor[]),
    terminalAccess: accessOf(terminalAccess),
    suspension: suspension ? (JSON.parse(suspension) as Suspension) : null,
    // Missing where an earlier migration reads the row.
    predecessor: predecessor ? (JSON.parse(predecessor) as Predecessor) : null,
  };
}

/** Parses the column `terminal_access`. Before it had a revision, learning raised the version of the vehicle. */
export function accessOf(column: string | null): TerminalAccess {
  return column === null ? OPEN_ACCESS : { ...OPEN_ACCESS, ...(JSON.parse(column) as TerminalAccess) };
}

export function toVehicleRow(vehicle: Vehicle): VehicleRow {
  const { id, version, dealerId, terminalAccess, sensors, suspension, predecessor } = vehicle;
  return {
    id,
    version,
    ...columnsOfFields(VEHICLE_FIELDS, vehicle),
    ...customColumnsOf(vehicle),
    dealerId,
    terminalAccess: JSON.stringify(terminalAccess),
    sensors: sensors.length === 0 ? null : JSON.stringify(sensors),
    suspension: suspension === null ? null : JSON.stringify(suspension),
    predecessor: predecessor === null ? null : JSON.stringify(predecessor),
  };
}
