import type { VehicleId } from '@outrider/domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lateTopic } from '../topics.ts';

test('an interval is read as it was written, and kept in order by its vehicle', () => {
  const time = fc.integer({ min: 0, max: 2 ** 43 });
  fc.assert(
    fc.property(fc.uuid(), time, time, time, (vehicleId, fromMs, toMs, receivedAtMs) => {
      const late = { vehicleId: vehicleId as VehicleId, fromMs, toMs, receivedAtMs };
      expect(lateTopic.decode(lateTopic.encode(late))).toEqual(late);
      expect(lateTopic.key(late)).toBe(vehicleId);
    }),
  );
});

test('what is no such record is refused', () => {
  expect(() => lateTopic.decode(Buffer.from('none of it'))).toThrow();
});
