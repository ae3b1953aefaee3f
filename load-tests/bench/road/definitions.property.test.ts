import { prepareShape, shapeFromFeature } from '@outrider/geo';
import { expect, test } from 'vitest';
import { recordDrive } from '../drives.ts';
import { geofenceFeatures } from './definitions.ts';

test('the geofences of a load are valid, of every shape, and hold as many positions as they say', () => {
  const shapes = geofenceFeatures(10_000).map((feature) => {
    const read = shapeFromFeature(feature);
    if (!read.ok) throw new Error(JSON.stringify(read.errors));
    return prepareShape(read.shape);
  });
  expect(new Set(shapes.map(({ shape }) => shape.type))).toEqual(new Set(['circle', 'polygon', 'line']));
  const places = [1, 2, 3].flatMap((vehicle) =>
    recordDrive(vehicle, 3000, 1.7e12).filter((_, index) => index % 30 === 0),
  );
  let inside = 0;
  for (const { longitude, latitude } of places)
    if (shapes.some((shape) => shape.contains(longitude, latitude))) inside++;
  expect(inside / places.length).toBeGreaterThan(0.1);
  expect(inside / places.length).toBeLessThan(0.6);
});
