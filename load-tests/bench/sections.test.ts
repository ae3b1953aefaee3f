import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chooseSections, FULL, HEADLINE, sectionNames } from './sections.ts';

test('named sections run in the order of the list', () => {
  expect(chooseSections(['codecs', 'engine'])).toEqual(['engine', 'codecs']);
  expect(chooseSections([])).toEqual([]);
});

test('a name that is no section is refused with the names that are', () => {
  expect(() => chooseSections(['codec'])).toThrow('no section "codec": there are engine, fuel, sensors, geo');
});

test('the sections of the table that comes first are among those of the full run, which has none on demand', () => {
  for (const name of HEADLINE) expect(FULL).toContain(name);
  expect(sectionNames.filter((name) => !FULL.includes(name))).toEqual([
    ...['recalculation', 'reports', 'scale', 'returning-kafka'],
  ]);
});

test('each module in the folder is in the list, and each of the list is in the folder', () => {
  const modules = readdirSync(new URL('./sections', import.meta.url));
  expect(modules.toSorted()).toEqual(sectionNames.map((name) => `${name}.ts`).toSorted());
});
