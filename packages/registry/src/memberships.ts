import type { GroupId } from '@outrider/domain';
import { UnknownReferenceError } from './errors.ts';
import { inChunks, type Reader, type Writer } from './store.ts';

/** The tables that say which groups a vehicle, a user or a geofence names. */
export type MembershipTable = 'vehicle_group_members' | 'user_group_access' | 'geofence_groups';

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
      .select(['group_id', 'member_id'])
      .where('member_id', 'in', some)
      .orderBy('group_id')
      .execute();
    collect(rows, groups);
  }
  return groups;
}

/** The groups of every member there is. */
export async function allGroups(db: Reader, table: MembershipTable): Promise<Map<string, GroupId[]>> {
  const groups = new Map<string, GroupId[]>();
  collect(await db.selectFrom(table).select(['group_id', 'member_id']).orderBy('group_id').execute(), groups);
  return groups;
}

function collect(rows: readonly { group_id: string; member_id: string }[], groups: Map<string, GroupId[]>): void {
  for (const { group_id, member_id } of rows) {
    const known = groups.get(member_id);
    if (known) known.push(group_id as GroupId);
    else groups.set(member_id, [group_id as GroupId]);
  }
}

/** Everyone who names the group. */
export async function membersOf(db: Reader, table: MembershipTable, groupId: GroupId): Promise<string[]> {
  const rows = await db
    .selectFrom(table)
    .select('member_id')
    .where('group_id', '=', groupId)
    .orderBy('member_id')
    .execute();
  return rows.map((row) => row.member_id);
}

/**
 * Makes `groupIds` the groups of a member, in place of those it had.
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
  await tx.deleteFrom(table).where('member_id', '=', memberId).execute();
  for (const some of inChunks(wanted))
    await tx
      .insertInto(table)
      .values(some.map((group_id) => ({ group_id, member_id: memberId })))
      .execute();
}

/** Each group once, in the order in which they are kept. */
export function sortedSet(groupIds: readonly GroupId[]): GroupId[] {
  return [...new Set(groupIds)].sort();
}

/** What a definition is made of, or a patch of it, with its groups as they are kept. */
export function withSortedGroups<Fields extends { groupIds?: readonly GroupId[] | null }>(fields: Fields): Fields {
  return fields.groupIds ? { ...fields, groupIds: sortedSet(fields.groupIds) } : fields;
}

async function requireGroups(db: Reader, groupIds: readonly GroupId[]): Promise<void> {
  for (const some of inChunks(groupIds)) {
    const rows = await db.selectFrom('vehicle_groups').select('id').where('id', 'in', some).execute();
    const known = new Set(rows.map((row) => row.id));
    const missing = some.find((id) => !known.has(id));
    if (missing !== undefined) throw new UnknownReferenceError('groupIds', missing);
  }
}
