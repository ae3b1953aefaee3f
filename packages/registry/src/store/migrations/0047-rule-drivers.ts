import type { Kysely } from 'kysely';
import { FLAG } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['names_drivers', 'names_driver_groups'])
    await db.schema
      .alterTable('notification_rules')
      .addColumn(column, FLAG, (c) => c.notNull().defaultTo(0))
      .execute();
}
