import type { Kysely } from 'kysely';

const LITRES = ['tankCapacityL', 'minRefuelL', 'minDrainL', 'fuelPer100KmL', 'fuelPerHourL'];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of LITRES) await db.schema.alterTable('vehicles').addColumn(column, 'double precision').execute();
}
