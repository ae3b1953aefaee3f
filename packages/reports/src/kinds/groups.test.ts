import { expect, test } from 'vitest';
import { z } from 'zod';
import { REPORT_KINDS } from '../kinds.ts';
import type { Column, Question, ReportKind, ReportSources, Row } from '../report.ts';
import { chartsOf, GroupTotals, groupingsOf, isUsual, projected } from './groups.ts';

const columns: Column[] = [
  { name: 'vehicleId', type: 'id', always: true },
  { name: 'vehicleName', type: 'text', always: true },
  { name: 'startedAt', type: 'time', always: true },
  { name: 'distanceM', type: 'number', total: 'sum' },
  { name: 'maxKmh', type: 'number', total: 'max' },
  { name: 'lowestC', type: 'number', total: 'min' },
  { name: 'score', type: 'number', total: 'mean' },
];
// Clocks in Berlin go forward on this day, which has 23 hours: from 23:00 to 22:00 UTC.
const ROWS: Row[] = [
  ['1', 'Van 2', Date.UTC(2026, 2, 28, 22, 59), 0.1, 50, 3, 10],
  ['1', 'Van 2', Date.UTC(2026, 2, 28, 23, 0), 0.2, 80, -4, null],
  ['2', 'Van 10', Date.UTC(2026, 2, 29, 21, 59), null, null, null, 5],
  ['2', 'Van 10', Date.UTC(2026, 2, 29, 22, 0), 7, 20, 1, 0],
];
const KIND: ReportKind = {
  name: 'some',
  summary: '',
  columns,
  cursor: z.never(),
  page: async () => ({ rows: ROWS, next: null }),
};

function totalsOf(grouping: 'vehicle' | 'day' | null) {
  const totals = new GroupTotals(KIND, grouping, 'Europe/Berlin');
  for (const row of ROWS) totals.add(row);
  return totals;
}

test('rows come to totals, as each column says', () => {
  expect(totalsOf(null).all.rows).toBe(4);
  expect(totalsOf(null).all.row).toEqual([null, null, null, 7.3, 80, -4, 5]);
});

test('groups are in the order of their names, with totals of their own', () => {
  const groups = totalsOf('vehicle').sorted.map(([key, { rows, row }]) => [key, rows, row[3]]);
  expect(groups).toEqual([
    ['Van 2', 2, 0.3],
    ['Van 10', 2, 7],
  ]);
});

test('days are those of the time zone, also where the clocks change', () => {
  const groups = totalsOf('day').sorted.map(([key, { rows }]) => [key, rows]);
  expect(groups).toEqual([
    ['2026-03-28', 1],
    ['2026-03-29', 2],
    ['2026-03-30', 1],
  ]);
});

test('a kind is grouped by what its columns say, and drawn by its first sum', () => {
  expect(groupingsOf(KIND)).toEqual(['vehicle', 'day']);
  expect(chartsOf(KIND)).toEqual([
    { shape: 'bars', measure: 'distanceM', by: 'day' },
    { shape: 'bars', measure: 'distanceM', by: 'vehicle' },
  ]);
  for (const kind of REPORT_KINDS)
    for (const { measure } of chartsOf(kind))
      expect(kind.columns.map(({ name }) => name)).toContain(measure ?? kind.columns[0]?.name);
});

test('chosen columns come in the order of the report', async () => {
  const some = projected(KIND, ['distanceM', 'vehicleName']);
  expect(some.columns.map(({ name }) => name)).toEqual(['vehicleName', 'distanceM']);
  const { rows } = await some.page({} as ReportSources, {} as Question, null, 10);
  expect(rows[0]).toEqual(['Van 2', 0.1]);
});

test('ids, degrees and what is asked for rarely are not shown at first', () => {
  expect(columns.filter(isUsual).map(({ name }) => name)).not.toContain('vehicleId');
  expect(isUsual({ name: 'startLatitude', type: 'number' })).toBe(false);
  expect(isUsual({ name: 'score', type: 'number', isRare: true })).toBe(false);
});
