import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import { ErrorList } from './geometry-error.ts';
import { checkPolygons, type PlainRing } from './ring-order.ts';

/** How often a point was held against an edge: what the check costs. */
const counted = vi.hoisted(() => ({ sides: 0 }));
vi.mock('./cross-sign.ts', async (original) => {
  const module = await original<typeof import('./cross-sign.ts')>();
  const crossSign: typeof module.crossSign = (u1, v1, u2, v2) => {
    counted.sides++;
    return module.crossSign(u1, v1, u2, v2);
  };
  return { crossSign };
});
beforeEach(() => {
  counted.sides = 0;
});

type Point = readonly [number, number];

function ringOf(points: readonly Point[], nth = 0): PlainRing {
  const closed = [...points, points[0] as Point];
  const kept = closed.filter((point, i) => i === 0 || String(point) !== String(closed[i - 1]));
  return { xy: Float64Array.from(kept.flat()), numbers: kept.map((_, i) => i), pointer: `/rings/${nth}` };
}

function errorsOf(rings: readonly PlainRing[]): string[] {
  const errors = new ErrorList();
  checkPolygons([rings], errors);
  return errors.errors.map(({ detail }) => detail);
}
const isMeeting = (detail: string) => detail.includes('the edge from point');

/**
 * Teeth beside each other that all reach from one side to the other, at a slant: each pair of long edges has boxes that
 * overlap.
 */
function comb(points: number, slant: number): Point[] {
  const teeth = Math.floor(points / 4);
  const there = Array.from({ length: teeth }, (_, nth): Point[] => {
    const y = nth / teeth / 10;
    return [
      [0.001, y],
      [1, y + slant],
      [1, y + slant + 0.02 / teeth],
      [0.001, y + 0.02 / teeth],
    ];
  }).flat();
  return [...there, [0, 0.2], [0, -0.1]];
}

test.each([0, 0.5, 5])('a comb of 10,000 points at a slant of %s costs no more than a few looks per point', (slant) => {
  const ring = ringOf(comb(9990, slant));
  expect(errorsOf([ring])).toEqual([]);
  const edges = ring.xy.length / 2 - 1;
  expect(counted.sides).toBeLessThan(edges * 20 * Math.log2(edges));
});

test('a comb with one tooth that crosses another is refused', () => {
  const points = comb(9990, 0.5);
  const [x, y] = points[4001] as Point;
  points[4001] = [x, y + 0.001];
  expect(errorsOf([ringOf(points)])).toHaveLength(1);
});

test('1,000 holes that touch the outer ring in one point cost no more than a comb', () => {
  const outer: Point[] = [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
    [0, 0],
  ];
  const holes = Array.from({ length: 999 }, (_, nth): PlainRing => {
    const from = -Math.PI / 4 + (nth / 999) * (Math.PI / 2);
    const to = from + 0.5 / 999;
    const at = (angle: number): Point => [Math.cos(angle) / 2, Math.sin(angle) / 2];
    return ringOf([[0, 0], at(from), at(to)], nth + 1);
  });
  expect(errorsOf([ringOf(outer), ...holes])).toEqual([]);
});

type Segment = readonly [Point, Point];
const cross = ([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point) =>
  Math.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax));
const isBetween = (a: number, b: number, c: number) => Math.min(a, b) <= c && c <= Math.max(a, b);
const isOn = ([a, b]: Segment, p: Point) =>
  cross(a, b, p) === 0 && isBetween(a[0], b[0], p[0]) && isBetween(a[1], b[1], p[1]);

/** Whether two edges may not meet as they do: all with all, on whole numbers. */
function isBad(s: Segment, t: Segment, isSameRing: boolean, isNext: boolean): boolean {
  const [a, b] = s;
  const [c, d] = t;
  const isCrossing = cross(a, b, c) * cross(a, b, d) < 0 && cross(c, d, a) * cross(c, d, b) < 0;
  const ends = [a, b].filter((p) => isOn(t, p)).concat([c, d].filter((p) => isOn(s, p)));
  const touched = new Set(ends.map(String));
  const isOverlap = touched.size > 1;
  return isCrossing || isOverlap || (isSameRing && !isNext && touched.size > 0);
}

function hasBadMeeting(rings: readonly PlainRing[]): boolean {
  const edges = rings.flatMap(({ xy }, ring) =>
    Array.from({ length: xy.length / 2 - 1 }, (_, edge) => ({
      ring,
      edge,
      last: xy.length / 2 - 2,
      segment: [
        [xy[2 * edge], xy[2 * edge + 1]],
        [xy[2 * edge + 2], xy[2 * edge + 3]],
      ] as unknown as Segment,
    })),
  );
  return edges.some((one, i) =>
    edges.slice(i + 1).some((other) => {
      const between = Math.abs(one.edge - other.edge);
      const isSameRing = one.ring === other.ring;
      return isBad(one.segment, other.segment, isSameRing, between === 1 || between === one.last);
    }),
  );
}

test('rings meet where all edges held against all say that they do', () => {
  const point = fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 12 }));
  /** Convex enough that many are good: round a middle, by whole numbers. */
  const round = fc
    .tuple(point, fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 3, maxLength: 9 }))
    .map(([[x, y], reaches]) =>
      reaches.map((reach, i): Point => {
        const angle = (i / reaches.length) * 2 * Math.PI;
        return [x + Math.round(reach * Math.cos(angle)), y + Math.round(reach * Math.sin(angle))];
      }),
    );
  const ring = fc.oneof({ weight: 3, arbitrary: round }, fc.array(point, { minLength: 3, maxLength: 8 }));
  let good = 0;
  let tried = 0;
  fc.assert(
    fc.property(fc.array(ring, { minLength: 1, maxLength: 3 }), (drawn) => {
      const rings = drawn.map(ringOf).filter(({ xy }) => new Set(xy).size > 2 && xy.length >= 8);
      if (rings.length === 0) return;
      tried++;
      const found = errorsOf(rings).some(isMeeting);
      if (!found) good++;
      expect(found).toBe(hasBadMeeting(rings));
    }),
    { numRuns: runs(5000) },
  );
  expect(good).toBeGreaterThan(tried / 20);
  expect(good).toBeLessThan(tried - tried / 20);
});
