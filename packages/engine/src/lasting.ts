import type { EventId } from '@outrider/domain';
import type { Moment, VehicleState } from './vehicle-state.ts';

interface Lasting {
  id: EventId;
  start: Moment;
  /** Null while the event lasts. */
  end: Moment | null;
  /** Unix milliseconds of the fix at which the engine detected it. */
  fixTimeMs: number;
  definitionVersion: number;
}

/** Common fields of events that begin and end with a record and are not inferred from the path between two. */
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
