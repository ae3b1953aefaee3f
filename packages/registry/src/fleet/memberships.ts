import type { GroupId } from '@outrider/domain';
import { UnknownReferenceError } from '../store/errors.ts';
import { inChunks, type Reader, type Writer } from '../store/store.ts';

/** Tables of groups that a vehicle, a user or a geofence names, and of groups that a geofence is shared with. */
export type MembershipTable =
  | 'vehicleGroupMembers'
  | 'userGroupAccess'
  | 'geofenceGroups'
  | 'driverGroupMembers'
  | 'geofenceShares';

/** The groups of each of the given members, sorted; members without a group are left out. */
export async function groupsOf(
  db: Reader,
  table: MembershipTable,
  memberIds: readonly string[],
): Promise<Map<string, GroupId[]>> {
  const groups = new Map<string, GroupId[]>();
  for (const some of inChunks(memberIds)) {
    const rows = await db
      .selectFrom(table)
      .select(['groupId', 'memberId'])
      .where('memberId', 'in', some)
      .orderBy('groupId')
      .execute();
    collect(rows, groups);
  }
  return groups;
}

function collect(rows: readonly { groupId: string; memberId: string }[], groups: Map<string, GroupId[]>): void {
  for (const { groupId, memberId } of rows) {
    const known = groups.get(memberId);
    if (known) known.push(groupId as GroupId);
    else groups.set(memberId, [groupId as GroupId]);
  }
}

/** Ids of the members that name the group. */
export async function membersOf(db: Reader, table: MembershipTable, groupId: GroupId): Promise<string[]> {
  const rows = await db
    .selectFrom(table)
    .select('memberId')
    .where('groupId', '=', groupId)
    .orderBy('memberId')
    .execute();
  return rows.map((row) => row.memberId);
}

/**
 * Replaces the groups of a member by `groupIds`.
 *
 * @throws {UnknownReferenceError} naming the first group that does not exist
 */
export async function setGroups(
  { tx }: Writer,
  table: MembershipTable,
  memberId: string,
  groupIds: readonly GroupId[],
): Promise<void> {
  const wanted = sortedSet(groupIds);
  await requireGroups(tx, wanted);
  await tx.deleteFrom(table).where('memberId', '=', memberId).execute();
  for (const some of inChunks(wanted))
    await tx
      .insertInto(table)
      .values(some.map((groupId) => ({ groupId, memberId })))
      .execute();
}

/** Without duplicates, in the order in which groups are stored. */
export function sortedSet(groupIds: readonly GroupId[]): GroupId[] {
  return [...new Set(groupIds)].sort();
}

/** Fields or a patch of a definition, with the groups in the order in which they are stored. */
export function withSortedGroups<Fields extends { groupIds?: readonly GroupId[] | null }>(fields: Fields): Fields {
  return fields.groupIds ? { ...fields, groupIds: sortedSet(fields.groupIds) } : fields;
}

async function requireGroups(db: Reader, groupIds: readonly GroupId[]): Promise<void> {
  for (const some of inChunks(groupIds)) {
    const rows = await db.selectFrom('vehicleGroups').select('id').where('id', 'in', some).execute();
    const known = new Set(rows.map((row) => row.id));
    const missing = some.find((id) => !known.has(id));
    if (missing !== undefined) throw new UnknownReferenceError('groupIds', missing);
  }
}
