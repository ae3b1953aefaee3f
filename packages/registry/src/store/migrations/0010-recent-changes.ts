import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('recent_changes')
    .addColumn('seq', TIME_MS, (c) => c.primaryKey())
    .addColumn('change', 'text', (c) => c.notNull())
    .execute();
}
