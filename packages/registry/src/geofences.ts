import { type Geofence, type GeofenceId, type GroupId, type Shape, type UserId, verticesOf } from '@outrider/domain';
import { type BulkOutcome, BulkPlan, type BulkWrite, inTurns, writeOrTry } from './bulk.ts';
import { ConflictError } from './errors.ts';
import { groupsOf, setGroups, withSortedGroups } from './memberships.ts';
import { dropFromRules } from './notification-rules.ts';
import { requireOwner } from './owners.ts';
import { type Page, type Paging, pageOf } from './page.ts';
import { asExpected, revised, touch } from './revisions.ts';
import type { GeofenceRow } from './schema.ts';
import { inChunks, type Reader, type Store, type Writer } from './store.ts';

/** One may have ten thousand points. */
const PAGE_ROWS = 100;

/** What a geofence is made of, without what the registry itself gives it. */
export type GeofenceFields = Omit<Geofence, 'kind' | 'id' | 'version'>;

/** Only geofences for which all that is set holds. */
export interface GeofenceFilter {
  ownerId?: UserId;
  /** The dealer's own and those of the dealer's users. */
  ofDealer?: UserId;
}

/** What is kept of a geofence that was deleted: visits of the past are still about it. */
export interface DeletedGeofence {
  id: GeofenceId;
  name: string;
  ownerId: UserId;
  /** The dealer of its owner, or, where that account is deleted too, the last one that the owner had. */
  dealerId: UserId | null;
}

/** Whose a geofence is, or was: what decides who may know of it. */
export interface GeofenceOwner {
  id: GeofenceId;
  ownerId: UserId;
  /** The dealer of its owner. */
  dealerId: UserId | null;
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
    return this.#store.write(async (writer) => {
      const geofence = newGeofence(writer, fields);
      await check(writer, geofence);
      await insertRows(writer, [geofence]);
      await setGroups(writer, 'geofenceGroups', geofence.id, geofence.groupIds ?? []);
      writer.changed(geofence, null);
      return geofence;
    });
  }

  async get(id: GeofenceId): Promise<Geofence | null> {
    const [geofence] = await loadGeofences(this.#store.db, [id]);
    return geofence ?? null;
  }

  /** In the order of their ids, which is that of their creation. */
  async list(filter: GeofenceFilter, paging: Paging): Promise<Page<Geofence>> {
    let query = this.#store.db
      .selectFrom('geofences')
      .selectAll()
      .orderBy('id')
      .limit(paging.limit + 1);
    if (paging.after !== null) query = query.where('id', '>', paging.after);
    if (filter.ownerId !== undefined) query = query.where('ownerId', '=', filter.ownerId);
    if (filter.ofDealer !== undefined) {
      const dealerId = filter.ofDealer;
      query = query.where((e) =>
        e.or([
          e('ownerId', '=', dealerId),
          e('ownerId', 'in', e.selectFrom('users').select('users.id').where('dealerId', '=', dealerId)),
        ]),
      );
    }
    const page = pageOf(await query.execute(), paging);
    return { ...page, items: await withGroups(this.#store.db, page.items) };
  }

  /**
   * @param expectedVersion what the caller last saw; null: whatever it is
   * @returns the geofence as it now is; a patch that changes nothing makes no new version
   * @throws {NotFoundError} {StaleError} {ConflictError} {UnknownReferenceError}
   */
  update(id: GeofenceId, expectedVersion: number | null, patch: Partial<GeofenceFields>): Promise<Geofence> {
    return this.#store.write(async (writer) => {
      const current = await requireGeofence(writer, id, expectedVersion);
      const geofence = revised(current, withSortedGroups(patch));
      if (geofence === current) return current;
      await check(writer, geofence);
      await updateRow(writer, geofence);
      if (geofence.groupIds !== current.groupIds)
        await setGroups(writer, 'geofenceGroups', id, geofence.groupIds ?? []);
      writer.changed(geofence, current);
      return geofence;
    });
  }

  /**
   * Makes and changes many geofences of one owner in one transaction: all of them, or none. Names may change places
   * among them.
   *
   * @param dryRun only finds out what would become of it
   * @returns what became of each, in the order of `writes`
   * @throws {BulkError} naming each write that can't be made; another owner's geofence is one that does not exist
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
      // First all of them give up what they are called: it may be what another gets. No name holds a control character.
      for await (const some of inTurns(plan.updated.filter(({ current, next }) => current.name !== next.name)))
        for (const { next } of some)
          await writer.tx
            .updateTable('geofences')
            .set({ name: `\u0001${next.id}` })
            .where('id', '=', next.id)
            .execute();
      return plan.carryOut(writer, 'geofenceGroups', insertRows, updateRow);
    });
  }

  /** @throws {NotFoundError} {StaleError} */
  delete(id: GeofenceId, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      await removeGeofence(writer, await requireGeofence(writer, id, expectedVersion));
    });
  }

  /** Those of these ids that were deleted. */
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
        .leftJoin('users', 'users.id', 'geofences.ownerId')
        .select(['geofences.id', 'geofences.ownerId', 'users.dealerId'])
        .where('geofences.id', 'in', some)
        .execute();
      for (const { id, ownerId, dealerId } of rows)
        found.push({
          id: id as GeofenceId,
          ownerId: ownerId as UserId,
          dealerId: dealerId as UserId | null,
        });
    }
    return found;
  }

  /** Ids of all that were deleted and for which all that is set holds. */
  async deletedIds({ ownerId, ofDealer }: GeofenceFilter): Promise<GeofenceId[]> {
    let query = deletedGeofences(this.#store.db).orderBy('gone.id');
    if (ownerId !== undefined) query = query.where('gone.ownerId', '=', ownerId);
    if (ofDealer !== undefined)
      query = query.where((e) =>
        e.or([
          e('gone.ownerId', '=', ofDealer),
          e('users.dealerId', '=', ofDealer),
          e.and([e('users.id', 'is', null), e('gone.dealerId', '=', ofDealer)]),
        ]),
      );
    return (await query.execute()).map(({ id }) => id as GeofenceId);
  }
}

