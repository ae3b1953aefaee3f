import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EARTH_RADIUS_M, metresBetween } from './mercator.ts';
import { nearest } from './nearest.ts';
import { fleetAt, vehicle } from './test-fleet.fixture.ts';

const place = fc.tuple(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.double({ min: -85, max: 85, noNaN: true }),
) as fc.Arbitrary<[number, number]>;

/** On the sphere, by the angle between the directions from its centre. */
function distanceM(from: [number, number], to: [number, number]): number {
  const direction = ([longitude, latitude]: [number, number]) => {
    const [across, up] = [(longitude * Math.PI) / 180, (latitude * Math.PI) / 180];
    return [Math.cos(up) * Math.cos(across), Math.cos(up) * Math.sin(across), Math.sin(up)] as const;
  };
  const [a, b] = [direction(from), direction(to)];
  const cross = Math.hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
  return EARTH_RADIUS_M * Math.atan2(cross, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

test('the nearest come first, by the angle between places on the sphere', () => {
  fc.assert(
    fc.property(fc.array(place, { maxLength: 40 }), place, fc.integer({ min: 1, max: 12 }), (places, at, most) => {
      const fleet = fleetAt(Object.fromEntries(places.map((one, nth) => [`v${nth}`, one])));
      const expected = places.map((one) => distanceM(at, one)).sort((a, b) => a - b);
      const found = nearest(fleet, at, most);
      expect(found.length).toBe(Math.min(most, places.length));
      for (const [nth, near] of found.entries()) {
        expect(near.distanceM).toBeCloseTo(expected[nth] as number, 0);
        expect(metresBetween(at, places[near.index] as [number, number])).toBe(near.distanceM);
      }
    }),
  );
});

test('vehicles that the list leaves out, and those without a position, are not among them', () => {
  const fleet = fleetAt({ near: [30, 60], nearer: [30, 60.001], far: [30, 61] });
  fleet.put(vehicle('nowhere'));
  fleet.setShown((index) => fleet.vehicles[index]?.id !== 'near');
  const names = nearest(fleet, [30, 60], 10).map(({ index }) => fleet.vehicles[index]?.id);
  expect(names).toEqual(['nearer', 'far']);
});
