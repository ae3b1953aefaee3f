import { isUuid } from '@outrider/domain';
import { z } from 'zod';

/*
 * Where reports go on, as it goes to the client and comes back: whatever else comes is refused. A cursor gives no right to anything:
 * it names a place among the vehicles that the caller may see.
 */

const uuid = z.string().refine(isUuid);
const timeMs = z.int();
const count = z.int().min(0);

const lastEvent = z.strictObject({ vehicleId: uuid, beganAtMs: timeMs, id: uuid }).nullable();

export const vehicleCursor = z.strictObject({ vehicle: uuid });
export const shapeCursor = z.strictObject({ vehicle: uuid, told: count });
export const totalsCursor = z.strictObject({ vehicle: uuid, place: z.int().min(-1) });
export const eventsCursor = z.strictObject({ fleet: uuid, after: lastEvent });
export const trackCursor = z.strictObject({
  fleet: uuid,
  after: z.strictObject({ vehicleId: uuid, fixTimeMs: timeMs }).nullable(),
});
export const visitCursor = z.strictObject({
  fleet: uuid,
  after: lastEvent,
  left: z.strictObject({ vehicleId: uuid, geofenceId: uuid, endedAtMs: timeMs.nullable() }).nullable(),
});
