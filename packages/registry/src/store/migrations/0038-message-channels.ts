import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('message_channels')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('settings', 'text', (c) => c.notNull())
    .addColumn('secret', 'text')
    .addColumn('endpoint', 'text', (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('code_hash', 'text')
    .addColumn('code_expires_at_ms', TIME_MS)
    .addColumn('code_tries', 'integer', (c) => c.notNull())
    .addColumn('hour', 'integer', (c) => c.notNull())
    .addColumn('hour_count', 'integer', (c) => c.notNull())
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('day_count', 'integer', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('message_channels_by_user_id')
    .on('message_channels')
    .columns(['user_id', 'id'])
    .execute();
}
