import type { Fleet } from './fleet.ts';
import { metresBetween } from './mercator.ts';

/** A vehicle and its distance from a place. */
export interface Near {
  index: number;
  /** In a straight line. */
  distanceM: number;
}

/** The vehicles nearest to a place, the nearest first: of those that pass the filter and have a position. */
export function nearest(fleet: Fleet, place: readonly [longitude: number, latitude: number], most: number): Near[] {
  const found: Near[] = [];
  for (let index = 0; index < fleet.count; index += 1) {
    if (fleet.shown[index] !== 1 || !fleet.hasPosition(index)) continue;
    const distanceM = metresBetween(place, [fleet.longitude[index] as number, fleet.latitude[index] as number]);
    if (found.length === most && distanceM >= (found.at(-1)?.distanceM ?? 0)) continue;
    const at = found.findIndex((near) => near.distanceM > distanceM);
    found.splice(at === -1 ? found.length : at, 0, { index, distanceM });
    if (found.length > most) found.pop();
  }
  return found;
}
