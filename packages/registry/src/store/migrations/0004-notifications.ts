import type { Kysely } from 'kysely';
import { FLAG, TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('notification_rules')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('owner_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('inactive_reason', 'text')
    .addColumn('names_vehicles', FLAG, (c) => c.notNull())
    .addColumn('names_groups', FLAG, (c) => c.notNull())
    .addColumn('names_geofences', FLAG, (c) => c.notNull())
    .addColumn('terms', 'text', (c) => c.notNull())
    .addColumn('webhook_secret', 'text')
    .addUniqueConstraint('notification_rules_name', ['owner_id', 'name'])
    .execute();
  await db.schema
    .createTable('notification_rule_references')
    .addColumn('rule_id', 'text', (c) => c.notNull().references('notification_rules.id'))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('thing_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('notification_rule_references_key', ['rule_id', 'kind', 'thing_id'])
    .execute();
  await db.schema
    .createIndex('notification_rule_references_by_thing_id')
    .on('notification_rule_references')
    .column('thing_id')
    .execute();
  // A rule that was deleted meanwhile may still have fired: no foreign keys.
  await db.schema
    .createTable('rule_firings')
    .addColumn('rule_id', 'text', (c) => c.notNull())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('fix_time_ms', TIME_MS, (c) => c.notNull())
    .addPrimaryKeyConstraint('rule_firings_key', ['rule_id', 'vehicle_id'])
    .execute();
  await db.schema.createIndex('rule_firings_by_vehicle_id').on('rule_firings').column('vehicle_id').execute();
  await db.schema
    .createTable('notification_counters')
    .addColumn('user_id', 'text', (c) => c.primaryKey().references('users.id'))
    .addColumn('last_number', TIME_MS, (c) => c.notNull())
    .addColumn('forgotten_number', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('notifications')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('number', TIME_MS, (c) => c.notNull())
    .addColumn('rule_id', 'text', (c) => c.notNull())
    .addColumn('rule_version', 'integer', (c) => c.notNull())
    .addColumn('rule_name', 'text', (c) => c.notNull())
    .addColumn('event_id', 'text', (c) => c.notNull())
    .addColumn('phase', 'text', (c) => c.notNull())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('vehicle_name', 'text', (c) => c.notNull())
    .addColumn('geofence_name', 'text')
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('read_at_ms', TIME_MS)
    .addColumn('event', 'text', (c) => c.notNull())
    .addUniqueConstraint('notifications_number', ['user_id', 'number'])
    .addUniqueConstraint('notifications_once', ['event_id', 'rule_id', 'phase'])
    .execute();
  await db.schema.createIndex('notifications_by_created_at_ms').on('notifications').column('created_at_ms').execute();
  await db.schema
    .createTable('deliveries')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('notification_id', 'text', (c) => c.notNull().references('notifications.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('rule_id', 'text', (c) => c.notNull())
    .addColumn('channel', 'text', (c) => c.notNull())
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('endpoint', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('next_attempt_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('give_up_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('finished_at_ms', TIME_MS)
    .addColumn('lease', 'text')
    .addColumn('last_error', 'text')
    .addColumn('response_status', 'integer')
    .execute();
  await db.schema
    .createIndex('deliveries_by_endpoint')
    .on('deliveries')
    .columns(['state', 'endpoint', 'next_attempt_at_ms'])
    .execute();
  await db.schema.createIndex('deliveries_by_user_id').on('deliveries').columns(['user_id', 'id']).execute();
  await db.schema.createIndex('deliveries_by_notification_id').on('deliveries').column('notification_id').execute();
  await db.schema
    .createTable('consumer_offsets')
    .addColumn('consumer', 'text', (c) => c.notNull())
    .addColumn('log_partition', 'integer', (c) => c.notNull())
    .addColumn('next_offset', TIME_MS, (c) => c.notNull())
    .addPrimaryKeyConstraint('consumer_offsets_key', ['consumer', 'log_partition'])
    .execute();
}
