import type { Kysely } from 'kysely';
import { FLAG, TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('jobs')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('user_id', 'text')
    .addColumn('subject_id', 'text')
    .addColumn('parameters', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('percent', 'double precision', (c) => c.notNull())
    .addColumn('positions', TIME_MS, (c) => c.notNull())
    .addColumn('result', 'text')
    .addColumn('error', 'text')
    .addColumn('resume', 'text')
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('started_at_ms', TIME_MS)
    .addColumn('finished_at_ms', TIME_MS)
    .addColumn('due_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('lease', 'text')
    .addColumn('lease_until_ms', TIME_MS, (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('cancel_requested', FLAG, (c) => c.notNull())
    .execute();
  await db.schema.createIndex('jobs_by_turn').on('jobs').columns(['state', 'due_at_ms']).execute();
  await db.schema.createIndex('jobs_by_user_id').on('jobs').columns(['user_id', 'id']).execute();
  await db.schema.createIndex('jobs_by_subject_id').on('jobs').columns(['subject_id', 'state']).execute();
  await db.schema.createIndex('jobs_by_finished_at_ms').on('jobs').column('finished_at_ms').execute();
}
