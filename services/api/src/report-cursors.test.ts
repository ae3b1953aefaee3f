import type { VehicleId } from '@outrider/domain';
import { trackReport } from '@outrider/reports';
import { expect, test } from 'vitest';
import { paging, readCursor, writeCursor } from './fields/fields.ts';

const VEHICLE = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57' as VehicleId;

test('the longest cursor of a track is short enough for a query', () => {
  const place = { latitude: -89.1234567, longitude: -179.1234567 };
  const [fixTimeMs, count] = [Date.UTC(2026, 0, 15), 1e9];
  const suspects = { count, firstAtMs: fixTimeMs, lastAtMs: fixTimeMs, ...place };
  const after = { vehicleId: VEHICLE, fixTimeMs, judged: { anchor: { fixTimeMs, ...place }, suspects } };
  const cursor = writeCursor({ fleet: VEHICLE, after });
  expect(paging.cursor.safeParse(cursor).success).toBe(true);
  expect(readCursor(trackReport.cursor, cursor)).toEqual({ fleet: VEHICLE, after });
});