function deletedGeofences(db: Reader) {
  return db
    .selectFrom('deletedGeofences as gone')
    .leftJoin('users', 'users.id', 'gone.ownerId')
    .select((e) => [
      'gone.id',
      'gone.name',
      'gone.ownerId',
      e
        .case()
        .when('users.id', 'is', null)
        .then(e.ref('gone.dealerId'))
        .else(e.ref('users.dealerId'))
        .end()
        .as('dealerId'),
    ]);
}

function fromDeletedRow(row: { id: string; name: string; ownerId: string; dealerId: string | null }): DeletedGeofence {
  return {
    id: row.id as GeofenceId,
    name: row.name,
    ownerId: row.ownerId as UserId,
    dealerId: row.dealerId as UserId | null,
  };
}

/** Deletes everything that the owner drew. */
export async function deleteGeofencesOf(writer: Writer, ownerId: UserId): Promise<void> {
  const rows = await writer.tx.selectFrom('geofences').selectAll().where('ownerId', '=', ownerId).execute();
  for (const geofence of await withGroups(writer.tx, rows)) await removeGeofence(writer, geofence);
}

async function removeGeofence(writer: Writer, geofence: Geofence): Promise<void> {
  await dropFromRules(writer, 'geofence', geofence.id);
  await writer.tx.deleteFrom('geofenceGroups').where('memberId', '=', geofence.id).execute();
  await writer.tx.deleteFrom('geofences').where('id', '=', geofence.id).execute();
  const { id, name, ownerId } = geofence;
  const owner = await writer.tx.selectFrom('users').select('dealerId').where('id', '=', ownerId).executeTakeFirst();
  await writer.tx
    .insertInto('deletedGeofences')
    .values({ id, name, ownerId, dealerId: owner?.dealerId ?? null, deletedAtMs: writer.nowMs })
    .execute();
  writer.deleted(geofence);
}

function newGeofence({ newId }: Writer, fields: GeofenceFields): Geofence {
  return { ...withSortedGroups(fields), kind: 'geofence', id: newId() as GeofenceId, version: 1 };
}

async function insertRows({ tx }: Writer, geofences: readonly Geofence[]): Promise<void> {
  await tx.insertInto('geofences').values(geofences.map(toRow)).execute();
}

async function updateRow({ tx }: Writer, geofence: Geofence): Promise<void> {
  const { id, ...columns } = toRow(geofence);
  await tx.updateTable('geofences').set(columns).where('id', '=', id).execute();
}

