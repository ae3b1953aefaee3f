import {
  type AccountRight,
  type Directory,
  type Driver,
  type GroupId,
  hasRight,
  type Keyed,
  limitedAccount,
  type Member,
  mayListVehicle,
  maySeeDriver,
  maySeeGeofence,
  maySeeVehicle,
  type NotificationRule,
  type OwnedGeofence,
  organisationOf,
  type ReportSchedule,
  type SeenVehicle,
  type User,
  type UserId,
  type Vehicle,
  type VehicleGroup,
} from '@outrider/domain';
import type {
  AuditFilter,
  GeofenceFilter,
  GroupFilter,
  NotificationRuleFilter,
  ShareLink,
  ShareLinkFilter,
  UserFilter,
  VehicleFilter,
} from '@outrider/registry';
import { Problem, rightNeeded } from './problem.ts';

/** A caller's right to an object. `none`: the object does not exist, or looks as if it did not. */
export type Right = 'none' | 'read' | 'write';

/** An object found by its id, if it exists. */
type Maybe<T> = T | null | undefined;

/** Rights of callers (semantics, "People and rights"). All rights are decided in this module, and nowhere else. */
export function rightToVehicle(caller: User, vehicle: Maybe<Pick<Vehicle, 'dealerId' | 'groupIds'>>): Right {
  if (!vehicle || !mayListVehicle(caller, vehicle)) return 'none';
  return hasRight(caller, 'edit-vehicles') ? 'write' : 'read';
}

/**
 * As {@link rightToVehicle}, for the vehicle's data: what its terminal sends, and what is derived from it. Hidden while
 * the vehicle is suspended.
 */
export function rightToData(caller: User, vehicle: Maybe<SeenVehicle>): Right {
  return vehicle && maySeeVehicle(caller, vehicle) ? rightToVehicle(caller, vehicle) : 'none';
}

/** @throws {Problem} `vehicle-suspended` when the vehicle's data is hidden, though the caller may see its profile */
export function requireData(caller: User, vehicle: SeenVehicle): void {
  if (maySeeVehicle(caller, vehicle)) return;
  throw new Problem('vehicle-suspended', `The data of the vehicle is hidden: ${vehicle.suspension?.reason ?? ''}`);
}

/** @throws {Problem} `forbidden`, naming the right that the account was not given */
export function requireRight(caller: User, right: AccountRight): void {
  if (!hasRight(caller, right)) throw rightNeeded(right);
}

/** @throws {Problem} when an operator suspended the vehicle, and the change would end or bypass the suspension */
export function requireNotHeld(caller: User, { suspension }: Pick<Vehicle, 'suspension'>, what: string): void {
  if (suspension?.by === 'operator' && !isOperator(caller))
    throw new Problem('vehicle-suspended', `An operator suspended the vehicle: only operators may ${what}.`);
}

export function rightToGroup(caller: User & Keyed, group: Maybe<Pick<VehicleGroup, 'id' | 'dealerId'>>): Right {
  if (!group || caller.blocked) return 'none';
  const account = limitedAccount(caller);
  if (account !== null && rightToGroup(account, group) === 'none') return 'none';
  switch (caller.role) {
    case 'operator':
      return 'write';
    case 'dealer':
      return group.dealerId === caller.id ? 'write' : 'none';
    case 'user':
      return caller.groupIds.includes(group.id) ? 'read' : 'none';
  }
}

export function rightToUser(caller: User, user: Maybe<Pick<User, 'id' | 'dealerId'>>): Right {
  if (!user || caller.blocked) return 'none';
  if (caller.role === 'operator') return 'write';
  if (caller.role === 'dealer' && user.dealerId === caller.id) return 'write';
  return user.id === caller.id ? 'read' : 'none';
}

/**
 * A geofence is changed by its owner, if granted that right, and by operators. Dealers change those that their users
 * shared, and read the users' others.
 *
 * @param owner the geofence's owner; undefined when it was deleted
 */
export function rightToGeofence(caller: User, geofence: Maybe<OwnedGeofence>, owner: Member | undefined): Right {
  if (!geofence || !maySeeGeofence(caller, geofence, owner ?? null)) return 'none';
  if (geofence.ownerId === caller.id) return hasRight(caller, 'edit-geofences') ? 'write' : 'read';
  if (caller.role === 'operator') return 'write';
  const isShared = geofence.sharedWithOrganisation || geofence.sharedGroupIds.length > 0;
  return isShared && caller.role === 'dealer' && owner?.dealerId === caller.id ? 'write' : 'read';
}

/** Rules are accessible only to their owner and to operators. */
export function rightToNotificationRule(caller: User, rule: Pick<NotificationRule, 'ownerId'>): Right {
  if (caller.blocked) return 'none';
  return caller.role === 'operator' || rule.ownerId === caller.id ? 'write' : 'none';
}

/** Schedules belong to their owner alone; only operators may see those of others. */
export function rightToReportSchedule(caller: User, schedule: Pick<ReportSchedule, 'ownerId'>): Right {
  if (caller.blocked) return 'none';
  return caller.role === 'operator' || schedule.ownerId === caller.id ? 'write' : 'none';
}

/**
 * A link belongs to the account that made it. Dealers also manage those of their users.
 *
 * @param owner the account that made it; undefined when it was deleted
 */
