import type { Kysely } from 'kysely';
import { FLAG, TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('users')
    .addColumn('services', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
  await db.schema
    .createTable('video_profiles')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('vehicle_id', 'text', (c) => c.notNull().unique().references('vehicles.id'))
    .addColumn('protocol', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('address_key', 'text', (c) => c.unique())
    .addColumn('terms', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('video_presence')
    .addColumn('profile_id', 'text', (c) => c.primaryKey())
    .addColumn('online', FLAG, (c) => c.notNull())
    .addColumn('since_ms', TIME_MS, (c) => c.notNull())
    .execute();
  // No foreign keys: a task and its file may outlive the profile and the vehicle for a moment.
  await db.schema
    .createTable('video_tasks')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('profile_id', 'text', (c) => c.notNull())
    .addColumn('vehicle_id', 'text', (c) => c.notNull())
    .addColumn('created_by', 'text')
    .addColumn('channel', 'integer', (c) => c.notNull())
    .addColumn('start_ms', TIME_MS, (c) => c.notNull())
    .addColumn('end_ms', TIME_MS, (c) => c.notNull())
    .addColumn('quality', 'text', (c) => c.notNull())
    .addColumn('audio', FLAG, (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('reason', 'text')
    .addColumn('detail', 'text')
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('progress_percent', 'integer', (c) => c.notNull())
    .addColumn('progress_bytes', TIME_MS, (c) => c.notNull())
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('changed_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('expires_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('next_attempt_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('finished_at_ms', TIME_MS)
    .addColumn('lease', 'text')
    .addColumn('lease_until_ms', TIME_MS, (c) => c.notNull())
    .addColumn('fetched', 'text')
    .addColumn('file', 'text')
    .addColumn('file_bytes', TIME_MS, (c) => c.notNull())
    .addColumn('file_deleted_at_ms', TIME_MS)
    .execute();
  await db.schema.createIndex('video_tasks_by_state').on('video_tasks').columns(['state', 'id']).execute();
  await db.schema
    .createIndex('video_tasks_by_profile_id')
    .on('video_tasks')
    .columns(['profile_id', 'state', 'id'])
    .execute();
  await db.schema.createIndex('video_tasks_by_vehicle_id').on('video_tasks').columns(['vehicle_id', 'id']).execute();
  await db.schema
    .createIndex('video_tasks_by_file')
    .on('video_tasks')
    .columns(['file_bytes', 'finished_at_ms'])
    .execute();
  await db.schema
    .createTable('video_transitions')
    .addColumn('task_id', 'text', (c) => c.notNull().references('video_tasks.id'))
    .addColumn('nth', 'integer', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('reason', 'text')
    .addColumn('detail', 'text')
    .addPrimaryKeyConstraint('video_transitions_key', ['task_id', 'nth'])
    .execute();
}