async function requireGeofence({ tx }: Writer, id: GeofenceId, expectedVersion: number | null): Promise<Geofence> {
  const [geofence] = await loadGeofences(tx, [id]);
  return asExpected(geofence, 'geofence', id, expectedVersion);
}

async function check({ tx }: Writer, geofence: Geofence): Promise<void> {
  await requireOwner(tx, geofence.ownerId);
  const other = await tx
    .selectFrom('geofences')
    .select('id')
    .where('ownerId', '=', geofence.ownerId)
    .where('name', '=', geofence.name)
    .where('id', '!=', geofence.id)
    .executeTakeFirst();
  if (other) throw new ConflictError('geofence', 'name', geofence.name);
}

async function planAll(
  writer: Writer,
  ownerId: UserId,
  writes: readonly BulkWrite<GeofenceId, Omit<GeofenceFields, 'ownerId'>>[],
): Promise<BulkPlan<Geofence>> {
  await requireOwner(writer.tx, ownerId);
  const plan = new BulkPlan<Geofence>();
  const known = await loadGeofences(
    writer.tx,
    writes.flatMap(({ id }) => (id === null ? [] : [id])),
  );
  plan.take(
    'geofence',
    writes,
    known.filter((geofence) => geofence.ownerId === ownerId),
    (fields) => newGeofence(writer, { ...fields, ownerId }),
    (current, patch) => revised(current, withSortedGroups(patch)),
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
  return plan;
}

/** The geofences among `ids` that exist, in the order of their ids. */
export async function loadGeofences(db: Reader, ids: readonly string[]): Promise<Geofence[]> {
  const rows: GeofenceRow[] = [];
  for (const some of inChunks(ids))
    rows.push(...(await db.selectFrom('geofences').selectAll().where('id', 'in', some).orderBy('id').execute()));
  return withGroups(db, rows);
}

/**
 * All geofences there are, in the order of their ids. Their rows, which hold shapes as text, are in memory a page at a
 * time.
 *
 * @param groups those that each names
 */
export async function allGeofences(db: Reader, groups: ReadonlyMap<string, readonly GroupId[]>): Promise<Geofence[]> {
  const geofences: Geofence[] = [];
  for (let after = ''; ; ) {
    const rows = await db
      .selectFrom('geofences')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE_ROWS)
      .execute();
    for (const row of rows) geofences.push(fromGeofenceRow(row, groups.get(row.id) ?? []));
    if (rows.length < PAGE_ROWS) return geofences;
    after = geofences.at(-1)?.id ?? '';
  }
}

/**
 * Gives each geofence a new version and notes it: for a change that came from elsewhere, already made in the tables.
 *
 * @param before the geofences as they were
 */
export function touchGeofences(writer: Writer, before: readonly Geofence[]): Promise<void> {
  return touch(writer, 'geofences', before, loadGeofences);
}

async function withGroups(db: Reader, rows: readonly GeofenceRow[]): Promise<Geofence[]> {
  const ids = rows.map((row) => row.id);
  const groups = await groupsOf(db, 'geofenceGroups', ids);
  return rows.map((row) => fromGeofenceRow(row, groups.get(row.id) ?? []));
}

/** @param groupIds the groups it names; looked at only where it does not watch all */
export function fromGeofenceRow(row: GeofenceRow, groupIds: readonly GroupId[]): Geofence {
  return {
    kind: 'geofence',
    id: row.id as GeofenceId,
    version: row.version,
    name: row.name,
    ownerId: row.ownerId as UserId,
    shape: JSON.parse(row.shape) as Shape,
    groupIds: row.watchesAll === 1 ? null : groupIds,
    speedLimitKmh: row.speedLimitKmh,
    minDwellSeconds: row.minDwellSeconds,
  };
}

function toRow(geofence: Geofence): GeofenceRow {
  return {
    id: geofence.id,
    version: geofence.version,
    name: geofence.name,
    ownerId: geofence.ownerId,
    shape: JSON.stringify(geofence.shape),
    watchesAll: geofence.groupIds === null ? 1 : 0,
    speedLimitKmh: geofence.speedLimitKmh,
    minDwellSeconds: geofence.minDwellSeconds,
    vertices: verticesOf(geofence.shape),
  };
}
