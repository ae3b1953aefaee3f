import {
  GEOFENCE_FIELDS,
  type Geofence,
  type GeofenceId,
  type GroupId,
  type Member,
  type OwnedGeofence,
  organisationOf,
  type Role,
  type Shape,
  type User,
  type UserId,
  verticesOf,
} from '@outrider/domain';
import { membersOfOrganisation, requireOwner } from '../accounts/owners.ts';
import { dropFromRules } from '../notifications/notification-rules.ts';
import { ConflictError } from '../store/errors.ts';
import { columnsOfFields, fieldsOfRow } from '../store/field-columns.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import { Resource, revised } from '../store/resource.ts';
import type { GeofenceRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { type BulkOutcome, BulkPlan, type BulkWrite, inParts, replaceGroups, writeOrTry } from './bulk.ts';
import {
  checkExternalIds,
  customColumnsOf,
  customFieldsOf,
  externalIdUnder,
  newCustomFields,
  requireFreeExternalId,
  type WithCustomFields,
} from './custom-fields.ts';
import { groupsOf, setGroups, sortedSet, withSortedGroups } from './memberships.ts';

/** Small batches, as a shape may have ten thousand points. */
const ROWS_AT_ONCE = 100;

/** Fields of a geofence that the caller provides; the registry assigns the others. */
export type GeofenceFields = WithCustomFields<Omit<Geofence, 'kind' | 'id' | 'version'>>;

/** Matches geofences for which every given field holds. */
export interface GeofenceFilter {
  ownerId?: UserId;
  /** The dealer's own and those of the dealer's users. */
  ofDealer?: UserId;
  /** Those of `ownerId`, and those that are shared with the organisation (null: the operator's own) or the groups. */
  sharedWith?: { organisation: UserId | null; groupIds: readonly GroupId[] };
}

/** Owner of an existing or deleted geofence, which decides who may see it. */
export interface GeofenceOwner extends OwnedGeofence {
  id: GeofenceId;
  /** The account as it is; for a deleted account, its last known state. */
  owner: Member;
}

/** What is kept of a deleted geofence, because past visits still refer to it. */
export interface DeletedGeofence extends GeofenceOwner {
  /** The last name. */
  name: string;
}

/** Geofences, each with one owner. */
export class Geofences {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @throws {ConflictError} when the owner already has a geofence of that name
   * @throws {UnknownReferenceError} when the owner or a group does not exist
   */
  create(fields: GeofenceFields): Promise<Geofence> {
    return this.#store.write((writer) => GEOFENCES.create(writer, newGeofence(writer, fields)));
  }

  get(id: GeofenceId): Promise<Geofence | null> {
    return GEOFENCES.get(this.#store.db, id);
  }

  /** In the order of their ids, which is that of their creation. */
  async list(filter: GeofenceFilter, paging: Paging): Promise<Page<Geofence>> {
    const { db } = this.#store;
    let query = db.selectFrom('geofences').selectAll();
    const { ownerId, sharedWith } = filter;
    if (ownerId !== undefined && sharedWith === undefined) query = query.where('ownerId', '=', ownerId);
    if (ownerId !== undefined && sharedWith !== undefined)
      query = query.where((e) =>
        e.or([
          e('ownerId', '=', ownerId),
          e.and([
            e('sharedWithOrganisation', '=', 1),
            e('ownerId', 'in', membersOfOrganisation(db, sharedWith.organisation)),
          ]),
          e(
            'id',
            'in',
            e
              .selectFrom('geofenceShares')
              .select('memberId')
              .where('groupId', 'in', [...sharedWith.groupIds, '']),
          ),
        ]),
      );
    if (filter.ofDealer !== undefined) {
      const dealerId = filter.ofDealer;
      query = query.where((e) =>
        e.or([
          e('ownerId', '=', dealerId),
          e('ownerId', 'in', e.selectFrom('users').select('users.id').where('dealerId', '=', dealerId)),
        ]),
      );
    }
    return readPage(query, paging, (rows) => withGroups(db, rows));
  }

  /**
   * @param expectedVersion version that the caller last saw; null: any
   * @returns the geofence as it now is; a patch that changes nothing makes no new version
   * @throws {NotFoundError} {StaleError} {ConflictError} {UnknownReferenceError}
   */
  update(id: GeofenceId, expectedVersion: number | null, patch: Partial<GeofenceFields>): Promise<Geofence> {
    return this.#store.write((writer) =>
      GEOFENCES.update(writer, id, expectedVersion, (current) => revised(current, sorted(patch))),
    );
  }

  /**
   * Creates and changes many geofences of one owner in one transaction: all of them, or none. Geofences may exchange
   * names.
   *
   * @param dryRun only checks the writes, and stores nothing
   * @returns the outcome of each write, in the order of `writes`
   * @throws {BulkError} naming each write that can't be made; another owner's geofence counts as non-existent
   * @throws {UnknownReferenceError} when the owner does not exist
   */
  writeAll(
    ownerId: UserId,
    writes: readonly BulkWrite<GeofenceId, Omit<GeofenceFields, 'ownerId'>>[],
    dryRun: boolean,
  ): Promise<BulkOutcome<Geofence>[]> {
    return writeOrTry(this.#store, dryRun, async (writer) => {
      const plan = await planAll(writer, ownerId, writes);
      plan.requireAllGood();
      // All of them give up their names first, as another may take them. No real name holds a control character.
      for await (const some of inParts(plan.updated.filter(({ current, next }) => current.name !== next.name)))
        for (const { next } of some)
          await writer.tx
            .updateTable('geofences')
            .set({ name: `\u0001${next.id}` })
            .where('id', '=', next.id)
            .execute();
      const outcomes = await plan.carryOut(writer, 'geofenceGroups', GEOFENCES);
      const updated = plan.updated.filter(({ current, next }) => current.sharedGroupIds !== next.sharedGroupIds);
      const shared = [...plan.created, ...updated.map(({ next }) => next)];
      const members = shared.map(({ id, sharedGroupIds }) => ({ id, groupIds: sharedGroupIds }));
      await replaceGroups(writer, 'geofenceShares', members);
      return outcomes;
    });
  }

  /** @throws {NotFoundError} {StaleError} */
  delete(id: GeofenceId, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      await removeGeofence(writer, await GEOFENCES.expected(writer, id, expectedVersion));
    });
  }

  /** Deleted geofences among these ids. */
  async deleted(ids: readonly GeofenceId[]): Promise<DeletedGeofence[]> {
    const found: DeletedGeofence[] = [];
    for (const some of inChunks(ids))
      found.push(
        ...(await deletedGeofences(this.#store.db).where('gone.id', 'in', some).execute()).map(fromDeletedRow),
      );
    return found;
  }

  /** Owners of these geofences, deleted ones included; ids that never existed are left out. */
  async ownersOf(ids: readonly GeofenceId[]): Promise<GeofenceOwner[]> {
    const found: GeofenceOwner[] = await this.deleted(ids);
    for (const some of inChunks(ids)) {
      const rows = await this.#store.db
        .selectFrom('geofences')
        .innerJoin('users', 'users.id', 'geofences.ownerId')
        .select(['geofences.id', 'geofences.ownerId', 'geofences.sharedWithOrganisation'])
        .select(['users.role as ownerRole', 'users.dealerId'])
        .where('geofences.id', 'in', some)
        .execute();
      const shares = await groupsOf(this.#store.db, 'geofenceShares', some);
      for (const row of rows) found.push(ownedBy(row, shares.get(row.id) ?? []));
    }
    return found;
  }

  /** Ids of deleted geofences that match the filter. */
  async deletedIds({ ownerId, ofDealer, sharedWith }: GeofenceFilter): Promise<GeofenceId[]> {
    let query = deletedGeofences(this.#store.db).orderBy('gone.id');
    if (ownerId !== undefined && sharedWith === undefined) query = query.where('gone.ownerId', '=', ownerId);
    if (ownerId !== undefined && sharedWith !== undefined)
      query = query.where((e) =>
        e.or([
          e('gone.ownerId', '=', ownerId),
          e('gone.sharedWithOrganisation', '=', 1),
          e('gone.sharedGroupIds', '!=', '[]'),
        ]),
      );
    if (ofDealer !== undefined)
      query = query.where((e) =>
        e.or([
          e('gone.ownerId', '=', ofDealer),
          e('users.dealerId', '=', ofDealer),
          e.and([e('users.id', 'is', null), e('gone.dealerId', '=', ofDealer)]),
        ]),
      );
    const found = (await query.execute()).map(fromDeletedRow);
    const isWanted = (gone: DeletedGeofence) =>
      sharedWith === undefined || gone.ownerId === ownerId || wasSharedWith(gone, sharedWith);
    return found.filter(isWanted).map(({ id }) => id);
  }
}

function wasSharedWith(
  { owner, sharedWithOrganisation, sharedGroupIds }: GeofenceOwner,
  { organisation, groupIds }: NonNullable<GeofenceFilter['sharedWith']>,
): boolean {
  if (sharedGroupIds.some((id) => groupIds.includes(id))) return true;
  return sharedWithOrganisation && organisationOf(owner) === organisation;
}

function deletedGeofences(db: Reader) {
  return db
    .selectFrom('deletedGeofences as gone')
    .leftJoin('users', 'users.id', 'gone.ownerId')
    .select(['gone.id', 'gone.name', 'gone.ownerId', 'gone.sharedWithOrganisation', 'gone.sharedGroupIds'])
    .select(['gone.dealerId as lastDealerId', 'gone.ownerRole as lastRole'])
    .select(['users.dealerId', 'users.role']);
}

function fromDeletedRow(row: {
  id: string;
  name: string;
  ownerId: string;
  sharedWithOrganisation: number;
  sharedGroupIds: string;
  lastDealerId: string | null;
  lastRole: string;
  dealerId: string | null;
  role: string | null;
}): DeletedGeofence {
  const { id, name, ownerId, sharedWithOrganisation, role } = row;
  const owner =
    role === null
      ? { ownerRole: row.lastRole, dealerId: row.lastDealerId }
      : { ownerRole: role, dealerId: row.dealerId };
  const sharedGroupIds = JSON.parse(row.sharedGroupIds) as GroupId[];
  return { ...ownedBy({ id, ownerId, sharedWithOrganisation, ...owner }, sharedGroupIds), name };
}

function ownedBy(
  row: { id: string; ownerId: string; sharedWithOrganisation: number; ownerRole: string; dealerId: string | null },
  sharedGroupIds: readonly GroupId[],
): GeofenceOwner {
  const ownerId = row.ownerId as UserId;
  return {
    id: row.id as GeofenceId,
    ownerId,
    owner: { id: ownerId, role: row.ownerRole as Role, dealerId: row.dealerId as UserId | null },
    sharedWithOrganisation: row.sharedWithOrganisation === 1,
    sharedGroupIds,
  };
}

/**
 * Deletes the geofences that an account drew for itself. Shared ones of a user go to its dealer, or without a dealer to
 * the operator that deletes the account.
 */
export async function deleteGeofencesOf(writer: Writer, user: Pick<User, 'id' | 'role' | 'dealerId'>): Promise<void> {
  const rows = await writer.tx.selectFrom('geofences').selectAll().where('ownerId', '=', user.id).execute();
  const heir = heirOf(writer, user);
  for (const geofence of await withGroups(writer.tx, rows)) {
    const isShared = geofence.sharedWithOrganisation || geofence.sharedGroupIds.length > 0;
    if (isShared && heir !== null) await inherit(writer, geofence, heir);
    else await removeGeofence(writer, geofence);
  }
}

/** Removes external ids from the geofences of these accounts, where their new organisation uses them already. */
export async function dropTakenGeofenceIds(
  writer: Writer,
  ownerIds: readonly string[],
  dealerId: UserId | null,
): Promise<void> {
  for (const some of inChunks(ownerIds)) {
    const rows = await writer.tx
      .selectFrom('geofences')
      .selectAll()
      .where('ownerId', 'in', some)
      .where('externalId', 'is not', null)
      .execute();
    for (const before of await withGroups(writer.tx, rows)) {
      if ((await externalIdUnder(writer, before, dealerId)) !== null) continue;
      const geofence = { ...before, externalId: null, version: before.version + 1 };
      await GEOFENCES.replace(writer, geofence, before);
    }
  }
}

/** Null for a dealer: its organisation ends with it, so nobody inherits. */
function heirOf({ actor }: Writer, { id, role, dealerId }: Pick<User, 'id' | 'role' | 'dealerId'>): UserId | null {
  if (role === 'dealer') return null;
  if (dealerId !== null) return dealerId;
  return actor.user?.role === 'operator' && actor.user.id !== id ? actor.user.id : null;
}

/** Gives a geofence to another owner, under its name or a numbered one that is free. */
async function inherit(writer: Writer, geofence: Geofence, ownerId: UserId): Promise<void> {
  const { tx } = writer;
  const taken = await tx.selectFrom('geofences').select('name').where('ownerId', '=', ownerId).execute();
  const names = new Set(taken.map(({ name }) => name));
  let { name } = geofence;
  for (let nth = 2; names.has(name); nth++) name = `${geofence.name} (${nth})`;
  const inherited = { ...geofence, ownerId, name, version: geofence.version + 1 };
  await GEOFENCES.replace(writer, inherited, geofence);
  // Inherited geofences use up the owner's quota, but must not make the deletion of an account fail.
  writer.growth.add(ownerId, 'geofences', -1);
  writer.growth.add(ownerId, 'geofenceVertices', -verticesOf(geofence.shape));
}

async function removeGeofence(writer: Writer, geofence: Geofence): Promise<void> {
  const { id, name, ownerId, sharedWithOrganisation, sharedGroupIds } = geofence;
  await dropFromRules(writer, 'geofence', id);
  for (const table of ['geofenceGroups', 'geofenceShares'] as const)
    await writer.tx.deleteFrom(table).where('memberId', '=', id).execute();
  await GEOFENCES.deleteRow(writer, id);
  const owner = await writer.tx
    .selectFrom('users')
    .select(['role', 'dealerId'])
    .where('id', '=', ownerId)
    .executeTakeFirst();
  await writer.tx
    .insertInto('deletedGeofences')
    .values({
      ...{ id, name, ownerId, dealerId: owner?.dealerId ?? null, ownerRole: owner?.role ?? 'user' },
      sharedWithOrganisation: sharedWithOrganisation ? 1 : 0,
      sharedGroupIds: JSON.stringify(sharedGroupIds),
      deletedAtMs: writer.nowMs,
    })
    .execute();
  writer.deleted(geofence);
}

function newGeofence({ newId }: Writer, fields: GeofenceFields): Geofence {
  return { ...sorted(fields), ...newCustomFields(fields), kind: 'geofence', id: newId() as GeofenceId, version: 1 };
}

/** Sorts the group ids into the order in which they are stored. */
function sorted<Fields extends Partial<GeofenceFields>>(fields: Fields): Fields {
  const { sharedGroupIds } = fields;
  return withSortedGroups(sharedGroupIds ? { ...fields, sharedGroupIds: sortedSet(sharedGroupIds) } : fields);
}

export const GEOFENCES = new Resource<Geofence, GeofenceRow>({
  kind: 'geofence',
  table: 'geofences',
  read: withGroups,
  rowsAtOnce: ROWS_AT_ONCE,
  toRow: toGeofenceRow,
  async check(writer, geofence) {
    const { tx } = writer;
    const owner = await requireOwner(tx, geofence.ownerId);
    await requireFreeExternalId(writer, geofence, organisationOf(owner));
    const other = await tx
      .selectFrom('geofences')
      .select('id')
      .where('ownerId', '=', geofence.ownerId)
      .where('name', '=', geofence.name)
      .where('id', '!=', geofence.id)
      .executeTakeFirst();
    if (other) throw new ConflictError('geofence', 'name', geofence.name);
  },
  async writeDetails(writer, { id, groupIds, sharedGroupIds }, before) {
    if (groupIds !== before?.groupIds) await setGroups(writer, 'geofenceGroups', id, groupIds ?? []);
    if (sharedGroupIds !== before?.sharedGroupIds) await setGroups(writer, 'geofenceShares', id, sharedGroupIds);
  },
});

async function planAll(
  writer: Writer,
  ownerId: UserId,
  writes: readonly BulkWrite<GeofenceId, Omit<GeofenceFields, 'ownerId'>>[],
): Promise<BulkPlan<Geofence>> {
  const owner = await requireOwner(writer.tx, ownerId);
  const plan = new BulkPlan<Geofence>();
  const known = await GEOFENCES.load(
    writer.tx,
    writes.flatMap(({ id }) => (id === null ? [] : [id])),
  );
  plan.take(
    'geofence',
    writes,
    known.filter((geofence) => geofence.ownerId === ownerId),
    (fields) => newGeofence(writer, { ...fields, ownerId }),
    (current, patch) => revised(current, sorted(patch)),
  );
  await plan.checkGroups(writer.tx);
  await plan.checkUnique(
    ({ name }) => name,
    (names) =>
      writer.tx
        .selectFrom('geofences')
        .select(['id', 'name as value'])
        .where('ownerId', '=', ownerId)
        .where('name', 'in', names)
        .execute(),
    (value) => new ConflictError('geofence', 'name', value),
  );
  await checkExternalIds(writer, plan, 'geofence', () => organisationOf(owner));
  return plan;
}

async function withGroups(db: Reader, rows: readonly GeofenceRow[]): Promise<Geofence[]> {
  const ids = rows.map((row) => row.id);
  const groups = await groupsOf(db, 'geofenceGroups', ids);
  const shares = await groupsOf(db, 'geofenceShares', ids);
  return rows.map((row) => fromGeofenceRow(row, groups.get(row.id) ?? [], shares.get(row.id) ?? []));
}

/**
 * @param groupIds the groups it names; used only where it does not watch all vehicles
 * @param sharedGroupIds the groups it is shared with
 */
function fromGeofenceRow(row: GeofenceRow, groupIds: readonly GroupId[], sharedGroupIds: readonly GroupId[]): Geofence {
  return {
    kind: 'geofence',
    id: row.id as GeofenceId,
    version: row.version,
    ...fieldsOfRow(GEOFENCE_FIELDS, row),
    ownerId: row.ownerId as UserId,
    shape: JSON.parse(row.shape) as Shape,
    groupIds: row.watchesAll === 1 ? null : groupIds,
    sharedGroupIds,
    ...customFieldsOf(row),
  };
}

export function toGeofenceRow(geofence: Geofence): GeofenceRow {
  return {
    id: geofence.id,
    version: geofence.version,
    ...columnsOfFields(GEOFENCE_FIELDS, geofence),
    ownerId: geofence.ownerId,
    shape: JSON.stringify(geofence.shape),
    watchesAll: geofence.groupIds === null ? 1 : 0,
    vertices: verticesOf(geofence.shape),
    ...customColumnsOf(geofence),
  };
}
