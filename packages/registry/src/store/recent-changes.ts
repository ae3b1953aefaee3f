import { type DefinitionChange, readStoredChange } from '@outrider/domain';
import type { Kysely } from 'kysely';
import { changesPage } from './change-pages.ts';
import { inChunks } from './lists.ts';
import type { Tables } from './schema.ts';
import type { Reader, Store } from './store.ts';

/** Older ones are deleted: a process that missed more reads everything anew. */
const KEPT = 10_000;
const AT_ONCE = 500;

/** Changes that came after some other, or that they are no longer all kept. */
/** `changes` is empty where there are no more. */
export type ChangesAfter = { changes: readonly DefinitionChange[]; seq: number } | 'too-many';

/**
 * The newest changes of definitions in the order of their commits, without gaps in their numbers: by them a process
 * learns what others have committed, at once and from the registry alone. The outbox can't serve for that, as it
 * forgets what the log has.
 */
export class RecentChanges {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Number of the newest committed change; 0 before the first. */
  newest(): Promise<number> {
    return newestSeq(this.#store.db);
  }

  /** Versions of the deletions of these definitions, of those among the newest changes. */
  async deletions(ids: Pick<ReadonlySet<string>, 'has'>): Promise<Map<string, number>> {
    const versions = new Map<string, number>();
    for (let after = 0; ; ) {
      const rows = await changesPage(this.#store.db, 'recentChanges', after, AT_ONCE);
      for (const { seq, change } of rows) {
        after = seq;
        const { id, version, definition } = readStoredChange(change);
        if (definition === null && ids.has(id)) versions.set(id, version);
      }
      if (rows.length === 0) return versions;
    }
  }

  /**
   * What was committed after the change with the number `after`, the oldest first: as much as is held in memory at
   * once.
   */
  async after(after: number): Promise<ChangesAfter> {
    const rows = await changesPage(this.#store.db, 'recentChanges', after, AT_ONCE);
    const changes: DefinitionChange[] = [];
    let seq = after;
    for (const row of rows) {
      if (row.seq !== seq + 1) return 'too-many';
      seq = row.seq;
      changes.push(readStoredChange(row.change));
    }
    return { changes, seq };
  }
}

/**
 * Appends changes within the transaction that makes them. Writers come one after the other, so numbers have no gaps.
 */
export async function appendRecentChanges(
  tx: Kysely<Tables>,
  changes: readonly Pick<Tables['recentChanges'], 'change'>[],
): Promise<void> {
  if (changes.length === 0) return;
  let seq = await newestSeq(tx);
  // More than are kept would be deleted again at once; the gap that they leave is found by its number.
  seq += Math.max(0, changes.length - KEPT);
  for (const some of inChunks(changes.slice(-KEPT)))
    await tx
      .insertInto('recentChanges')
      .values(
        some.map(({ change }) => {
          seq += 1;
          return { seq, change };
        }),
      )
      .execute();
  await tx
    .deleteFrom('recentChanges')
    .where('seq', '<=', seq - KEPT)
    .execute();
}

async function newestSeq(db: Reader): Promise<number> {
  const row = await db
    .selectFrom('recentChanges')
    .select((e) => e.fn.max('seq').as('seq'))
    .executeTakeFirst();
  return row?.seq ?? 0;
}
