import { expect, test } from 'vitest';
import { addDays, dateOf, timeIn } from '../../days.ts';
import { replayLinkOf } from './row-link.ts';
import {
  dimensionsOf,
  endPlaceOf,
  HOURS,
  heatOf,
  linesOf,
  measuresOf,
  ofUnit,
  placedRows,
  placeOf,
  type ReportColumn,
  slicesOf,
  totalOf,
  unitsOf,
  withEmptyDays,
} from './rows.ts';

const column = (name: string, total: ReportColumn['total'] = null): ReportColumn => ({
  ...{ name, total, type: 'number', unit: null, always: false, weight: null, isUsual: true, description: null },
});
const distance = column('distanceM', 'sum');
const ROWS = [
  { vehicleName: 'Van', startedAt: '2026-01-12T05:30:00.000Z', distanceM: 1000, durationSeconds: 5400, maxKmh: 80 },
  { vehicleName: 'Truck', startedAt: '2026-01-14T22:30:00.000Z', distanceM: 2000, durationSeconds: 60, maxKmh: 95 },
  { vehicleName: 'Van', startedAt: '2026-01-14T23:30:00.000Z', distanceM: null, durationSeconds: 60, maxKmh: null },
];
const berlin = (ms: number) => dateOf(ms, 'Europe/Berlin');

test('totals are sums or highest values; what is not known does not count', () => {
  expect(totalOf(ROWS, distance)).toBe(3000);
  expect(totalOf(ROWS, column('maxKmh', 'max'))).toBe(95);
  expect(totalOf(ROWS, column('maxKmh'))).toBeNull();
  expect(totalOf([{ distanceM: null }], distance)).toBeNull();
});

test('bars: days of the viewer’s zone in their order, vehicles by their value', () => {
  const days = slicesOf(ROWS, 'day', distance, berlin);
  expect(days.map(({ key, value }) => [key, value])).toEqual([
    ['2026-01-12', 1000],
    ['2026-01-14', 2000],
    ['2026-01-15', 0],
  ]);
  expect(withEmptyDays(days, (day) => addDays(day, 1), 100).map(({ key }) => key)).toEqual([
    '2026-01-12',
    '2026-01-13',
    '2026-01-14',
    '2026-01-15',
  ]);
  expect(withEmptyDays(days, (day) => addDays(day, 1), 2)).toEqual(days);
  const vehicles = slicesOf(ROWS, 'vehicle', distance, berlin);
  expect(vehicles.map(({ key, value, rows }) => [key, value, rows])).toEqual([
    ['Truck', 2000, 1],
    ['Van', 1000, 2],
  ]);
  expect(slicesOf(ROWS, 'duration', null, berlin).map(({ key, value }) => [key, value])).toEqual([
    ['0', 2],
    ['3', 1],
  ]);
});

test('dimensions and measures come from the columns', () => {
  const columns = ['vehicleName', 'startedAt', 'durationSeconds', 'kind'].map((name) => column(name));
  expect(dimensionsOf(columns, ROWS)).toEqual(['day', 'vehicle', 'kind', 'duration']);
  const period = [column('period'), distance];
  expect(dimensionsOf(period, [{ period: '2026-01-01' }])).toEqual(['vehicle']);
  expect(dimensionsOf(period, [{ period: '2026-01-01' }, { period: '2026-01-02' }])).toEqual(['period', 'vehicle']);
  expect(measuresOf(period)).toEqual([distance]);
});

test('the heat grid counts beginnings, or spreads durations over the hours, by the viewer’s clock', () => {
  const clock = (ms: number) => timeIn(ms, 'Europe/Berlin');
  const rows = ROWS.map((row) => ({
    ...row,
    endedAt: new Date(Date.parse(row.startedAt) + row.durationSeconds * 1000).toISOString(),
  }));
  const found = (cells: Float64Array) =>
    [...cells].flatMap((value, cell) => (value === 0 ? [] : [[Math.floor(cell / HOURS), cell % HOURS, value]]));
  // Monday 6:30, Wednesday 23:30 and Thursday 0:30 in Berlin.
  expect(found(heatOf(rows, 'count', clock, 0))).toEqual([
    [0, 6, 1],
    [2, 23, 1],
    [3, 0, 1],
  ]);
  expect(found(heatOf(rows, 'duration', clock, 0))).toEqual([
    [0, 6, 1800],
    [0, 7, 3600],
    [2, 23, 60],
    [3, 0, 60],
  ]);
});

