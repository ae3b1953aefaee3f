import type { RuleCommand } from '../commands/vehicle-command.ts';
import { alsoHarsh, type FleetEvent, isLate, raisedAlarm, type SensorThresholdExceeded } from '../events/index.ts';
import type { DriverId, GeofenceId, GroupId, NotificationRuleId, UserId, VehicleId } from '../ids.ts';
import type { Alarm } from '../position.ts';
import {
  isSharedWith,
  type Member,
  maySeeGeofence,
  maySeeVehicle,
  type OwnedGeofence,
  type SeenVehicle,
} from '../rights.ts';
import { type Driver, maySeeDriver } from './driver.ts';
import { sensorNameKey } from './sensor.ts';
import type { User } from './user.ts';
import type { Vehicle } from './vehicle.ts';

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** Days on which a rule applies, in the calendar of its time zone. */
export type RuleDays =
  | { on: 'daily' }
  | { on: 'weekdays'; weekdays: readonly Weekday[] }
  /** Both inclusive, as `2026-01-31`. */
  | { on: 'dates'; from: string; to: string };

/** A daily interval in local time, as `08:30`: `from` inclusive, `to` exclusive. */
export interface DayHours {
  from: string;
  /** At or before `from`: on the next day. Such an interval belongs to the day on which it starts. */
  to: string;
}

/** Why a rule is inactive: its owner switched it off, or everything that it named was deleted. */
export const INACTIVE_REASONS = [
  'switched-off',
  'vehicles-deleted',
  'groups-deleted',
  'geofences-deleted',
  'drivers-deleted',
] as const;
export type InactiveReason = (typeof INACTIVE_REASONS)[number];

/** For a rule that depends on the driver: whether the driver must be known or unknown. */
export const DRIVER_CONDITIONS = ['known', 'unknown'] as const;
export type DriverCondition = (typeof DRIVER_CONDITIONS)[number];

/** Upper limit of a rule's minimum duration: 90 days. */
export const MAX_MIN_DURATION_MINUTES = 90 * 24 * 60;

/**
 * Importance of a notification. Above `info` it opens an incident, which stays open until somebody deals with it (see
 * {@link Incident}).
 */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Upper limit of the time until an incident is escalated: a week. */
export const MAX_ESCALATE_AFTER_MINUTES = 7 * 24 * 60;

/**
 * Which events the owner is notified of, when, and how (semantics, "Notification rules"). Notifications always go to
 * the inbox and the live stream.
 */
export interface NotificationRule {
  kind: 'notification-rule';
  id: NotificationRuleId;
  version: number;
  ownerId: UserId;
  /** Unique per owner. */
  name: string;
  active: boolean;
  /** Null while the rule is active. */
  inactiveReason: InactiveReason | null;
  /** Kinds of event, by name; an unknown kind matches nothing. */
  eventKinds: readonly string[];
  /** Phases notified of an event that lasts: its begin, its end, or both. */
  phases: readonly FleetEvent['phase'][];
  /**
   * Only events that last at least this long: `begin` is notified after that time, `end` only where they
   * had. 0: all events, and `begin` at once.
   */
  minDurationMinutes: number;
  /** For events of kind `alarm`: only these alarms; null: all. Other kinds of event are not affected. */
  alarms: readonly Alarm[] | null;
  /**
   * For events of kind `sensor-threshold`: only these sensors, each by its id or by its case-insensitive name; null:
   * all. Other kinds of event are not affected.
   */
  sensors: readonly string[] | null;
  /**
   * These vehicles and the vehicles in `groupIds`, provided that the owner may see them. Both null: all that the owner
   * may see. An empty list matches none.
   */
  vehicleIds: readonly VehicleId[] | null;
  groupIds: readonly GroupId[] | null;
  /**
   * Only events about one of these. Null: any event; of events about a geofence, those about the owner's own geofences
   * and about those shared with the owner.
   */
  geofenceIds: readonly GeofenceId[] | null;
  /** Only if this phase of the event happened inside one of these; null: anywhere. */
  insideGeofenceIds: readonly GeofenceId[] | null;
  /** Only if it happened outside all of these; null: anywhere. */
  outsideGeofenceIds: readonly GeofenceId[] | null;
  /**
   * Only if the driver is known, or only if unknown. The driver is the one assigned manually, else the holder of the
   * event's code. A driver that the owner may not see counts as unknown. Null: either.
   */
  driver: DriverCondition | null;
  /** Only events of these drivers or of drivers in `driverGroupIds`; both null: any driver. */
  driverIds: readonly DriverId[] | null;
  driverGroupIds: readonly GroupId[] | null;
  /**
   * For kind `licence-expiry`: days before the last day of a licence; 0: only once it has expired. Other kinds are not
   * affected.
   */
  licenceWarningDays: number;
  days: RuleDays;
  /** Null: all day. */
  hours: DayHours | null;
  /** IANA name, such as `Europe/Berlin`. */
  timeZone: string;
  /** At most one notification per vehicle in this many minutes, by the time of the fixes; 0: all. */
  minIntervalMinutes: number;
  /**
   * Only events whose fix was no older than this when it arrived; null: any age, but {@link LATE_DATA_AGE_MINUTES} for
   * late data.
   */
  maxDataAgeMinutes: number | null;
  /** Addresses that each get an e-mail. */
  emails: readonly string[];
  /** Text of messages, with placeholders; null: the default text. */
  messageTemplate: string | null;
  /** Texts by language, such as `de`; they take precedence over `messageTemplate` for messages in that language. */
  messageTemplates: Readonly<Record<string, string>>;
  /** Language of its messages, such as `de`; null: the language of the owner. */
  language: string | null;
  /** Whether to send a push message to each browser that the owner subscribed. */
  push: boolean;
  /** Message channels of the owner, such as chats, that get each message. */
  channelIds: readonly string[];
  /**
   * Masked by {@link hiddenUrl}, since the whole URL may hold a key. The URL and the secret that signs messages are not
   * part of the definition: only the sender reads them.
   */
  webhookUrl: string | null;
  /** Command to the vehicle's terminal, sent with the owner's rights at that time; null: none. */
  command: RuleCommand | null;
  severity: Severity;
  /** Whether its incidents are shared with all accounts of the owner's organisation that may see the event. */
  shared: boolean;
  /** Time after which an unacknowledged incident is escalated; null: never. */
  escalateAfterMinutes: number | null;
  /** Addresses that get an e-mail when an incident is escalated. Channels and browsers then get a second message. */
  escalateTo: readonly string[];
}

