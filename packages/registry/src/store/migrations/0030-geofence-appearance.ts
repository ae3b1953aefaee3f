import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('geofences').addColumn('color', 'text').execute();
  await db.schema.alterTable('geofences').addColumn('description', 'text').execute();
}
