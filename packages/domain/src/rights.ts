import type { UserId } from './ids.ts';
import { type Keyed, limitedAccount } from './resources/api-key.ts';
import type { Geofence } from './resources/geofence.ts';
import type { AccountRight, User } from './resources/user.ts';
import type { Vehicle } from './resources/vehicle.ts';

/** What of an account the question of rights needs. */
export type Caller = Pick<User, 'id' | 'role' | 'blocked' | 'groupIds'> & Keyed;

/** What of an account the question needs which organisation it belongs to. */
export type Member = Pick<User, 'id' | 'role' | 'dealerId'>;

/** What of a geofence the question needs who may know of it. */
export type OwnedGeofence = Pick<Geofence, 'ownerId' | 'sharedWithOrganisation' | 'sharedGroupIds'>;

/** The dealer that the account is or belongs to; null: it is the operator's own. */
export function organisationOf({ id, role, dealerId }: Member): UserId | null {
  return role === 'dealer' ? id : dealerId;
}

/**
 * Was the geofence shared with the account? With the organisation of its owner, or with a group: then with users that
 * were given the group, and with the dealer of the owner.
 *
 * @param owner null when the account was deleted
 */
export function isSharedWith(caller: Caller & Member, geofence: OwnedGeofence, owner: Member | null): boolean {
  const { sharedWithOrganisation, sharedGroupIds } = geofence;
  if (caller.role === 'user' && sharedGroupIds.some((id) => caller.groupIds.includes(id))) return true;
  if (owner === null || organisationOf(caller) !== organisationOf(owner)) return false;
  return sharedWithOrganisation || (caller.role === 'dealer' && sharedGroupIds.length > 0);
}

/**
 * May the account know of the geofence? Its owner may, the owner's dealer, operators, and whom it was shared with.
 *
 * @param owner null when the account was deleted
 */
export function maySeeGeofence(caller: Caller & Member, geofence: OwnedGeofence, owner: Member | null): boolean {
  if (caller.blocked) return false;
  const account = limitedAccount(caller);
  if (account !== null && !maySeeGeofence(account, geofence, owner)) return false;
  if (caller.role === 'operator' || geofence.ownerId === caller.id) return true;
  if (caller.role === 'dealer' && owner?.dealerId === caller.id) return true;
  return isSharedWith(caller, geofence, owner);
}

/** What of a vehicle the question needs who may see its data. */
export type SeenVehicle = Pick<Vehicle, 'dealerId' | 'groupIds' | 'suspension'>;

/** May the account change such things? Operators and dealers may by their role. */
export function hasRight({ role, rights }: Pick<User, 'role' | 'rights'>, right: AccountRight): boolean {
  return role !== 'user' || rights.includes(right);
}

/**
 * May the caller see the positions and the events of the vehicle, and all else that its terminal says? While the
 * vehicle is suspended, operators alone may.
 */
export function maySeeVehicle(caller: Caller, vehicle: SeenVehicle): boolean {
  return (vehicle.suspension === null || caller.role === 'operator') && mayListVehicle(caller, vehicle);
}

/** May the caller know of the vehicle, and see its profile? (semantics, "People and rights") */
export function mayListVehicle(caller: Caller, vehicle: Pick<Vehicle, 'dealerId' | 'groupIds'>): boolean {
  if (caller.blocked) return false;
  const account = limitedAccount(caller);
  if (account !== null && !mayListVehicle(account, vehicle)) return false;
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
 * owner's geofences watch nothing: the owner's rights are withdrawn. A suspended vehicle is watched: its events are
 * there once it is resumed.
 */
export function watches(
  geofence: Pick<Geofence, 'groupIds'>,
  owner: Caller,
  vehicle: Pick<Vehicle, 'dealerId' | 'groupIds'>,
): boolean {
  if (!mayListVehicle(owner, vehicle)) return false;
  const { groupIds } = geofence;
  return groupIds === null || vehicle.groupIds.some((groupId) => groupIds.includes(groupId));
}
