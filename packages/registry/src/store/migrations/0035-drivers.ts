import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('drivers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('dealer_id', 'text')
    .addColumn('phone', 'text')
    .addColumn('licence_number', 'text')
    .addColumn('licence_expires_on', 'text')
    .execute();
  await db.schema.createIndex('drivers_by_dealer_id').on('drivers').columns(['dealer_id', 'id']).execute();
  await db.schema
    .createTable('driver_group_members')
    .addColumn('group_id', 'text', (c) => c.notNull().references('vehicle_groups.id'))
    .addColumn('member_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('driver_group_members_key', ['group_id', 'member_id'])
    .execute();
  await db.schema.createIndex('driver_groups_by_member_id').on('driver_group_members').column('member_id').execute();
  await db.schema
    .createTable('driver_codes')
    .addColumn('driver_id', 'text', (c) => c.notNull())
    .addColumn('code', 'text', (c) => c.notNull())
    // The dealer's id, or `operator`: codes are unique within it.
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('since_ms', TIME_MS, (c) => c.notNull())
    .addColumn('until_ms', TIME_MS)
    .addPrimaryKeyConstraint('driver_codes_key', ['driver_id', 'code', 'since_ms'])
    .execute();
  await db.schema.createIndex('driver_codes_by_code').on('driver_codes').columns(['scope', 'code']).execute();
  // No foreign keys: who drove is known for as long as the vehicle and the driver are.
  await db.schema
    .createTable('driver_assignments')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('driver_id', 'text', (c) => c.notNull())
    .addColumn('from_ms', TIME_MS, (c) => c.notNull())
    .addColumn('to_ms', TIME_MS)
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(`driver_assignments_by_${name}`).on('driver_assignments').columns(columns).execute();
  await index('vehicle_id', ['vehicle_id', 'from_ms']);
  await index('driver_id', ['driver_id', 'from_ms']);
}
