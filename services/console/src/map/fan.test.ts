import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fanOf } from './fan.ts';

const WINDOW = { width: 80, height: 50 };

test('two stand left and right of their spot, further ones in rows above each other', () => {
  expect(fanOf(2, { x: 37.5, y: 25 }, WINDOW)).toEqual([
    { x: 41.125, y: 25, side: 'right', width: 17.5 },
    { x: 33.875, y: 25, side: 'left', width: 17.5 },
  ]);
  const five = fanOf(5, { x: 37.5, y: 25 }, WINDOW);
  expect(five.map(({ side, y }) => [side, y])).toEqual([
    ['right', 22.75],
    ['right', 25],
    ['right', 27.25],
    ['left', 23.875],
    ['left', 26.125],
  ]);
  // They bend around the spot.
  expect(five[1]?.x).toBeGreaterThan(five[0]?.x ?? 0);
});

test('at the edge of the window all stand on the other side', () => {
  expect(new Set(fanOf(6, { x: 2.5, y: 25 }, WINDOW).map(({ side }) => side))).toEqual(new Set(['right']));
  expect(new Set(fanOf(6, { x: 79, y: 25 }, WINDOW).map(({ side }) => side))).toEqual(new Set(['left']));
  // On a phone, both sides of its middle have space for a short name.
  expect(new Set(fanOf(6, { x: 12.2, y: 25 }, { width: 24.4, height: 52 }).map(({ side }) => side)).size).toBe(2);
});

test('wherever the spot is, each has a row of its own within the window', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.record({ width: fc.integer({ min: 20, max: 180 }), height: fc.integer({ min: 30, max: 120 }) }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (count, window, across, down) => {
        const spot = { x: across * window.width, y: down * window.height };
        const spokes = fanOf(count, spot, window);
        expect(spokes).toHaveLength(count);
        for (const { x, y, side, width } of spokes) {
          expect(width).toBeGreaterThan(6);
          const [from, to] = side === 'right' ? [x, x + width] : [x - width, x];
          expect(from).toBeGreaterThanOrEqual(0);
          expect(to).toBeLessThanOrEqual(window.width);
          expect(y).toBeGreaterThanOrEqual(1.5);
          expect(y).toBeLessThanOrEqual(window.height - 1.5);
          for (const other of spokes)
            if (other.y !== y && other.side === side) expect(Math.abs(other.y - y)).toBeGreaterThan(2.2);
        }
        const rows = spokes.map(({ side, y }) => `${side} ${y}`);
        expect(new Set(rows).size).toBe(count);
      },
    ),
  );
});
