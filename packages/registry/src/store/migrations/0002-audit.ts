import type { Kysely } from 'kysely';
import { TIME_MS } from '../migrate.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  // No foreign keys: entries outlive their subjects.
  await db.schema
    .createTable('audit')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('at_ms', TIME_MS, (c) => c.notNull())
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
}
