import {
  GROUP_FIELDS,
  type GroupId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleGroup,
  type VehicleId,
} from '@outrider/domain';
import { requireDealer } from '../accounts/dealers.ts';
import { USERS } from '../accounts/user-rows.ts';
import { dropFromRules } from '../notifications/notification-rules.ts';
import { ConflictError, NotFoundError } from '../store/errors.ts';
import { columnsOfFields, fieldsOfRow } from '../store/field-columns.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import { Resource, revised } from '../store/resource.ts';
import type { GroupRow } from '../store/schema.ts';
import type { Reader, Store, Writer } from '../store/store.ts';
import { inParts, writeOrTry } from './bulk.ts';
import {
  customColumnsOf,
  customFieldsOf,
  externalIdUnder,
  newCustomFields,
  requireFreeExternalId,
  type WithCustomFields,
} from './custom-fields.ts';
import { DRIVERS } from './drivers.ts';
import { GEOFENCES } from './geofences.ts';
import { dropMaintenance } from './maintenance.ts';
import { type MembershipTable, membersOf } from './memberships.ts';
import { VEHICLES } from './vehicles.ts';

/** Fields of a group that the caller provides; the registry assigns the others. */
export type GroupFields = WithCustomFields<Omit<VehicleGroup, 'kind' | 'id' | 'version' | 'retentionDays'>> &
  Partial<Pick<VehicleGroup, 'retentionDays'>>;

/** Matches groups for which every given field holds. */
export interface GroupFilter {
  dealerId?: UserId;
  /** One of these. */
  ids?: readonly GroupId[];
}

/** Members to add to a group and to remove from it. No id may be in both lists, or twice in one. */
export interface MemberChange<Id extends string> {
  add: readonly Id[];
  remove: readonly Id[];
}

/** How many of the added were not in the group before, and how many of the removed were. */
export interface MembersChanged {
  added: number;
  removed: number;
}

/** Vehicle groups, who is in them and who may see them. */
export class Groups {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @throws {ConflictError} when the dealer (or the operator) already has a group of that name
   * @throws {UnknownReferenceError} when the dealer does not exist
   */
  create(fields: GroupFields): Promise<VehicleGroup> {
    return this.#store.write((writer) => insertGroup(writer, fields));
  }

  get(id: GroupId): Promise<VehicleGroup | null> {
    return GROUPS.get(this.#store.db, id);
  }

  /** In the order of their ids, which is that of their creation. */
  async list(filter: GroupFilter, paging: Paging): Promise<Page<VehicleGroup>> {
    if (filter.ids?.length === 0) return { items: [], next: null };
    let query = this.#store.db.selectFrom('vehicleGroups').selectAll();
    if (filter.dealerId !== undefined) query = query.where('dealerId', '=', filter.dealerId);
    if (filter.ids !== undefined) query = query.where('id', 'in', filter.ids);
    return readPage(query, paging, (rows) => rows.map(fromGroupRow));
  }

  /** Ids of the vehicles in the group, sorted. */
  async vehicleIds(id: GroupId): Promise<VehicleId[]> {
    return (await membersOf(this.#store.db, 'vehicleGroupMembers', id)) as VehicleId[];
  }

  /** Ids of the users who were given access to the group, sorted. */
  async userIds(id: GroupId): Promise<UserId[]> {
    return (await membersOf(this.#store.db, 'userGroupAccess', id)) as UserId[];
  }

  /**
   * Adds a vehicle to the group, or removes it. Does nothing where that is so already.
   *
   * @throws {NotFoundError} when the group or the vehicle does not exist
   */
  async setVehicle(id: GroupId, vehicleId: VehicleId, isMember: boolean): Promise<void> {
    await this.changeVehicles(id, isMember ? { add: [vehicleId], remove: [] } : { add: [], remove: [vehicleId] });
  }

  /**
   * Grants a user access to the group, or withdraws it. Does nothing where that is so already.
   *
   * @throws {NotFoundError} when the group or the user does not exist
   */
  async setUser(id: GroupId, userId: UserId, hasAccess: boolean): Promise<void> {
    await this.changeUsers(id, hasAccess ? { add: [userId], remove: [] } : { add: [], remove: [userId] });
  }

  /**
   * Adds vehicles to the group and removes others: all of them, or none.
   *
   * @param dryRun only counts how many would change
   * @throws {NotFoundError} when the group or one of the vehicles does not exist
   */
  changeVehicles(id: GroupId, change: MemberChange<VehicleId>, dryRun = false): Promise<MembersChanged> {
    return this.#changeMembers('vehicleGroupMembers', 'vehicle', VEHICLES, id, change, dryRun);
  }

  /**
   * Grants users access to the group and withdraws it from others: all of them, or none.
   *
   * @param dryRun only counts how many would change
   * @throws {NotFoundError} when the group or one of the users does not exist
   */
  changeUsers(id: GroupId, change: MemberChange<UserId>, dryRun = false): Promise<MembersChanged> {
    return this.#changeMembers('userGroupAccess', 'user', USERS, id, change, dryRun);
  }

  #changeMembers<Member extends Vehicle | User>(
    table: MembershipTable,
    kind: Member['kind'],
    resource: Pick<Resource<Member, never>, 'load' | 'touch'>,
    id: GroupId,
    { add, remove }: MemberChange<string>,
    dryRun: boolean,
  ): Promise<MembersChanged> {
    return writeOrTry(this.#store, dryRun, async (writer) => {
      await GROUPS.expected(writer, id, null);
      const members = new Map<string, Member>(
        (await resource.load(writer.tx, [...add, ...remove])).map((each) => [each.id, each]),
      );
      const requireMember = (memberId: string) => {
        const member = members.get(memberId);
        if (member === undefined) throw new NotFoundError(kind, memberId);
        return member;
      };
      const added = add.map(requireMember).filter(({ groupIds }) => !groupIds.includes(id));
      const removed = remove.map(requireMember).filter(({ groupIds }) => groupIds.includes(id));
      for await (const some of inParts(added))
        await writer.tx
          .insertInto(table)
          .values(some.map((member) => ({ groupId: id, memberId: member.id })))
          .execute();
      for await (const some of inParts(removed.map((member) => member.id)))
        await writer.tx.deleteFrom(table).where('groupId', '=', id).where('memberId', 'in', some).execute();
      await resource.touch(writer, [...added, ...removed]);
      return { added: added.length, removed: removed.length };
    });
  }

  /**
   * @param expectedVersion version that the caller last saw; null: any
   * @throws {NotFoundError} {StaleError} {ConflictError} {UnknownReferenceError}
   */
  update(id: GroupId, expectedVersion: number | null, patch: Partial<GroupFields>): Promise<VehicleGroup> {
    return this.#store.write((writer) =>
      GROUPS.update(writer, id, expectedVersion, (current) => revised(current, patch)),
    );
  }

  /**
   * Deletes the group, and removes it from every vehicle, user, geofence and rule that names it. Each of them gets a
   * new version. A geofence that named no other group then watches nothing, rather than everything; such a rule becomes
   * inactive.
   *
   * @throws {NotFoundError} {StaleError}
   */
  delete(id: GroupId, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const group = await GROUPS.expected(writer, id, expectedVersion);
      const { tx } = writer;
      const vehicles = await VEHICLES.load(tx, await membersOf(tx, 'vehicleGroupMembers', id));
      const users = await USERS.load(tx, await membersOf(tx, 'userGroupAccess', id));
      const naming = await membersOf(tx, 'geofenceGroups', id);
      const geofences = await GEOFENCES.load(tx, [
        ...new Set([...naming, ...(await membersOf(tx, 'geofenceShares', id))]),
      ]);
      const drivers = await DRIVERS.load(tx, await membersOf(tx, 'driverGroupMembers', id));
      for (const table of [
        'vehicleGroupMembers',
        'userGroupAccess',
        'geofenceGroups',
        'geofenceShares',
        'driverGroupMembers',
      ] as const)
        await tx.deleteFrom(table).where('groupId', '=', id).execute();
      await VEHICLES.touch(writer, vehicles);
      await USERS.touch(writer, users);
      await GEOFENCES.touch(writer, geofences);
      await DRIVERS.touch(writer, drivers);
      await dropFromRules(writer, 'group', id);
      await dropMaintenance(writer, { groupId: id });
      await GROUPS.deleteRow(writer, id);
      writer.deleted(group);
    });
  }
}

