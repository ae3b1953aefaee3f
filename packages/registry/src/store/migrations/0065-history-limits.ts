import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Null: the group limits nothing.
  await db.schema.alterTable('vehicle_groups').addColumn('retention_days', 'integer').execute();
  // No foreign key to vehicles: what is erased stays so until the vehicle is erased itself.
  await db.schema
    .createTable('history_limits')
    .addColumn('vehicle_id', 'text', (c) => c.primaryKey())
    .addColumn('before_ms', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('notifications_by_vehicle_id')
    .on('notifications')
    .columns(['vehicle_id', 'created_at_ms'])
    .execute();
}
