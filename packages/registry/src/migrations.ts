import { type DefinitionChange, type Shape, storedChange, verticesOf, withoutSecrets } from '@outrider/domain';
import type { ColumnDataType, Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { tenantOfUser } from './fair-order.ts';
import { growingIds } from './growing-ids.ts';
import { inChunks } from './lists.ts';
import { newMailAddressRow } from './mail-addresses.ts';
import { groupsOf } from './memberships.ts';
import { appendRecentChanges } from './recent-changes.ts';
import type { Tables } from './schema.ts';
import { CLEAR_SECRETS } from './stored-secrets.ts';
import { fromUserRow } from './users.ts';
import { fromProfileRow } from './video-profiles.ts';

export type DialectName = 'sqlite' | 'postgres';

/** Every change of the schema, in order, for either database. A migration that has run anywhere is never edited. */
function migrations(dialect: DialectName): Record<string, Migration> {
  const flag: ColumnDataType = 'integer';
  const timeMs: ColumnDataType = 'bigint';
  return {
    '0001-definitions': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('users')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('version', 'integer', (c) => c.notNull())
          .addColumn('login', 'text', (c) => c.notNull())
          .addColumn('login_key', 'text', (c) => c.notNull().unique())
          .addColumn('name', 'text', (c) => c.notNull())
          .addColumn('role', 'text', (c) => c.notNull())
          .addColumn('dealer_id', 'text', (c) => c.references('users.id'))
          .addColumn('blocked', flag, (c) => c.notNull())
          .addColumn('api_access', flag, (c) => c.notNull())
          .execute();
        await db.schema
          .createTable('credentials')
          .addColumn('user_id', 'text', (c) => c.primaryKey().references('users.id'))
          .addColumn('password_hash', 'text', (c) => c.notNull())
          .addColumn('changed_at_ms', timeMs, (c) => c.notNull())
          .execute();
        await db.schema
          .createTable('sessions')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
          .addColumn('created_at_ms', timeMs, (c) => c.notNull())
          .addColumn('last_used_at_ms', timeMs, (c) => c.notNull())
          .addColumn('expires_at_ms', timeMs, (c) => c.notNull())
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
          .addColumn('watches_all', flag, (c) => c.notNull())
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
          .addColumn('seq', dialect === 'sqlite' ? 'integer' : 'bigserial', (c) =>
            // SQLite gives a freed number out again unless told not to, and `delivered` frees numbers all the time.
            dialect === 'sqlite' ? c.primaryKey().autoIncrement() : c.primaryKey(),
          )
          .addColumn('kind', 'text', (c) => c.notNull())
          .addColumn('id', 'text', (c) => c.notNull())
          .addColumn('version', 'integer', (c) => c.notNull())
          .addColumn('change', 'text', (c) => c.notNull())
          .execute();
      },
    },
    '0002-audit': {
      async up(db: Kysely<unknown>) {
        // No foreign keys: the trail outlives what it tells of.
        await db.schema
          .createTable('audit')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('at_ms', timeMs, (c) => c.notNull())
          .addColumn('action', 'text', (c) => c.notNull())
          .addColumn('user_id', 'text')
          .addColumn('user_login', 'text')
          .addColumn('user_role', 'text')
          .addColumn('user_dealer_id', 'text')
          .addColumn('session_id', 'text')
          .addColumn('address', 'text')
          .addColumn('subject_kind', 'text', (c) => c.notNull())
          .addColumn('subject_id', 'text')
          .addColumn('subject_name', 'text', (c) => c.notNull())
          .addColumn('before', 'text')
          .addColumn('after', 'text')
          .execute();
        for (const column of ['user_id', 'subject_id'] as const)
          await db.schema.createIndex(`audit_by_${column}`).on('audit').columns([column, 'id']).execute();
        await db.schema.createIndex('audit_by_at_ms').on('audit').column('at_ms').execute();
        await db.schema
          .createTable('audit_dealers')
          .addColumn('dealer_id', 'text', (c) => c.notNull())
          .addColumn('entry_id', 'text', (c) => c.notNull().references('audit.id'))
          .addPrimaryKeyConstraint('audit_dealers_key', ['dealer_id', 'entry_id'])
          .execute();
        await db.schema.createIndex('audit_dealers_by_entry_id').on('audit_dealers').column('entry_id').execute();
      },
    },
    '0003-idempotency': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('idempotency')
          .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
          .addColumn('key', 'text', (c) => c.notNull())
          .addColumn('fingerprint', 'text', (c) => c.notNull())
          .addColumn('status', 'integer')
          .addColumn('headers', 'text')
          .addColumn('body', 'text')
          .addColumn('bytes', 'integer', (c) => c.notNull())
          .addColumn('created_at_ms', timeMs, (c) => c.notNull())
          .addPrimaryKeyConstraint('idempotency_key', ['user_id', 'key'])
          .execute();
        await db.schema
          .createIndex('idempotency_by_user_and_time')
          .on('idempotency')
          .columns(['user_id', 'created_at_ms'])
          .execute();
        await db.schema.createIndex('idempotency_by_time').on('idempotency').column('created_at_ms').execute();
      },
    },
    '0004-notifications': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('notification_rules')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('version', 'integer', (c) => c.notNull())
          .addColumn('owner_id', 'text', (c) => c.notNull().references('users.id'))
          .addColumn('name', 'text', (c) => c.notNull())
          .addColumn('inactive_reason', 'text')
          .addColumn('names_vehicles', flag, (c) => c.notNull())
          .addColumn('names_groups', flag, (c) => c.notNull())
          .addColumn('names_geofences', flag, (c) => c.notNull())
          .addColumn('terms', 'text', (c) => c.notNull())
          .addColumn('webhook_secret', 'text')
          .addUniqueConstraint('notification_rules_name', ['owner_id', 'name'])
          .execute();
        await db.schema
          .createTable('notification_rule_references')
          .addColumn('rule_id', 'text', (c) => c.notNull().references('notification_rules.id'))
          .addColumn('kind', 'text', (c) => c.notNull())
          .addColumn('thing_id', 'text', (c) => c.notNull())
          .addPrimaryKeyConstraint('notification_rule_references_key', ['rule_id', 'kind', 'thing_id'])
          .execute();
        await db.schema
          .createIndex('notification_rule_references_by_thing_id')
          .on('notification_rule_references')
          .column('thing_id')
          .execute();
        // A rule that was deleted meanwhile may still have fired: no foreign keys.
        await db.schema
          .createTable('rule_firings')
          .addColumn('rule_id', 'text', (c) => c.notNull())
          .addColumn('vehicle_id', 'text', (c) => c.notNull())
          .addColumn('fix_time_ms', timeMs, (c) => c.notNull())
          .addPrimaryKeyConstraint('rule_firings_key', ['rule_id', 'vehicle_id'])
          .execute();
        await db.schema.createIndex('rule_firings_by_vehicle_id').on('rule_firings').column('vehicle_id').execute();
        await db.schema
          .createTable('notification_counters')
          .addColumn('user_id', 'text', (c) => c.primaryKey().references('users.id'))
          .addColumn('last_number', timeMs, (c) => c.notNull())
          .addColumn('forgotten_number', timeMs, (c) => c.notNull())
          .execute();
        await db.schema
          .createTable('notifications')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
          .addColumn('number', timeMs, (c) => c.notNull())
          .addColumn('rule_id', 'text', (c) => c.notNull())
          .addColumn('rule_version', 'integer', (c) => c.notNull())
          .addColumn('rule_name', 'text', (c) => c.notNull())
          .addColumn('event_id', 'text', (c) => c.notNull())
          .addColumn('phase', 'text', (c) => c.notNull())
          .addColumn('vehicle_id', 'text', (c) => c.notNull())
          .addColumn('vehicle_name', 'text', (c) => c.notNull())
          .addColumn('geofence_name', 'text')
          .addColumn('created_at_ms', timeMs, (c) => c.notNull())
          .addColumn('read_at_ms', timeMs)
          .addColumn('event', 'text', (c) => c.notNull())
          .addUniqueConstraint('notifications_number', ['user_id', 'number'])
          .addUniqueConstraint('notifications_once', ['event_id', 'rule_id', 'phase'])
          .execute();
        await db.schema
          .createIndex('notifications_by_created_at_ms')
          .on('notifications')
          .column('created_at_ms')
          .execute();
        await db.schema
          .createTable('deliveries')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('notification_id', 'text', (c) => c.notNull().references('notifications.id'))
          .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
          .addColumn('rule_id', 'text', (c) => c.notNull())
          .addColumn('channel', 'text', (c) => c.notNull())
          .addColumn('target', 'text', (c) => c.notNull())
          .addColumn('endpoint', 'text', (c) => c.notNull())
          .addColumn('state', 'text', (c) => c.notNull())
          .addColumn('attempts', 'integer', (c) => c.notNull())
          .addColumn('created_at_ms', timeMs, (c) => c.notNull())
          .addColumn('next_attempt_at_ms', timeMs, (c) => c.notNull())
          .addColumn('give_up_at_ms', timeMs, (c) => c.notNull())
          .addColumn('finished_at_ms', timeMs)
          .addColumn('lease', 'text')
          .addColumn('last_error', 'text')
          .addColumn('response_status', 'integer')
          .execute();
        await db.schema
          .createIndex('deliveries_by_endpoint')
          .on('deliveries')
          .columns(['state', 'endpoint', 'next_attempt_at_ms'])
          .execute();
        await db.schema.createIndex('deliveries_by_user_id').on('deliveries').columns(['user_id', 'id']).execute();
        await db.schema
          .createIndex('deliveries_by_notification_id')
          .on('deliveries')
          .column('notification_id')
          .execute();
        await db.schema
          .createTable('consumer_offsets')
          .addColumn('consumer', 'text', (c) => c.notNull())
          .addColumn('log_partition', 'integer', (c) => c.notNull())
          .addColumn('next_offset', timeMs, (c) => c.notNull())
          .addPrimaryKeyConstraint('consumer_offsets_key', ['consumer', 'log_partition'])
          .execute();
      },
    },
    '0005-trip-thresholds': {
      async up(db: Kysely<unknown>) {
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
      },
    },
    '0006-jobs': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('jobs')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('kind', 'text', (c) => c.notNull())
          .addColumn('user_id', 'text')
          .addColumn('subject_id', 'text')
          .addColumn('parameters', 'text', (c) => c.notNull())
          .addColumn('state', 'text', (c) => c.notNull())
          .addColumn('percent', 'double precision', (c) => c.notNull())
          .addColumn('positions', timeMs, (c) => c.notNull())
          .addColumn('result', 'text')
          .addColumn('error', 'text')
          .addColumn('resume', 'text')
          .addColumn('created_at_ms', timeMs, (c) => c.notNull())
          .addColumn('started_at_ms', timeMs)
          .addColumn('finished_at_ms', timeMs)
          .addColumn('due_at_ms', timeMs, (c) => c.notNull())
          .addColumn('lease', 'text')
          .addColumn('lease_until_ms', timeMs, (c) => c.notNull())
          .addColumn('attempts', 'integer', (c) => c.notNull())
          .addColumn('cancel_requested', flag, (c) => c.notNull())
          .execute();
        await db.schema.createIndex('jobs_by_turn').on('jobs').columns(['state', 'due_at_ms']).execute();
        await db.schema.createIndex('jobs_by_user_id').on('jobs').columns(['user_id', 'id']).execute();
        await db.schema.createIndex('jobs_by_subject_id').on('jobs').columns(['subject_id', 'state']).execute();
        await db.schema.createIndex('jobs_by_finished_at_ms').on('jobs').column('finished_at_ms').execute();
      },
    },
    '0007-video': {
      async up(db: Kysely<unknown>) {
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
          .addColumn('online', flag, (c) => c.notNull())
          .addColumn('since_ms', timeMs, (c) => c.notNull())
          .execute();
        // No foreign keys: a task and its file may outlive the profile and the vehicle for a moment.
        await db.schema
          .createTable('video_tasks')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('profile_id', 'text', (c) => c.notNull())
          .addColumn('vehicle_id', 'text', (c) => c.notNull())
          .addColumn('created_by', 'text')
          .addColumn('channel', 'integer', (c) => c.notNull())
          .addColumn('start_ms', timeMs, (c) => c.notNull())
          .addColumn('end_ms', timeMs, (c) => c.notNull())
          .addColumn('quality', 'text', (c) => c.notNull())
          .addColumn('audio', flag, (c) => c.notNull())
          .addColumn('state', 'text', (c) => c.notNull())
          .addColumn('reason', 'text')
          .addColumn('detail', 'text')
          .addColumn('attempts', 'integer', (c) => c.notNull())
          .addColumn('progress_percent', 'integer', (c) => c.notNull())
          .addColumn('progress_bytes', timeMs, (c) => c.notNull())
          .addColumn('created_at_ms', timeMs, (c) => c.notNull())
          .addColumn('changed_at_ms', timeMs, (c) => c.notNull())
          .addColumn('expires_at_ms', timeMs, (c) => c.notNull())
          .addColumn('next_attempt_at_ms', timeMs, (c) => c.notNull())
          .addColumn('finished_at_ms', timeMs)
          .addColumn('lease', 'text')
          .addColumn('lease_until_ms', timeMs, (c) => c.notNull())
          .addColumn('fetched', 'text')
          .addColumn('file', 'text')
          .addColumn('file_bytes', timeMs, (c) => c.notNull())
          .addColumn('file_deleted_at_ms', timeMs)
          .execute();
        await db.schema.createIndex('video_tasks_by_state').on('video_tasks').columns(['state', 'id']).execute();
        await db.schema
          .createIndex('video_tasks_by_profile_id')
          .on('video_tasks')
          .columns(['profile_id', 'state', 'id'])
          .execute();
        await db.schema
          .createIndex('video_tasks_by_vehicle_id')
          .on('video_tasks')
          .columns(['vehicle_id', 'id'])
          .execute();
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
          .addColumn('at_ms', timeMs, (c) => c.notNull())
          .addColumn('reason', 'text')
          .addColumn('detail', 'text')
          .addPrimaryKeyConstraint('video_transitions_key', ['task_id', 'nth'])
          .execute();
      },
    },
    '0008-report-jobs': {
      async up(db: Kysely<unknown>) {
        for (const column of ['schedule_id', 'period'])
          await db.schema.alterTable('jobs').addColumn(column, 'text').execute();
        // Once per period, whoever looks at the clock: jobs without a schedule have NULLs, which are all different.
        await db.schema
          .createIndex('jobs_by_schedule')
          .on('jobs')
          .columns(['schedule_id', 'period'])
          .unique()
          .execute();
        // No foreign key: the job is forgotten when its time has come, the file when its own has.
        await db.schema
          .createTable('report_files')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('job_id', 'text', (c) => c.notNull().unique())
          .addColumn('user_id', 'text', (c) => c.notNull())
          .addColumn('name', 'text', (c) => c.notNull())
          .addColumn('media_type', 'text', (c) => c.notNull())
          .addColumn('bytes', timeMs, (c) => c.notNull())
          .addColumn('sha256', 'text', (c) => c.notNull())
          .addColumn('stored_at_ms', timeMs, (c) => c.notNull())
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
          .addColumn('next_at_ms', timeMs)
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
          .addColumn('created_at_ms', timeMs, (c) => c.notNull())
          .addColumn('next_attempt_at_ms', timeMs, (c) => c.notNull())
          .addColumn('give_up_at_ms', timeMs, (c) => c.notNull())
          .addColumn('finished_at_ms', timeMs)
          .addColumn('lease', 'text')
          .addColumn('last_error', 'text')
          .addUniqueConstraint('report_deliveries_once', ['job_id', 'target'])
          .execute();
        await db.schema
          .createIndex('report_deliveries_by_turn')
          .on('report_deliveries')
          .columns(['state', 'next_attempt_at_ms'])
          .execute();
      },
    },
    '0010-recent-changes': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('recent_changes')
          .addColumn('seq', timeMs, (c) => c.primaryKey())
          .addColumn('change', 'text', (c) => c.notNull())
          .execute();
      },
    },
    '0011-deleted-geofences': {
      async up(db: Kysely<unknown>) {
        // No foreign keys: the names outlive their owners.
        await db.schema
          .createTable('deleted_geofences')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('name', 'text', (c) => c.notNull())
          .addColumn('owner_id', 'text', (c) => c.notNull())
          .addColumn('dealer_id', 'text')
          .addColumn('deleted_at_ms', timeMs, (c) => c.notNull())
          .execute();
        for (const column of ['owner_id', 'dealer_id'] as const)
          await db.schema
            .createIndex(`deleted_geofences_by_${column}`)
            .on('deleted_geofences')
            .column(column)
            .execute();
        await takeFromAudit(db);
      },
    },
    '0012-log-identity': {
      async up(db: Kysely<unknown>) {
        await db.schema.alterTable('consumer_offsets').addColumn('log_identity', 'text').execute();
      },
    },
    '0013-terminal-access': {
      async up(db: Kysely<unknown>) {
        await db.schema.alterTable('vehicles').addColumn('terminal_access', 'text').execute();
        // No foreign keys: who had a terminal is remembered when the vehicle, or the dealer, is gone.
        await db.schema
          .createTable('terminal_holders')
          .addColumn('terminal_id', 'text', (c) => c.primaryKey())
          .addColumn('dealer_id', 'text')
          .addColumn('released_at_ms', timeMs, (c) => c.notNull())
          .execute();
        await db.schema
          .createIndex('terminal_holders_by_released_at_ms')
          .on('terminal_holders')
          .column('released_at_ms')
          .execute();
        await db.schema.createIndex('video_profiles_by_address').on('video_profiles').column('address').execute();
      },
    },
    '0014-quotas': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('quota_limits')
          .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
          .addColumn('scope', 'text', (c) => c.notNull())
          .addColumn('kind', 'text', (c) => c.notNull())
          .addColumn('max_value', 'bigint', (c) => c.notNull())
          .addPrimaryKeyConstraint('quota_limits_key', ['user_id', 'scope', 'kind'])
          .execute();
        await db.schema
          .alterTable('geofences')
          .addColumn('vertices', 'integer', (c) => c.notNull().defaultTo(0))
          .execute();
        await countVertices(db);
        // Holds what a quota asks: the shapes themselves are not read for it.
        await db.schema
          .createIndex('geofences_by_owner_and_vertices')
          .on('geofences')
          .columns(['owner_id', 'vertices'])
          .execute();
      },
    },
    '0015-fair-queues': {
      async up(db: Kysely<unknown>) {
        // Work is found by its account: those with work one after the other, and their endpoints in the same way.
        await db.schema
          .createIndex('deliveries_by_account')
          .on('deliveries')
          .columns(['state', 'user_id', 'next_attempt_at_ms'])
          .execute();
        await db.schema
          .createIndex('deliveries_by_account_and_endpoint')
          .on('deliveries')
          .columns(['state', 'user_id', 'endpoint', 'next_attempt_at_ms'])
          .execute();
        await db.schema.dropIndex('deliveries_by_endpoint').ifExists().execute();
        await db.schema
          .createTable('delivery_circuits')
          .addColumn('user_id', 'text', (c) => c.notNull())
          .addColumn('endpoint', 'text', (c) => c.notNull())
          .addColumn('strikes', 'integer', (c) => c.notNull())
          .addColumn('failures', 'integer', (c) => c.notNull())
          .addColumn('retry_at_ms', timeMs, (c) => c.notNull())
          .addColumn('changed_at_ms', timeMs, (c) => c.notNull())
          .addPrimaryKeyConstraint('delivery_circuits_key', ['user_id', 'endpoint'])
          .execute();
        await db.schema
          .createIndex('delivery_circuits_by_changed_at_ms')
          .on('delivery_circuits')
          .column('changed_at_ms')
          .execute();
        await db.schema
          .createTable('queue_turns')
          .addColumn('queue', 'text', (c) => c.notNull())
          .addColumn('owner', 'text', (c) => c.notNull())
          .addColumn('turn', timeMs, (c) => c.notNull())
          .addColumn('served_at_ms', timeMs, (c) => c.notNull())
          .addPrimaryKeyConstraint('queue_turns_key', ['queue', 'owner'])
          .execute();
      },
    },
    '0015-mail-addresses': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('mail_addresses')
          .addColumn('id', 'text', (c) => c.primaryKey())
          .addColumn('tenant_id', 'text', (c) => c.notNull())
          .addColumn('address', 'text', (c) => c.notNull())
          .addColumn('address_key', 'text', (c) => c.notNull())
          .addColumn('state', 'text', (c) => c.notNull())
          .addColumn('secret', 'text', (c) => c.notNull())
          .addColumn('generation', 'integer', (c) => c.notNull())
          .addColumn('asked_at_ms', timeMs)
          .addColumn('next_attempt_at_ms', timeMs)
          .addColumn('attempts', 'integer', (c) => c.notNull())
          .addColumn('lease', 'text')
          .addColumn('changed_at_ms', timeMs, (c) => c.notNull())
          .addUniqueConstraint('mail_addresses_once', ['tenant_id', 'address_key'])
          .execute();
        await db.schema
          .createIndex('mail_addresses_by_next_attempt_at_ms')
          .on('mail_addresses')
          .columns(['next_attempt_at_ms', 'tenant_id'])
          .execute();
        await db.schema
          .createTable('mail_counts')
          .addColumn('counter', 'text', (c) => c.notNull())
          .addColumn('window_start_ms', timeMs, (c) => c.notNull())
          .addColumn('sent', 'integer', (c) => c.notNull())
          .addColumn('suppressed', 'integer', (c) => c.notNull())
          .addPrimaryKeyConstraint('mail_counts_key', ['counter', 'window_start_ms'])
          .execute();
        await db.schema
          .createIndex('mail_counts_by_window_start_ms')
          .on('mail_counts')
          .column('window_start_ms')
          .execute();
        await confirmNamedAddresses(db);
      },
    },
    '0016-access': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .alterTable('users')
          .addColumn('dealer_blocked', flag, (c) => c.notNull().defaultTo(0))
          .execute();
        await blockUsersOfBlockedDealers(db as Kysely<Tables>);
        await db.schema
          .createTable('login_sources')
          .addColumn('user_id', 'text', (c) => c.notNull())
          .addColumn('source', 'text', (c) => c.notNull())
          .addColumn('last_login_at_ms', timeMs, (c) => c.notNull())
          .addPrimaryKeyConstraint('login_sources_key', ['user_id', 'source'])
          .execute();
      },
    },
    '0017-secrets': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('registry_facts')
          .addColumn('name', 'text', (c) => c.primaryKey())
          .execute();
        await allowClearSecrets(db);
        await hideCarriedSecrets(db as Kysely<Tables>);
      },
    },
  };
}

