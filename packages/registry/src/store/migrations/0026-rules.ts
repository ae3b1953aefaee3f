import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('notifications_by_rule_id')
    .on('notifications')
    .columns(['rule_id', 'created_at_ms'])
    .execute();
  await db.schema
    .createIndex('deliveries_by_rule_id')
    .on('deliveries')
    .columns(['rule_id', 'state', 'created_at_ms'])
    .execute();
  await db.schema.alterTable('deliveries').addColumn('attempt_log', 'text').execute();
  await db.schema
    .createTable('channel_tests')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('rule_id', 'text', (c) => c.notNull())
    .addColumn('channel', 'text', (c) => c.notNull())
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('next_attempt_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('finished_at_ms', TIME_MS)
    .addColumn('lease', 'text')
    .addColumn('last_error', 'text')
    .addColumn('response_status', 'integer')
    .execute();
  await db.schema
    .createIndex('channel_tests_by_state')
    .on('channel_tests')
    .columns(['state', 'next_attempt_at_ms'])
    .execute();
  await db.schema
    .createIndex('channel_tests_by_user_id')
    .on('channel_tests')
    .columns(['user_id', 'created_at_ms'])
    .execute();
}
