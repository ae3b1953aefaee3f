import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  // No foreign keys to vehicles: what belongs to a deleted vehicle is kept until the vehicle is erased.
  await db.schema
    .createTable('vehicle_counters')
    .addColumn('vehicle_id', 'text', (c) => c.primaryKey())
    .addColumn('revision', 'integer', (c) => c.notNull())
    .addColumn('stale_from_ms', TIME_MS)
    .addColumn('contact_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('through_ms', TIME_MS, (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('epoch', 'integer', (c) => c.notNull())
    .addColumn('sum_odometer_m', 'double precision', (c) => c.notNull())
    .addColumn('sum_engine_ms', 'double precision', (c) => c.notNull())
    .addColumn('first_odometer_m', 'double precision', (c) => c.notNull())
    .addColumn('first_engine_ms', 'double precision', (c) => c.notNull())
    .addColumn('odometer_m', 'double precision', (c) => c.notNull())
    .addColumn('engine_ms', 'double precision', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('counter_days')
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('through_ms', TIME_MS, (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('counter_days_key', ['vehicle_id', 'through_ms'])
    .execute();
  await db.schema
    .createTable('counter_marks')
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('odometer_m', 'double precision')
    .addColumn('engine_ms', 'double precision')
    .addPrimaryKeyConstraint('counter_marks_key', ['vehicle_id', 'at_ms'])
    .execute();
  await db.schema
    .createTable('counter_corrections')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('counter', 'text', (c) => c.notNull())
    .addColumn('at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('value', 'double precision', (c) => c.notNull())
    .addColumn('note', 'text')
    .addColumn('created_by', 'text')
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('maintenance_plans')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('dealer_id', 'text')
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('vehicle_id', 'text')
    .addColumn('group_id', 'text')
    .addColumn('every_m', 'double precision')
    .addColumn('every_engine_ms', 'double precision')
    .addColumn('every_days', 'double precision')
    .addColumn('warning_m', 'double precision')
    .addColumn('warning_engine_ms', 'double precision')
    .addColumn('warning_days', 'double precision')
    .addColumn('starts_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('changed_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('maintenance_states')
    .addColumn('plan_id', 'text', (c) => c.notNull())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('stage', 'text', (c) => c.notNull())
    .addColumn('share', 'double precision', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('unsent', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('maintenance_states_key', ['plan_id', 'vehicle_id'])
    .execute();
  await db.schema
    .createTable('service_records')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('plan_id', 'text')
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('odometer_m', 'double precision')
    .addColumn('engine_ms', 'double precision')
    .addColumn('cost_minor', 'double precision')
    .addColumn('currency', 'text')
    .addColumn('note', 'text')
    .addColumn('created_by', 'text')
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('service_files')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('record_id', 'text', (c) => c.notNull())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('media_type', 'text', (c) => c.notNull())
    .addColumn('bytes', 'integer', (c) => c.notNull())
    .addColumn('sha256', 'text', (c) => c.notNull())
    .addColumn('created_by', 'text')
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  const index = (table: string, name: string, columns: string[]) =>
    db.schema.createIndex(`${table}_by_${name}`).on(table).columns(columns).execute();
  await index('counter_corrections', 'vehicle_id', ['vehicle_id', 'at_ms']);
  await index('maintenance_plans', 'dealer_id', ['dealer_id', 'id']);
  await index('maintenance_states', 'vehicle_id', ['vehicle_id']);
  await index('maintenance_states', 'unsent', ['unsent']);
  await index('service_records', 'vehicle_id', ['vehicle_id', 'at_ms']);
  await index('service_files', 'record_id', ['record_id']);
  await index('service_files', 'vehicle_id', ['vehicle_id']);
  await index('service_files', 'created_by', ['created_by']);
}
