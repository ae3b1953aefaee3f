import { SYSTEM_CLOCK, storedChange } from '@outrider/domain';
import type { Kysely } from 'kysely';
import { fromUserRow } from '../../accounts/user-rows.ts';
import { groupsOf } from '../../fleet/memberships.ts';
import { inChunks } from '../lists.ts';
import { FLAG, TIME_MS } from '../migrate.ts';
import { appendRecentChanges } from '../recent-changes.ts';
import type { Tables } from '../schema.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('users')
    .addColumn('dealer_blocked', FLAG, (c) => c.notNull().defaultTo(0))
    .execute();
  await blockUsersOfBlockedDealers(db as Kysely<Tables>);
  await db.schema
    .createTable('login_sources')
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('last_login_at_ms', TIME_MS, (c) => c.notNull())
    .addPrimaryKeyConstraint('login_sources_key', ['user_id', 'source'])
    .execute();
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
    return {
      kind,
      id,
      version,
      change: storedChange({ kind, id, version, changedAtMs: SYSTEM_CLOCK.now(), definition }),
    };
  });
  for (const { id, version } of changes) await db.updateTable('users').set({ version }).where('id', '=', id).execute();
  for (const some of inChunks(changes)) await db.insertInto('outbox').values(some).execute();
  await appendRecentChanges(db, changes);
}
