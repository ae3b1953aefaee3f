import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isKnown, mayBeSentInPart, partAsked } from './byte-range.ts';

const place = fc.nat({ max: 50 });

test('a range is the slice that it says, whatever the file', () => {
  fc.assert(
    fc.property(place, fc.option(place), fc.option(place), (bytes, first, last) => {
      const file = Array.from({ length: bytes }, (_, nth) => nth);
      const got = partAsked(`bytes=${first ?? ''}-${last ?? ''}`, bytes);
      // The words of the RFC, by slicing.
      const isNone = first === null && last === null;
      if (isNone || (first !== null && last !== null && last < first)) {
        expect(got).toBeNull();
        return;
      }
      const wanted =
        first === null
          ? last === 0
            ? []
            : file.slice(-(last ?? 0))
          : file.slice(first, last === null ? bytes : last + 1);
      if (wanted.length === 0) {
        expect(got).toBe('unsatisfiable');
        return;
      }
      if (got === null || got === 'unsatisfiable') throw new Error(`${got} in place of a part`);
      expect(file.slice(got.start, got.end)).toEqual(wanted);
      expect(got.end).toBeLessThanOrEqual(bytes);
    }),
    { numRuns: runs(5000) },
  );
});

test('what is no range asks for all of it', () => {
  for (const header of [
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'items=0-1',
    'bytes=0-1,3-4',
    'bytes=-1-2',
  ])
    expect(partAsked(header, 10), header).toBeNull();
  fc.assert(
    fc.property(fc.string(), fc.nat(), (header, bytes) => {
      const part = partAsked(header, bytes);
      if (part === null || part === 'unsatisfiable') return;
      expect(0 <= part.start && part.start < part.end && part.end <= bytes).toBe(true);
    }),
  );
  expect(partAsked(`bytes=${'9'.repeat(400)}-`, 10)).toBe('unsatisfiable');
  expect(partAsked(`bytes=0-${'9'.repeat(400)}`, 10)).toEqual({ start: 0, end: 10 });
  expect(partAsked(`bytes=-${'9'.repeat(400)}`, 10)).toEqual({ start: 0, end: 10 });
});

test('a tag is known weakly, and lets a part be sent strongly', () => {
  expect(isKnown(undefined, '"a"')).toBe(false);
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '*']) expect(isKnown(header, '"a"'), header).toBe(true);
  expect(isKnown('"b"', '"a"')).toBe(false);
  const date = 'Thu, 15 Jan 2026 12:00:00 GMT';
  expect(mayBeSentInPart(undefined, '"a"', date)).toBe(true);
  expect(mayBeSentInPart('"a"', '"a"', date)).toBe(true);
  expect(mayBeSentInPart('W/"a"', '"a"', date)).toBe(false);
  expect(mayBeSentInPart(date, '"a"', date)).toBe(true);
  expect(mayBeSentInPart('Thu, 15 Jan 2026 12:00:01 GMT', '"a"', date)).toBe(false);
});
