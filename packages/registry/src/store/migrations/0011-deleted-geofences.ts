import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';
import type { Tables } from '../schema.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  // No foreign keys: the names outlive their owners.
  await db.schema
    .createTable('deleted_geofences')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('owner_id', 'text', (c) => c.notNull())
    .addColumn('dealer_id', 'text')
    .addColumn('deleted_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  for (const column of ['owner_id', 'dealer_id'] as const)
    await db.schema.createIndex(`deleted_geofences_by_${column}`).on('deleted_geofences').column(column).execute();
  await takeFromAudit(db);
}

/** Geofences that were deleted before their names were kept: the audit trail still has them. */
async function takeFromAudit(db: Kysely<unknown>): Promise<void> {
  const tables = db as Kysely<Pick<Tables, 'audit' | 'auditDealers' | 'deletedGeofences'>>;
  for (let after = ''; ; ) {
    const rows = await tables
      .selectFrom('audit')
      .select((e) => [
        'id',
        'subjectId',
        'subjectName',
        'before',
        'atMs',
        e
          .selectFrom('auditDealers')
          .select('dealerId')
          .whereRef('entryId', '=', 'audit.id')
          .orderBy('dealerId')
          .limit(1)
          .as('dealerId'),
      ])
      .where('subjectKind', '=', 'geofence')
      .where('action', '=', 'deleted')
      .where('id', '>', after)
      .orderBy('id')
      .limit(500)
      .execute();
    for (const { id, subjectId, subjectName, before, atMs, dealerId } of rows) {
      after = id;
      const { ownerId } = JSON.parse(before ?? '{}') as { ownerId?: string };
      if (subjectId === null || ownerId === undefined) continue;
      await tables
        .insertInto('deletedGeofences')
        .values({ id: subjectId, name: subjectName, ownerId, dealerId, deletedAtMs: atMs })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    if (rows.length < 500) return;
  }
}
