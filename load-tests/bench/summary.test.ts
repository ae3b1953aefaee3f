import { expect, test } from 'vitest';
import { figure } from './section.ts';
import { median, summarise, summaryTable } from './summary.ts';
import { renderMarkdown } from './table.ts';

test('the median is the middle, or between the two in the middle', () => {
  expect([[3], [3, 1, 2], [4, 1, 3, 2]].map((values) => median(values))).toEqual([3, 2, 2.5]);
  expect(() => median([])).toThrow(RangeError);
});

const cores = (value: number | null, bare: number | null) =>
  figure('cores', 'cores', value, { bare, goal: { atMost: 0.2 } });

test('a figure has its median, the least and the most, and the median of the ratios within each run', () => {
  // One run met a busy machine: its ratio says so less than its value.
  const runs = [[cores(0.1, 0.05)], [cores(0.4, 0.16)], [cores(0.2, 0.08)]];
  expect(summarise('light', runs)).toEqual([
    {
      ...{ section: 'light', what: 'cores', unit: 'cores', goal: { atMost: 0.2 }, runs: 3 },
      ...{ median: 0.2, least: 0.1, most: 0.4, bare: 0.08, ofBare: 2.5, isMet: true },
    },
  ]);
});

test('what a run could not measure is left out, and a goal is missed only by what was measured', () => {
  const [row] = summarise('light', [[cores(null, 0.1)], [cores(0.3, 0)], [cores(0.3, null)]]);
  expect(row).toMatchObject({ runs: 2, median: 0.3, bare: 0.05, ofBare: null, isMet: false });
  const [none] = summarise('light', [[cores(null, null)]]);
  expect(none).toMatchObject({ runs: 0, median: null, least: null, bare: null, isMet: null });
  const [least] = summarise('fuel', [[figure('recall', '', 0.97, { goal: { atLeast: 0.95 } })]]);
  expect(least?.isMet).toBe(true);
});

test('the table shows all of it, also as Markdown', () => {
  const rows = summarise('light', [[cores(0.1, 0.05), figure('idle', 'MB', 1234.4)], [cores(0.3, 0.1)]]);
  expect(renderMarkdown(summaryTable('', rows))).toBe(
    [
      '| section | what | median | spread | unit | bare | of bare | goal | met |',
      '|---|---|---|---|---|---|---|---|---|',
      '| light | cores | 0.20 | 0.10 – 0.30 | cores | 0.075 | 2.50 | ≤ 0.20 | yes |',
      '| light | idle | 1,234 | 1,234 – 1,234 | MB | – | – | – | – |',
    ].join('\n'),
  );
});