export function rightToShareLink(
  caller: User,
  link: Pick<ShareLink, 'ownerId'>,
  owner: Pick<User, 'dealerId'> | undefined,
): Right {
  if (caller.blocked) return 'none';
  if (caller.role === 'operator' || link.ownerId === caller.id) return 'write';
  return caller.role === 'dealer' && owner?.dealerId === caller.id ? 'write' : 'none';
}

/** Whether the caller may add vehicles, groups and users. */
export function mayManage(caller: User): boolean {
  return caller.role !== 'user' && !caller.blocked;
}

/**
 * Whether the caller may list and end the sessions of an account. The user and operators may; dealers block the account
 * instead.
 */
export function maySeeSessions(caller: User, userId: UserId): boolean {
  return !caller.blocked && (caller.role === 'operator' || caller.id === userId);
}

/** Operators grant the API, create dealers, move things between dealers, and see terminals without a profile. */
export function isOperator(caller: User): boolean {
  return caller.role === 'operator' && !caller.blocked;
}

/** Dealer to whom objects that the caller adds belong. */
export function dealerOf(caller: User): UserId | null {
  return caller.role === 'dealer' ? caller.id : null;
}

/**
 * Filter of what the caller may see. If the caller is limited to groups, the account must see it too. The query filters
 * it, because the ends of pages filtered afterwards would reveal that there is more.
 */
export function ofBoth<Filter extends object>(caller: User, filterOf: (each: User) => Filter): Filter {
  const account = limitedAccount(caller);
  return account === null ? filterOf(caller) : { ...filterOf(account), ...filterOf(caller) };
}

/** Exactly the vehicles that {@link rightToVehicle} lets the caller see. */
export function visibleVehicles(caller: User): VehicleFilter {
  return ofBoth(
    caller,
    ({ role, id, groupIds }) => ({ operator: {}, dealer: { dealerId: id }, user: { anyOfGroups: groupIds } })[role],
  );
}

/** Exactly the vehicles whose data {@link rightToData} lets the caller see. */
export function visibleData(caller: User): VehicleFilter {
  return isOperator(caller) ? visibleVehicles(caller) : { ...visibleVehicles(caller), inUse: true };
}

/** Exactly the groups that {@link rightToGroup} lets the caller see. */
export function visibleGroups(caller: User): GroupFilter {
  return ofBoth(
    caller,
    ({ role, id, groupIds }) => ({ operator: {}, dealer: { dealerId: id }, user: { ids: groupIds } })[role],
  );
}

/** Exactly the users that {@link rightToUser} lets the caller see. */
export function visibleUsers({ role, id }: User): UserFilter {
  return { operator: {}, dealer: { ofDealer: id }, user: { id } }[role];
}

/** Exactly the geofences that {@link rightToGeofence} lets the caller see. */
export function visibleGeofences(caller: User): GeofenceFilter {
  return ofBoth(caller, (each) => {
    const { id, role, groupIds } = each;
    const sharedWith = { organisation: organisationOf(each), groupIds };
    return { operator: {}, dealer: { ofDealer: id }, user: { ownerId: id, sharedWith } }[role];
  });
}

/** Exactly the links that {@link rightToShareLink} lets the caller see. */
export function visibleShareLinks({ role, id }: User): ShareLinkFilter {
  return { operator: {}, dealer: { ofDealer: id }, user: { ownerId: id } }[role];
}

/** Exactly the rules that {@link rightToNotificationRule} lets the caller see. */
export function visibleNotificationRules(caller: User): NotificationRuleFilter {
  return caller.role === 'operator' ? {} : { ownerId: caller.id };
}

/** Filter of the part of the audit trail that the caller may read; null: nothing. */
export function visibleAudit(caller: User): AuditFilter | null {
  return caller.blocked ? null : { operator: {}, dealer: { ofDealer: caller.id }, user: null }[caller.role];
}

/** Groups in both lists: `narrowed`, if it is among the caller's groups. */
export function bothHold(given: readonly GroupId[] | undefined, narrowed: GroupId): readonly GroupId[] {
  return given === undefined || given.includes(narrowed) ? [narrowed] : [];
}

/**
 * Rules, schedules and message channels take effect after the call, with all rights of the account. Therefore a key
 * that is limited to groups may not change them.
 *
 * @throws {Problem} `forbidden`
 */
export function requireUnlimited(caller: Keyed): void {
  if (limitedAccount(caller) !== null)
    throw new Problem(
      'forbidden',
      'An API key that is limited to groups may not change something that takes effect later with all rights of its account.',
    );
}

/**
 * Passwords, sessions and API keys are only for people who logged in: a stolen key must not gain permanent access.
 *
 * @throws {Problem} `forbidden` when the caller uses an API key
 */
export function requirePerson({ viaKey }: Keyed): void {
  if (viaKey !== undefined)
    throw new Problem('forbidden', 'Callers with an API key have no access to API keys, passwords and sessions.');
}

export function rightToDriver(caller: User, driver: Maybe<Pick<Driver, 'dealerId' | 'groupIds'>>): Right {
  if (!driver || !maySeeDriver(caller, driver)) return 'none';
  return caller.role === 'user' ? 'read' : 'write';
}

/**
 * Whether the caller may see which account made a correction or a record. Operators see all; others only those of their
 * own organisation.
 */
export function showsAuthor(caller: User, directory: Pick<Directory, 'users'>, id: User['id'] | null): boolean {
  if (id === null) return false;
  if (isOperator(caller) || id === caller.id) return true;
  return caller.role === 'dealer' && directory.users.get(id)?.dealerId === caller.id;
}
