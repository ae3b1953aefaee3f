import {
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type GroupId,
  geofenceOf,
  type Notification,
  type NotificationRule,
  type NotificationRuleId,
  type SessionId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleGroup,
  type VehicleId,
  type VideoProfile,
  type VideoProfileId,
  type VideoTask,
  type VideoTaskId,
} from '@outrider/domain';

/**
 * Who may do what, written from the words of the specification and the design alone, and on purpose not from the code
 * that it judges: nothing here is imported from the API.
 */

/** All that there is. */
export interface Everything {
  users: ReadonlyMap<UserId, User>;
  vehicles: ReadonlyMap<VehicleId, Vehicle>;
  groups: ReadonlyMap<GroupId, VehicleGroup>;
  geofences: ReadonlyMap<GeofenceId, Geofence>;
  sessions: ReadonlyMap<SessionId, UserId>;
  rules: ReadonlyMap<NotificationRuleId, NotificationRule>;
  notifications: ReadonlyMap<string, Notification>;
  /** What happened. */
  events: readonly FleetEvent[];
  deliveries: ReadonlyMap<string, { id: string; userId: UserId; notificationId: string }>;
  /** Who asked for them; null: the service itself. */
  jobs: ReadonlyMap<string, UserId | null>;
  /** Reports made again and again. */
  schedules: ReadonlyMap<string, { id: string; ownerId: UserId; name: string; emails: readonly string[] }>;
  profiles: ReadonlyMap<VideoProfileId, VideoProfile>;
  tasks: ReadonlyMap<VideoTaskId, VideoTask>;
}

/** Something that a call is about. */
export type Kind =
  | 'user'
  | 'vehicle'
  | 'terminal'
  | 'group'
  | 'geofence'
  | 'session'
  | 'rule'
  | 'notification'
  | 'delivery'
  | 'job'
  | 'schedule'
  | 'profile'
  | 'task';

/** `hidden`: it looks as if it did not exist. `seen`: may be read. `kept`: may be changed. */
export type Sight = 'hidden' | 'seen' | 'kept';

/** What a caller may do with one thing, by the id that paths have of it. */
export function sightOf(all: Everything, caller: User, kind: Kind, id: string): Sight {
  const isOperator = caller.role === 'operator';
  const isDealer = caller.role === 'dealer';
  switch (kind) {
    case 'user': {
      const user = all.users.get(id as UserId);
      if (!user) return 'hidden';
      if (isOperator || (isDealer && user.dealerId === caller.id)) return 'kept';
      return user.id === caller.id ? 'seen' : 'hidden';
    }
    case 'vehicle':
    case 'terminal': {
      const vehicle =
        kind === 'vehicle'
          ? all.vehicles.get(id as VehicleId)
          : [...all.vehicles.values()].find((each) => `terminal:${each.terminalId}` === id);
      if (!vehicle) return 'hidden';
      if (isOperator) return 'kept';
      if (isDealer) return vehicle.dealerId === caller.id ? 'kept' : 'hidden';
      return vehicle.groupIds.some((groupId) => caller.groupIds.includes(groupId)) ? 'seen' : 'hidden';
    }
    case 'group': {
      const group = all.groups.get(id as GroupId);
      if (!group) return 'hidden';
      if (isOperator) return 'kept';
      if (isDealer) return group.dealerId === caller.id ? 'kept' : 'hidden';
      return caller.groupIds.includes(group.id) ? 'seen' : 'hidden';
    }
    case 'geofence': {
      const geofence = all.geofences.get(id as GeofenceId);
      if (!geofence) return 'hidden';
      if (isOperator || geofence.ownerId === caller.id) return 'kept';
      return isDealer && all.users.get(geofence.ownerId)?.dealerId === caller.id ? 'seen' : 'hidden';
    }
    case 'profile': {
      // Video goes with the vehicle, and needs the service: dealers have it, users were granted it.
      const profile = all.profiles.get(id as VideoProfileId);
      return profile && hasVideo(caller) ? sightOf(all, caller, 'vehicle', profile.vehicleId) : 'hidden';
    }
    case 'task': {
      // May be cancelled by who made it as well.
      const task = all.tasks.get(id as VideoTaskId);
      const sight = task && hasVideo(caller) ? sightOf(all, caller, 'vehicle', task.vehicleId) : 'hidden';
      return sight === 'seen' && task?.createdBy === caller.id ? 'kept' : sight;
    }
    case 'rule': {
      // A user's own; nothing is said of dealers and the rules of their users.
      const rule = all.rules.get(id as NotificationRuleId);
      return rule && (isOperator || rule.ownerId === caller.id) ? 'kept' : 'hidden';
    }
    case 'notification': {
      // A user's own, hidden even from operators, and only while its vehicle and geofence may be seen.
      const notification = all.notifications.get(id);
      return notification?.userId === caller.id && mayKnow(all, caller, notification.event) ? 'kept' : 'hidden';
    }
    case 'delivery':
      return all.deliveries.get(id)?.userId === caller.id ? 'kept' : 'hidden';
    case 'job':
      // Its creator's; an operator may do everything.
      return all.jobs.has(id) && (isOperator || all.jobs.get(id) === caller.id) ? 'kept' : 'hidden';
    case 'schedule': {
      // As with jobs and notifications: their own.
      const schedule = all.schedules.get(id);
      return schedule && (isOperator || schedule.ownerId === caller.id) ? 'kept' : 'hidden';
    }
    case 'session': {
      // Listed and ended by their user and by the operator.
      const userId = all.sessions.get(id as SessionId);
      return userId !== undefined && (isOperator || userId === caller.id) ? 'kept' : 'hidden';
    }
  }
}

