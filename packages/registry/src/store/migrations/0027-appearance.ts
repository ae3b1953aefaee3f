import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('vehicles').addColumn('color', 'text').execute();
  await db.schema.alterTable('vehicles').addColumn('icon', 'text').execute();
}
