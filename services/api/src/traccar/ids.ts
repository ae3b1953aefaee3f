import type { VehicleId } from '@outrider/domain';

/** 2^52. Numbers up to twice this value are exact integers in every JSON parser. */
const VALUES = 2 ** 52;
/** 2^41 milliseconds are 69 years. */
const TIMES = 2 ** 41;

/**
 * Positive integer id for Traccar clients, in place of a UUID: the last 52 bits of the UUID, which are random or come
 * from a hash. Nothing is stored. Among a million objects, the probability of a collision is 1 in 10,000.
 */
export function traccarId(uuid: string): number {
  return Number.parseInt(uuid.slice(-16).replaceAll('-', '').slice(-13), 16) || VALUES;
}

/** Id of the end of an event. Traccar represents an event with a duration as two. */
export function traccarEndId(uuid: string): number {
  return VALUES + traccarId(uuid);
}

/** Id of a position. It is stable, and unique among the positions of a vehicle. */
export function traccarPositionId(vehicleId: VehicleId, fixTimeMs: number): number {
  return (traccarId(vehicleId) % 4096) * TIMES + (fixTimeMs % TIMES);
}
