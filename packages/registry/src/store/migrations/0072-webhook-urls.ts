import { type DefinitionChange, hiddenUrl, isHiddenUrl, SYSTEM_CLOCK, storedChange } from '@outrider/domain';
import type { Kysely } from 'kysely';
import { RULES } from '../../notifications/notification-rules.ts';
import { inChunks } from '../lists.ts';
import { appendRecentChanges } from '../recent-changes.ts';
import type { Tables } from '../schema.ts';

/** What holds the URL of a webhook. */
interface Holder {
  webhookUrl?: string | null;
}

/** URLs of webhooks are hidden wherever they are shown or noted. The whole ones are sealed when the registry opens. */
export async function up(untyped: Kysely<unknown>): Promise<void> {
  await untyped.schema.alterTable('notification_rules').addColumn('webhook_url', 'text').execute();
  const db = untyped as Kysely<Tables>;
  await hideInChanges(db);
  await hideInRules(db);
  for (const table of ['deliveries', 'channelTests'] as const) {
    const targets = await db.selectFrom(table).select('target').distinct().where('channel', '=', 'webhook').execute();
    for (const { target } of targets)
      await db
        .updateTable(table)
        .set({ target: hiddenUrl(target) })
        .where('channel', '=', 'webhook')
        .where('target', '=', target)
        .execute();
  }
  await hideInAudit(db);
}

function hidden<Some extends Holder>(holder: Some): Some {
  return { ...holder, webhookUrl: holder.webhookUrl && hiddenUrl(holder.webhookUrl) };
}

async function hideInChanges(db: Kysely<Tables>): Promise<void> {
  for (const table of ['outbox', 'recentChanges'] as const) {
    const rows = await db
      .selectFrom(table)
      .select(['seq', 'change'])
      .where('change', 'like', '%"webhookUrl":"%')
      .execute();
    for (const { seq, change: text } of rows) {
      const change = JSON.parse(text) as DefinitionChange;
      const definition = change.definition && hidden(change.definition as typeof change.definition & Holder);
      await db
        .updateTable(table)
        .set({ change: JSON.stringify({ ...change, definition }) })
        .where('seq', '=', seq)
        .execute();
    }
  }
}

/** Rules were carried to followers and to the log: each gets a version that hides its URL. */
async function hideInRules(db: Kysely<Tables>): Promise<void> {
  const rows = await db
    .selectFrom('notificationRules')
    .select(['id', 'version', 'terms'])
    .where('terms', 'like', '%"webhookUrl":"%')
    .execute();
  for (const { id, version, terms: text } of rows) {
    const terms = JSON.parse(text) as Holder;
    if (!terms.webhookUrl || isHiddenUrl(terms.webhookUrl)) continue;
    await db
      .updateTable('notificationRules')
      .set({ version: version + 1, terms: JSON.stringify(hidden(terms)), webhookUrl: terms.webhookUrl })
      .where('id', '=', id)
      .execute();
  }
  const rules = await RULES.load(
    db,
    rows.map(({ id }) => id),
  );
  const changes = rules.map((definition) => {
    const { kind, id, version } = definition;
    return {
      kind,
      id,
      version,
      change: storedChange({ kind, id, version, changedAtMs: SYSTEM_CLOCK.now(), definition }),
    };
  });
  for (const some of inChunks(changes)) await db.insertInto('outbox').values(some).execute();
  await appendRecentChanges(db, changes);
}

async function hideInAudit(db: Kysely<Tables>): Promise<void> {
  for (const column of ['before', 'after'] as const) {
    const rows = await db
      .selectFrom('audit')
      .select(['id', column])
      .where('subjectKind', '=', 'notification-rule')
      .where(column, 'like', '%"webhookUrl":"%')
      .execute();
    for (const { id, [column]: text } of rows) {
      const fields = JSON.parse(text ?? '{}') as Holder;
      await db
        .updateTable('audit')
        .set({ [column]: JSON.stringify(hidden(fields)) })
        .where('id', '=', id)
        .execute();
    }
  }
}
