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
export const INACTIVE_REASONS = [
  'switched-off',
  'vehicles-deleted',
  'groups-deleted',
  'geofences-deleted',
  'drivers-deleted',
] as const;
export type InactiveReason = (typeof INACTIVE_REASONS)[number];

/** Whether it is known who drives, for a rule that asks for that. */
export const DRIVER_CONDITIONS = ['known', 'unknown'] as const;
export type DriverCondition = (typeof DRIVER_CONDITIONS)[number];

/** The longest minimum duration of a rule: 90 days. */
export const MAX_MIN_DURATION_MINUTES = 90 * 24 * 60;

/**
 * How much it matters. What is more than `info` opens an incident, which stays until somebody deals with it (see
 * {@link Incident}).
 */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The longest time after which an incident is escalated: a week. */
export const MAX_ESCALATE_AFTER_MINUTES = 7 * 24 * 60;

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
   * Only events that last at least this: `begin` is notified once they have, and `end` where they had. 0: all, and
   * `begin` at once.
   */
  minDurationMinutes: number;
  /** Of events of kind `alarm`, only these alarms; null: all. Other kinds of event are not affected. */
  alarms: readonly Alarm[] | null;
  /**
   * Of events of kind `sensor-threshold`, only those of these sensors, each by its id or by its name, whatever the
   * case; null: all. Other kinds of event are not affected.
   */
  sensors: readonly string[] | null;
  /**
   * These vehicles, and those in `groupIds`: of both, those that the owner may see. Null and null: all that the owner
   * may see. A list that became empty names none.
   */
  vehicleIds: readonly VehicleId[] | null;
  groupIds: readonly GroupId[] | null;
  /** Only events about one of these. Null: any event, and of those about a geofence the ones about the owner's own. */
  geofenceIds: readonly GeofenceId[] | null;
  /** Only where this phase of the event happened inside one of these; null: anywhere. */
  insideGeofenceIds: readonly GeofenceId[] | null;
  /** Only where it happened outside all of these; null: anywhere. */
  outsideGeofenceIds: readonly GeofenceId[] | null;
  /**
   * Only where it is known who drives, or only where it is not: by what was assigned by hand, else by the code of the
   * event. A driver that the owner may not see is not known. Null: either.
   */
  driver: DriverCondition | null;
  /** Only what one of these drivers drove, or one of `driverGroupIds`; null and null: anybody. */
  driverIds: readonly DriverId[] | null;
  driverGroupIds: readonly GroupId[] | null;
  /**
   * Of kind `licence-expiry`: so many days before the last day of a licence; 0: only once it is over. Other kinds are
   * not affected.
   */
  licenceWarningDays: number;
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
  /** What messages say, with placeholders; null: the words of the service. */
  messageTemplate: string | null;
  /** The same by language, such as `de`: it goes before `messageTemplate` where the message is in that language. */
  messageTemplates: Readonly<Record<string, string>>;
  /** Language of its messages, such as `de`; null: that of its owner. */
  language: string | null;
  /** Whether the browsers of its owner that take push messages get one each. */
  push: boolean;
  /** Message channels of the owner, such as chats. */
  channelIds: readonly string[];
  /**
   * As {@link hiddenUrl} shows it: the whole URL may hold a key. It and the secret that messages are signed with are
   * not part of the definition: only the sender reads them.
   */
  webhookUrl: string | null;
  /** Sent to the terminal of the vehicle, with the right of the owner at that time; null: none. */
  command: RuleCommand | null;
  severity: Severity;
  /** Whether its incidents are for all accounts of the owner's organisation that may see the event. */
  shared: boolean;
  /** An incident that nobody has acknowledged after this time is escalated; null: none is. */
  escalateAfterMinutes: number | null;
  /** Addresses that get an e-mail when an incident is escalated. Channels and browsers get a message once more. */
  escalateTo: readonly string[];
}

/** Lists of a rule that name definitions. */
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

/** What decides of which events a rule notifies. */
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
 * Age up to which a rule without a bound of its own notifies of events that only late data made known: a black box read
 * hours later notifies no one.
 */
export const LATE_DATA_AGE_MINUTES = 60;

