import type { Position } from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { expect, test } from 'vitest';
import { harshBetween, harshLimitsOf } from './harsh-driving.ts';
import { fix } from './scene.fixture.ts';

const limits = { accelerationMps2: 2.5, brakingMps2: 3, corneringMps2: 3 };
const between = (seconds: number, a: Partial<Position>, b: Partial<Position>) =>
  harshBetween(limits, fix(0, 0, 0, a), fix(seconds, 0, 0, b));

test('a change of speed is harsh above the limit of its direction', () => {
  // 20 km/h in 2 s are 2.78 m/s².
  expect(between(2, { speedKmh: 30 }, { speedKmh: 50 })).toEqual([
    { manoeuvre: 'acceleration', mps2: expect.closeTo(2.78, 2) },
  ]);
  expect(between(2, { speedKmh: 50 }, { speedKmh: 30 })).toEqual([]);
  expect(between(2, { speedKmh: 50 }, { speedKmh: 28 })).toEqual([
    { manoeuvre: 'braking', mps2: expect.closeTo(3.06, 2) },
  ]);
  expect(between(2, { speedKmh: 50 }, { speedKmh: 50 })).toEqual([]);
});

test('a bend is harsh by the speed and the change of the course, over north as well', () => {
  // 36 km/h are 10 m/s; 20° a second are 0.349 rad: 3.49 m/s².
  const bend = (fromDeg: number | null, toDeg: number | null, speedKmh = 36) =>
    between(1, { speedKmh, courseDeg: fromDeg }, { speedKmh, courseDeg: toDeg });
  const cornering = [{ manoeuvre: 'cornering', mps2: expect.closeTo(3.49, 2) }];
  expect(bend(350, 10)).toEqual(cornering);
  expect(bend(10, 350)).toEqual(cornering);
  expect(bend(100, 115)).toEqual([]);
  expect(bend(null, 10)).toEqual([]);
  // Slower than 15 km/h the course is noise.
  expect(bend(0, 70, 14)).toEqual([]);
});

test('fixes that are too far apart, too close, or not to be believed show nothing', () => {
  expect(between(5, { speedKmh: 80 }, { speedKmh: 0 })).toMatchObject([{ manoeuvre: 'braking' }]);
  expect(between(5.001, { speedKmh: 80 }, { speedKmh: 0 })).toEqual([]);
  expect(between(0.4, { speedKmh: 50 }, { speedKmh: 45 })).toEqual([]);
  expect(between(1, { speedKmh: 90 }, { speedKmh: 0 })).toEqual([]);
  expect(between(2, { speedKmh: 50 }, { speedKmh: null })).toEqual([]);
});

test('a vehicle without limits has none', () => {
  expect(harshLimitsOf(sampleVehicle({}))).toBeNull();
  expect(harshLimitsOf(sampleVehicle({ harshBrakingMps2: 3 }))).toEqual({
    ...{ accelerationMps2: Number.POSITIVE_INFINITY, brakingMps2: 3, corneringMps2: Number.POSITIVE_INFINITY },
  });
});
