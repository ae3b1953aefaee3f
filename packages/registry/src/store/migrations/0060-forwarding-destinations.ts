import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('forwarding_destinations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('owner_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('settings', 'text', (c) => c.notNull())
    .addColumn('secret', 'text')
    .addColumn('endpoint', 'text', (c) => c.notNull())
    .addColumn('filter', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('begin_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('positions_cursor', 'text')
    .addColumn('events_cursor', 'text')
    .addColumn('reached_at_ms', TIME_MS)
    .addColumn('saved_at_ms', TIME_MS)
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('next_attempt_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('lease', 'text')
    .addColumn('leased_until_ms', TIME_MS, (c) => c.notNull())
    .addColumn('last_error', 'text')
    .addColumn('last_error_at_ms', TIME_MS)
    .addColumn('last_success_at_ms', TIME_MS)
    .addColumn('positions_sent', 'bigint', (c) => c.notNull())
    .addColumn('events_sent', 'bigint', (c) => c.notNull())
    .addColumn('refused', 'bigint', (c) => c.notNull())
    .addColumn('last_refusal', 'text')
    .addColumn('gap_from_ms', TIME_MS)
    .addColumn('gap_to_ms', TIME_MS)
    .addColumn('gap_noticed_at_ms', TIME_MS)
    .execute();
  await db.schema
    .createIndex('forwarding_destinations_by_owner_id')
    .on('forwarding_destinations')
    .columns(['owner_id', 'id'])
    .execute();
  await db.schema
    .createIndex('forwarding_destinations_by_next_attempt_at_ms')
    .on('forwarding_destinations')
    .column('next_attempt_at_ms')
    .execute();
}
