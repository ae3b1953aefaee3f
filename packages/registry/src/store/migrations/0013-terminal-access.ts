import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('vehicles').addColumn('terminal_access', 'text').execute();
  // No foreign keys: who had a terminal is remembered when the vehicle, or the dealer, is gone.
  await db.schema
    .createTable('terminal_holders')
    .addColumn('terminal_id', 'text', (c) => c.primaryKey())
    .addColumn('dealer_id', 'text')
    .addColumn('released_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('terminal_holders_by_released_at_ms')
    .on('terminal_holders')
    .column('released_at_ms')
    .execute();
  await db.schema.createIndex('video_profiles_by_address').on('video_profiles').column('address').execute();
}
