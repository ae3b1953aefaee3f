import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('idempotency')
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('fingerprint', 'text', (c) => c.notNull())
    .addColumn('status', 'integer')
    .addColumn('headers', 'text')
    .addColumn('body', 'text')
    .addColumn('bytes', 'integer', (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addPrimaryKeyConstraint('idempotency_key', ['user_id', 'key'])
    .execute();
  await db.schema
    .createIndex('idempotency_by_user_and_time')
    .on('idempotency')
    .columns(['user_id', 'created_at_ms'])
    .execute();
  await db.schema.createIndex('idempotency_by_time').on('idempotency').column('created_at_ms').execute();
}
