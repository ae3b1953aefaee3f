import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('consumer_offsets').addColumn('log_identity', 'text').execute();
}
