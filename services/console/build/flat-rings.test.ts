import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { feature } from 'topojson-client';
import { expect, test } from 'vitest';
import { flatFeatures, flatPolygon } from './flat-rings.ts';

test('a ring over the antimeridian continues beyond 180 degrees', () => {
  const ring = [
    [170, 60],
    [-170, 60],
    [-170, 70],
    [170, 70],
    [170, 60],
  ];
  const longitudes = flatPolygon([ring])[0]?.map(([longitude]) => longitude);
  expect(longitudes).toEqual([170, 190, 190, 170, 170]);
});

test('a hole goes to the side that its polygon is on', () => {
  const outer = [
    [-170, 60],
    [170, 60],
    [100, 60],
    [100, 70],
    [170, 70],
    [-170, 70],
    [-170, 60],
  ];
  const hole = [
    [150, 62],
    [155, 62],
    [155, 64],
    [150, 62],
  ];
  expect(flatPolygon([outer, hole])[1]?.map(([longitude]) => longitude)).toEqual([-210, -205, -205, -210]);
});

test('a ring around the pole is closed along the pole', () => {
  const ring = [
    [-120, -70],
    [0, -70],
    [120, -70],
    [-120, -70],
  ];
  expect(flatPolygon([ring])[0]).toEqual([
    [-120, -70],
    [0, -70],
    [120, -70],
    [240, -70],
    [240, -90],
    [-120, -90],
    [-120, -70],
  ]);
});

test('no ring of the map of the world jumps, and places are on land or at sea as they should be', () => {
  const file = createRequire(import.meta.url).resolve('world-atlas/land-50m.json');
  const topology = JSON.parse(readFileSync(file, 'utf8'));
  const { features } = flatFeatures(feature(topology, topology.objects.land));
  const polygons = features.map(({ geometry }) => (geometry as GeoJSON.Polygon).coordinates);
  for (const ring of polygons.flat())
    for (const [index, [longitude = 0, latitude = 0]] of ring.entries()) {
      const [before = longitude] = ring[index - 1] ?? [];
      if (latitude !== -90) expect(Math.abs(longitude - before)).toBeLessThan(180);
    }
  const isLand = (longitude: number, latitude: number) =>
    [-360, 0, 360].some((turn) => polygons.some((rings) => isWithin(rings, longitude + turn, latitude)));
  expect(isLand(-3.7, 40.4), 'Madrid').toBe(true);
  expect(isLand(-8, 12.6), 'Bamako').toBe(true);
  expect(isLand(172, 66.5), 'Chukotka').toBe(true);
  expect(isLand(-173.2, 65.5), 'Chukotka beyond the antimeridian').toBe(true);
  expect(isLand(51, 42), 'the Caspian Sea').toBe(false);
  expect(isLand(0, -85), 'Antarctica').toBe(true);
  expect(isLand(-30, 45), 'the Atlantic').toBe(false);
});

/** By the number of edges that a ray to the east crosses. */
function isWithin(rings: GeoJSON.Position[][], longitude: number, latitude: number): boolean {
  let crossings = 0;
  for (const ring of rings)
    for (const [index, [toX = 0, toY = 0]] of ring.entries()) {
      const [fromX = 0, fromY = 0] = ring[index - 1] ?? [toX, toY];
      if (
        fromY > latitude !== toY > latitude &&
        longitude < fromX + ((latitude - fromY) / (toY - fromY)) * (toX - fromX)
      )
        crossings += 1;
    }
  return crossings % 2 === 1;
}
