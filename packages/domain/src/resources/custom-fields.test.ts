import { expect, test } from 'vitest';
import { sampleVehicle } from '../samples.fixture.ts';
import { ATTRIBUTE_NAME, attributesAfter, withoutCustomFields } from './custom-fields.ts';
import { asChange } from './definitions.ts';

test('a patch of attributes sets, takes away and leaves alone, in the order of the names', () => {
  const before = { b: 1, a: 'x', c: true };
  expect(JSON.stringify(attributesAfter(before, { c: null, d: false, b: 2, z: null }))).toBe(
    '{"a":"x","b":2,"d":false}',
  );
  expect(before).toEqual({ b: 1, a: 'x', c: true });
});

test('no name of an attribute is one that objects have by nature', () => {
  expect(['costCentre', 'a-b_c', '4711'].every((name) => ATTRIBUTE_NAME.test(name))).toBe(true);
  expect(['__proto__', '', 'a b', 'ä', 'x'.repeat(65)].some((name) => ATTRIBUTE_NAME.test(name))).toBe(false);
});

test('what computes with a definition gets it without custom fields; all others are passed on as they are', () => {
  const plain = asChange(sampleVehicle(), 0);
  expect(withoutCustomFields(plain)).toBe(plain);
  const own = asChange(sampleVehicle({ externalId: 'x', customAttributes: { y: 1 } }), 0);
  expect(withoutCustomFields(own)).toEqual(plain);
});
