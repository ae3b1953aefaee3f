import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Of the reader, as the account supposes that named the address; null: not known.
  await db.schema.alterTable('mail_addresses').addColumn('language', 'text').execute();
}
