import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Work is found by its account: those with work one after the other, and their endpoints in the same way.
  await db.schema
    .createIndex('deliveries_by_account')
    .on('deliveries')
    .columns(['state', 'user_id', 'next_attempt_at_ms'])
    .execute();
  await db.schema
    .createIndex('deliveries_by_account_and_endpoint')
    .on('deliveries')
    .columns(['state', 'user_id', 'endpoint', 'next_attempt_at_ms'])
    .execute();
  await db.schema.dropIndex('deliveries_by_endpoint').ifExists().execute();
  await db.schema
    .createTable('delivery_circuits')
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('endpoint', 'text', (c) => c.notNull())
    .addColumn('strikes', 'integer', (c) => c.notNull())
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('retry_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('changed_at_ms', TIME_MS, (c) => c.notNull())
    .addPrimaryKeyConstraint('delivery_circuits_key', ['user_id', 'endpoint'])
    .execute();
  await db.schema
    .createIndex('delivery_circuits_by_changed_at_ms')
    .on('delivery_circuits')
    .column('changed_at_ms')
    .execute();
  await db.schema
    .createTable('queue_turns')
    .addColumn('queue', 'text', (c) => c.notNull())
    .addColumn('owner', 'text', (c) => c.notNull())
    .addColumn('turn', TIME_MS, (c) => c.notNull())
    .addColumn('served_at_ms', TIME_MS, (c) => c.notNull())
    .addPrimaryKeyConstraint('queue_turns_key', ['queue', 'owner'])
    .execute();
}
