import { type DefinitionChange, readStoredChange } from '@outrider/domain';
import type { Kysely } from 'kysely';
import { changesPage } from './change-pages.ts';
import { inChunks } from './lists.ts';
import type { Tables } from './schema.ts';
import type { Reader, Store } from './store.ts';

/** Older changes are deleted. A process that missed more than these reads all definitions again. */
const KEPT = 10_000;
const AT_ONCE = 500;

/** Changes after a given one; `too-many`: some of them are no longer kept. */
/** `changes` is empty where there are no more. */
export type ChangesAfter = { changes: readonly DefinitionChange[]; seq: number } | 'too-many';

/**
 * The newest changes of definitions in the order of their commits, numbered without gaps. A process learns from them at
 * once, from the registry alone, what others have committed. The outbox is unsuitable, because it deletes changes that
 * are in the log.
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

  /** Versions of the deletions of these definitions, as far as the newest changes hold them. */
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
   * Changes committed after the one with the number `after`, the oldest first: as many as may be in memory at once.
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
 * Appends changes in the transaction that makes them. Writers are serialized, so numbers have no gaps.
 */
export async function appendRecentChanges(
  tx: Kysely<Tables>,
  changes: readonly Pick<Tables['recentChanges'], 'change'>[],
): Promise<void> {
  if (changes.length === 0) return;
  let seq = await newestSeq(tx);
  // Changes beyond those kept would be deleted at once, so they only use up numbers; readers detect the gap.
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
