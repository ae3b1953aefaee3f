import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  // No foreign key to vehicles: what belongs to a deleted vehicle is kept until the vehicle is erased.
  await db.schema
    .createTable('custom_counters')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('unit', 'text', (c) => c.notNull())
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('sensor_id', 'text')
    .addColumn('starts_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('terms', 'text', (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema.createIndex('custom_counters_by_vehicle_id').on('custom_counters').column('vehicle_id').execute();
  // Sums by the ids of the counters, as JSON; null: none were counted.
  await db.schema.alterTable('vehicle_counters').addColumn('sum_custom', 'text').execute();
  await db.schema.alterTable('vehicle_counters').addColumn('first_custom', 'text').execute();
  await db.schema.alterTable('counter_marks').addColumn('custom', 'text').execute();
  await db.schema.alterTable('maintenance_plans').addColumn('counter_name', 'text').execute();
  await db.schema.alterTable('maintenance_plans').addColumn('every_counter', 'double precision').execute();
  await db.schema.alterTable('maintenance_plans').addColumn('warning_counter', 'double precision').execute();
}
