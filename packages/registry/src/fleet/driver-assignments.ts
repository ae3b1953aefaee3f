import type { DriverAssignment, DriverAssignmentId, DriverId, UserId, VehicleId } from '@outrider/domain';
import type { AuditNote } from '../audit/audit-notes.ts';
import { NotFoundError, OverlappingAssignmentError, UnknownReferenceError } from '../store/errors.ts';
import type { DriverAssignmentRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';

/** Matches assignments that overlap a time range, both in Unix milliseconds. */
export interface AssignmentQuestion {
  vehicleIds?: readonly VehicleId[];
  driverIds?: readonly DriverId[];
  fromMs: number;
  /** Exclusive. */
  toMs: number;
  limit?: number;
}

/** Assignments of drivers to vehicles, as people entered them. */
export class DriverAssignments {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @throws {OverlappingAssignmentError} when the vehicle is assigned to somebody at that time
   * @throws {UnknownReferenceError} when the vehicle or the driver does not exist, or they belong to different dealers
   */
  create(fields: Omit<DriverAssignment, 'id'>): Promise<DriverAssignment> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const of = (table: 'vehicles' | 'drivers', id: string) =>
        tx.selectFrom(table).select(['dealerId', 'name']).where('id', '=', id).executeTakeFirst();
      const vehicle = await of('vehicles', fields.vehicleId);
      if (vehicle === undefined) throw new UnknownReferenceError('vehicleId', fields.vehicleId);
      const driver = await of('drivers', fields.driverId);
      if (driver === undefined || driver.dealerId !== vehicle.dealerId)
        throw new UnknownReferenceError('driverId', fields.driverId);
      const assignment = { ...fields, id: writer.newId() as DriverAssignmentId };
      await requireFree(tx, assignment);
      await tx.insertInto('driverAssignments').values(assignment).execute();
      writer.note(noteOf('created', null, assignment, vehicle.dealerId as UserId | null));
      return assignment;
    });
  }

  async get(id: DriverAssignmentId): Promise<DriverAssignment | null> {
    const row = await this.#store.db
      .selectFrom('driverAssignments')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row === undefined ? null : fromRow(row);
  }

  /** The newest first. */
  async list(question: AssignmentQuestion): Promise<DriverAssignment[]> {
    const { vehicleIds = null, driverIds = null, fromMs, toMs, limit } = question;
    const found: DriverAssignment[] = [];
    for (const some of vehicleIds === null ? [null] : inChunks(vehicleIds)) {
      let query = this.#store.db
        .selectFrom('driverAssignments')
        .selectAll()
        .where('fromMs', '<', toMs)
        .where((e) => e.or([e('toMs', 'is', null), e('toMs', '>', fromMs)]));
      if (some !== null) query = query.where('vehicleId', 'in', some);
      if (driverIds !== null) query = query.where('driverId', 'in', [...driverIds, '']);
      if (limit !== undefined) query = query.limit(limit);
      found.push(...(await query.orderBy('fromMs', 'desc').orderBy('id').execute()).map(fromRow));
    }
    return found.sort((a, b) => b.fromMs - a.fromMs || (a.id < b.id ? -1 : 1)).slice(0, limit);
  }

  /**
   * Ends an assignment, or changes when it ends.
   *
   * @throws {NotFoundError} {OverlappingAssignmentError}
   */
  setEnd(id: DriverAssignmentId, toMs: number | null): Promise<DriverAssignment> {
    return this.#store.write(async (writer) => {
      const before = await requireAssignment(writer.tx, id);
      const assignment = { ...before, toMs };
      await requireFree(writer.tx, assignment);
      await writer.tx.updateTable('driverAssignments').set({ toMs }).where('id', '=', id).execute();
      writer.note(noteOf('changed', before, assignment, await dealerOf(writer.tx, before.vehicleId)));
      return assignment;
    });
  }

  /** @throws {NotFoundError} */
  delete(id: DriverAssignmentId): Promise<void> {
    return this.#store.write(async (writer) => {
      const before = await requireAssignment(writer.tx, id);
      await writer.tx.deleteFrom('driverAssignments').where('id', '=', id).execute();
      writer.note(noteOf('deleted', before, null, await dealerOf(writer.tx, before.vehicleId)));
    });
  }
}

/** Deletes all assignments of a deleted driver, past ones included. */
export async function deleteAssignmentsOfDriver({ tx }: Writer, driverId: DriverId): Promise<void> {
  await tx.deleteFrom('driverAssignments').where('driverId', '=', driverId).execute();
}

export async function deleteAssignmentsOfVehicle({ tx }: Writer, vehicleId: VehicleId): Promise<void> {
  await tx.deleteFrom('driverAssignments').where('vehicleId', '=', vehicleId).execute();
}

async function requireAssignment(db: Reader, id: DriverAssignmentId): Promise<DriverAssignment> {
  const row = await db.selectFrom('driverAssignments').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw new NotFoundError('driver-assignment', id);
  return fromRow(row);
}

async function dealerOf(db: Reader, vehicleId: VehicleId): Promise<UserId | null> {
  const row = await db.selectFrom('vehicles').select('dealerId').where('id', '=', vehicleId).executeTakeFirst();
  return (row?.dealerId ?? null) as UserId | null;
}

async function requireFree(db: Reader, { id, vehicleId, fromMs, toMs }: DriverAssignment): Promise<void> {
  let query = db
    .selectFrom('driverAssignments')
    .select('id')
    .where('vehicleId', '=', vehicleId)
    .where('id', '!=', id)
    .where((e) => e.or([e('toMs', 'is', null), e('toMs', '>', fromMs)]));
  if (toMs !== null) query = query.where('fromMs', '<', toMs);
  const other = await query.executeTakeFirst();
  if (other !== undefined) throw new OverlappingAssignmentError(other.id);
}

function fromRow({ id, vehicleId, driverId, fromMs, toMs }: DriverAssignmentRow): DriverAssignment {
  return {
    id: id as DriverAssignmentId,
    vehicleId: vehicleId as VehicleId,
    driverId: driverId as DriverId,
    fromMs: Number(fromMs),
    toMs: toMs === null ? null : Number(toMs),
  };
}

function noteOf(
  action: 'created' | 'changed' | 'deleted',
  before: DriverAssignment | null,
  after: DriverAssignment | null,
  dealerId: UserId | null,
): AuditNote {
  const fields = (assignment: DriverAssignment | null) => assignment && { ...assignment };
  return {
    action,
    subject: { kind: 'driver-assignment', id: (after ?? before)?.id ?? null, name: '' },
    before: fields(before),
    after: fields(after),
    dealerIds: dealerId === null ? [] : [dealerId],
  };
}
