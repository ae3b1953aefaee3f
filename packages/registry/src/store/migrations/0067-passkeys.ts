import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('passkeys')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('credential_id', 'text', (c) => c.notNull().unique())
    .addColumn('public_key', 'text', (c) => c.notNull())
    // Unsigned, of 32 bits.
    .addColumn('counter', 'bigint', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('last_used_at_ms', TIME_MS)
    .execute();
  await db.schema.createIndex('passkeys_by_user_id').on('passkeys').column('user_id').execute();
  await db.schema
    .createTable('used_challenges')
    .addColumn('challenge', 'text', (c) => c.primaryKey())
    .addColumn('expires_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('used_challenges_by_expires_at_ms')
    .on('used_challenges')
    .column('expires_at_ms')
    .execute();
  // Set: an account that existed was linked. Null: the account was made by the first sign-in.
  await db.schema.alterTable('external_identities').addColumn('linked_at_ms', TIME_MS).execute();
}
