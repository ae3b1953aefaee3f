import type { UserId } from '@outrider/domain';
import type { Reader, Store } from '../store/store.ts';

/** All templates of one user. The API defines what a template contains. */
export interface TemplateList {
  /** Grows with each change; 1: never set. */
  version: number;
  templates: readonly object[];
}

/** Report templates that users saved for themselves alone: one list per user, read and written as a whole. */
export class ReportTemplates {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get(userId: UserId): Promise<TemplateList> {
    return load(this.#store.db, userId);
  }

  /** @param revise computes the new list from the current one; if it throws, nothing changes */
  change(userId: UserId, revise: (current: TemplateList) => readonly object[]): Promise<TemplateList> {
    return this.#store.write(async ({ tx }) => {
      const current = await load(tx, userId);
      const next = { version: current.version + 1, templates: revise(current) };
      const row = { version: next.version, value: JSON.stringify(next.templates) };
      await tx
        .insertInto('reportTemplates')
        .values({ userId, ...row })
        .onConflict((known) => known.column('userId').doUpdateSet(row))
        .execute();
      return next;
    });
  }
}

export async function deleteReportTemplatesOf(tx: Reader, userId: UserId): Promise<void> {
  await tx.deleteFrom('reportTemplates').where('userId', '=', userId).execute();
}

async function load(db: Reader, userId: UserId): Promise<TemplateList> {
  const row = await db
    .selectFrom('reportTemplates')
    .select(['version', 'value'])
    .where('userId', '=', userId)
    .executeTakeFirst();
  return row === undefined ? { version: 1, templates: [] } : { version: row.version, templates: JSON.parse(row.value) };
}
