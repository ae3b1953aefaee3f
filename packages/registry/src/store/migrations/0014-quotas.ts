import { type Shape, verticesOf } from '@outrider/domain';
import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('quota_limits')
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('max_value', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('quota_limits_key', ['user_id', 'scope', 'kind'])
    .execute();
  await db.schema
    .alterTable('geofences')
    .addColumn('vertices', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await countVertices(db);
  // Holds what a quota asks: the shapes themselves are not read for it.
  await db.schema
    .createIndex('geofences_by_owner_and_vertices')
    .on('geofences')
    .columns(['owner_id', 'vertices'])
    .execute();
}

/** Geofences that were drawn before their points were counted. */
async function countVertices(db: Kysely<unknown>): Promise<void> {
  const tables = db as Kysely<Pick<Tables, 'geofences'>>;
  for (let after = ''; ; ) {
    const rows = await tables
      .selectFrom('geofences')
      .select(['id', 'shape'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(100)
      .execute();
    for (const { id, shape } of rows) {
      after = id;
      await tables
        .updateTable('geofences')
        .set({ vertices: verticesOf(JSON.parse(shape) as Shape) })
        .where('id', '=', id)
        .execute();
    }
    if (rows.length < 100) return;
  }
}
