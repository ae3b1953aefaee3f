import type { EventId } from '@outrider/domain';
import type { Moment, VehicleState } from './vehicle-state.ts';

interface Lasting {
  id: EventId;
  start: Moment;
  /** Null while it lasts. */
  end: Moment | null;
  /** Unix milliseconds of the fix that made the engine say so. */
  fixTimeMs: number;
  definitionVersion: number;
}

/** What every event has that begins and ends with a record, and is not inferred from the way between two. */
export function lastingFacts(vehicle: VehicleState, { id, start, end, fixTimeMs, definitionVersion }: Lasting) {
  const place = end ?? start;
  return {
    id,
    phase: end === null ? ('begin' as const) : ('end' as const),
    vehicleId: vehicle.id,
    startedAtMs: start.atMs,
    endedAtMs: end === null ? null : end.atMs,
    latitude: place.latitude,
    longitude: place.longitude,
    speedKmh: place.speedKmh,
    fromFixTimeMs: start.atMs,
    fixTimeMs,
    definitionVersion,
    origin: vehicle.origin,
    inferred: false,
    startLatitude: start.latitude,
    startLongitude: start.longitude,
  };
}
