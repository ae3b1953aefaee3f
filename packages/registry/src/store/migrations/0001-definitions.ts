import type { Kysely } from 'kysely';
import { FLAG, isSqliteDatabase, TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  const isSqlite = isSqliteDatabase(db);
  await db.schema
    .createTable('users')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('login', 'text', (c) => c.notNull())
    .addColumn('login_key', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('dealer_id', 'text', (c) => c.references('users.id'))
    .addColumn('blocked', FLAG, (c) => c.notNull())
    .addColumn('api_access', FLAG, (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('credentials')
    .addColumn('user_id', 'text', (c) => c.primaryKey().references('users.id'))
    .addColumn('password_hash', 'text', (c) => c.notNull())
    .addColumn('changed_at_ms', TIME_MS, (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('last_used_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('expires_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('user_agent', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('vehicles')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('plate', 'text')
    .addColumn('terminal_id', 'text', (c) => c.unique())
    .addColumn('dealer_id', 'text', (c) => c.references('users.id'))
    .addColumn('speed_limit_kmh', 'double precision')
    .addColumn('speed_tolerance_kmh', 'double precision', (c) => c.notNull())
    .addColumn('speeding_min_seconds', 'double precision', (c) => c.notNull())
    .addColumn('offline_after_minutes', 'double precision', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('vehicle_groups')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('dealer_id', 'text', (c) => c.references('users.id'))
    .addColumn('name_scope', 'text', (c) => c.notNull())
    .addUniqueConstraint('vehicle_groups_name', ['name_scope', 'name'])
    .execute();
  await db.schema
    .createTable('geofences')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('owner_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('shape', 'text', (c) => c.notNull())
    .addColumn('watches_all', FLAG, (c) => c.notNull())
    .addColumn('speed_limit_kmh', 'double precision')
    .addColumn('min_dwell_seconds', 'double precision', (c) => c.notNull())
    .addUniqueConstraint('geofences_name', ['owner_id', 'name'])
    .execute();
  for (const [table, member] of [
    ['vehicle_group_members', 'vehicles.id'],
    ['user_group_access', 'users.id'],
    ['geofence_groups', 'geofences.id'],
  ] as const) {
    await db.schema
      .createTable(table)
      .addColumn('group_id', 'text', (c) => c.notNull().references('vehicle_groups.id'))
      .addColumn('member_id', 'text', (c) => c.notNull().references(member))
      .addPrimaryKeyConstraint(`${table}_key`, ['group_id', 'member_id'])
      .execute();
    await db.schema.createIndex(`${table}_by_member`).on(table).column('member_id').execute();
  }
  for (const [table, column] of [
    ['users', 'dealer_id'],
    ['vehicles', 'dealer_id'],
    ['vehicle_groups', 'dealer_id'],
    ['sessions', 'user_id'],
  ] as const)
    await db.schema.createIndex(`${table}_by_${column}`).on(table).column(column).execute();
  await db.schema
    .createTable('outbox')
    .addColumn('seq', isSqlite ? 'integer' : 'bigserial', (c) =>
      // Without AUTOINCREMENT, SQLite reuses the numbers of deleted rows.
      isSqlite ? c.primaryKey().autoIncrement() : c.primaryKey(),
    )
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('change', 'text', (c) => c.notNull())
    .execute();
}
