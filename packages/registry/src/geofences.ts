import type { Geofence, GeofenceId, GroupId, Shape, UserId } from '@outrider/domain';
import { ConflictError, NotFoundError, StaleError, UnknownReferenceError } from './errors.ts';
import { groupsOf, setGroups, sortedSet } from './memberships.ts';
import { type Page, type Paging, pageOf } from './page.ts';
import type { GeofenceRow } from './schema.ts';
import { differences, inChunks, type Reader, type Store, type Writer } from './store.ts';

/** What a geofence is made of, without what the registry itself gives it. */
export type GeofenceFields = Omit<Geofence, 'kind' | 'id' | 'version'>;

/** Only geofences for which all that is set holds. */
export interface GeofenceFilter {
  ownerId?: UserId;
  /** The dealer's own and those of the dealer's users. */
  ofDealer?: UserId;
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
      const geofence: Geofence = {
        ...fields,
        kind: 'geofence',
        id: writer.newId() as GeofenceId,
        version: 1,
        groupIds: fields.groupIds && sortedSet(fields.groupIds),
      };
      await check(writer, geofence);
      await writer.tx.insertInto('geofences').values(toRow(geofence)).execute();
      await setGroups(writer, 'geofence_groups', geofence.id, geofence.groupIds ?? []);
      writer.changed(geofence);
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
    if (filter.ownerId !== undefined) query = query.where('owner_id', '=', filter.ownerId);
    if (filter.ofDealer !== undefined) {
      const dealerId = filter.ofDealer;
      query = query.where((e) =>
        e.or([
          e('owner_id', '=', dealerId),
          e('owner_id', 'in', e.selectFrom('users').select('users.id').where('dealer_id', '=', dealerId)),
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
      const changed = differences<GeofenceFields>(
        current,
        patch.groupIds ? { ...patch, groupIds: sortedSet(patch.groupIds) } : patch,
      );
      if (Object.keys(changed).length === 0) return current;
      const geofence: Geofence = { ...current, ...changed, version: current.version + 1 };
      await check(writer, geofence);
      const { id: _, ...columns } = toRow(geofence);
      await writer.tx.updateTable('geofences').set(columns).where('id', '=', id).execute();
      if (changed.groupIds !== undefined) await setGroups(writer, 'geofence_groups', id, changed.groupIds ?? []);
      writer.changed(geofence);
      return geofence;
    });
  }

  /** @throws {NotFoundError} {StaleError} */
  delete(id: GeofenceId, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      await removeGeofence(writer, await requireGeofence(writer, id, expectedVersion));
    });
  }
}

/** Deletes everything that the owner drew. */
export async function deleteGeofencesOf(writer: Writer, ownerId: UserId): Promise<void> {
  const rows = await writer.tx.selectFrom('geofences').selectAll().where('owner_id', '=', ownerId).execute();
  for (const geofence of await withGroups(writer.tx, rows)) await removeGeofence(writer, geofence);
}

async function removeGeofence(writer: Writer, geofence: Geofence): Promise<void> {
  await writer.tx.deleteFrom('geofence_groups').where('member_id', '=', geofence.id).execute();
  await writer.tx.deleteFrom('geofences').where('id', '=', geofence.id).execute();
  writer.deleted(geofence);
}

async function requireGeofence({ tx }: Writer, id: GeofenceId, expectedVersion: number | null): Promise<Geofence> {
  const [geofence] = await loadGeofences(tx, [id]);
  if (!geofence) throw new NotFoundError('geofence', id);
  if (expectedVersion !== null && geofence.version !== expectedVersion) throw new StaleError(geofence, expectedVersion);
  return geofence;
}

async function check({ tx }: Writer, geofence: Geofence): Promise<void> {
  const owner = await tx.selectFrom('users').select('id').where('id', '=', geofence.ownerId).executeTakeFirst();
  if (!owner) throw new UnknownReferenceError('ownerId', geofence.ownerId);
  const other = await tx
    .selectFrom('geofences')
    .select('id')
    .where('owner_id', '=', geofence.ownerId)
    .where('name', '=', geofence.name)
    .where('id', '!=', geofence.id)
    .executeTakeFirst();
  if (other) throw new ConflictError('geofence', 'name', geofence.name);
}

async function loadGeofences(db: Reader, ids: readonly string[]): Promise<Geofence[]> {
  const rows: GeofenceRow[] = [];
  for (const some of inChunks(ids))
    rows.push(...(await db.selectFrom('geofences').selectAll().where('id', 'in', some).orderBy('id').execute()));
  return withGroups(db, rows);
}

/** Gives each geofence a new version and notes it: for a change that came from elsewhere, already made in the tables. */
export async function touchGeofences(writer: Writer, ids: readonly string[]): Promise<void> {
  for (const some of inChunks(ids))
    await writer.tx
      .updateTable('geofences')
      .set((e) => ({ version: e('version', '+', 1) }))
      .where('id', 'in', some)
      .execute();
  for (const geofence of await loadGeofences(writer.tx, ids)) writer.changed(geofence);
}

async function withGroups(db: Reader, rows: readonly GeofenceRow[]): Promise<Geofence[]> {
  const ids = rows.map((row) => row.id);
  const groups = await groupsOf(db, 'geofence_groups', ids);
  return rows.map((row) => fromGeofenceRow(row, groups.get(row.id) ?? []));
}

/** @param groupIds the groups it names; looked at only where it does not watch all */
export function fromGeofenceRow(row: GeofenceRow, groupIds: readonly GroupId[]): Geofence {
  return {
    kind: 'geofence',
    id: row.id as GeofenceId,
    version: row.version,
    name: row.name,
    ownerId: row.owner_id as UserId,
    shape: JSON.parse(row.shape) as Shape,
    groupIds: row.watches_all === 1 ? null : groupIds,
    speedLimitKmh: row.speed_limit_kmh,
    minDwellSeconds: row.min_dwell_seconds,
  };
}

function toRow(geofence: Geofence): GeofenceRow {
  return {
    id: geofence.id,
    version: geofence.version,
    name: geofence.name,
    owner_id: geofence.ownerId,
    shape: JSON.stringify(geofence.shape),
    watches_all: geofence.groupIds === null ? 1 : 0,
    speed_limit_kmh: geofence.speedLimitKmh,
    min_dwell_seconds: geofence.minDwellSeconds,
  };
}
