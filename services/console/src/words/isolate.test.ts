import { expect, test } from 'vitest';
import { he } from './he.ts';
import { isolated, isolating, unisolated } from './isolate.ts';

test('names within texts from right to left are isolated, and those from right to left within others', () => {
  const words = isolating(he, 'rtl');
  expect(words.fences.deletedNamed('Truck 01 (spare)')).toContain('\u2068Truck 01 (spare)\u2069');
  expect(words.rules.licenceOf('Anna', true, '1.1.2030')).toContain('פג');
  expect(words.close).toBe(he.close);
  expect(isolated('OTR-207', 'rtl')).toBe('\u2068OTR-207\u2069');
  expect(isolated('OTR-207', 'ltr')).toBe('OTR-207');
  expect(isolated('משאית 5', 'ltr')).toBe('\u2068משאית 5\u2069');
});

test('a text that becomes a value has no characters that nobody sees', () => {
  expect(unisolated(isolating(he, 'rtl').rules.copyOf('Night'))).toBe(he.rules.copyOf('Night'));
});