/** Geofences that were drawn before their points were counted. */
async function countVertices(db: Kysely<unknown>): Promise<void> {
  const tables = db as Kysely<Pick<Tables, 'geofences'>>;
  for (let after = ''; ; ) {
    const rows = await tables
      .selectFrom('geofences')
      .select(['id', 'shape'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(100)
      .execute();
    for (const { id, shape } of rows) {
      after = id;
      await tables
        .updateTable('geofences')
        .set({ vertices: verticesOf(JSON.parse(shape) as Shape) })
        .where('id', '=', id)
        .execute();
    }
    if (rows.length < 100) return;
  }
}

/** An installation from before secrets were sealed starts without a key as well: it is only warned. */
async function allowClearSecrets(db: Kysely<unknown>): Promise<void> {
  const tables = db as Kysely<Pick<Tables, 'users' | 'registryFacts'>>;
  const user = await tables.selectFrom('users').select('id').limit(1).executeTakeFirst();
  if (user !== undefined) await tables.insertInto('registryFacts').values({ name: CLEAR_SECRETS }).execute();
}

/** Users of dealers that were blocked before that blocked their users: each gets a version that says so. */
async function blockUsersOfBlockedDealers(db: Kysely<Tables>): Promise<void> {
  const dealers = db.selectFrom('users').select('id').where('role', '=', 'dealer').where('blocked', '=', 1);
  await db.updateTable('users').set({ dealerBlocked: 1 }).where('dealerId', 'in', dealers).execute();
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .where('dealerBlocked', '=', 1)
    .where('blocked', '=', 0)
    .orderBy('id')
    .execute();
  const groups = await groupsOf(
    db,
    'userGroupAccess',
    rows.map(({ id }) => id),
  );
  const changes = rows.map((row) => {
    const definition = fromUserRow({ ...row, version: row.version + 1 }, groups.get(row.id) ?? []);
    const { kind, id, version } = definition;
    return { kind, id, version, change: storedChange({ kind, id, version, changedAtMs: Date.now(), definition }) };
  });
  for (const { id, version } of changes) await db.updateTable('users').set({ version }).where('id', '=', id).execute();
  for (const some of inChunks(changes)) await db.insertInto('outbox').values(some).execute();
  await appendRecentChanges(db, changes);
}

/** Addresses of streams were carried to followers and to the log: each gets a version that shows nothing. */
async function hideCarriedSecrets(db: Kysely<Tables>): Promise<void> {
  for (const table of ['outbox', 'recentChanges'] as const) {
    const rows = await db
      .selectFrom(table)
      .select(['seq', 'change'])
      .where('change', 'like', '%"protocol":"stream"%')
      .execute();
    for (const { seq, change: text } of rows) {
      const change = JSON.parse(text) as DefinitionChange;
      const definition = change.definition && withoutSecrets(change.definition);
      await db
        .updateTable(table)
        .set({ change: JSON.stringify({ ...change, definition }) })
        .where('seq', '=', seq)
        .execute();
    }
  }
  const profiles = await db.selectFrom('videoProfiles').selectAll().where('protocol', '=', 'stream').execute();
  const changes = profiles.map((row) => {
    const definition = fromProfileRow({ ...row, version: row.version + 1 });
    const { kind, id, version } = definition;
    return { kind, id, version, change: storedChange({ kind, id, version, changedAtMs: Date.now(), definition }) };
  });
  for (const { id, version } of changes)
    await db.updateTable('videoProfiles').set({ version }).where('id', '=', id).execute();
  for (const some of inChunks(changes)) await db.insertInto('outbox').values(some).execute();
  await appendRecentChanges(db, changes);
}

/** Addresses that rules and schedules name already: mails to them go on. */
async function confirmNamedAddresses(db: Kysely<unknown>): Promise<void> {
  const tables = db as Kysely<Pick<Tables, 'notificationRules' | 'reportSchedules' | 'users' | 'mailAddresses'>>;
  const newId = growingIds();
  for (const table of ['notificationRules', 'reportSchedules'] as const)
    for (let after = ''; ; ) {
      const rows = await tables
        .selectFrom(table)
        .innerJoin('users', 'users.id', `${table}.ownerId`)
        .select([`${table}.id`, `${table}.terms`, tenantOfUser().as('tenant')])
        .where(`${table}.id`, '>', after)
        .orderBy(`${table}.id`)
        .limit(500)
        .execute();
      for (const { id, terms, tenant } of rows) {
        after = id;
        const { emails } = JSON.parse(terms) as { emails?: unknown };
        for (const address of Array.isArray(emails) ? emails : [])
          await tables
            .insertInto('mailAddresses')
            .values(newMailAddressRow(newId(), tenant ?? '', String(address), 'confirmed', Date.now()))
            .onConflict((conflict) => conflict.doNothing())
            .execute();
      }
      if (rows.length < 500) break;
    }
}

/** Geofences that were deleted before their names were kept: the audit trail still has them. */
async function takeFromAudit(db: Kysely<unknown>): Promise<void> {
  const tables = db as Kysely<Pick<Tables, 'audit' | 'auditDealers' | 'deletedGeofences'>>;
  for (let after = ''; ; ) {
    const rows = await tables
      .selectFrom('audit')
      .select((e) => [
        'id',
        'subjectId',
        'subjectName',
        'before',
        'atMs',
        e
          .selectFrom('auditDealers')
          .select('dealerId')
          .whereRef('entryId', '=', 'audit.id')
          .orderBy('dealerId')
          .limit(1)
          .as('dealerId'),
      ])
      .where('subjectKind', '=', 'geofence')
      .where('action', '=', 'deleted')
      .where('id', '>', after)
      .orderBy('id')
      .limit(500)
      .execute();
    for (const { id, subjectId, subjectName, before, atMs, dealerId } of rows) {
      after = id;
      const { ownerId } = JSON.parse(before ?? '{}') as { ownerId?: string };
      if (subjectId === null || ownerId === undefined) continue;
      await tables
        .insertInto('deletedGeofences')
        .values({ id: subjectId, name: subjectName, ownerId, dealerId, deletedAtMs: atMs })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    if (rows.length < 500) return;
  }
}

/**
 * Brings the database to the newest schema; does nothing where it already is.
 *
 * @param schema PostgreSQL schema that holds the tables
 * @throws {Error} what the database said; each migration runs in a transaction, so none is half done
 */
export async function migrate<T>(db: Kysely<T>, dialect: DialectName, schema?: string): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations(dialect) },
    // Migrations are additive and independent: one that was merged late runs late.
    allowUnorderedMigrations: true,
    ...(schema === undefined ? {} : { migrationTableSchema: schema }),
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw new Error('the registry could not be migrated', { cause: error });
}
