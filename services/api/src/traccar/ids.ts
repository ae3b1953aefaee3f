import type { VehicleId } from '@outrider/domain';

/** 2^52: numbers of this many values, and twice as many, are whole in JSON wherever it is read. */
const VALUES = 2 ** 52;
/** 2^41 milliseconds are 69 years. */
const TIMES = 2 ** 41;

/**
 * What Traccar's clients know something by, a positive integer in place of a UUID: the last 52 bits of the UUID, which
 * are random, or those of a hash. Nothing is stored. Of a million things two have the same number with a probability
 * of 1 in 10,000.
 */
export function traccarId(uuid: string): number {
  return Number.parseInt(uuid.slice(-16).replaceAll('-', '').slice(-13), 16) || VALUES;
}

/** An event that lasts is two of Traccar's: this is the number of its end. */
export function traccarEndId(uuid: string): number {
  return VALUES + traccarId(uuid);
}

/** The number of a position: the same position always has the same, and all of a vehicle have others. */
export function traccarPositionId(vehicleId: VehicleId, fixTimeMs: number): number {
  return (traccarId(vehicleId) % 4096) * TIMES + (fixTimeMs % TIMES);
}
