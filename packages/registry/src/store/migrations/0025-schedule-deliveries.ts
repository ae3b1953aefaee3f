import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('report_deliveries_by_schedule_id')
    .on('report_deliveries')
    .columns(['schedule_id', 'id'])
    .execute();
}
