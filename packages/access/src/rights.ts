import {
  type Geofence,
  type GroupId,
  maySeeVehicle,
  type NotificationRule,
  type ReportSchedule,
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
  UserFilter,
  VehicleFilter,
} from '@outrider/registry';

/** What a caller may do with something: `none` looks exactly as if it did not exist. */
export type Right = 'none' | 'read' | 'write';

/** Who may do what (semantics, "People and rights"): all of it, and nothing of it anywhere else. */
export function rightToVehicle(caller: User, vehicle: Pick<Vehicle, 'dealerId' | 'groupIds'>): Right {
  if (!maySeeVehicle(caller, vehicle)) return 'none';
  return caller.role === 'user' ? 'read' : 'write';
}

export function rightToGroup(caller: User, group: Pick<VehicleGroup, 'id' | 'dealerId'>): Right {
  if (caller.blocked) return 'none';
  switch (caller.role) {
    case 'operator':
      return 'write';
    case 'dealer':
      return group.dealerId === caller.id ? 'write' : 'none';
    case 'user':
      return caller.groupIds.includes(group.id) ? 'read' : 'none';
  }
}

export function rightToUser(caller: User, user: Pick<User, 'id' | 'dealerId'>): Right {
  if (caller.blocked) return 'none';
  if (caller.role === 'operator') return 'write';
  if (caller.role === 'dealer' && user.dealerId === caller.id) return 'write';
  return user.id === caller.id ? 'read' : 'none';
}

/** @param owner the geofence's owner; undefined when it was deleted */
export function rightToGeofence(
  caller: User,
  geofence: Pick<Geofence, 'ownerId'>,
  owner: Pick<User, 'dealerId'> | undefined,
): Right {
  if (caller.blocked) return 'none';
  if (caller.role === 'operator' || geofence.ownerId === caller.id) return 'write';
  return caller.role === 'dealer' && owner?.dealerId === caller.id ? 'read' : 'none';
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

/** Exactly the vehicles that {@link rightToVehicle} lets the caller see. */
export function visibleVehicles({ role, id, groupIds }: User): VehicleFilter {
  return { operator: {}, dealer: { dealerId: id }, user: { anyOfGroups: groupIds } }[role];
}

/** Exactly the groups that {@link rightToGroup} lets the caller see. */
export function visibleGroups({ role, id, groupIds }: User): GroupFilter {
  return { operator: {}, dealer: { dealerId: id }, user: { ids: groupIds } }[role];
}

/** Exactly the users that {@link rightToUser} lets the caller see. */
export function visibleUsers({ role, id }: User): UserFilter {
  return { operator: {}, dealer: { ofDealer: id }, user: { id } }[role];
}

/** Exactly the geofences that {@link rightToGeofence} lets the caller see. */
export function visibleGeofences({ role, id }: User): GeofenceFilter {
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
