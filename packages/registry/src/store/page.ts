import { isDamaged } from './row-sums.ts';

/** Which part of a list is asked for. */
export interface Paging {
  limit: number;
  /** Id of the last item of the page before; null: from the beginning. */
  after: string | null;
}

export interface Page<T> {
  items: T[];
  /** `after` of the next page; null when this was the last. */
  next: string | null;
}

/**
 * A page from rows of which one more than the limit was asked for. Damaged ones are left out, so that the others can
 * be read; reading one by itself fails.
 *
 * @throws {DamagedRowError} where nothing else is left
 */
export function pageOf<Row extends { id: string }>(rows: readonly Row[], { limit }: Paging): Page<Row> {
  const all = rows.slice(0, limit);
  const items = all.filter((row) => !isDamaged(row));
  const last = items.at(-1) ?? all.at(-1);
  return { items, next: rows.length > limit ? (last?.id ?? null) : null };
}