/** Fields of a rule that list definitions. */
export const RULE_LISTS = [
  'vehicleIds',
  'groupIds',
  'geofenceIds',
  'insideGeofenceIds',
  'outsideGeofenceIds',
  'driverIds',
  'driverGroupIds',
] as const satisfies readonly (keyof NotificationRule)[];
export type RuleList = (typeof RULE_LISTS)[number];

/** Fields of a rule that decide which events it notifies of. */
export type RuleTerms = Omit<
  NotificationRule,
  | 'kind'
  | 'id'
  | 'version'
  | 'ownerId'
  | 'name'
  | 'inactiveReason'
  | 'emails'
  | 'webhookUrl'
  | 'channelIds'
  | 'messageTemplate'
  | 'messageTemplates'
  | 'language'
  | 'push'
  | 'command'
  | 'severity'
  | 'shared'
  | 'escalateAfterMinutes'
  | 'escalateTo'
>;

/**
 * Default maximum age of events that only late data revealed, for rules without a limit of their own: a black box read
 * hours later notifies no one.
 */
export const LATE_DATA_AGE_MINUTES = 60;

/** An event to match against a rule. */
export interface Happening {
  event: FleetEvent;
  /** Arrival of the data in Unix milliseconds; null where unknown: its age is not checked then. */
  arrivedAtMs: number | null;
  /** Known duration of the event. Absent while it is still open: the duration is not checked then. */
  lastedMs?: number;
}

/** A geofence that a rule uses as a place, as it is defined now. */
export interface RulePlace {
  geofence: OwnedGeofence;
  geofenceOwner: Member | null;
  /** Whether this phase of the event happened inside the geofence. */
  contains: boolean;
}

/** Current definitions of what a rule and an event refer to; null where deleted. */
export interface RuleContext {
  owner: User | null;
  vehicle: SeenVehicle | null;
  /** The geofence that the event is about. */
  geofence: OwnedGeofence | null;
  geofenceOwner: Member | null;
  /** A geofence that the rule uses as a place; null where it was deleted. */
  placeOf(id: GeofenceId): RulePlace | null;
  /** The driver, whether or not the owner may see it; null where unknown. Only used by rules that depend on it. */
  driver: Driver | null;
}

/** Why a rule does not notify of an event, in the order of the checks. */
export const MISMATCHES = [
  'inactive',
  'other-kind',
  'other-phase',
  'other-alarm',
  'other-sensor',
  'vehicle-not-visible',
  'other-vehicle',
  'geofence-not-visible',
  'other-geofence',
  'not-inside',
  'not-outside',
  'other-driver',
  'too-short',
  'other-day',
  'other-hours',
  'data-too-old',
  'too-soon',
] as const;
export type Mismatch = (typeof MISMATCHES)[number];

