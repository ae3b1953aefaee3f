import type { GroupId, TerminalId, UserId, Vehicle, VehicleId } from '@outrider/domain';
import { requireDealer } from './dealers.ts';
import { ConflictError, NotFoundError, StaleError } from './errors.ts';
import { groupsOf, setGroups, sortedSet } from './memberships.ts';
import { type Page, type Paging, pageOf } from './page.ts';
import type { VehicleRow } from './schema.ts';
import { differences, inChunks, type Reader, type Store, type Writer } from './store.ts';

/** What a vehicle is made of, without what the registry itself gives it. */
export type VehicleFields = Omit<Vehicle, 'kind' | 'id' | 'version'>;

/** Only vehicles for which all that is set holds. */
export interface VehicleFilter {
  dealerId?: UserId;
  /** In at least one of these; none at all for an empty list. */
  anyOfGroups?: readonly GroupId[];
  terminalId?: TerminalId;
}

/** Vehicle profiles. */
export class Vehicles {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @throws {ConflictError} when the terminal is fitted to another vehicle
   * @throws {UnknownReferenceError} when the dealer or a group does not exist
   */
  create(fields: VehicleFields): Promise<Vehicle> {
    return this.#store.write(async (writer) => {
      const vehicle: Vehicle = {
        ...fields,
        kind: 'vehicle',
        id: writer.newId() as VehicleId,
        version: 1,
        groupIds: sortedSet(fields.groupIds),
      };
      await check(writer, vehicle);
      await writer.tx.insertInto('vehicles').values(toRow(vehicle)).execute();
      await setGroups(writer, 'vehicle_group_members', vehicle.id, vehicle.groupIds);
      writer.changed(vehicle);
      return vehicle;
    });
  }

  async get(id: VehicleId): Promise<Vehicle | null> {
    const [vehicle] = await loadVehicles(this.#store.db, [id]);
    return vehicle ?? null;
  }

  /** In the order of their ids, which is that of their creation. */
  async list(filter: VehicleFilter, paging: Paging): Promise<Page<Vehicle>> {
    if (filter.anyOfGroups?.length === 0) return { items: [], next: null };
    let query = this.#store.db
      .selectFrom('vehicles')
      .selectAll()
      .orderBy('id')
      .limit(paging.limit + 1);
    if (paging.after !== null) query = query.where('id', '>', paging.after);
    if (filter.dealerId !== undefined) query = query.where('dealer_id', '=', filter.dealerId);
    if (filter.terminalId !== undefined) query = query.where('terminal_id', '=', filter.terminalId);
    if (filter.anyOfGroups !== undefined) {
      const groups = filter.anyOfGroups;
      query = query.where('id', 'in', (q) =>
        q.selectFrom('vehicle_group_members').select('member_id').where('group_id', 'in', groups),
      );
    }
    const page = pageOf(await query.execute(), paging);
    return { ...page, items: await withGroups(this.#store.db, page.items) };
  }

  /**
   * @param expectedVersion what the caller last saw; null: whatever it is
   * @returns the vehicle as it now is; a patch that changes nothing makes no new version
   * @throws {NotFoundError} {StaleError} {ConflictError} {UnknownReferenceError}
   */
  update(id: VehicleId, expectedVersion: number | null, patch: Partial<VehicleFields>): Promise<Vehicle> {
    return this.#store.write(async (writer) => {
      const current = await requireVehicle(writer, id, expectedVersion);
      const changed = differences<VehicleFields>(
        current,
        patch.groupIds ? { ...patch, groupIds: sortedSet(patch.groupIds) } : patch,
      );
      if (Object.keys(changed).length === 0) return current;
      const vehicle: Vehicle = { ...current, ...changed, version: current.version + 1 };
      await check(writer, vehicle);
      const { id: _, ...columns } = toRow(vehicle);
      await writer.tx.updateTable('vehicles').set(columns).where('id', '=', id).execute();
      if (changed.groupIds) await setGroups(writer, 'vehicle_group_members', id, changed.groupIds);
      writer.changed(vehicle);
      return vehicle;
    });
  }

  /** @throws {NotFoundError} {StaleError} */
  delete(id: VehicleId, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const vehicle = await requireVehicle(writer, id, expectedVersion);
      await writer.tx.deleteFrom('vehicle_group_members').where('member_id', '=', id).execute();
      await writer.tx.deleteFrom('vehicles').where('id', '=', id).execute();
      writer.deleted(vehicle);
    });
  }
}

