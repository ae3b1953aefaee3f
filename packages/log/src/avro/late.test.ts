import type { VehicleId } from '@outrider/domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lateTopic } from '../topics.ts';

test('an interval is read as it was written, and kept in order by its vehicle', () => {
  const time = fc.integer({ min: 0, max: 2 ** 43 });
  fc.assert(
    fc.property(fc.uuid(), time, time, time, fc.boolean(), (vehicleId, fromMs, toMs, receivedAtMs, hasAlarm) => {
      const late = { vehicleId: vehicleId as VehicleId, fromMs, toMs, receivedAtMs, hasAlarm };
      expect(lateTopic.decode(lateTopic.encode(late))).toEqual(late);
      expect(lateTopic.key(late)).toBe(vehicleId);
    }),
  );
});

test('an interval of the version without alarms is read as one without', () => {
  const vehicleId = '0190a000-0000-7000-8000-000000000001' as VehicleId;
  const bytes = Buffer.concat([
    Buffer.from('c301a0c0a6878175879948', 'hex'),
    Buffer.from(vehicleId),
    Buffer.from('020406', 'hex'),
  ]);
  expect(lateTopic.decode(bytes)).toEqual({ vehicleId, fromMs: 1, toMs: 2, receivedAtMs: 3, hasAlarm: false });
});

test('what is no such record is refused', () => {
  expect(() => lateTopic.decode(Buffer.from('none of it'))).toThrow();
});
