import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Search, type SearchCursor, type SearchPage, searched } from './search.ts';

interface Van {
  id: string;
  name: string;
  plate: string | null;
}
type Field = 'name' | 'plate';
const FIELDS: readonly Field[] = ['name', 'plate'];
const ALL: Search<Field> = { text: '', field: null, descending: false, limit: 1000, after: null };
const vans: Van[] = [
  { id: '1', name: 'Van 10', plate: 'B 7' },
  { id: '2', name: 'van 9', plate: null },
  { id: '3', name: 'Élan', plate: 'A 1' },
];
const idsOf = (items: readonly Van[]) => items.map(({ id }) => id).join('');

test('finds a part of any field, in whatever case', () => {
  expect(idsOf(searched(vans, FIELDS, { ...ALL, text: 'VAN' }).items)).toBe('12');
  expect(idsOf(searched(vans, FIELDS, { ...ALL, text: 'a 1' }).items)).toBe('3');
  expect(idsOf(searched(vans, FIELDS, { ...ALL, text: 'none' }).items)).toBe('');
});

test('sorts as people count and read; what has no value comes first', () => {
  expect(idsOf(searched(vans, FIELDS, { ...ALL, field: 'name' }).items)).toBe('321');
  expect(idsOf(searched(vans, FIELDS, { ...ALL, field: 'name', descending: true }).items)).toBe('123');
  expect(idsOf(searched(vans, FIELDS, { ...ALL, field: 'plate' }).items)).toBe('231');
});

test('pages hold each item once, in the same order, also when the last item of a page is deleted', () => {
  const van = fc.record({
    name: fc.constantFrom('a', 'A', 'b', 'Van 9', 'Van 10'),
    plate: fc.constantFrom(null, 'x', 'y'),
  });
  fc.assert(
    fc.property(
      fc.array(van, { maxLength: 30 }),
      fc.constantFrom<Field | null>('name', 'plate', null),
      fc.boolean(),
      fc.integer({ min: 1, max: 7 }),
      (list, field, descending, limit) => {
        const items = list.map((each, nth) => ({ ...each, id: String(nth).padStart(3, '0') }));
        const whole = searched(items, FIELDS, { ...ALL, field, descending }).items;
        const read: Van[] = [];
        const gone = new Set<string>();
        let after: SearchCursor | null = null;
        do {
          const left = items.filter(({ id }) => !gone.has(id));
          const page: SearchPage<Van> = searched(left, FIELDS, { ...ALL, field, descending, limit, after });
          read.push(...page.items);
          gone.add(page.items.at(-1)?.id ?? '');
          after = page.next;
        } while (after !== null);
        expect(read).toEqual(whole);
      },
    ),
  );
});
