import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // One statement each: SQLite adds one column at a time. Vehicles that are there already get what new ones do.
  for (const [column, value] of [
    ['moving_speed_kmh', 2],
    ['moving_distance_m', 50],
    ['trip_stop_minutes', 5],
    ['trip_gap_minutes', 60],
  ] as const)
    await db.schema
      .alterTable('vehicles')
      .addColumn(column, 'double precision', (c) => c.notNull().defaultTo(value))
      .execute();
}
