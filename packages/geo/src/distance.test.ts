import { runs } from '@outrider/testing';
import { distance } from '@turf/distance';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { distanceM, haversine, isWithinHaversine } from './distance.ts';

const longitude = fc.double({ min: -180, max: 180, noNaN: true });
const latitude = fc.double({ min: -90, max: 90, noNaN: true });

test('is what turf measures', () => {
  fc.assert(
    fc.property(longitude, latitude, longitude, latitude, (x1, y1, x2, y2) => {
      const expected = distance([x1, y1], [x2, y2], { units: 'meters' });
      expect(Math.abs(distanceM(x1, y1, x2, y2) - expected)).toBeLessThanOrEqual(1e-6 + expected * 1e-12);
    }),
  );
});

test('goes the short way over the antimeridian', () => {
  expect(distanceM(179.999, 0, -179.999, 0)).toBeCloseTo(222.39, 2);
});

test('knows half of the way round the Earth', () => {
  expect(distanceM(-30, 12.3, 150, -12.3)).toBeCloseTo(Math.PI * 6_371_008.8, 0);
});

test('being within a distance is decided as the full formula decides it', () => {
  const share = fc.oneof(
    fc.double({ min: 0, max: 2, noNaN: true }),
    fc.double({ min: 1 - 1e-6, max: 1 + 1e-6, noNaN: true }),
  );
  const degrees = fc.constantFrom(1e-5, 1e-3, 0.1, 10, 360);
  fc.assert(
    fc.property(longitude, latitude, longitude, latitude, degrees, share, (x, y, dx, dy, scale, part) => {
      const x2 = x + (dx / 360) * scale;
      const y2 = Math.max(-90, Math.min(90, y + (dy / 180) * Math.min(scale, 180)));
      const cosLatitudes = Math.cos((y * Math.PI) / 180) * Math.cos((y2 * Math.PI) / 180);
      const a = haversine(x, y, x2, y2, cosLatitudes);
      const limit = a * part;
      expect(isWithinHaversine(x, y, x2, y2, cosLatitudes, limit)).toBe(a <= limit);
    }),
    { numRuns: runs(3000) },
  );
});
