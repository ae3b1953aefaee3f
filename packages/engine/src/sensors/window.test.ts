import { MAX_SMOOTHING } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { medianOf } from './vehicle-sensors.ts';
import {
  addToWindow,
  blankWindow,
  clearWindow,
  fillWindow,
  medianIn,
  noteUnsafe,
  type WindowEntry,
  windowEntries,
} from './window.ts';

const BEFORE = 3;

test('a window is the newest values of a list, and leaves the numbers around it alone', () => {
  // Sensors give 0 for -0.
  const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0);
  const value = fc.oneof(fc.integer({ min: -9, max: 9 }), double);
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: MAX_SMOOTHING }),
      fc.array(fc.oneof({ weight: 15, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) }), {
        maxLength: 60,
      }),
      (size, values) => {
        const numbers = [...Array<number>(BEFORE).fill(7), ...blankWindow(size), 7];
        let plain: WindowEntry[] = [];
        for (const [atMs, each] of values.entries()) {
          if (each === null) {
            clearWindow(numbers, BEFORE);
            plain = [];
            continue;
          }
          addToWindow(numbers, BEFORE, size, atMs, each);
          const isUnsafe = Math.abs(each) > 5;
          plain = [...plain, [atMs, each] satisfies WindowEntry].slice(-size);
          expect(noteUnsafe(numbers, BEFORE, size, isUnsafe)).toBe(plain.some(([, known]) => Math.abs(known) > 5));
          expect(windowEntries(numbers, BEFORE, size)).toEqual(plain);
          expect(medianIn(numbers, BEFORE, size)).toBe(medianOf(plain.map(([, known]) => known)));
        }
        const copy = blankWindow(size);
        fillWindow(copy, 0, size, plain);
        expect(windowEntries(copy, 0, size)).toEqual(plain);
        expect([...numbers.slice(0, BEFORE), numbers.at(-1)]).toEqual([7, 7, 7, 7]);
      },
    ),
    { numRuns: runs(500) },
  );
});

test('of a window that was filled nobody knows whether its values are safe, until they have left it', () => {
  const numbers = blankWindow(3);
  fillWindow(numbers, 0, 3, [[1, 5]]);
  const notes = [2, 3, 4].map((atMs) => {
    addToWindow(numbers, 0, 3, atMs, 0);
    return noteUnsafe(numbers, 0, 3, false);
  });
  expect(notes).toEqual([true, true, false]);
});
