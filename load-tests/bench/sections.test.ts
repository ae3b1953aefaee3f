import { expect, test } from 'vitest';
import { chooseSections, sectionNames } from './sections.ts';

test('all sections but those on demand run where none is named, else the named ones in the order of the list', () => {
  const onDemand = ['recalculation', 'reports', 'scale', 'returning-kafka'];
  expect(chooseSections([])).toEqual(sectionNames.filter((name) => !onDemand.includes(name)));
  expect(chooseSections(['reports'])).toEqual(['reports']);
  expect(chooseSections(['codecs', 'engine'])).toEqual(['engine', 'codecs']);
});

test('a name that is no section is refused with the names that are', () => {
  expect(() => chooseSections(['codec'])).toThrow('no section "codec": there are engine, geo');
});
