import type { Sensor } from '@outrider/client';
import { expect, test } from 'vitest';
import { copySteps } from './copy.ts';
import { newSensor } from './draft.ts';

const sensor = (id: string, name: string, source: string) => newSensor({ id, name, source }) as Sensor;
const CARGO = sensor('c', 'Cargo', 't1');
const HATCH = sensor('d', 'Hatch', 'input1');

test('vehicles that come to the same sensors have one call', () => {
  const vehicles = [
    { id: '1', sensors: [] },
    { id: '2', sensors: [sensor('x', 'cargo', 'other')] },
    { id: '3', sensors: [] },
  ];
  expect(copySteps(vehicles, [CARGO], 'replace')).toEqual([{ ids: ['1', '2', '3'], sensors: [CARGO] }]);
  expect(copySteps(vehicles, [CARGO, HATCH], 'add')).toEqual([
    { ids: ['1', '3'], sensors: [CARGO, HATCH] },
    { ids: ['2'], sensors: [{ ...CARGO, id: 'x' }, HATCH] },
  ]);
});

test('beside those of a vehicle, and never twice under one id', () => {
  const vehicles = [{ id: '1', sensors: [HATCH, sensor('c', 'Renamed', 't1')] }];
  expect(copySteps(vehicles, [CARGO], 'add')).toEqual([{ ids: ['1'], sensors: vehicles[0]?.sensors }]);
});

test('what is too large for one call goes in parts', () => {
  const large = { ...CARGO, calibration: Array.from({ length: 200 }, (_, raw) => ({ raw, value: raw })) };
  const vehicles = Array.from({ length: 4000 }, (_, n) => ({ id: String(n), sensors: [] }));
  const steps = copySteps(vehicles, [large], 'replace');
  expect(steps.length).toBeGreaterThan(1);
  expect(steps.flatMap(({ ids }) => ids)).toEqual(vehicles.map(({ id }) => id));
});
