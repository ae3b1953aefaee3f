import type { Position } from '@outrider/domain';
import type { Spot } from '@outrider/geo';
import type { OwnerFences } from './fences.ts';
import type { Stay, VehicleState } from './vehicle-state.ts';

/**
 * Most fixes change nothing: the vehicle is inside the same geofences as before, nothing waits for time to pass, and no
 * limit is near. Such a vehicle is calm. What makes it so is found out when something did change ({@link settle}), and then
 * looked at for each fix ({@link staysCalm}), which costs far less than to go through visits and limits.
 *
 * All this is of one epoch: of the definitions as they were. It is not part of the checkpointed state, for it changes nothing
 * that is told: a vehicle that is not known to be calm takes the long way to the same end.
 */

/**
 * True where a fix changes nothing but where the vehicle is, and how fast.
 *
 * @param vehicle settled in the present epoch
 */
export function staysCalm(vehicle: VehicleState, fix: Position): boolean {
  const { speedKmh, longitude, latitude } = fix;
  // A speed that the terminal does not give has to be worked out.
  if (speedKmh === null || !(speedKmh >= 0 && speedKmh <= vehicle.calmKmh)) return false;
  const { watchers, spots } = vehicle;
  for (let i = 0; i < watchers.length; i++)
    if (!(watchers[i] as OwnerFences).isUnchanged(spots[i] as Spot, longitude, latitude)) return false;
  return true;
}

/** Finds out up to which speed a vehicle is calm, once a fix has been dealt with. */
export function settle(vehicle: VehicleState, epoch: number): void {
  vehicle.calmEpoch = epoch;
  vehicle.calmKmh = calmSpeedKmh(vehicle);
}

function calmSpeedKmh({ definition, stays, runs }: VehicleState): number {
  // With each fix a run grows, and a stay or an absence gets older.
  if (runs.length > 0) return -1;
  let limitKmh = definition?.speedLimitKmh ?? Number.MAX_VALUE;
  for (let i = 0; i < stays.length; i++) {
    const { phase, fence } = stays[i] as Stay;
    if (phase !== 'inside') return -1;
    if (fence.speedLimitKmh !== null && fence.speedLimitKmh < limitKmh) limitKmh = fence.speedLimitKmh;
  }
  return definition === null ? limitKmh : limitKmh + definition.speedToleranceKmh;
}
