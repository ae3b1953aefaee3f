import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('notifications')
    .addColumn('severity', 'text', (c) => c.notNull().defaultTo('info'))
    .execute();
  await db.schema.alterTable('notifications').addColumn('incident_id', 'text').execute();
  await db.schema
    .alterTable('deliveries')
    .addColumn('is_escalation', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable('incidents')
    // That of the notification that opened it, whose event and names it has.
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('owner_id', 'text', (c) => c.notNull())
    .addColumn('shared', 'integer', (c) => c.notNull())
    .addColumn('rule_id', 'text', (c) => c.notNull())
    .addColumn('event_id', 'text', (c) => c.notNull())
    .addColumn('severity', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('assignee_id', 'text')
    .addColumn('created_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('changed_at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('acknowledged_at_ms', TIME_MS)
    .addColumn('closed_at_ms', TIME_MS)
    .addColumn('ended_at_ms', TIME_MS)
    .addColumn('escalate_at_ms', TIME_MS)
    .addColumn('escalated_at_ms', TIME_MS)
    .execute();
  for (const column of ['owner_id', 'event_id', 'assignee_id', 'escalate_at_ms'])
    await db.schema.createIndex(`incidents_by_${column}`).on('incidents').column(column).execute();
  await db.schema
    .createTable('incident_entries')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('incident_id', 'text', (c) => c.notNull().references('incidents.id'))
    .addColumn('at_ms', TIME_MS, (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    // Null: the service, or an account that was deleted.
    .addColumn('created_by', 'text')
    .addColumn('assignee_id', 'text')
    .addColumn('text', 'text')
    .execute();
  for (const column of ['incident_id', 'created_by', 'assignee_id'])
    await db.schema.createIndex(`incident_entries_by_${column}`).on('incident_entries').column(column).execute();
}
