import { describe, expect, test } from 'vitest';
import type { PointM } from './plane.ts';
import { createRoadNetwork } from './roads.ts';
import { drawTown } from './town.ts';

describe('the map of the town', () => {
  const network = createRoadNetwork(1);
  const { layers } = drawTown(network);
  const ringOf = ({ geometry }: GeoJSON.Feature) =>
    (geometry as GeoJSON.Polygon).coordinates[0]?.map((place) => network.plane.toPoint(place as [number, number])) ??
    [];

  test('is the same each time', () => {
    expect(drawTown(network).layers).toEqual(layers);
  });

  test('has every road once, and the names of all that have more than a yard', () => {
    const roads = network.roadsFrom.flat();
    expect(layers.streets).toHaveLength(roads.length / 2);
    const named = new Set(layers.street_labels.map(({ properties }) => properties?.name));
    expect(named).toEqual(new Set(roads.filter(({ kind }) => kind !== 'service').map(({ name }) => name)));
    // As long as the road goes on, not as long as a block.
    expect(layers.street_labels.length).toBeLessThan(layers.streets.length / 3);
  });

  test('has houses beside the roads, not on them, not in the river and not in parks', () => {
    const points = layers.streets.flatMap(({ geometry }) =>
      (geometry as GeoJSON.LineString).coordinates.map((place) => network.plane.toPoint(place as [number, number])),
    );
    const middles = layers.buildings.map((house) => middleOf(ringOf(house).slice(0, 4)));
    expect(middles.length).toBeGreaterThan(5000);
    for (const middle of middles)
      if (points.some(([x, y]) => Math.abs(x - middle[0]) < 12 && Math.hypot(x - middle[0], y - middle[1]) < 12))
        expect.fail(`a house on a road at ${middle}`);
    const forbidden = [
      ...layers.water_polygons,
      ...layers.land.filter(({ properties }) => properties?.kind === 'park'),
    ].map(ringOf);
    for (const ring of forbidden) for (const middle of middles) if (isInside(ring, middle)) expect.fail(`at ${middle}`);
  });

  test('has a river that no yard stands in', () => {
    const [river = [] as PointM[]] = layers.water_polygons.map(ringOf);
    for (const { at } of network.sites) expect(isInside(river, network.plane.toPoint(at))).toBe(false);
  });
});

function middleOf(ring: readonly PointM[]): PointM {
  return [0, 1].map((axis) => ring.reduce((sum, point) => sum + (point[axis] ?? 0), 0) / ring.length) as [
    number,
    number,
  ];
}

/** By the crossings of a ray eastwards: independent of how the town finds it. */
function isInside(ring: readonly PointM[], [x, y]: PointM): boolean {
  let inside = false;
  ring.forEach((a, nth) => {
    const b = ring[(nth + 1) % ring.length] ?? a;
    if (a[1] > y !== b[1] > y && x < a[0] + ((y - a[1]) / (b[1] - a[1])) * (b[0] - a[0])) inside = !inside;
  });
  return inside;
}
