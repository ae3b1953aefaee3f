import { rightToGeofence, rightToGroup, rightToNotificationRule, rightToUser } from '@outrider/access';
import {
  type Definition,
  type Directory,
  type Geofence,
  type Member,
  mayListVehicle,
  maySeeDriver,
  maySeeVehicle,
  mayUseVideo,
  organisationOf,
  type User,
} from '@outrider/domain';

/** Key of operators. Never equal to an id, because no id is empty. */
const OPERATORS = '';

/** Whether the account may see the definition, by the same rights as in REST. */
export function maySeeDefinition(user: User, definition: Definition, directory: Directory): boolean {
  switch (definition.kind) {
    case 'vehicle':
      return mayListVehicle(user, definition);
    case 'driver':
      return maySeeDriver(user, definition);
    case 'group':
      return rightToGroup(user, definition) !== 'none';
    case 'geofence':
      return rightToGeofence(user, definition, directory.ownerOf(definition)) !== 'none';
    case 'user':
      return rightToUser(user, definition) !== 'none';
    case 'notification-rule':
      return rightToNotificationRule(user, definition) !== 'none';
    case 'video-profile': {
      const vehicle = directory.vehicles.get(definition.vehicleId);
      return mayUseVideo(user) && vehicle !== undefined && maySeeVehicle(user, vehicle);
    }
  }
}

/**
 * Keys that lead to all accounts that may see a definition, and maybe to others: operators, an account's id, a group's
 * id for the users that were given the group, or an organisation for its users.
 */
export function viewerKeysOf(definition: Definition, directory: Directory): readonly string[] {
  switch (definition.kind) {
    case 'vehicle':
      return keys(definition.dealerId, ...definition.groupIds);
    case 'driver':
      return keys(definition.dealerId, ...definition.groupIds);
    case 'group':
      return keys(definition.dealerId, definition.id);
    case 'geofence':
      return keys(definition.ownerId, ...sharesOf(definition, directory.ownerOf(definition)));
    case 'user':
      return keys(definition.dealerId, definition.id);
    case 'notification-rule':
      return keys(definition.ownerId);
    case 'video-profile': {
      const vehicle = directory.vehicles.get(definition.vehicleId);
      return vehicle === undefined ? [] : viewerKeysOf(vehicle, directory);
    }
  }
}

/** Keys under which an account is indexed. */
export function keysOfViewer(user: User): readonly string[] {
  const { id, role, groupIds } = user;
  const organisation = organisationKey(user);
  return { operator: [OPERATORS, id], dealer: [id], user: [id, organisation, ...groupIds] }[role];
}

/** Definitions whose viewers depend on a definition that changes. */
export function* dependentsOf(
  before: Definition | null,
  after: Definition | null,
  directory: Directory,
): Generator<Definition> {
  if (before?.kind === 'vehicle')
    for (const profile of directory.videoProfiles.values()) if (profile.vehicleId === before.id) yield profile;
  if (before?.kind === 'user' && after?.kind === 'user' && before.dealerId !== after.dealerId)
    for (const geofence of directory.geofences.values()) if (geofence.ownerId === before.id) yield geofence;
}

/** Whether two versions of an account see the same. */
export function isSameViewer(one: User, other: User): boolean {
  const [keysOfOne, keysOfOther] = [new Set(keysOfViewer(one)), new Set(keysOfViewer(other))];
  return (
    one.role === other.role &&
    one.blocked === other.blocked &&
    mayUseVideo(one) === mayUseVideo(other) &&
    keysOfOne.symmetricDifference(keysOfOther).size === 0
  );
}

/** Key of the users of an organisation. */
function organisationKey(member: Member): string {
  return `organisation ${organisationOf(member) ?? ''}`;
}

/** Keys of the owner's dealer and of all with whom the geofence is shared. */
function sharesOf({ sharedWithOrganisation, sharedGroupIds }: Geofence, owner: User | undefined): (string | null)[] {
  if (owner === undefined) return [...sharedGroupIds];
  return [owner.dealerId, ...(sharedWithOrganisation ? [organisationKey(owner)] : []), ...sharedGroupIds];
}

function keys(...ids: readonly (string | null)[]): string[] {
  return [OPERATORS, ...ids.filter((id) => id !== null)];
}