test('places: where it began, and where it ended if that is elsewhere', () => {
  const row = { startLatitude: 1, startLongitude: 2, endLatitude: 3, endLongitude: 4, latitude: 3, longitude: 4 };
  expect(placeOf(row)).toEqual({ latitude: 1, longitude: 2 });
  expect(endPlaceOf(row)).toEqual({ latitude: 3, longitude: 4 });
  expect(endPlaceOf({ ...row, endLatitude: 1, endLongitude: 2 })).toBeNull();
  expect(placeOf({ latitude: 5, longitude: null })).toBeNull();
  const many = Array.from({ length: 100 }, (_, index) => ({ latitude: index, longitude: 0 }));
  expect(placedRows([{}, ...many], 10).map(({ index }) => index)).toEqual([1, 11, 21, 31, 41, 51, 61, 71, 81, 91]);
});

test('a row leads to the replay at its second; a period to its days', () => {
  const question = {
    ...{ kind: 'trips', vehicleIds: [], groupId: null, period: null, eventKinds: [], geozoneId: null, shape: null },
    maxPoints: null,
    workHours: null,
    ecoWeights: null,
    sensors: [],
    driverIds: [],
    range: { preset: null, fromMs: Date.parse('2026-01-10T12:00:00Z'), toMs: Date.parse('2026-01-17T23:00:00Z') },
  };
  const row = { vehicleId: 'v', startedAt: '2026-01-12T05:30:07.250Z', endedAt: '2026-01-12T06:00:00.000Z' };
  expect(replayLinkOf(row, question, null)).toBe(
    '/track?vehicle=v&from=2026-01-12T05:20:07Z&to=2026-01-12T06:10:00Z&t=2026-01-12T05:30:07Z',
  );
  const day = { vehicleId: 'v', period: '2026-01-10' };
  expect(replayLinkOf(day, { ...question, period: 'day' }, 'Europe/Berlin')).toBe(
    '/track?vehicle=v&from=2026-01-10T12:00:00Z&to=2026-01-10T23:00:00Z',
  );
  expect(replayLinkOf({ vehicleId: 'v', hour: 7 }, question, null)).toBeNull();
  expect(replayLinkOf({ ...day, vehicleId: null }, question, null)).toBeNull();
});

test('lines: a vehicle each, one value a second, of the first vehicles', () => {
  const at = (vehicleName: string, second: number, speedKmh: number | null) => ({
    ...{ vehicleName, speedKmh, fixTime: new Date(second * 1000).toISOString() },
  });
  const rows = [at('Van', 1, 10), at('Van', 1, 11), at('Van', 2, null), at('Truck', 1, 20), at('Bus', 1, 30)];
  expect(linesOf(rows, 'speedKmh', 2).map(({ name, seconds, values }) => [name, seconds, values])).toEqual([
    ['Van', [1, 2], [10, null]],
    ['Truck', [1], [20]],
  ]);
});

test('lines of sensors: one each, of the values of one unit', () => {
  const at = (sensorName: string, unit: string, mean: number) => ({
    ...{ vehicleName: 'Van', sensorName, unit, mean, startedAt: '2026-01-15T12:00:00.000Z' },
  });
  const rows = [at('Cargo', '°C', -18), at('Supply', 'V', 24), at('Outside', '°C', 12)];
  expect(unitsOf(rows)).toEqual(['°C', 'V']);
  const names = (unit: string | undefined) => linesOf(ofUnit(rows, unit), 'mean', 6).map(({ name }) => name);
  expect(names('°C')).toEqual(['Van · Cargo', 'Van · Outside']);
  expect(names(undefined)).toHaveLength(3);
  expect(unitsOf([{ vehicleName: 'Van' }])).toEqual([]);
});
