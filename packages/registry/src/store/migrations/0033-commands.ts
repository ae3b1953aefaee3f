import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  // No foreign keys: what was asked of a vehicle is kept until the vehicle is erased.
  await db.schema
    .createTable('vehicle_commands')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('parameters', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('reason', 'text')
    .addColumn('answer', 'text')
    .addColumn('max_speed_kmh', 'double precision')
    .addColumn('created_by', 'text')
    .addColumn('rule_id', 'text')
    .addColumn('event_id', 'text')
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('changed_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('expires_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('sent_at_ms', TIME_MS)
    .addColumn('finished_at_ms', TIME_MS)
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(`vehicle_commands_by_${name}`).on('vehicle_commands').columns(columns).execute();
  await index('vehicle_id', ['vehicle_id', 'id']);
  await index('state', ['state', 'id']);
  await index('created_by', ['created_by', 'created_at_ms']);
  await index('finished_at_ms', ['finished_at_ms']);
}