/** The geofence that an event is about; null: none. */
export function geofenceOf(event: FleetEvent): GeofenceId | null {
  return 'geofenceId' in event ? event.geofenceId : null;
}

/** When this phase of an event happened, in Unix milliseconds. */
export function happenedAtMs(event: FleetEvent): number {
  return event.phase === 'begin' ? event.startedAtMs : (event.endedAtMs ?? event.fixTimeMs);
}

export function minDurationMs({ minDurationMinutes }: Pick<NotificationRule, 'minDurationMinutes'>): number {
  return minDurationMinutes * 60_000;
}

/** Earliest time at which the rule can notify of this phase: a `begin` waits for the rule's minimum duration. */
export function notifiableAtMs(rule: Pick<NotificationRule, 'minDurationMinutes'>, event: FleetEvent): number {
  return happenedAtMs(event) + (event.phase === 'begin' ? minDurationMs(rule) : 0);
}

/**
 * Why the rule does not notify of the event; null where it matches. {@link isTooSoon} checks the interval between
 * notifications separately.
 */
export function mismatchOf(rule: RuleTerms, happening: Happening, context: RuleContext): Mismatch | null {
  const { event, arrivedAtMs } = happening;
  if (!rule.active) return 'inactive';
  if (!alsoHarsh(rule.eventKinds).includes(event.kind)) return 'other-kind';
  if (!rule.phases.includes(event.phase)) return 'other-phase';
  const alarm = alarmIn(rule, event);
  if (alarm !== null && rule.alarms !== null && !rule.alarms.includes(alarm)) return 'other-alarm';
  if (event.kind === 'sensor-threshold' && !namesSensor(rule, event)) return 'other-sensor';
  const { owner, vehicle } = context;
  // A blocked owner sees nothing.
  if (owner === null || vehicle === null || !maySeeVehicle(owner, vehicle)) return 'vehicle-not-visible';
  if (!namesVehicle(rule, event.vehicleId, vehicle)) return 'other-vehicle';
  const geofence = geofenceMismatch(rule, event, owner, context);
  if (geofence !== null) return geofence;
  const place = placeMismatch(rule, owner, context);
  if (place !== null) return place;
  // A driver card may be read a minute after the begin: a rule that waits for a duration checks the driver then.
  const isOpen = happening.lastedMs === undefined && minDurationMs(rule) > 0;
  if (!isOpen && !namesDriver(rule, owner, context.driver)) return 'other-driver';
  if (happening.lastedMs !== undefined && happening.lastedMs < minDurationMs(rule)) return 'too-short';
  const time = timeMismatch(rule, notifiableAtMs(rule, event));
  if (time !== null) return time;
  const maxAgeMinutes = rule.maxDataAgeMinutes ?? (isLate(event) ? LATE_DATA_AGE_MINUTES : Number.POSITIVE_INFINITY);
  return arrivedAtMs !== null && arrivedAtMs - event.fixTimeMs > maxAgeMinutes * 60_000 ? 'data-too-old' : null;
}

/** The event's alarm for matching `alarms`. Harsh driving counts as an alarm unless the rule names its kind. */
function alarmIn({ eventKinds }: Pick<NotificationRule, 'eventKinds'>, event: FleetEvent): Alarm | null {
  return event.kind === 'alarm' || !eventKinds.includes(event.kind) ? raisedAlarm(event) : null;
}

/** Whether the rule covers the vehicle: by itself, by one of its groups, or by covering all. */
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

/** Whether the rule covers the sensor of an event: by its id, by its name, or by covering all. */
function namesSensor({ sensors }: Pick<NotificationRule, 'sensors'>, event: SensorThresholdExceeded): boolean {
  if (sensors === null) return true;
  const key = sensorNameKey(event.sensorName);
  return sensors.some((each) => each === event.sensorId || sensorNameKey(each) === key);
}

function geofenceMismatch(
  rule: RuleTerms,
  event: FleetEvent,
  owner: User,
  { geofence, geofenceOwner }: RuleContext,
): Mismatch | null {
  const geofenceId = geofenceOf(event);
  if (geofenceId === null) return rule.geofenceIds === null ? null : 'other-geofence';
  if (geofence === null || !maySeeGeofence(owner, geofence, geofenceOwner)) return 'geofence-not-visible';
  if (rule.geofenceIds !== null) return rule.geofenceIds.includes(geofenceId) ? null : 'other-geofence';
  const isOwn = geofence.ownerId === owner.id || isSharedWith(owner, geofence, geofenceOwner);
  return isOwn ? null : 'other-geofence';
}

