import { expect, test } from 'vitest';
import { errorPlace, foundPresets, freeName, moved, newSensor, withCondition, withPresets } from './draft.ts';

const preset = (name: string, source: string) => ({ name, kind: 'temperature' as const, unit: '°C', source });
const FAMILIES = [
  { family: 'teltonika', title: 'Teltonika FMB', sensors: [preset('Temperature 1', 'temperature1C')] },
  { family: 'omnicomm', title: 'Omnicomm LLS', sensors: [preset('Temperature 1', 't1'), preset('Coolant', 'rpm')] },
];

test('presets of the own terminal come first, and are found by family, name and source', () => {
  const names = (text: string, protocol: string | null = null) =>
    foundPresets(FAMILIES, text, protocol).map(({ family, sensors }) => `${family} ${sensors.length}`);
  expect(names('')).toEqual(['teltonika 1', 'omnicomm 2']);
  expect(names('', 'omnicomm')).toEqual(['omnicomm 2', 'teltonika 1']);
  expect(names('cool')).toEqual(['omnicomm 1']);
  expect(names('LLS')).toEqual(['omnicomm 2']);
  expect(names('t1')).toEqual(['omnicomm 1']);
});

test('a preset whose name is taken gets a number', () => {
  const { sensors = [] } = FAMILIES[1] ?? {};
  const all = withPresets([newSensor({ name: 'temperature 1' })], [...sensors, ...sensors]);
  expect(all.map(({ name }) => name)).toEqual([
    'temperature 1',
    'Temperature 1 2',
    'Coolant',
    'Temperature 1 3',
    'Coolant 2',
  ]);
  expect(all[1]).toMatchObject({ id: null, source: 't1', unit: '°C', smoothing: 1, calibration: [] });
  expect(freeName('Door', all)).toBe('Door');
});

test('a condition keeps the bound that it can use', () => {
  const above = { id: null, condition: 'above' as const, min: null, max: -15, hysteresis: 1, forSeconds: 60 };
  expect(withCondition(above, 'below')).toMatchObject({ condition: 'below', min: -15, max: null });
  expect(withCondition(above, 'outside')).toMatchObject({ min: null, max: -15 });
  expect(withCondition({ ...above, condition: 'inside', min: -30 }, 'below')).toMatchObject({ min: -30, max: null });
});

test('an item moves among the others', () => {
  expect(moved(['a', 'b', 'c'], 2, 1)).toEqual(['a', 'c', 'b']);
  expect(moved(['a', 'b', 'c'], 0, 1)).toEqual(['b', 'a', 'c']);
});

test('an error of an expression has its place', () => {
  expect(errorPlace('At character 6: Unexpected token: EOF')).toBe(5);
  expect(errorPlace('Too big')).toBeNull();
});
