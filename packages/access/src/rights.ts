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

/** What a caller may do with something. `none`: it looks exactly as if it did not exist, or does not exist. */
export type Right = 'none' | 'read' | 'write';

/** What an id names, where it names something. */
type Maybe<T> = T | null | undefined;

/** Who may do what (semantics, "People and rights"): all of it, and nothing of it anywhere else. */
export function rightToVehicle(caller: User, vehicle: Maybe<Pick<Vehicle, 'dealerId' | 'groupIds'>>): Right {
  if (!vehicle || !mayListVehicle(caller, vehicle)) return 'none';
  return hasRight(caller, 'edit-vehicles') ? 'write' : 'read';
}

/** As {@link rightToVehicle}, for what its terminal says and what follows from that: hidden while it is suspended. */
export function rightToData(caller: User, vehicle: Maybe<SeenVehicle>): Right {
  return vehicle && maySeeVehicle(caller, vehicle) ? rightToVehicle(caller, vehicle) : 'none';
}

/** @throws {Problem} `vehicle-suspended` where the data of a vehicle, whose profile the caller may see, is hidden */
export function requireData(caller: User, vehicle: SeenVehicle): void {
  if (maySeeVehicle(caller, vehicle)) return;
  throw new Problem('vehicle-suspended', `Its data is hidden: ${vehicle.suspension?.reason ?? ''}`);
}

/** @throws {Problem} `forbidden`, naming the right that the account was not given */
export function requireRight(caller: User, right: AccountRight): void {
  if (!hasRight(caller, right)) throw rightNeeded(right);
}

/** @throws {Problem} where an operator suspended the vehicle, and the caller would take it out of the suspension */
export function requireNotHeld(caller: User, { suspension }: Pick<Vehicle, 'suspension'>, what: string): void {
  if (suspension?.by === 'operator' && !isOperator(caller))
    throw new Problem('vehicle-suspended', `An operator suspended it: operators alone ${what}.`);
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
 * Its owner changes a geofence, where the owner was given that right, and operators. A dealer changes those that its
 * users shared, and reads their others.
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

/** Rules are their owner's own business, and the operator's. */
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
 * A link belongs to who made it; dealers keep those of their users as well.
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

/** May the caller add vehicles, groups and users? */
export function mayManage(caller: User): boolean {
  return caller.role !== 'user' && !caller.blocked;
}

/** May the caller list and end the sessions of an account? Their user may, and operators: a dealer blocks instead. */
export function maySeeSessions(caller: User, userId: UserId): boolean {
  return !caller.blocked && (caller.role === 'operator' || caller.id === userId);
}

/** Grants the API, creates dealers, moves things between dealers, sees terminals without a profile. */
export function isOperator(caller: User): boolean {
  return caller.role === 'operator' && !caller.blocked;
}

/** The dealer that what the caller adds belongs to. */
export function dealerOf(caller: User): UserId | null {
  return caller.role === 'dealer' ? caller.id : null;
}

/**
 * Where the caller is limited to groups, what both the account and the caller may see: pages that were filtered
 * afterwards would show by their ends that there is more.
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

/** What of the audit trail the caller may read; null: nothing. */
export function visibleAudit(caller: User): AuditFilter | null {
  return caller.blocked ? null : { operator: {}, dealer: { ofDealer: caller.id }, user: null }[caller.role];
}

/** The groups that both lists hold: `narrowed` to what the caller was given. */
export function bothHold(given: readonly GroupId[] | undefined, narrowed: GroupId): readonly GroupId[] {
  return given === undefined || given.includes(narrowed) ? [narrowed] : [];
}

/**
 * What goes on after the call does so with all rights of the account: rules, schedules, where messages are sent. With a
 * key that is limited to groups nobody writes it.
 *
 * @throws {Problem} `forbidden`
 */
export function requireUnlimited(caller: Keyed): void {
  if (limitedAccount(caller) !== null)
    throw new Problem(
      'forbidden',
      'An API key that is limited to groups may not write what goes on with all rights of its account.',
    );
}

/**
 * Passwords, sessions and API keys are for people who logged in: a stolen key must not make itself at home.
 *
 * @throws {Problem} `forbidden` where the caller came with an API key
 */
export function requirePerson({ viaKey }: Keyed): void {
  if (viaKey !== undefined)
    throw new Problem('forbidden', 'API keys, passwords and sessions are not for callers with an API key.');
}

export function rightToDriver(caller: User, driver: Maybe<Pick<Driver, 'dealerId' | 'groupIds'>>): Right {
  if (!driver || !maySeeDriver(caller, driver)) return 'none';
  return caller.role === 'user' ? 'read' : 'write';
}

/** Operators see everything; the account that made a correction or a record is shown to its own organisation alone. */
export function showsAuthor(caller: User, directory: Pick<Directory, 'users'>, id: User['id'] | null): boolean {
  if (id === null) return false;
  if (isOperator(caller) || id === caller.id) return true;
  return caller.role === 'dealer' && directory.users.get(id)?.dealerId === caller.id;
}
