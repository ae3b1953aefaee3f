import { expect, test } from 'vitest';
import { fences } from './he/geofences.ts';
import { rules } from './he/rules.ts';
import { he } from './he.ts';
import { isolated, isolating, unisolated } from './isolate.ts';

test('names within texts from right to left are isolated, and those from right to left within others', () => {
  const words = isolating(he, 'rtl');
  expect(isolating(fences, 'rtl').deletedNamed('Truck 01 (spare)')).toContain('\u2068Truck 01 (spare)\u2069');
  const named = isolating((name: string, isLate: boolean) => `${name} ${isLate}`, 'rtl');
  expect(named('Anna', true)).toBe('\u2068Anna\u2069 true');
  expect(words.close).toBe(he.close);
  expect(isolated('OTR-207', 'rtl')).toBe('\u2068OTR-207\u2069');
  expect(isolated('OTR-207', 'ltr')).toBe('OTR-207');
  expect(isolated('משאית 5', 'ltr')).toBe('\u2068משאית 5\u2069');
});

test('a text that becomes a value has no characters that nobody sees', () => {
  expect(unisolated(isolating(rules, 'rtl').copyOf('Night'))).toBe(rules.copyOf('Night'));
});
