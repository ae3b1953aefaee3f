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

/** A page from rows of which one more than the limit was asked for. */
export function pageOf<Row extends { id: string }>(rows: readonly Row[], { limit }: Paging): Page<Row> {
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}
