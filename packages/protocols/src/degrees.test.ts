import fc from 'fast-check';
import { expect, test } from 'vitest';
import { courseOf, decimal, degreesOfNmea, nmeaOfDegrees } from './degrees.ts';

test('degrees and minutes in one number', () => {
  expect(degreesOfNmea('5545.3000', 'N')).toBeCloseTo(55.755, 9);
  expect(degreesOfNmea('03737.0200', 'W')).toBeCloseTo(-37.617, 9);
  for (const [text, hemisphere] of [
    ['5560.0', 'N'],
    ['9100.0', 'N'],
    ['18100.0', 'E'],
    ['5545.3', 'X'],
    ['', 'N'],
    ['-100.0', 'N'],
  ])
    expect(degreesOfNmea(text as string, hemisphere as string), `${text}${hemisphere}`).toBeNaN();
});

test('what is written is read again, to the last digit', () => {
  fc.assert(
    fc.property(fc.double({ min: -90, max: 90, noNaN: true }), (degrees) => {
      const [text, hemisphere] = nmeaOfDegrees(degrees, 'latitude');
      expect(Math.abs(degreesOfNmea(text, hemisphere) - degrees)).toBeLessThan(0.00005 / 60 + 1e-12);
      expect(nmeaOfDegrees(degreesOfNmea(text, hemisphere), 'latitude')[0]).toBe(text);
    }),
  );
  expect(nmeaOfDegrees(-0.999_999_9, 'longitude')).toEqual(['00100.0000', 'W']);
});

test('decimals and courses', () => {
  expect(['12', '-1.5', '+3.', '1e3', '', ' 1', '0x1'].map(decimal)).toEqual([12, -1.5, 3, NaN, NaN, NaN, NaN]);
  expect([0, 359.6, 360, 361, -1, null].map((course) => courseOf(course))).toEqual([0, 0, 0, null, null, null]);
});
