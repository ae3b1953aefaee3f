import type { Kysely } from 'kysely';

const LIMITS = ['harshAccelerationMps2', 'harshBrakingMps2', 'harshCorneringMps2'];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of LIMITS) await db.schema.alterTable('vehicles').addColumn(column, 'double precision').execute();
}
