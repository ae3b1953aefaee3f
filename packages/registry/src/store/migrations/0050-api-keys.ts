import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('api_keys')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('secret_hash', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('scopes', 'text', (c) => c.notNull())
    .addColumn('group_ids', 'text')
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('expires_at_ms', TIME_MS)
    .addColumn('last_used_at_ms', TIME_MS)
    .addColumn('last_used_address', 'text')
    .execute();
  await db.schema.createIndex('api_keys_by_user_id').on('api_keys').columns(['user_id', 'id']).execute();
  await db.schema.createIndex('api_keys_by_expires_at_ms').on('api_keys').column('expires_at_ms').execute();
  // Which key a change was made with.
  await db.schema.alterTable('audit').addColumn('api_key_id', 'text').execute();
}
