import { expect, test } from 'vitest';
import { scoreOf } from './eco-driving.ts';
import { tripKey } from './scores.ts';

test('totals of the report become a score with its points, and no trips have none', () => {
  const values = { distanceM: 120_000, ecoScore: 91.5, brakingPoints: 6, idlingPoints: 4.2, durationSeconds: 9 };
  expect(scoreOf({ rows: 3, values })).toEqual({
    ...{ trips: 3, distanceM: 120_000, score: 91.5 },
    points: {
      ...{ speedingPoints: 0, accelerationPoints: 0, brakingPoints: 6, corneringPoints: 0 },
      ...{ idlingPoints: 4.2, overRevvingPoints: 0 },
    },
  });
  expect(scoreOf(undefined)).toMatchObject({ trips: 0, distanceM: 0, score: null });
});

test('a trip has the same key in all reports', () => {
  const trip = { vehicleId: 'v', startedAt: '2026-01-15T12:00:00.000Z', distanceM: 5 };
  expect(tripKey(trip)).toBe(tripKey({ ...trip, distanceM: 7 } as typeof trip));
});
