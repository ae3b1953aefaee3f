import type { SelectQueryBuilder } from 'kysely';
import { isDamaged } from './row-sums.ts';

/** Selects a page of a list. */
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

/** Ids are in the order of creation. */
export type PageOrder = 'oldest first' | 'newest first';

/** A query of rows that have an id, without an order and a limit. */
// biome-ignore lint/suspicious/noExplicitAny: which tables it joins, and what else they have, is not this file's.
type RowsQuery<Row> = SelectQueryBuilder<any, any, Row>;

/**
 * A page of the results of a query.
 *
 * @param toItems converts the rows
 * @param id column of the id, where other tables of the query have one as well
 * @throws {DamagedRowError} where no row of the page can be read
 */
export async function readPage<Row extends { id: string }, T>(
  query: RowsQuery<Row>,
  paging: Paging,
  toItems: (rows: Row[]) => T[] | Promise<T[]>,
  order: PageOrder = 'oldest first',
  id = 'id',
): Promise<Page<T>> {
  const [direction, beyond] = order === 'oldest first' ? (['asc', '>'] as const) : (['desc', '<'] as const);
  let ordered = query.orderBy(id, direction).limit(paging.limit + 1);
  if (paging.after !== null) ordered = ordered.where(id, beyond, paging.after);
  const page = pageOf(await ordered.execute(), paging);
  return { ...page, items: await toItems(page.items) };
}

/**
 * Makes a page from rows that were queried with one more than the limit. Leaves out damaged rows, so that the others
 * can be read; reading a damaged row by itself fails.
 *
 * @throws {DamagedRowError} where nothing else is left
 */
export function pageOf<Row extends { id: string }>(rows: readonly Row[], { limit }: Paging): Page<Row> {
  const all = rows.slice(0, limit);
  const items = all.filter((row) => !isDamaged(row));
  const last = items.at(-1) ?? all.at(-1);
  return { items, next: rows.length > limit ? (last?.id ?? null) : null };
}
