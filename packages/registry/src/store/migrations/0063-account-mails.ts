import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('account_emails')
    .addColumn('user_id', 'text', (c) => c.primaryKey().references('users.id'))
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('address_key', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('account_emails_by_address_key')
    .on('account_emails')
    .columns(['address_key', 'user_id'])
    .execute();
  await db.schema
    .createTable('account_links')
    .addColumn('id', 'text', (c) => c.primaryKey().references('users.id'))
    .addColumn('purpose', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('language', 'text', (c) => c.notNull())
    .addColumn('token_hash', 'text')
    .addColumn('expires_at_ms', TIME_MS)
    .addColumn('next_attempt_at_ms', TIME_MS)
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('lease', 'text')
    .execute();
  await db.schema
    .createIndex('account_links_by_next_attempt_at_ms')
    .on('account_links')
    .column('next_attempt_at_ms')
    .execute();
  await db.schema.createIndex('account_links_by_token_hash').on('account_links').column('token_hash').execute();
  await db.schema
    .createTable('external_identities')
    .addColumn('issuer', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addPrimaryKeyConstraint('external_identities_key', ['issuer', 'subject'])
    .execute();
  await db.schema.createIndex('external_identities_by_user_id').on('external_identities').column('user_id').execute();
  await db.schema
    .createTable('account_expiries')
    .addColumn('user_id', 'text', (c) => c.primaryKey().references('users.id'))
    .addColumn('expires_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('account_expiries_by_expires_at_ms')
    .on('account_expiries')
    .column('expires_at_ms')
    .execute();
  await db.schema
    .alterTable('users')
    .addColumn('expired', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
}
