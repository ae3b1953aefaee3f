import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['schedule_id', 'period'])
    await db.schema.alterTable('jobs').addColumn(column, 'text').execute();
  // One job per schedule and period, with several schedulers. Jobs without a schedule have NULLs, which never collide.
  await db.schema.createIndex('jobs_by_schedule').on('jobs').columns(['schedule_id', 'period']).unique().execute();
  // No foreign key: the job is forgotten when its time has come, the file when its own has.
  await db.schema
    .createTable('report_files')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('job_id', 'text', (c) => c.notNull().unique())
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('media_type', 'text', (c) => c.notNull())
    .addColumn('bytes', TIME_MS, (c) => c.notNull())
    .addColumn('sha256', 'text', (c) => c.notNull())
    .addColumn('stored_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('vehicles', 'text', (c) => c.notNull())
    .addColumn('geofences', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('report_files_by_user_id')
    .on('report_files')
    .columns(['user_id', 'stored_at_ms'])
    .execute();
  await db.schema.createIndex('report_files_by_stored_at_ms').on('report_files').column('stored_at_ms').execute();
  await db.schema
    .createTable('report_schedules')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('owner_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('inactive_reason', 'text')
    .addColumn('terms', 'text', (c) => c.notNull())
    .addColumn('last_period', 'text')
    .addColumn('next_at_ms', TIME_MS)
    .addColumn('next_period', 'text')
    .addUniqueConstraint('report_schedules_name', ['owner_id', 'name'])
    .execute();
  await db.schema.createIndex('report_schedules_by_next').on('report_schedules').column('next_at_ms').execute();
  await db.schema
    .createTable('report_deliveries')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('job_id', 'text', (c) => c.notNull())
    .addColumn('schedule_id', 'text', (c) => c.notNull())
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('next_attempt_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('give_up_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('finished_at_ms', TIME_MS)
    .addColumn('lease', 'text')
    .addColumn('last_error', 'text')
    .addUniqueConstraint('report_deliveries_once', ['job_id', 'target'])
    .execute();
  await db.schema
    .createIndex('report_deliveries_by_turn')
    .on('report_deliveries')
    .columns(['state', 'next_attempt_at_ms'])
    .execute();
}