/** May the caller know of the event, by what it is about? What is gone altogether is nobody's secret. */
export function mayKnow(all: Everything, caller: User, event: FleetEvent): boolean {
  const { vehicleId } = event;
  const geofenceId = geofenceOf(event);
  if (caller.blocked) return false;
  if (all.vehicles.has(vehicleId) && sightOf(all, caller, 'vehicle', vehicleId) === 'hidden') return false;
  return (
    geofenceId === null || !all.geofences.has(geofenceId) || sightOf(all, caller, 'geofence', geofenceId) !== 'hidden'
  );
}

/** May the account use the video service? */
export function hasVideo(caller: User): boolean {
  return caller.role !== 'user' || caller.services.includes('video');
}

/** Why an account gets in nowhere, whatever it asks for; null where it does get in. */
export function lockedOut(caller: User | null): 401 | 403 | null {
  if (caller === null || caller.blocked) return 401;
  return caller.apiAccess ? null : 403;
}

const ids = (things: Iterable<{ id: string }>): string[] => [...things].map(({ id }) => id);

/** All things of a kind, by the ids that paths have of them. */
export function allOf(all: Everything, kind: Kind): string[] {
  switch (kind) {
    case 'user':
      return ids(all.users.values());
    case 'vehicle':
      return ids(all.vehicles.values());
    case 'terminal':
      return [...all.vehicles.values()]
        .filter((each) => each.terminalId !== null)
        .map((each) => `terminal:${each.terminalId}`);
    case 'group':
      return ids(all.groups.values());
    case 'geofence':
      return ids(all.geofences.values());
    case 'session':
      return [...all.sessions.keys()];
    case 'rule':
      return ids(all.rules.values());
    case 'notification':
      return [...all.notifications.keys()];
    case 'delivery':
      return [...all.deliveries.keys()];
    case 'job':
      return [...all.jobs.keys()];
    case 'schedule':
      return ids(all.schedules.values());
    case 'profile':
      return ids(all.profiles.values());
    case 'task':
      return ids(all.tasks.values());
  }
}

export function visibleOf(all: Everything, caller: User, kind: Kind): string[] {
  return allOf(all, kind).filter((id) => sightOf(all, caller, kind, id) !== 'hidden');
}

/** Words of an organisation that the test can find again wherever they turn up: ids, and names that carry a mark. */
export const MARKED = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|zz\d+zz|\b86412\d{7}\b/g;

const wordsIn = (thing: unknown): string[] => JSON.stringify(thing).match(MARKED) ?? [];

/**
 * Everything of the organisation that must never come into the caller's sight: what is hidden from them, but for what a
 * thing that they do see says of itself (whose it is, what it is called).
 *
 * @param secrets words that belong to something without a definition: by the thing that they belong to; those of
 *   `nobody` are returned to nobody at all
 */
export function forbiddenWords(
  all: Everything,
  caller: User | null,
  secrets: ReadonlyMap<string, readonly string[]>,
): Set<string> {
  const forbidden = new Set<string>();
  const allowed = new Set<string>();
  const maps = {
    user: all.users,
    vehicle: all.vehicles,
    group: all.groups,
    geofence: all.geofences,
    rule: all.rules,
    schedule: all.schedules,
    profile: all.profiles,
    task: all.tasks,
  } as const;
  for (const [kind, things] of Object.entries(maps) as [Kind, ReadonlyMap<string, object>][])
    for (const [id, thing] of things) {
      const isSeen = caller !== null && sightOf(all, caller, kind, id) !== 'hidden';
      // The groups of a thing are not its own words: a group that the caller does not see is left out.
      // Nor is who asked for a video.
      const {
        groupIds: _,
        vehicleIds: __,
        geofenceIds: ___,
        createdBy: ____,
        ...own
      } = thing as Record<string, unknown>;
      for (const word of wordsIn(own)) (isSeen ? allowed : forbidden).add(word);
      for (const word of secrets.get(id) ?? []) (isSeen ? allowed : forbidden).add(word);
    }
  for (const kind of ['notification', 'delivery', 'job'] as const)
    for (const id of allOf(all, kind))
      (caller !== null && sightOf(all, caller, kind, id) !== 'hidden' ? allowed : forbidden).add(id);
  // An own delivery says what it was of, whatever became of the right to see that.
  for (const { userId, notificationId } of all.deliveries.values())
    if (userId === caller?.id) allowed.add(notificationId);
  for (const event of all.events) (caller !== null && mayKnow(all, caller, event) ? allowed : forbidden).add(event.id);
  // Dealers may not handle the sessions of their users, but the audit trail names the session that made a change.
  for (const [id, userId] of all.sessions)
    if (caller === null || sightOf(all, caller, 'user', userId) === 'hidden') forbidden.add(id);
  if (caller?.role !== 'operator') for (const word of secrets.get('operator') ?? []) forbidden.add(word);
  for (const word of allowed) forbidden.delete(word);
  for (const word of secrets.get('nobody') ?? []) forbidden.add(word);
  return forbidden;
}
