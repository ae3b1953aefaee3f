import { type EventId, type GeofenceId, isUuid, type VehicleId } from '@outrider/domain';
import type { JumpState } from '@outrider/engine';
import { z } from 'zod';

/*
 * Cursors at which reports continue, as they go to the client and come back. Any other value is refused. A cursor
 * grants no rights: it names a place among the vehicles that the caller may see.
 */

const id = <Id extends string>() => z.custom<Id>((value) => typeof value === 'string' && isUuid(value));
const vehicleId = id<VehicleId>();
const timeMs = z.int();

const lastEvent = z.strictObject({ vehicleId, beganAtMs: timeMs, id: id<EventId>() }).nullable();

/** The next vehicle. */
export const vehicleCursor = z.strictObject({ vehicle: vehicleId });
export type VehicleCursor = z.output<typeof vehicleCursor>;

/** The vehicle, and how many of its rows were returned already. */
export const shapeCursor = z.strictObject({ vehicle: vehicleId, returned: z.int().min(0) });
export type ShapeCursor = z.output<typeof shapeCursor>;

/** How many rows were returned already. */
export const listCursor = z.strictObject({ returned: z.int().min(0) });

/** The vehicle, and the last place that was returned for it; -1: none. */
export const totalsCursor = z.strictObject({ vehicle: vehicleId, place: z.int().min(-1) });
export type TotalsCursor = z.output<typeof totalsCursor>;

/** End of a page of events: the first vehicle of the page's part of the fleet, and the last event. */
export const eventsCursor = z.strictObject({ fleet: vehicleId, after: lastEvent });
export type EventsCursor = z.output<typeof eventsCursor>;

const place = { latitude: z.number(), longitude: z.number() };

/** State of a vehicle's jump detection at the end of a page: it decides whether the next fix is a jump. */
export const jumpState: z.ZodType<JumpState> = z.strictObject({
  anchor: z.strictObject({ fixTimeMs: timeMs, ...place }).nullable(),
  suspects: z.strictObject({ count: z.int().min(1), firstAtMs: timeMs, lastAtMs: timeMs, ...place }).nullable(),
});

/** The same as {@link eventsCursor}, for positions. */
export const trackCursor = z.strictObject({
  fleet: vehicleId,
  after: z.strictObject({ vehicleId, fixTimeMs: timeMs, judged: jumpState }).nullable(),
});
export type TrackCursor = z.output<typeof trackCursor>;

/** The vehicle of the next row, and the indexes of its interval and its sensor. */
export const sensorsCursor = z.strictObject({ vehicle: vehicleId, place: z.int().min(0), sensor: z.int().min(0) });
export type SensorsCursor = z.output<typeof sensorsCursor>;

/** As {@link eventsCursor}, with the part of the last visit that the row after it needs. */
export const visitCursor = z.strictObject({
  fleet: vehicleId,
  after: lastEvent,
  left: z.strictObject({ vehicleId, geofenceId: id<GeofenceId>(), endedAtMs: timeMs.nullable() }).nullable(),
});
export type VisitCursor = z.output<typeof visitCursor>;
