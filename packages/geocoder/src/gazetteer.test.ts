import { distanceM } from '@outrider/geo';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Gazetteer, openGazetteer } from './gazetteer.ts';

function gazetteerOf(towns: readonly (readonly [name: string, latitude: number, longitude: number])[]): Gazetteer {
  return new Gazetteer({
    latitudes: Float32Array.from(towns, ([, latitude]) => latitude),
    longitudes: Float32Array.from(towns, ([, , longitude]) => longitude),
    names: towns.map(([name]) => name),
    countries: towns.map(() => 'BY'),
  });
}

test('a place in a town, and one beside it with distance and direction', () => {
  const towns = gazetteerOf([['Minsk', 53.9, 27.5667]]);
  expect(towns.nearest(53.905, 27.57)).toBe('Minsk, Belarus');
  expect(towns.nearest(53.99, 27.5667)).toBe('10 km N of Minsk, Belarus');
  expect(towns.nearest(53.9, 27.8)).toBe('15 km E of Minsk, Belarus');
  expect(towns.nearest(53.85, 27.48)).toBe('8 km SW of Minsk, Belarus');
  expect(towns.nearest(51, 27.5667)).toBeNull();
});

test('across the date line and near the poles', () => {
  const towns = gazetteerOf([
    ['Taveuni', -16.9, 179.99],
    ['North', 89.5, 10],
  ]);
  expect(towns.nearest(-16.9, -179.95)).toBe('6 km E of Taveuni, Belarus');
  expect(towns.nearest(89.7, -170)).toMatch(/^89 km . of North/);
});

test('it is the nearest of all, wherever cells end', () => {
  const place = fc.tuple(fc.double({ min: 40, max: 43, noNaN: true }), fc.double({ min: -1, max: 3, noNaN: true }));
  fc.assert(
    fc.property(fc.array(place, { minLength: 1, maxLength: 40 }), place, (places, [latitude, longitude]) => {
      const named = places.map(([north, east], index) => [`T${index}`, north, east] as const);
      const said = gazetteerOf(named).nearest(latitude, longitude);
      const distances = places.map(([north, east]) =>
        distanceM(longitude, latitude, Math.fround(east), Math.fround(north)),
      );
      const least = Math.min(...distances);
      if (least > 100_000) return said === null;
      const name = /T\d+/.exec(said ?? '')?.[0] ?? '';
      return distances[Number(name.slice(1))] === least;
    }),
  );
});

test('the towns of the world', async () => {
  const towns = await openGazetteer();
  expect(towns.nearest(64.1466, -21.9426)).toMatch(/Iceland$/);
  expect(towns.nearest(-33.0, 151.6)).toMatch(/Australia$/);
  expect(towns.nearest(0, -150)).toBeNull();
});
