import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attributesIn, attributesPatch, attributesText } from './attributes.ts';

const value = fc.oneof(
  fc.stringMatching(/^[^\n\r]{1,20}$/).filter((text) => text.trim() !== '' && text === text.trim()),
  fc.constantFrom('4711', 'true', '"quoted"', '-1.5', 'a = b'),
  fc.integer(),
  fc.boolean(),
);

test('attributes are read as they were written', () => {
  const attributes = fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/), value, { noNullPrototype: true });
  fc.assert(
    fc.property(attributes, (written) => {
      expect(attributesIn(attributesText(written))).toEqual({ attributes: written });
    }),
  );
});

test('a line that is no attribute is named', () => {
  expect(attributesIn('a = 1\n\nb = x y\n')).toEqual({ attributes: { a: 1, b: 'x y' } });
  expect(attributesIn('a = 1\nb\n')).toEqual({ wrongLine: 2 });
  expect(attributesIn('a b = 1')).toEqual({ wrongLine: 1 });
});

test('a patch takes away what is gone', () => {
  expect(attributesPatch({ a: 1, b: 'x' }, { b: 'y', c: true })).toEqual({ a: null, b: 'y', c: true });
});
