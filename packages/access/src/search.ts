/** Search and sort order of a list. */
export interface Search<Field extends string> {
  /** Substring of one of the fields, case-insensitive. Empty: all. */
  text: string;
  /** Null: sorted by id, which is the order of creation. */
  field: Field | null;
  descending: boolean;
  limit: number;
  /** End of the previous page. */
  after: SearchCursor | null;
}

/** Sort value and id of the last item of a page. */
export type SearchCursor = readonly [value: string, id: string];

export interface SearchPage<T> {
  items: T[];
  next: SearchCursor | null;
}

/** `Van 9` comes before `Van 10`; case and accents do not matter. */
const collator = new Intl.Collator('und', { numeric: true, sensitivity: 'base' });

/**
 * A page of what matches.
 *
 * @param items all that the caller may see
 * @param fields that are searched
 */
export function searched<Field extends string, T extends { id: string } & Record<Field, string | null>>(
  items: Iterable<T>,
  fields: readonly Field[],
  { text, field, descending, limit, after }: Search<Field>,
): SearchPage<T> {
  const wanted = text.toLowerCase();
  const sign = descending ? -1 : 1;
  const compare = (a: SearchCursor, b: SearchCursor) =>
    sign * collator.compare(a[0], b[0]) || sign * (a[1] < b[1] ? -1 : Number(a[1] > b[1]));
  const found: { item: T; at: SearchCursor }[] = [];
  for (const item of items) {
    if (wanted !== '' && !fields.some((each) => item[each]?.toLowerCase().includes(wanted))) continue;
    const at: SearchCursor = [field === null ? '' : (item[field] ?? ''), item.id];
    if (after === null || compare(at, after) > 0) found.push({ item, at });
  }
  found.sort((a, b) => compare(a.at, b.at));
  const page = found.slice(0, limit);
  return {
    items: page.map(({ item }) => item),
    next: found.length > page.length ? (page.at(-1)?.at ?? null) : null,
  };
}
