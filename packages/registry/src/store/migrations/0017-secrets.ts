import { type DefinitionChange, SYSTEM_CLOCK, storedChange, withoutSecrets } from '@outrider/domain';
import type { Kysely } from 'kysely';
import { CLEAR_SECRETS } from '../../definitions/stored-secrets.ts';
import { fromProfileRow } from '../../video/video-profiles.ts';
import { inChunks } from '../lists.ts';
import { appendRecentChanges } from '../recent-changes.ts';
import type { Tables } from '../schema.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('registry_facts')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .execute();
  await allowClearSecrets(db);
  await hideCarriedSecrets(db as Kysely<Tables>);
}

/** An installation from before secrets were sealed starts without a key as well: it is only warned. */
async function allowClearSecrets(db: Kysely<unknown>): Promise<void> {
  const tables = db as Kysely<Pick<Tables, 'users' | 'registryFacts'>>;
  const user = await tables.selectFrom('users').select('id').limit(1).executeTakeFirst();
  if (user !== undefined) await tables.insertInto('registryFacts').values({ name: CLEAR_SECRETS }).execute();
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
    return {
      kind,
      id,
      version,
      change: storedChange({ kind, id, version, changedAtMs: SYSTEM_CLOCK.now(), definition }),
    };
  });
  for (const { id, version } of changes)
    await db.updateTable('videoProfiles').set({ version }).where('id', '=', id).execute();
  for (const some of inChunks(changes)) await db.insertInto('outbox').values(some).execute();
  await appendRecentChanges(db, changes);
}
