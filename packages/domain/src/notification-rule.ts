import type { Geofence, User, Vehicle } from './definitions.ts';
import { type FleetEvent, isLate } from './event.ts';
import type { GeofenceId, GroupId, NotificationRuleId, UserId, VehicleId } from './ids.ts';
import { maySeeVehicle } from './rights.ts';

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** The days on which a rule is valid, by the calendar of its time zone. */
export type RuleDays =
  | { on: 'daily' }
  | { on: 'weekdays'; weekdays: readonly Weekday[] }
  /** Both inclusive, as `2026-01-31`. */
  | { on: 'dates'; from: string; to: string };

/** An interval of the day in local time, as `08:30`: `from` inclusive, `to` exclusive. */
export interface DayHours {
  from: string;
  /** Not after `from`: on the next day. Such an interval belongs to the day on which it starts. */
  to: string;
}

/** Why a rule rests: its owner said so, or the last of what it named was deleted. */
export type InactiveReason = 'switched-off' | 'vehicles-deleted' | 'groups-deleted' | 'geofences-deleted';

/** What its owner is notified of, when, and how (semantics, "Notification rules"). Live and in the inbox: always. */
export interface NotificationRule {
  kind: 'notification-rule';
  id: NotificationRuleId;
  version: number;
  ownerId: UserId;
  /** Unique per owner. */
  name: string;
  active: boolean;
  /** Null while it is active. */
  inactiveReason: InactiveReason | null;
  /** Kinds of event, by name: a kind that is not known matches nothing. */
  eventKinds: readonly string[];
  /** Of an event that lasts: notified when it begins, when it ends, or both. */
  phases: readonly FleetEvent['phase'][];
  /**
   * These vehicles, and those in `groupIds`: of both, those that the owner may see. Null and null: all that the owner
   * may see. A list that became empty names none.
   */
  vehicleIds: readonly VehicleId[] | null;
  groupIds: readonly GroupId[] | null;
  /** Only events about one of these. Null: any event, and of those about a geofence the ones about the owner's own. */
  geofenceIds: readonly GeofenceId[] | null;
  days: RuleDays;
  /** Null: all day. */
  hours: DayHours | null;
  /** IANA name, such as `Europe/Berlin`. */
  timeZone: string;
  /** At most one notification per vehicle in so many minutes, by the time of the fixes; 0: all. */
  minIntervalMinutes: number;
  /**
   * Nothing whose fix was older than this when it arrived; null: however old, but {@link LATE_DATA_AGE_MINUTES} of late
   * data.
   */
  maxDataAgeMinutes: number | null;
  /** Addresses that get an e-mail each. */
  emails: readonly string[];
  /** The secret that its messages are signed with is not part of the definition: only the sender reads it. */
  webhookUrl: string | null;
}

/**
 * Age up to which a rule without a bound of its own notifies of events that only late data made known: a black box read
 * hours later notifies no one.
 */
export const LATE_DATA_AGE_MINUTES = 60;

/** What a rule is held against. */
export interface Happening {
  event: FleetEvent;
  /** When the data arrived, in Unix milliseconds; null where that is not known: then its age is not judged. */
  arrivedAtMs: number | null;
}

/** Who and what a rule and an event name, as they are defined now; null where there is no such thing any more. */
export interface RuleContext {
  owner: User | null;
  vehicle: Pick<Vehicle, 'dealerId' | 'groupIds'> | null;
  /** The geofence that the event is about. */
  geofence: Pick<Geofence, 'ownerId'> | null;
  geofenceOwner: Pick<User, 'dealerId'> | null;
}

/** Why a rule does not notify of an event, in the order of the checks. */
export const MISMATCHES = [
  'inactive',
  'other-kind',
  'other-phase',
  'vehicle-not-visible',
  'other-vehicle',
  'geofence-not-visible',
  'other-geofence',
  'other-day',
  'other-hours',
  'data-too-old',
  'too-soon',
] as const;
export type Mismatch = (typeof MISMATCHES)[number];

/** The geofence that an event is about, if it is about one. */
export function geofenceOf(event: FleetEvent): GeofenceId | null {
  return 'geofenceId' in event ? event.geofenceId : null;
}

/** When this phase of an event happened, in Unix milliseconds. */
export function happenedAtMs(event: FleetEvent): number {
  return event.phase === 'begin' ? event.startedAtMs : (event.endedAtMs ?? event.fixTimeMs);
}

/**
 * Why the rule does not notify of this; null where it matches. {@link isTooSoon} checks the interval between
 * notifications separately.
 */
export function mismatchOf(rule: NotificationRule, happening: Happening, context: RuleContext): Mismatch | null {
  const { event, arrivedAtMs } = happening;
  if (!rule.active) return 'inactive';
  if (!rule.eventKinds.includes(event.kind)) return 'other-kind';
  if (!rule.phases.includes(event.phase)) return 'other-phase';
  const { owner, vehicle } = context;
  // A blocked owner sees nothing.
  if (owner === null || vehicle === null || !maySeeVehicle(owner, vehicle)) return 'vehicle-not-visible';
  if (!namesVehicle(rule, event.vehicleId, vehicle)) return 'other-vehicle';
  const geofence = geofenceMismatch(rule, event, owner, context);
  if (geofence !== null) return geofence;
  const time = timeMismatch(rule, happenedAtMs(event));
  if (time !== null) return time;
  const maxAgeMinutes = rule.maxDataAgeMinutes ?? (isLate(event) ? LATE_DATA_AGE_MINUTES : Number.POSITIVE_INFINITY);
  return arrivedAtMs !== null && arrivedAtMs - event.fixTimeMs > maxAgeMinutes * 60_000 ? 'data-too-old' : null;
}

