import { expect, test } from 'vitest';
import { incompleteWithin } from './incomplete.ts';

const gap = (fromMs: number, toMs: number, table = 'positions') => ({ fromMs, toMs, table }) as never;
const within = (gaps: readonly never[], fromMs: number, toMs: number) =>
  incompleteWithin({ gaps: async () => gaps }, { fromMs, toMs });

test('gaps within the time range, those that meet as one', async () => {
  const gaps = [gap(500, 599), gap(100, 199), gap(200, 249, 'events'), gap(900, 950), gap(300, 400, 'late_days')];
  expect(await within(gaps, 150, 900)).toEqual([
    { fromMs: 150, toMs: 250 },
    { fromMs: 500, toMs: 600 },
  ]);
  expect(await within(gaps, 260, 500)).toEqual([]);
  // The end of a gap is a row.
  expect(await within(gaps, 950, 951)).toEqual([{ fromMs: 950, toMs: 951 }]);
});

test('so many that nobody reads them are put together where the least lies between', async () => {
  const gaps = Array.from({ length: 25 }, (_, nth) => gap(nth * 1000 + nth ** 2, nth * 1000 + nth ** 2 + 99));
  const spans = await within(gaps, 0, 1e9);
  expect(spans).toHaveLength(20);
  expect(spans[0]).toEqual({ fromMs: 0, toMs: 5 * 1000 + 25 + 100 });
  expect(spans.at(-1)).toEqual({ fromMs: 24_576, toMs: 24_676 });
});