async function requireVehicle({ tx }: Writer, id: VehicleId, expectedVersion: number | null): Promise<Vehicle> {
  const [vehicle] = await loadVehicles(tx, [id]);
  if (!vehicle) throw new NotFoundError('vehicle', id);
  if (expectedVersion !== null && vehicle.version !== expectedVersion) throw new StaleError(vehicle, expectedVersion);
  return vehicle;
}

async function check({ tx }: Writer, vehicle: Vehicle): Promise<void> {
  await requireDealer(tx, vehicle.dealerId);
  if (vehicle.terminalId === null) return;
  const other = await tx
    .selectFrom('vehicles')
    .select('id')
    .where('terminal_id', '=', vehicle.terminalId)
    .where('id', '!=', vehicle.id)
    .executeTakeFirst();
  if (other) throw new ConflictError('vehicle', 'terminalId', vehicle.terminalId);
}

/** The vehicles among `ids` that exist, in the order of their ids. */
export async function loadVehicles(db: Reader, ids: readonly string[]): Promise<Vehicle[]> {
  const rows: VehicleRow[] = [];
  for (const some of inChunks(ids))
    rows.push(...(await db.selectFrom('vehicles').selectAll().where('id', 'in', some).orderBy('id').execute()));
  return withGroups(db, rows);
}

/** Gives each vehicle a new version and notes it: for a change that came from elsewhere, already made in the tables. */
export async function touchVehicles(writer: Writer, ids: readonly string[]): Promise<void> {
  for (const some of inChunks(ids))
    await writer.tx
      .updateTable('vehicles')
      .set((e) => ({ version: e('version', '+', 1) }))
      .where('id', 'in', some)
      .execute();
  for (const vehicle of await loadVehicles(writer.tx, ids)) writer.changed(vehicle);
}

async function withGroups(db: Reader, rows: readonly VehicleRow[]): Promise<Vehicle[]> {
  const ids = rows.map((row) => row.id);
  const groups = await groupsOf(db, 'vehicle_group_members', ids);
  return rows.map((row) => fromVehicleRow(row, groups.get(row.id) ?? []));
}

export function fromVehicleRow(row: VehicleRow, groupIds: readonly GroupId[]): Vehicle {
  return {
    kind: 'vehicle',
    id: row.id as VehicleId,
    version: row.version,
    name: row.name,
    plate: row.plate,
    terminalId: row.terminal_id as TerminalId | null,
    dealerId: row.dealer_id as UserId | null,
    groupIds,
    speedLimitKmh: row.speed_limit_kmh,
    speedToleranceKmh: row.speed_tolerance_kmh,
    speedingMinSeconds: row.speeding_min_seconds,
    offlineAfterMinutes: row.offline_after_minutes,
  };
}

function toRow(vehicle: Vehicle): VehicleRow {
  return {
    id: vehicle.id,
    version: vehicle.version,
    name: vehicle.name,
    plate: vehicle.plate,
    terminal_id: vehicle.terminalId,
    dealer_id: vehicle.dealerId,
    speed_limit_kmh: vehicle.speedLimitKmh,
    speed_tolerance_kmh: vehicle.speedToleranceKmh,
    speeding_min_seconds: vehicle.speedingMinSeconds,
    offline_after_minutes: vehicle.offlineAfterMinutes,
  };
}
