import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['generation', 'used_generation'])
    await db.schema
      .alterTable('sessions')
      .addColumn(column, 'integer', (c) => c.notNull().defaultTo(0))
      .execute();
  await db.schema.alterTable('sessions').addColumn('used_at_ms', TIME_MS).execute();
}
