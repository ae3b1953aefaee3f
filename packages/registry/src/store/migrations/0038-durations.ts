import type { Kysely } from 'kysely';
import { FLAG, TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['names_inside', 'names_outside'])
    await db.schema
      .alterTable('notification_rules')
      .addColumn(column, FLAG, (c) => c.notNull().defaultTo(0))
      .execute();
  await db.schema.alterTable('notifications').addColumn('lasted_ms', TIME_MS).execute();
  // The rule may be deleted meanwhile, and so may the vehicle: no foreign keys.
  await db.schema
    .createTable('waiting_notifications')
    .addColumn('event_id', 'text', (c) => c.notNull())
    .addColumn('rule_id', 'text', (c) => c.notNull())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('due_ms', TIME_MS, (c) => c.notNull())
    .addColumn('consumer', 'text', (c) => c.notNull())
    .addColumn('log_partition', 'integer', (c) => c.notNull())
    .addColumn('event', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('waiting_notifications_key', ['event_id', 'rule_id'])
    .execute();
  for (const column of ['due_ms', 'rule_id', 'vehicle_id'])
    await db.schema
      .createIndex(`waiting_notifications_by_${column}`)
      .on('waiting_notifications')
      .column(column)
      .execute();
}
