import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // What every user could do before there were rights.
  await db.schema
    .alterTable('users')
    .addColumn('rights', 'text', (c) => c.notNull().defaultTo('edit-geofences,edit-notifications,share'))
    .execute();
  // JSON; null: not suspended.
  await db.schema.alterTable('vehicles').addColumn('suspension', 'text').execute();
}
