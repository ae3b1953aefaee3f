import type { Shape } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { boundingBox } from './bounding-box.ts';
import { areaM2, perimeterM } from './measures.ts';

const R = 6_371_008.8;
const DEGREE = (R * Math.PI) / 180;

function box(west: number, south: number, east: number, north: number): [number, number][] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

/** Area between two parallels and two meridians: known in closed form. */
function zoneM2(widthDeg: number, south: number, north: number): number {
  const sine = (degrees: number) => Math.sin((degrees * Math.PI) / 180);
  return R * R * ((widthDeg * Math.PI) / 180) * (sine(north) - sine(south));
}

describe('areaM2', () => {
  test('of a zone of the sphere, its hole left out, in either direction', () => {
    const shape: Shape = { type: 'polygon', rings: [box(10, 40, 20, 60), box(12, 45, 14, 50).reverse()] };
    expect(areaM2(shape) / (zoneM2(10, 40, 60) - zoneM2(2, 45, 50))).toBeCloseTo(1, 12);
  });

  test('of a multipolygon: of all its polygons', () => {
    const frame = [box(10, 40, 20, 60), box(12, 45, 14, 50)];
    const shape: Shape = { type: 'multipolygon', polygons: [frame, [box(30, 0, 31, 1)]] };
    const expected = zoneM2(10, 40, 60) - zoneM2(2, 45, 50) + zoneM2(1, 0, 1);
    expect(areaM2(shape) / expected).toBeCloseTo(1, 12);
  });

  test('of 100 m by 100 m far from the equator', () => {
    const [w, h] = [100 / (DEGREE * Math.cos((60 * Math.PI) / 180)), 100 / DEGREE];
    expect(areaM2({ type: 'polygon', rings: [box(30, 60 - h / 2, 30 + w, 60 + h / 2)] })).toBeCloseTo(10_000, 3);
  });

  test('across the antimeridian', () => {
    expect(areaM2({ type: 'polygon', rings: [box(179, 0, -179, 2)] }) / zoneM2(2, 0, 2)).toBeCloseTo(1, 12);
  });

  test('of a triangle: slanted edges', () => {
    const triangle: Shape = {
      type: 'polygon',
      rings: [
        [
          [0, 0],
          [0.01, 0],
          [0, 0.01],
          [0, 0],
        ],
      ],
    };
    expect(areaM2(triangle) / ((0.01 * DEGREE) ** 2 / 2)).toBeCloseTo(1, 7);
  });

  test('of circles and lines', () => {
    expect(areaM2({ type: 'circle', center: [0, 0], radiusM: 100 })).toBeCloseTo(Math.PI * 10_000, 4);
    const line: Shape = {
      type: 'line',
      path: [
        [0, 0],
        [0.01, 0],
        [0.01, 0.01],
      ],
      widthM: 20,
    };
    expect(areaM2(line)).toBeCloseTo(2 * 0.01 * DEGREE * 20 + Math.PI * 100, 4);
  });
});

describe('perimeterM', () => {
  test('is the length of all boundaries', () => {
    const shape: Shape = { type: 'polygon', rings: [box(0, -0.01, 0.02, 0.01), box(0.005, -0.005, 0.015, 0.005)] };
    expect(perimeterM(shape) / (0.12 * DEGREE)).toBeCloseTo(1, 7);
    expect(perimeterM({ type: 'circle', center: [0, 80], radiusM: 100 })).toBeCloseTo(200 * Math.PI, 6);
    const line: Shape = {
      type: 'line',
      path: [
        [0, 0],
        [0.01, 0],
      ],
      widthM: 20,
    };
    expect(perimeterM(line)).toBeCloseTo(0.02 * DEGREE + 20 * Math.PI, 6);
  });
});

describe('boundingBox', () => {
  test('of a polygon across the antimeridian: west greater than east', () => {
    expect(boundingBox({ type: 'polygon', rings: [box(179, 0, -179, 2)] })).toEqual([179, 0, -179, 2]);
  });

  test('of a circle: its radius each way, all longitudes over a pole', () => {
    const [west, south, east, north] = boundingBox({ type: 'circle', center: [20, 60], radiusM: 1000 });
    expect((north - south) * DEGREE).toBeCloseTo(2000, 3);
    expect((east - west) * DEGREE * Math.cos(Math.PI / 3)).toBeCloseTo(2000, 3);
    expect(boundingBox({ type: 'circle', center: [20, 89.99], radiusM: 5000 })).toMatchObject({
      0: -180,
      2: 180,
      3: 90,
    });
  });

  test('of a line: with its width', () => {
    const line: Shape = {
      type: 'line',
      path: [
        [0, 0],
        [1, 0],
      ],
      widthM: 200,
    };
    const [west, south, east, north] = boundingBox(line);
    expect(-south * DEGREE).toBeCloseTo(100, 3);
    expect(north * DEGREE).toBeCloseTo(100, 3);
    expect(-west * DEGREE).toBeCloseTo(100, 3);
    expect((east - 1) * DEGREE).toBeCloseTo(100, 3);
  });
});
