import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Of a browser: it has one account at a time.
  await db.schema.alterTable('message_channels').addColumn('fingerprint', 'text').execute();
  await db.schema
    .createIndex('message_channels_by_fingerprint')
    .unique()
    .on('message_channels')
    .column('fingerprint')
    .execute();
  await db.schema
    .createTable('service_keys')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('public_key', 'text', (c) => c.notNull())
    .addColumn('private_key', 'text')
    .execute();
}