/** @throws {ConflictError} {UnknownReferenceError} */
export function insertGroup(writer: Writer, fields: GroupFields): Promise<VehicleGroup> {
  return GROUPS.create(writer, {
    ...fields,
    ...newCustomFields(fields),
    retentionDays: fields.retentionDays ?? null,
    kind: 'group',
    id: writer.newId() as GroupId,
    version: 1,
  });
}

/** The wanted name, or the first of `name (2)`, `name (3)`, … that is free under the dealer (null: the operator). */
export async function freeGroupName({ tx }: Writer, wanted: string, dealerId: UserId | null): Promise<string> {
  for (let nth = 1; ; nth += 1) {
    const name = nth === 1 ? wanted : `${wanted} (${nth})`;
    if (!(await named(tx, name, dealerId))) return name;
  }
}

/** Gives all groups of a dealer to the operator, under a free name each. */
export async function releaseGroups(writer: Writer, dealerId: UserId): Promise<void> {
  const rows = await writer.tx.selectFrom('vehicleGroups').selectAll().where('dealerId', '=', dealerId).execute();
  for (const row of rows) {
    const name = await freeGroupName(writer, row.name, null);
    const before = fromGroupRow(row);
    const externalId = await externalIdUnder(writer, before, null);
    const group: VehicleGroup = { ...before, name, externalId, dealerId: null, version: row.version + 1 };
    await GROUPS.replace(writer, group, before);
  }
}

export const GROUPS = new Resource<VehicleGroup, GroupRow>({
  kind: 'group',
  table: 'vehicleGroups',
  read: (_, rows) => rows.map(fromGroupRow),
  toRow: toGroupRow,
  async check(writer, group) {
    const { tx } = writer;
    await requireDealer(tx, group.dealerId);
    await requireFreeExternalId(writer, group, group.dealerId);
    const other = await named(tx, group.name, group.dealerId);
    if (other && other.id !== group.id) throw new ConflictError('group', 'name', group.name);
  },
});

function named(db: Reader, name: string, dealerId: UserId | null): Promise<{ id: string } | undefined> {
  return db
    .selectFrom('vehicleGroups')
    .select('id')
    .where('nameScope', '=', nameScope(dealerId))
    .where('name', '=', name)
    .executeTakeFirst();
}

export function fromGroupRow(row: GroupRow): VehicleGroup {
  return {
    kind: 'group',
    id: row.id as GroupId,
    version: row.version,
    ...fieldsOfRow(GROUP_FIELDS, row),
    dealerId: row.dealerId as UserId | null,
    ...customFieldsOf(row),
  };
}

export function toGroupRow(group: VehicleGroup): GroupRow {
  return {
    id: group.id,
    version: group.version,
    ...columnsOfFields(GROUP_FIELDS, group),
    dealerId: group.dealerId,
    nameScope: nameScope(group.dealerId),
    ...customColumnsOf(group),
  };
}

function nameScope(dealerId: UserId | null): string {
  return dealerId ?? 'operator';
}
