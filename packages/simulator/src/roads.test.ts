import { describe, expect, test } from 'vitest';
import { createRoadNetwork, findRoute, type Road } from './roads.ts';

const network = createRoadNetwork(1);
const roads = network.roadsFrom.flat();

function seconds(route: readonly Road[]): number {
  return route.reduce((sum, road) => sum + road.lengthM / (road.limitKmh / 3.6), 0);
}

describe('the town', () => {
  test('is the same for the same seed, and another for another', () => {
    expect(createRoadNetwork(1).junctions).toEqual(network.junctions);
    expect(createRoadNetwork(2).junctions).not.toEqual(network.junctions);
  });

  test.each([1, 2, 3, 4, 5])('lets every junction be reached from every other (seed %i)', (seed) => {
    const town = createRoadNetwork(seed);
    // Every road goes both ways, so one junction that reaches all is enough.
    for (let junction = 0; junction < town.junctions.length; junction++)
      expect(findRoute(town, town.center, junction)).not.toBeNull();
  });

  test('has roads that begin and end at their junctions and are as long as they say', () => {
    for (const road of roads) {
      expect(road.path[0]).toEqual(network.junctions[road.from]);
      expect(road.path.at(-1)).toEqual(network.junctions[road.to]);
      let lengthM = 0;
      road.path.forEach((place, index) => {
        const before = road.path[index - 1];
        if (!before) return;
        const [a, b] = [network.plane.toPoint(before), network.plane.toPoint(place)];
        lengthM += Math.hypot(b[0] - a[0], b[1] - a[1]);
      });
      expect(road.lengthM).toBeCloseTo(lengthM, 3);
    }
  });

  test('has limits from 30 to 110 km/h and curves', () => {
    const limits = new Set(roads.map((road) => road.limitKmh));
    expect(Math.min(...limits)).toBe(30);
    expect(Math.max(...limits)).toBe(110);
    expect(limits.size).toBeGreaterThanOrEqual(5);
    expect(roads.filter((road) => road.path.length > 3).length).toBeGreaterThan(roads.length / 2);
  });
});

describe('a route', () => {
  test('is a chain of roads from the one junction to the other', () => {
    const [from, to] = [network.sites[0], network.sites.at(-1)].map((site) => site?.junction ?? -1) as [number, number];
    const route = findRoute(network, from, to) ?? [];
    expect(route[0]?.from).toBe(from);
    expect(route.at(-1)?.to).toBe(to);
    for (let i = 1; i < route.length; i++) expect(route[i]?.from).toBe(route[i - 1]?.to);
  });

  test('is as fast as the fastest that relaxing every road over and over finds', () => {
    const from = network.center;
    const best = network.junctions.map((_, junction) => (junction === from ? 0 : Number.POSITIVE_INFINITY));
    for (let changed = true; changed; ) {
      changed = false;
      for (const road of roads) {
        const reached = (best[road.from] as number) + road.lengthM / (road.limitKmh / 3.6);
        if (reached < (best[road.to] as number) - 1e-9) {
          best[road.to] = reached;
          changed = true;
        }
      }
    }
    best.forEach((expected, to) => {
      expect(seconds(findRoute(network, from, to) ?? [])).toBeCloseTo(expected, 6);
    });
  });

  test('is empty where one already is, and null where no way leads', () => {
    expect(findRoute(network, 3, 3)).toEqual([]);
    expect(findRoute({ ...network, roadsFrom: [[], []] }, 0, 1)).toBeNull();
  });
});
