import { expect, test } from 'vitest';
import { readOptions } from './options.ts';
import { FULL, HEADLINE } from './sections.ts';

test('without words the headline sections run briefly, three times each', () => {
  expect(readOptions([])).toMatchObject({ names: HEADLINE, isQuick: true, runs: 3, isAnyway: false, profiles: null });
});

test('full has all sections at their length, names those named', () => {
  expect(readOptions(['full'])).toMatchObject({ names: FULL, isQuick: false, runs: 3 });
  expect(readOptions(['latency', 'fuel', '--runs', '5', '--anyway', '--json', 'f.json'])).toMatchObject({
    ...{ names: ['fuel', 'latency'], isQuick: false, runs: 5, isAnyway: true, json: 'f.json' },
  });
  expect(readOptions(['fuel', '--quick']).isQuick).toBe(true);
});

test('a profile is one brief run, of the pipeline where nothing is named', () => {
  expect(readOptions(['profile'])).toMatchObject({
    ...{ names: ['pipeline'], isQuick: true, runs: 1, profiles: 'bench-profiles' },
  });
  expect(readOptions(['profile', 'light', '--profiles', 'p'])).toMatchObject({ names: ['light'], profiles: 'p' });
});

test.each([
  [['fuels'], 'no section "fuels"'],
  [['full', 'fuel'], 'full has all sections: fuel'],
  [['--runs', '0'], '--runs must be a whole number from 1 on, not 0'],
  [['--runs', 'x'], '--runs must be a whole number'],
  [['fuel', '--profiles', 'p'], '--profiles belongs to profile'],
  [['--slow'], "Unknown option '--slow'"],
])('%j is refused', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});
