import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The id of a dealer, or `operator`. Without a row: nothing is limited.
  await db.schema
    .createTable('fleet_retentions')
    .addColumn('owner', 'text', (c) => c.primaryKey())
    .addColumn('retention_days', 'integer', (c) => c.notNull())
    .execute();
  // E-mails that are to be sent; sent ones are removed.
  await db.schema
    .createTable('account_notices')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('detail', 'text')
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('next_attempt_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('lease', 'text')
    .execute();
  await db.schema
    .createIndex('account_notices_by_next_attempt')
    .on('account_notices')
    .column('next_attempt_at_ms')
    .execute();
  await db.schema.createIndex('account_notices_by_user_id').on('account_notices').column('user_id').execute();
}
