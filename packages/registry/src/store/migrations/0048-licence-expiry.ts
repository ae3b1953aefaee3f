import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['driver_id', 'driver_name'])
    await db.schema.alterTable('notifications').addColumn(column, 'text').execute();
  await db.schema.createIndex('notifications_by_driver_id').on('notifications').column('driver_id').execute();
  // Kept for longer than notifications are: a licence stays expired.
  await db.schema
    .createTable('licence_notices')
    .addColumn('rule_id', 'text', (c) => c.notNull())
    .addColumn('driver_id', 'text', (c) => c.notNull())
    .addColumn('licence_expires_on', 'text', (c) => c.notNull())
    .addColumn('stage', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('licence_notices_key', ['rule_id', 'driver_id', 'licence_expires_on', 'stage'])
    .execute();
  await db.schema.createIndex('licence_notices_by_driver_id').on('licence_notices').column('driver_id').execute();
}
