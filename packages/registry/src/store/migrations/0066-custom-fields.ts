import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['users', 'vehicles', 'vehicle_groups', 'geofences', 'drivers']) {
    await db.schema.alterTable(table).addColumn('external_id', 'text').execute();
    // JSON; null: none.
    await db.schema.alterTable(table).addColumn('custom_attributes', 'text').execute();
    await db.schema.createIndex(`${table}_by_external_id`).on(table).column('external_id').execute();
  }
}
