import { type AttributeValue, blankPosition, type Position, type SensorId } from '@outrider/domain';
import { sampleSensor } from '@outrider/domain/samples';
import { expect, test } from 'vitest';
import { Calibration } from './calibration.ts';
import { medianOf, vehicleSensors } from './vehicle-sensors.ts';

const record = (attributes: Record<string, AttributeValue>, ignition: boolean | null = null): Position => ({
  ...blankPosition(0, 59, 30),
  attributes,
  ignition,
});
const table = [
  { raw: 0, value: 0 },
  { raw: 1000, value: 100 },
  { raw: 4000, value: 250 },
];

test('between the points of a table values are on lines', () => {
  const of = (raw: number) => new Calibration({ calibration: table, outside: 'extrapolate' }).valueOf(raw);
  expect([0, 500, 1000, 2500, 4000].map(of)).toEqual([0, 50, 100, 175, 250]);
  expect([of(-1000), of(5000)]).toEqual([-100, 300]);
  const clamped = (raw: number) => new Calibration({ calibration: table, outside: 'clamp' }).valueOf(raw);
  expect([-1000, 500, 5000].map(clamped)).toEqual([0, 50, 250]);
  expect(new Calibration({ calibration: [], outside: 'clamp' }).valueOf(7)).toBe(7);
  expect(new Calibration({ calibration: [{ raw: 1, value: 5 }], outside: 'extrapolate' }).valueOf(7)).toBe(5);
});

test('values out of the valid range, and without the ignition, do not count', () => {
  const [sensor] = vehicleSensors([
    sampleSensor({ source: 'raw', calibration: table, validMin: 10, validMax: 260, onlyWithIgnition: true }),
  ]).all;
  const of = (raw: AttributeValue, ignition: boolean | null) => sensor?.valueOf(record({ raw }, ignition));
  expect(of(500, true)).toBe(50);
  expect([of(50, true), of(4300, true), of(500, false), of(500, null), of('x', true)]).toEqual([
    Number.NaN,
    Number.NaN,
    Number.NaN,
    Number.NaN,
    Number.NaN,
  ]);
});

test('no value is -0', () => {
  const [sensor] = vehicleSensors([sampleSensor({ source: '0 - raw' })]).all;
  expect([sensor?.valueOf(record({ raw: 3 })), sensor?.valueOf(record({ raw: 0 }))]).toEqual([-3, 0]);
  expect(vehicleSensors([sampleSensor({ source: 'raw * -1.0' })]).all[0]?.valueOf(record({ raw: 0 }))).toBe(0);
});

test('the level of the tanks is the sum of their sensors, or what the terminal says', () => {
  const tank = (id: string, source: string) =>
    sampleSensor({ id: id as SensorId, name: id, kind: 'fuel-level', source, calibration: table });
  const both = vehicleSensors([tank('a', 'fuelLevel1'), tank('b', 'fuelLevel2'), sampleSensor()]);
  expect(both.measuresLevel).toBe(true);
  expect(both.levelL(record({ fuelLevel1: 1000, fuelLevel2: 500 }))).toBe(150);
  expect(both.levelL(record({ fuelLevel1: 1000 }))).toBeNull();
  const none = vehicleSensors([sampleSensor()]);
  expect([none.measuresLevel, none.levelL({ ...record({}), fuelL: 33 }), none.levelL(record({}))]).toEqual([
    false,
    33,
    null,
  ]);
});

test('an expression that this version refuses has no values', () => {
  expect(vehicleSensors([sampleSensor({ source: 'io9 +' })]).all[0]?.valueOf(record({ io9: 1 }))).toBeNaN();
});

test('sensors of one definition are compiled once', () => {
  const sensors = [sampleSensor()];
  expect(vehicleSensors(sensors)).toBe(vehicleSensors(sensors));
});

test('a median', () => expect([[3, 1, 2], [4, 1], [5], []].map(medianOf)).toEqual([2, 2.5, 5, Number.NaN]));

test('vehicles with the same sensors share what is compiled of them, others do not', () => {
  const list = () => [sampleSensor({ source: 'a', smoothing: 3 }), sampleSensor({ source: 'b' })];
  const [first, same] = [vehicleSensors(list()), vehicleSensors(list())];
  expect(same).toBe(first);
  expect(vehicleSensors(list().reverse())).not.toBe(first);
  expect(vehicleSensors(list().slice(0, 1))).not.toBe(first);
  const numbers = first.blankNumbers();
  numbers.fill(1);
  expect(first.blankNumbers()).not.toEqual(numbers);
});
