import type { UserId } from './ids.ts';
import { type Keyed, limitedAccount } from './resources/api-key.ts';
import type { Geofence } from './resources/geofence.ts';
import type { AccountRight, User } from './resources/user.ts';
import type { Vehicle } from './resources/vehicle.ts';

/** Fields of an account that decide its rights. */
export type Caller = Pick<User, 'id' | 'role' | 'blocked' | 'groupIds'> & Keyed;

/** Fields of an account that decide its organisation. */
export type Member = Pick<User, 'id' | 'role' | 'dealerId'>;

/** Fields of a geofence that decide who may see it. */
export type OwnedGeofence = Pick<Geofence, 'ownerId' | 'sharedWithOrganisation' | 'sharedGroupIds'>;

/** The dealer that the account is or belongs to; null: it belongs to the operator. */
export function organisationOf({ id, role, dealerId }: Member): UserId | null {
  return role === 'dealer' ? id : dealerId;
}

/**
 * Whether the geofence was shared with the account: with the organisation of its owner, or with a group. A group gives
 * access to the users that were given the group, and to the dealer of the owner.
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
 * Whether the account may see the geofence: its owner, the owner's dealer, operators, and accounts that it is shared
 * with.
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

/** Fields of a vehicle that decide who may see its data. */
export type SeenVehicle = Pick<Vehicle, 'dealerId' | 'groupIds' | 'suspension'>;

/** Whether the account has the right. Operators and dealers have all rights by their role. */
export function hasRight({ role, rights }: Pick<User, 'role' | 'rights'>, right: AccountRight): boolean {
  return role !== 'user' || rights.includes(right);
}

/**
 * Whether the caller may see the positions and events of the vehicle, and all other data from its terminal. While the
 * vehicle is suspended, only operators may.
 */
export function maySeeVehicle(caller: Caller, vehicle: SeenVehicle): boolean {
  return (vehicle.suspension === null || caller.role === 'operator') && mayListVehicle(caller, vehicle);
}

/** Whether the caller may see that the vehicle exists, and its profile (semantics, "People and rights"). */
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
 * Whether the geofence watches the vehicle. A geofence watches all vehicles that its owner may see, or those of them in
 * its groups. Geofences of a blocked owner watch nothing, since the owner's rights are withdrawn. A suspended vehicle
 * is watched, so that its events are available once it is resumed.
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
