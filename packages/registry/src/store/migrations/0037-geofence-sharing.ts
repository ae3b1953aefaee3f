import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['geofences', 'deleted_geofences'])
    await db.schema
      .alterTable(table)
      .addColumn('shared_with_organisation', 'integer', (c) => c.notNull().defaultTo(0))
      .execute();
  await db.schema.alterTable('geofences').addColumn('category', 'text').execute();
  await db.schema
    .alterTable('deleted_geofences')
    .addColumn('shared_group_ids', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute();
  await db.schema
    .alterTable('deleted_geofences')
    .addColumn('owner_role', 'text', (c) => c.notNull().defaultTo('user'))
    .execute();
  await db.schema
    .createTable('geofence_shares')
    .addColumn('group_id', 'text', (c) => c.notNull().references('vehicle_groups.id'))
    .addColumn('member_id', 'text', (c) => c.notNull().references('geofences.id'))
    .addPrimaryKeyConstraint('geofence_shares_key', ['group_id', 'member_id'])
    .execute();
  await db.schema.createIndex('geofence_shares_by_member_id').on('geofence_shares').column('member_id').execute();
}
