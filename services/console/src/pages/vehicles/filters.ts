import type { Paths } from '@outrider/client';
import type { Sorting } from '../../parts/lists/table.tsx';

type Query = NonNullable<Paths['/api/v1/vehicles']['get']['query']>;

/** Filter parameters in the page's address, with their names in the API. */
const PARAMETERS = {
  q: 'q',
  group: 'groupId',
  state: 'state',
  protocol: 'protocol',
  suspended: 'suspended',
  owner: 'dealerId',
} as const;
export type FilterName = keyof typeof PARAMETERS;
export const FILTER_NAMES = Object.keys(PARAMETERS) as FilterName[];

const SORTED_BY = ['name', 'plate', 'terminalId'];
const SORTS = SORTED_BY.flatMap((key) => [key, `-${key}`]);

/**
 * The filter and order of the address as a query for the API. Malformed values, which the API would refuse, are
 * omitted.
 */
export function listQuery(address: URLSearchParams): Query {
  const query: Record<string, string> = {};
  for (const name of FILTER_NAMES) {
    const value = address.get(name)?.trim();
    if (value) query[PARAMETERS[name]] = value;
  }
  const sort = address.get('sort') ?? 'name';
  return { ...query, sort: SORTS.includes(sort) ? sort : 'name' } as Query;
}

export function isFiltered(address: URLSearchParams): boolean {
  return FILTER_NAMES.some((name) => address.get(name));
}

export function sortingOf(address: URLSearchParams): Sorting {
  const { sort = 'name' } = listQuery(address);
  return { key: sort.replace(/^-/, ''), isDescending: sort.startsWith('-') };
}

/** The address's `sort`; null is the default. */
export function sortText({ key, isDescending }: Sorting): string | null {
  const text = `${isDescending ? '-' : ''}${key}`;
  return text === 'name' ? null : text;
}
