import type { Geofence, User, Vehicle } from './definitions.ts';

/** What of an account the question of rights needs. */
export type Caller = Pick<User, 'id' | 'role' | 'blocked' | 'groupIds'>;

/** May the caller see the vehicle, its positions and its events? (semantics, "People and rights") */
export function maySeeVehicle(caller: Caller, vehicle: Pick<Vehicle, 'dealerId' | 'groupIds'>): boolean {
  if (caller.blocked) return false;
  switch (caller.role) {
    case 'operator':
      return true;
    case 'dealer':
      return vehicle.dealerId === caller.id;
    case 'user':
      return vehicle.groupIds.some((groupId) => caller.groupIds.includes(groupId));
  }
}

/**
 * Does the geofence watch the vehicle? It watches what its owner may see, or the groups it names among that. A blocked
 * owner's geofences watch nothing: the owner's rights are withdrawn.
 */
export function watches(
  geofence: Pick<Geofence, 'groupIds'>,
  owner: Caller,
  vehicle: Pick<Vehicle, 'dealerId' | 'groupIds'>,
): boolean {
  if (!maySeeVehicle(owner, vehicle)) return false;
  const { groupIds } = geofence;
  return groupIds === null || vehicle.groupIds.some((groupId) => groupIds.includes(groupId));
}