/** What a rule is held against. */
export interface Happening {
  event: FleetEvent;
  /** When the data arrived, in Unix milliseconds; null where that is not known: then its age is not judged. */
  arrivedAtMs: number | null;
  /** How long the event is known to have lasted. Absent where that is still to be seen: then it is not judged. */
  lastedMs?: number;
}

/** A geofence that a rule names as a place, as it is defined now. */
export interface RulePlace {
  geofence: OwnedGeofence;
  geofenceOwner: Member | null;
  /** Did this phase of the event happen inside it? */
  contains: boolean;
}

/** Who and what a rule and an event name, as they are defined now; null where there is no such thing any more. */
export interface RuleContext {
  owner: User | null;
  vehicle: SeenVehicle | null;
  /** The geofence that the event is about. */
  geofence: OwnedGeofence | null;
  geofenceOwner: Member | null;
  /** A geofence that the rule names as a place; null where it is gone. */
  placeOf(id: GeofenceId): RulePlace | null;
  /** Who drove, whether the owner may see that or not; null where nobody is known. Read for rules of drivers alone. */
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

/** The geofence that an event is about, if it is about one. */
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

/** From when on the rule can notify of this phase: of a `begin`, once the event has lasted as long as it must. */
export function notifiableAtMs(rule: Pick<NotificationRule, 'minDurationMinutes'>, event: FleetEvent): number {
  return happenedAtMs(event) + (event.phase === 'begin' ? minDurationMs(rule) : 0);
}

/**
 * Why the rule does not notify of this; null where it matches. {@link isTooSoon} checks the interval between
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
  // A card may be read a minute after it began: where there is time to wait, that is waited for.
  const isOpen = happening.lastedMs === undefined && minDurationMs(rule) > 0;
  if (!isOpen && !namesDriver(rule, owner, context.driver)) return 'other-driver';
  if (happening.lastedMs !== undefined && happening.lastedMs < minDurationMs(rule)) return 'too-short';
  const time = timeMismatch(rule, notifiableAtMs(rule, event));
  if (time !== null) return time;
  const maxAgeMinutes = rule.maxDataAgeMinutes ?? (isLate(event) ? LATE_DATA_AGE_MINUTES : Number.POSITIVE_INFINITY);
  return arrivedAtMs !== null && arrivedAtMs - event.fixTimeMs > maxAgeMinutes * 60_000 ? 'data-too-old' : null;
}

/** The alarm that an event is to the rule: harsh driving is one to rules that name no more than alarms. */
function alarmIn({ eventKinds }: Pick<NotificationRule, 'eventKinds'>, event: FleetEvent): Alarm | null {
  return event.kind === 'alarm' || !eventKinds.includes(event.kind) ? raisedAlarm(event) : null;
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

/** Does the rule name the sensor of an event, by its id or by its name, or name all? */
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
    // What the owner can't see must not be learnt from what it keeps back.
    if (place === null || !maySeeGeofence(owner, place.geofence, place.geofenceOwner)) return 'geofence-not-visible';
    if (place.contains) return 'not-outside';
  }
  return null;
}

/** Does the rule ask who drives? */
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

/** Does the rule name the driver, by itself, by one of its groups, or by naming all? */
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

/** Is the rule valid at this time, by its days and hours? */
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
export function namesNothing(rule: Pick<NotificationRule, RuleList>): Exclude<InactiveReason, 'switched-off'> | null {
  const { vehicleIds, groupIds, geofenceIds, insideGeofenceIds, outsideGeofenceIds, driverIds, driverGroupIds } = rule;
  if ([geofenceIds, insideGeofenceIds, outsideGeofenceIds].some((ids) => ids?.length === 0)) return 'geofences-deleted';
  if ((driverIds !== null || driverGroupIds !== null) && (driverIds?.length ?? 0) + (driverGroupIds?.length ?? 0) === 0)
    return 'drivers-deleted';
  if (vehicleIds === null && groupIds === null) return null;
  if ((vehicleIds?.length ?? 0) + (groupIds?.length ?? 0) > 0) return null;
  return vehicleIds === null ? 'groups-deleted' : 'vehicles-deleted';
}
