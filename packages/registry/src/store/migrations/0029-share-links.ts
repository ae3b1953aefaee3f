import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('share_links')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('owner_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('token_hash', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text')
    .addColumn('from_ms', TIME_MS)
    .addColumn('to_ms', TIME_MS)
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('expires_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema.createIndex('share_links_by_owner_id').on('share_links').columns(['owner_id', 'id']).execute();
  await db.schema.createIndex('share_links_by_expires_at_ms').on('share_links').column('expires_at_ms').execute();
  await db.schema
    .createTable('share_link_vehicles')
    .addColumn('link_id', 'text', (c) => c.notNull().references('share_links.id'))
    .addColumn('nth', 'integer', (c) => c.notNull())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('share_link_vehicles_key', ['link_id', 'nth'])
    .execute();
  await db.schema
    .createIndex('share_link_vehicles_by_vehicle_id')
    .on('share_link_vehicles')
    .column('vehicle_id')
    .execute();
}
