import {
  type AccountRight,
  type CommandId,
  type Driver,
  type DriverId,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type GroupId,
  type Incident,
  type Notification,
  type NotificationRule,
  type NotificationRuleId,
  type NotifiedEvent,
  type SessionId,
  subjectIdsOf,
  type User,
  type UserId,
  type Vehicle,
  type VehicleCommand,
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
  apiKeys: ReadonlyMap<string, { id: string; userId: UserId; name: string }>;
  rules: ReadonlyMap<NotificationRuleId, NotificationRule>;
  notifications: ReadonlyMap<string, Notification>;
  incidents: ReadonlyMap<string, Incident>;
  /** Accounts that each incident names: who dealt with it, whatever they may see since. */
  namedBy: ReadonlyMap<string, ReadonlySet<UserId>>;
  /** What happened. */
  events: readonly FleetEvent[];
  deliveries: ReadonlyMap<string, { id: string; userId: UserId; notificationId: string }>;
  /** Who asked for them; null: the service itself. */
  jobs: ReadonlyMap<string, UserId | null>;
  /** Reports made again and again. */
  schedules: ReadonlyMap<string, { id: string; ownerId: UserId; name: string; emails: readonly string[] }>;
  /** Links that show vehicles to others. */
  drivers: ReadonlyMap<DriverId, Driver>;
  shares: ReadonlyMap<string, { id: string; ownerId: UserId; name: string | null }>;
  profiles: ReadonlyMap<VideoProfileId, VideoProfile>;
  tasks: ReadonlyMap<VideoTaskId, VideoTask>;
  /** Plans of maintenance, each of a vehicle. */
  plans: ReadonlyMap<string, { id: string; vehicleId: VehicleId; name: string }>;
  /** Custom counters, corrections of counters, services that were done, and their files, of vehicles. */
  kept: ReadonlyMap<string, { id: string; vehicleId: VehicleId; kind: KeptKind; recordId: string | null }>;
  /** Commands to terminals. */
  commands: ReadonlyMap<CommandId, VehicleCommand>;
}

export type KeptKind = 'counter' | 'correction' | 'service' | 'service-file';

/** Something that a call is about. */
export type Kind =
  | 'user'
  | 'vehicle'
  /** What the terminal of a vehicle says, by the id of the vehicle. */
  | 'data'
  | 'terminal'
  | 'group'
  | 'geofence'
  | 'session'
  | 'api-key'
  | 'rule'
  | 'notification'
  | 'incident'
  | 'delivery'
  | 'job'
  | 'schedule'
  | 'share'
  | 'driver'
  | 'profile'
  | 'task'
  | 'plan'
  | KeptKind
  | 'command';

/** `hidden`: it looks as if it did not exist. `seen`: may be read. `kept`: may be changed. */
export type Sight = 'hidden' | 'seen' | 'kept';

/** An account that calls with an API key. */
export interface KeyCaller extends User {
  key: { text: string; scopes: readonly string[]; groupIds: readonly GroupId[] | null; account: User };
}

/**
 * Who calls with a key that is limited to groups is as if they were a user who was given these groups, among those that
 * they may see; other keys change nothing of who calls.
 */
export function withKey(account: User, key: Omit<KeyCaller['key'], 'account'>): KeyCaller {
  const { groupIds } = key;
  if (groupIds === null) return { ...account, key: { ...key, account } };
  const isUser = account.role === 'user';
  return {
    ...account,
    role: 'user',
    dealerId: account.role === 'dealer' ? account.id : account.dealerId,
    groupIds: isUser ? account.groupIds.filter((id) => groupIds.includes(id)) : groupIds,
    services: isUser ? account.services : ['video', 'commands', 'command-text', 'maintenance'],
    // It keeps no vehicles.
    rights: isUser ? account.rights : ['edit-geofences', 'edit-notifications', 'share'],
    key: { ...key, account },
  };
}

export function keyOf(caller: User | null): KeyCaller['key'] | null {
  return (caller as Partial<KeyCaller> | null)?.key ?? null;
}

