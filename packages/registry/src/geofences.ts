import type { Geofence, GeofenceId, GroupId, Shape, UserId } from '@outrider/domain';
import { type BulkOutcome, BulkPlan, type BulkWrite, inTurns, replaceGroups, writeOrTry } from './bulk.ts';
import { ConflictError, NotFoundError, StaleError, UnknownReferenceError } from './errors.ts';
import { groupsOf, setGroups, sortedSet } from './memberships.ts';
import { dropFromRules } from './notification-rules.ts';
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
      const { created, updated } = plan;
      // First all of them give up what they are called: it may be what another gets. No name holds a control character.
      for await (const some of inTurns(updated.filter(({ current, next }) => current.name !== next.name)))
        for (const { next } of some)
          await writer.tx
            .updateTable('geofences')
            .set({ name: `\u0001${next.id}` })
            .where('id', '=', next.id)
            .execute();
      for await (const some of inTurns(updated))
        for (const { next } of some) {
          const { id, ...columns } = toRow(next);
          await writer.tx.updateTable('geofences').set(columns).where('id', '=', id).execute();
        }
      for await (const some of inTurns(created))
        await writer.tx.insertInto('geofences').values(some.map(toRow)).execute();
      const regrouped = updated.filter(({ current, next }) => current.groupIds !== next.groupIds);
      await replaceGroups(writer, 'geofence_groups', [...created, ...regrouped.map(({ next }) => next)]);
      plan.note((next, current) => writer.changed(next, current));
      return plan.outcomes();
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
  await dropFromRules(writer, 'geofence', geofence.id);
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

async function planAll(
  writer: Writer,
  ownerId: UserId,
  writes: readonly BulkWrite<GeofenceId, Omit<GeofenceFields, 'ownerId'>>[],
): Promise<BulkPlan<Geofence>> {
  const owner = await writer.tx.selectFrom('users').select('id').where('id', '=', ownerId).executeTakeFirst();
  if (!owner) throw new UnknownReferenceError('ownerId', ownerId);
  const plan = new BulkPlan<Geofence>();
  const known = await loadGeofences(
    writer.tx,
    writes.flatMap(({ id }) => (id === null ? [] : [id])),
  );
  const currents = new Map(known.map((geofence) => [geofence.id, geofence]));
  for (const [index, write] of writes.entries()) {
    const fields = write.id === null ? write.fields : write.patch;
    const groupIds = fields.groupIds && sortedSet(fields.groupIds);
    if (write.id === null) {
      const id = writer.newId() as GeofenceId;
      plan.planned.push({
        index,
        current: null,
        next: { ...write.fields, kind: 'geofence', id, version: 1, ownerId, groupIds: groupIds ?? null },
      });
      continue;
    }
    const current = currents.get(write.id);
    if (current?.ownerId !== ownerId) {
      plan.fail(index, new NotFoundError('geofence', write.id));
      continue;
    }
    if (write.expectedVersion !== null && current.version !== write.expectedVersion)
      plan.fail(index, new StaleError(current, write.expectedVersion));
    const changed = differences<Omit<GeofenceFields, 'ownerId'>>(
      current,
      groupIds === undefined ? write.patch : { ...write.patch, groupIds },
    );
    const isSame = Object.keys(changed).length === 0;
    plan.planned.push({
      index,
      current,
      next: isSame ? current : { ...current, ...changed, version: current.version + 1 },
    });
  }
  await plan.checkGroups(writer.tx);
  await plan.checkUnique(
    ({ name }) => name,
    (names) =>
      writer.tx
        .selectFrom('geofences')
        .select(['id', 'name as value'])
        .where('owner_id', '=', ownerId)
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
 * Gives each geofence a new version and notes it: for a change that came from elsewhere, already made in the tables.
 *
 * @param before the geofences as they were
 */
export async function touchGeofences(writer: Writer, before: readonly Geofence[]): Promise<void> {
  const was = new Map(before.map((geofence) => [geofence.id, geofence]));
  const ids = [...was.keys()];
  for (const some of inChunks(ids))
    await writer.tx
      .updateTable('geofences')
      .set((e) => ({ version: e('version', '+', 1) }))
      .where('id', 'in', some)
      .execute();
  for (const geofence of await loadGeofences(writer.tx, ids)) writer.changed(geofence, was.get(geofence.id) ?? null);
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