/** Does the rule name the vehicle, by itself, by one of its groups, or by naming all? */
export function namesVehicle(
  rule: Pick<NotificationRule, 'vehicleIds' | 'groupIds'>,
  vehicleId: VehicleId,
  vehicle: Pick<Vehicle, 'groupIds'>,
): boolean {
  const { vehicleIds, groupIds } = rule;
  if (vehicleIds === null && groupIds === null) return true;
  return (
    (vehicleIds?.includes(vehicleId) ?? false) ||
    (groupIds !== null && vehicle.groupIds.some((id) => groupIds.includes(id)))
  );
}

/**
 * May the account know of the geofence? Its owner may, the owner's dealer, and operators.
 *
 * @param geofenceOwner null when the account was deleted
 */
export function maySeeGeofence(
  caller: Pick<User, 'id' | 'role' | 'blocked'>,
  geofence: Pick<Geofence, 'ownerId'>,
  geofenceOwner: Pick<User, 'dealerId'> | null,
): boolean {
  if (caller.blocked) return false;
  if (caller.role === 'operator' || geofence.ownerId === caller.id) return true;
  return caller.role === 'dealer' && geofenceOwner?.dealerId === caller.id;
}

function geofenceMismatch(
  rule: NotificationRule,
  event: FleetEvent,
  owner: User,
  { geofence, geofenceOwner }: RuleContext,
): Mismatch | null {
  const geofenceId = geofenceOf(event);
  if (geofenceId === null) return rule.geofenceIds === null ? null : 'other-geofence';
  if (geofence === null || !maySeeGeofence(owner, geofence, geofenceOwner)) return 'geofence-not-visible';
  const named = rule.geofenceIds === null ? geofence.ownerId === owner.id : rule.geofenceIds.includes(geofenceId);
  return named ? null : 'other-geofence';
}

function timeMismatch(
  { days, hours, timeZone }: Pick<NotificationRule, 'days' | 'hours' | 'timeZone'>,
  atMs: number,
): 'other-day' | 'other-hours' | null {
  if (days.on === 'daily' && hours === null) return null;
  const local = Temporal.Instant.fromEpochMilliseconds(Math.floor(atMs)).toZonedDateTimeISO(timeZone).toPlainDateTime();
  let date = local.toPlainDate();
  if (hours !== null) {
    // In local time: an hour that a change of the clocks repeats is in the interval both times.
    const time = local.toPlainTime();
    const { from, to } = hours;
    const overnight = compareTimes(to, from) <= 0;
    const started = compareTimes(time, from) >= 0;
    const ended = compareTimes(time, to) >= 0;
    if (overnight ? !started && ended : !started || ended) return 'other-hours';
    if (!started) date = date.subtract({ days: 1 });
  }
  return isValidOn(days, date) ? null : 'other-day';
}

function compareTimes(a: string | Temporal.PlainTime, b: string | Temporal.PlainTime): number {
  return Temporal.PlainTime.compare(a, b);
}

function isValidOn(days: RuleDays, date: Temporal.PlainDate): boolean {
  switch (days.on) {
    case 'daily':
      return true;
    case 'weekdays': {
      const weekday = WEEKDAYS[date.dayOfWeek - 1];
      return weekday !== undefined && days.weekdays.includes(weekday);
    }
    case 'dates':
      return Temporal.PlainDate.compare(date, days.from) >= 0 && Temporal.PlainDate.compare(date, days.to) <= 0;
  }
}

/**
 * Is the rule's last notification about the vehicle too recent? The times of the fixes count, so that a backlog gives
 * the same notifications as it would have given live. Events before the last one are too soon as well, so that one
 * interval has one notification. Late data further back than one interval has an interval of its own.
 *
 * @param lastFixTimeMs fix of the rule's last notification about the vehicle; null before the first
 */
export function isTooSoon(
  rule: Pick<NotificationRule, 'minIntervalMinutes'>,
  lastFixTimeMs: number | null,
  event: Pick<FleetEvent, 'fixTimeMs' | 'origin'>,
): boolean {
  if (rule.minIntervalMinutes === 0 || lastFixTimeMs === null) return false;
  const intervalMs = rule.minIntervalMinutes * 60_000;
  const sinceMs = event.fixTimeMs - lastFixTimeMs;
  return sinceMs < intervalMs && (sinceMs > -intervalMs || !isLate(event));
}

/** What the rule names that is all gone; null where it names all, or something that is left. */
export function namesNothing(
  rule: Pick<NotificationRule, 'vehicleIds' | 'groupIds' | 'geofenceIds'>,
): Exclude<InactiveReason, 'switched-off'> | null {
  const { vehicleIds, groupIds, geofenceIds } = rule;
  if (geofenceIds?.length === 0) return 'geofences-deleted';
  if (vehicleIds === null && groupIds === null) return null;
  if ((vehicleIds?.length ?? 0) + (groupIds?.length ?? 0) > 0) return null;
  return vehicleIds === null ? 'groups-deleted' : 'vehicles-deleted';
}