/** Is the caller's key limited to groups? */
export function isLimited(caller: User | null): boolean {
  return (keyOf(caller)?.groupIds ?? null) !== null;
}

const SIGHTS_BY_MUCH: readonly Sight[] = ['hidden', 'seen', 'kept'];

/** What a caller may do with one thing, by the id that paths have of it. A key never has more than its account. */
export function sightOf(all: Everything, caller: User, kind: Kind, id: string): Sight {
  const sight = sightByRole(all, caller, kind, id);
  const key = keyOf(caller);
  if (key === null || !isLimited(caller)) return sight;
  const ofAccount = sightByRole(all, key.account, kind, id);
  return SIGHTS_BY_MUCH.indexOf(sight) < SIGHTS_BY_MUCH.indexOf(ofAccount) ? sight : ofAccount;
}

function sightByRole(all: Everything, caller: User, kind: Kind, id: string): Sight {
  const isOperator = caller.role === 'operator';
  const isDealer = caller.role === 'dealer';
  switch (kind) {
    case 'user': {
      const user = all.users.get(id as UserId);
      if (!user) return 'hidden';
      if (isOperator || (isDealer && user.dealerId === caller.id)) return 'kept';
      return user.id === caller.id ? 'seen' : 'hidden';
    }
    case 'data': {
      // While a vehicle is suspended, for operators alone.
      const isSuspended = all.vehicles.get(id as VehicleId)?.suspension != null;
      return isSuspended && !isOperator ? 'hidden' : sightOf(all, caller, 'vehicle', id);
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
      if (!vehicle.groupIds.some((groupId) => caller.groupIds.includes(groupId))) return 'hidden';
      return caller.rights.includes('edit-vehicles') ? 'kept' : 'seen';
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
      if (geofence.ownerId === caller.id) return lacks(caller, 'edit-geofences') ? 'seen' : 'kept';
      if (isOperator) return 'kept';
      // Shared with the organisation of its owner, or with a group: then with users who were given the group. What a
      // user shared, the dealer of that user may change.
      const owner = all.users.get(geofence.ownerId);
      const { sharedWithOrganisation, sharedGroupIds } = geofence;
      const isShared = sharedWithOrganisation || sharedGroupIds.length > 0;
      if (isDealer) return owner?.dealerId !== caller.id ? 'hidden' : isShared ? 'kept' : 'seen';
      const organisation = owner?.role === 'dealer' ? owner.id : (owner?.dealerId ?? null);
      const isColleague = owner !== undefined && organisation === caller.dealerId;
      const wasGiven = sharedGroupIds.some((id) => caller.groupIds.includes(id));
      return (sharedWithOrganisation && isColleague) || wasGiven ? 'seen' : 'hidden';
    }
    case 'profile': {
      // Video goes with the vehicle, and needs the service: dealers have it, users were granted it.
      const profile = all.profiles.get(id as VideoProfileId);
      return profile && hasVideo(caller) ? sightOf(all, caller, 'data', profile.vehicleId) : 'hidden';
    }
    case 'task': {
      // May be cancelled by who made it as well.
      const task = all.tasks.get(id as VideoTaskId);
      const sight = task && hasVideo(caller) ? sightOf(all, caller, 'data', task.vehicleId) : 'hidden';
      return sight === 'seen' && task?.createdBy === caller.id ? 'kept' : sight;
    }
    case 'command': {
      // A right of its own beside the vehicle's, and a further one for texts. It includes cancelling.
      const command = all.commands.get(id as CommandId);
      if (!command || !hasCommands(caller) || sightOf(all, caller, 'data', command.vehicleId) === 'hidden')
        return 'hidden';
      const isText = command.order.type === 'text';
      return isText && caller.role === 'user' && !caller.services.includes('command-text') ? 'hidden' : 'kept';
    }
    case 'counter':
    case 'correction':
    case 'service':
    case 'service-file':
    case 'plan': {
      // Seen with its vehicle; to change it is for dealers, operators, and users who were granted that.
      const plan = kind === 'plan' ? all.plans.get(id) : all.kept.get(id);
      const sight = plan ? sightOf(all, caller, 'vehicle', plan.vehicleId) : 'hidden';
      if (sight === 'hidden') return 'hidden';
      return caller.role !== 'user' || caller.services.includes('maintenance') ? 'kept' : 'seen';
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
    case 'incident': {
      // Its owner's, and where it is shared everybody's in the owner's organisation, while all that it is about may be
      // seen.
      const incident = all.incidents.get(id);
      if (!incident || !mayKnow(all, caller, incident.event)) return 'hidden';
      if (incident.ownerId === caller.id) return 'kept';
      const owner = all.users.get(incident.ownerId);
      if (!incident.shared || owner === undefined) return 'hidden';
      const organisation = (user: User) => (user.role === 'dealer' ? user.id : user.dealerId);
      const { vehicleId, geofenceId, driverId } = subjectIdsOf(incident.event);
      const isThere =
        (vehicleId === null || all.vehicles.has(vehicleId)) &&
        (geofenceId === null || all.geofences.has(geofenceId)) &&
        (driverId === null || all.drivers.has(driverId));
      return isThere && organisation(owner) === organisation(caller) ? 'kept' : 'hidden';
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
    case 'driver': {
      // As with vehicles.
      const driver = all.drivers.get(id as DriverId);
      if (!driver) return 'hidden';
      if (isOperator) return 'kept';
      if (isDealer) return driver.dealerId === caller.id ? 'kept' : 'hidden';
      return driver.groupIds.some((groupId) => caller.groupIds.includes(groupId)) ? 'seen' : 'hidden';
    }
    case 'share': {
      // Listed and revoked by who made it, by the dealer that keeps that account, and by the operator.
      const share = all.shares.get(id);
      if (!share) return 'hidden';
      const isOfDealer = isDealer && all.users.get(share.ownerId)?.dealerId === caller.id;
      return isOperator || share.ownerId === caller.id || isOfDealer ? 'kept' : 'hidden';
    }
    case 'api-key': {
      // Kept by their user; operators see and revoke them.
      const key = all.apiKeys.get(id);
      if (!key) return 'hidden';
      return key.userId === caller.id ? 'kept' : isOperator ? 'seen' : 'hidden';
    }
    case 'session': {
      // Listed and ended by their user and by the operator.
      const userId = all.sessions.get(id as SessionId);
      return userId !== undefined && (isOperator || userId === caller.id) ? 'kept' : 'hidden';
    }
  }
}

/** May the caller know of the event, by what it is about? What is gone altogether is nobody's secret. */
export function mayKnow(all: Everything, caller: User, event: NotifiedEvent): boolean {
  const { vehicleId, geofenceId, driverId } = subjectIdsOf(event);
  if (caller.blocked) return false;
  const isVehicle = vehicleId !== null && all.vehicles.has(vehicleId);
  const isDriver = driverId !== null && all.drivers.has(driverId);
  // Nobody knows whether what is gone was in one of the groups of a key.
  if (!isVehicle && !isDriver && isLimited(caller)) return false;
  if (isDriver && sightOf(all, caller, 'driver', driverId) === 'hidden') return false;
  if (isVehicle && sightOf(all, caller, 'data', vehicleId) === 'hidden') return false;
  return (
    geofenceId === null || !all.geofences.has(geofenceId) || sightOf(all, caller, 'geofence', geofenceId) !== 'hidden'
  );
}

/** Was the account not given a right? Operators and dealers have all. */
export function lacks(caller: User, right: AccountRight): boolean {
  return caller.role === 'user' && !caller.rights.includes(right);
}

/** May the account use the video service? */
export function hasVideo(caller: User): boolean {
  return caller.role !== 'user' || caller.services.includes('video');
}

/** May the account give commands to terminals? */
export function hasCommands(caller: User): boolean {
  return caller.role !== 'user' || caller.services.includes('commands');
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
    case 'data':
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
    case 'api-key':
      return [...all.apiKeys.keys()];
    case 'rule':
      return ids(all.rules.values());
    case 'notification':
      return [...all.notifications.keys()];
    case 'incident':
      return [...all.incidents.keys()];
    case 'delivery':
      return [...all.deliveries.keys()];
    case 'job':
      return [...all.jobs.keys()];
    case 'schedule':
      return ids(all.schedules.values());
    case 'driver':
      return ids(all.drivers.values());
    case 'share':
      return ids(all.shares.values());
    case 'plan':
      return ids(all.plans.values());
    case 'counter':
    case 'correction':
    case 'service':
    case 'service-file':
      return ids([...all.kept.values()].filter((each) => each.kind === kind));
    case 'profile':
      return ids(all.profiles.values());
    case 'task':
      return ids(all.tasks.values());
    case 'command':
      return ids(all.commands.values());
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
    share: all.shares,
    driver: all.drivers,
    plan: all.plans,
    counter: all.kept,
    correction: all.kept,
    service: all.kept,
    'service-file': all.kept,
    profile: all.profiles,
    task: all.tasks,
    command: all.commands,
  } as const;
  for (const [kind, things] of Object.entries(maps) as [Kind, ReadonlyMap<string, object>][])
    for (const [id, thing] of things) {
      const isSeen = caller !== null && sightOf(all, caller, kind, id) !== 'hidden';
      // The groups of a thing are not its own words: a group that the caller does not see is left out.
      // Nor is who asked for a video, or the vehicle that it is of, which may be deleted.
      const {
        groupIds: _,
        sharedGroupIds: _____,
        vehicleIds: __,
        vehicleId: ______,
        geofenceIds: ___,
        createdBy: ____,
        ...own
      } = thing as Record<string, unknown>;
      for (const word of wordsIn(own)) (isSeen ? allowed : forbidden).add(word);
      const isKnown = kind === 'vehicle' ? caller !== null && sightOf(all, caller, 'data', id) !== 'hidden' : isSeen;
      for (const word of secrets.get(id) ?? []) (isKnown ? allowed : forbidden).add(word);
    }
  // An incident names its rule, its owner, and the accounts that deal with it.
  for (const { id, ruleId, ruleName } of all.incidents.values()) {
    if (caller === null || sightOf(all, caller, 'incident', id) === 'hidden') continue;
    for (const word of [ruleId, ...wordsIn(ruleName)]) allowed.add(word);
    for (const user of all.users.values())
      if (sightOf(all, user, 'incident', id) !== 'hidden' || all.namedBy.get(id)?.has(user.id))
        for (const word of [user.id, ...wordsIn(user.name)]) allowed.add(word);
  }
  for (const kind of ['notification', 'incident', 'delivery', 'job'] as const)
    for (const id of allOf(all, kind))
      (caller !== null && sightOf(all, caller, kind, id) !== 'hidden' ? allowed : forbidden).add(id);
  // An own delivery says what it was of, whatever became of the right to see that.
  for (const { userId, notificationId } of all.deliveries.values())
    if (userId === caller?.id) allowed.add(notificationId);
  for (const event of all.events) (caller !== null && mayKnow(all, caller, event) ? allowed : forbidden).add(event.id);
  // Dealers may not handle the sessions of their users, but the audit trail names the session that made a change.
  for (const [id, userId] of all.sessions)
    if (caller === null || sightOf(all, caller, 'user', userId) === 'hidden') forbidden.add(id);
  // So it is with API keys.
  for (const { id, userId, name } of all.apiKeys.values())
    if (caller === null || sightOf(all, caller, 'user', userId) === 'hidden')
      for (const word of [id, ...wordsIn(name)]) forbidden.add(word);
  if (caller?.role !== 'operator') for (const word of secrets.get('operator') ?? []) forbidden.add(word);
  for (const word of allowed) forbidden.delete(word);
  for (const word of secrets.get('nobody') ?? []) forbidden.add(word);
  return forbidden;
}
