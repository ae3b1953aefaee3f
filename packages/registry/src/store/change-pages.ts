import { sql } from 'kysely';
import type { Reader } from './store.ts';

/** A geofence of 10,000 points takes a quarter of a megabyte, and several times that in memory. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/**
 * Stored changes of definitions, the oldest first: as many as fit into {@link MAX_PAGE_BYTES}, one at least, and no
 * more than `limit`.
 *
 * @param after only those with a greater number
 */
export async function changesPage(
  db: Reader,
  table: 'outbox' | 'recentChanges',
  after: number,
  limit: number,
): Promise<{ seq: number; change: string }[]> {
  // Both tables have these columns.
  const rows = () =>
    db
      .selectFrom(table as 'recentChanges')
      .where('seq', '>', after)
      .orderBy('seq');
  let count = Math.min(limit, 1);
  if (limit > 1) {
    const sizes = await rows().select(sql<number>`octet_length(change)`.as('bytes')).limit(limit).execute();
    if (sizes.length === 0) return [];
    let bytes = Number(sizes[0]?.bytes ?? 0);
    while (count < sizes.length && bytes + Number(sizes[count]?.bytes) <= MAX_PAGE_BYTES)
      bytes += Number(sizes[count++]?.bytes);
  }
  return rows().select(['seq', 'change']).limit(count).execute();
}