function placeMismatch(
  { insideGeofenceIds, outsideGeofenceIds }: RuleTerms,
  owner: User,
  context: RuleContext,
): Mismatch | null {
  if (insideGeofenceIds === null && outsideGeofenceIds === null) return null;
  let isInside = insideGeofenceIds === null;
  for (const id of insideGeofenceIds ?? []) {
    const place = context.placeOf(id);
    if (place === null || !maySeeGeofence(owner, place.geofence, place.geofenceOwner)) continue;
    if (place.contains) isInside = true;
  }
  if (!isInside) return 'not-inside';
  for (const id of outsideGeofenceIds ?? []) {
    const place = context.placeOf(id);
    // Withheld notifications must not reveal a geofence that the owner can't see.
    if (place === null || !maySeeGeofence(owner, place.geofence, place.geofenceOwner)) return 'geofence-not-visible';
    if (place.contains) return 'not-outside';
  }
  return null;
}

/** Whether the rule depends on the driver. */
export function asksForDriver(rule: Pick<NotificationRule, 'driver' | 'driverIds' | 'driverGroupIds'>): boolean {
  return rule.driver !== null || rule.driverIds !== null || rule.driverGroupIds !== null;
}

function namesDriver(
  { driver: condition, driverIds, driverGroupIds }: RuleTerms,
  owner: User,
  driver: Driver | null,
): boolean {
  const known = driver !== null && maySeeDriver(owner, driver) ? driver : null;
  if (condition !== null && (condition === 'known') !== (known !== null)) return false;
  if (driverIds === null && driverGroupIds === null) return true;
  return known !== null && namesDriverIn({ driverIds, driverGroupIds }, known);
}

/** Whether the rule covers the driver: by itself, by one of its groups, or by covering all. */
export function namesDriverIn(
  { driverIds, driverGroupIds }: Pick<NotificationRule, 'driverIds' | 'driverGroupIds'>,
  driver: Pick<Driver, 'id' | 'groupIds'>,
): boolean {
  if (driverIds === null && driverGroupIds === null) return true;
  return (
    (driverIds?.includes(driver.id) ?? false) ||
    (driverGroupIds !== null && driver.groupIds.some((id) => driverGroupIds.includes(id)))
  );
}

/** Whether the rule applies at this time, by its days and hours. */
export function isRuleTime(rule: Pick<NotificationRule, 'days' | 'hours' | 'timeZone'>, atMs: number): boolean {
  return timeMismatch(rule, atMs) === null;
}

function timeMismatch(
  { days, hours, timeZone }: Pick<NotificationRule, 'days' | 'hours' | 'timeZone'>,
  atMs: number,
): 'other-day' | 'other-hours' | null {
  if (days.on === 'daily' && hours === null) return null;
  const local = Temporal.Instant.fromEpochMilliseconds(Math.floor(atMs)).toZonedDateTimeISO(timeZone).toPlainDateTime();
  let date = local.toPlainDate();
  if (hours !== null) {
    // Local time: an hour that a clock change repeats is in the interval both times.
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
 * Whether the rule's last notification about the vehicle is too recent. Times of fixes are compared, so that a backlog
 * leads to the same notifications as live data. Events before the last one are too soon as well, so that each interval
 * has one notification. Late data further back than one interval has an interval of its own.
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

/** The reason why a rule has nothing left to match: all that it named was deleted. Null: it still matches something. */
export function namesNothing(rule: Pick<NotificationRule, RuleList>): Exclude<InactiveReason, 'switched-off'> | null {
  const { vehicleIds, groupIds, geofenceIds, insideGeofenceIds, outsideGeofenceIds, driverIds, driverGroupIds } = rule;
  if ([geofenceIds, insideGeofenceIds, outsideGeofenceIds].some((ids) => ids?.length === 0)) return 'geofences-deleted';
  if ((driverIds !== null || driverGroupIds !== null) && (driverIds?.length ?? 0) + (driverGroupIds?.length ?? 0) === 0)
    return 'drivers-deleted';
  if (vehicleIds === null && groupIds === null) return null;
  if ((vehicleIds?.length ?? 0) + (groupIds?.length ?? 0) > 0) return null;
  return vehicleIds === null ? 'groups-deleted' : 'vehicles-deleted';
}
