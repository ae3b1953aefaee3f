import { EVENT_KINDS, type FleetEvent } from './events/index.ts';
import { type DriverId, deriveEventId, type EventId } from './ids.ts';
import { eventJson, isoTime } from './json.ts';
import { type Driver, maySeeDriver } from './resources/driver.ts';
import { isRuleTime, type NotificationRule, namesDriverIn } from './resources/notification-rule.ts';
import type { User } from './resources/user.ts';

/** Kind of a notification about a driver's licence. It is no kind of event, since no vehicle is involved. */
export const LICENCE_EXPIRY = 'licence-expiry';

/** Default and maximum number of days ahead that a rule warns. */
export const DEFAULT_LICENCE_WARNING_DAYS = 30;
export const MAX_LICENCE_WARNING_DAYS = 365;

/** `expires-soon`: the licence is still valid, but not for much longer. `expired`: its last day is over. */
export type LicenceStage = 'expires-soon' | 'expired';

/**
 * A driver's licence is about to expire or has expired. A worker finds it by the calendar; it has no vehicle and no
 * place.
 */
export interface LicenceExpiry {
  /** Derived from driver, date and stage, so that it is the same for all rules. */
  id: EventId;
  kind: typeof LICENCE_EXPIRY;
  /** Always `begin`: it has no duration, and each stage is a separate one. */
  phase: 'begin';
  vehicleId: null;
  driverId: DriverId;
  stage: LicenceStage;
  /** The last day on which the licence is valid, as `2027-05-31`. */
  licenceExpiresOn: string;
  /** Unix milliseconds: start of the day on which the stage began, in the time zone of the rule. */
  startedAtMs: number;
  endedAtMs: null;
  /** No packet causes it. */
  traceId?: undefined;
}

/** An event, or an expiry, that a notification is about. */
export type NotifiedEvent = FleetEvent | LicenceExpiry;

/** All kinds that a rule can notify of. */
export const NOTIFIED_KINDS = [...EVENT_KINDS, LICENCE_EXPIRY] as const;

export function isLicenceExpiry(event: NotifiedEvent): event is LicenceExpiry {
  return event.kind === LICENCE_EXPIRY;
}

/** The event as notifications and incidents show it. */
export function notifiedEventJson(event: NotifiedEvent): Record<string, unknown> {
  if (!isLicenceExpiry(event)) return eventJson(event);
  const { startedAtMs, endedAtMs: _, ...rest } = event;
  return { ...rest, startedAt: isoTime(startedAtMs), endedAt: null };
}

/** Whether the rule is about licences. Such a rule has no other kind, see {@link licenceRuleFault}. */
export function isLicenceRule({ eventKinds }: Pick<NotificationRule, 'eventKinds'>): boolean {
  return eventKinds.includes(LICENCE_EXPIRY);
}

/** Fields that a rule about licences can't use because no vehicle is involved, with their neutral values. */
const OF_VEHICLES = {
  vehicleIds: null,
  groupIds: null,
  geofenceIds: null,
  insideGeofenceIds: null,
  outsideGeofenceIds: null,
  driver: null,
  minDurationMinutes: 0,
  minIntervalMinutes: 0,
  maxDataAgeMinutes: null,
} as const satisfies Partial<NotificationRule>;

/** @returns the field that is not allowed in a rule about licences, with the reason; null: the rule is valid */
export function licenceRuleFault(
  rule: Pick<NotificationRule, 'eventKinds' | 'phases' | keyof typeof OF_VEHICLES> &
    Partial<Pick<NotificationRule, 'command'>>,
): { field: keyof NotificationRule; reason: string } | null {
  if (!isLicenceRule(rule)) return null;
  if (rule.eventKinds.length > 1)
    return {
      field: 'eventKinds',
      reason: `A rule of kind ${LICENCE_EXPIRY} cannot have other kinds: it is not about a vehicle.`,
    };
  if (!rule.phases.includes('begin'))
    return { field: 'phases', reason: `A rule of kind ${LICENCE_EXPIRY} needs the phase begin: it has no end.` };
  const reason = `A rule of kind ${LICENCE_EXPIRY} cannot have this: it is not about a vehicle.`;
  if ((rule.command ?? null) !== null) return { field: 'command', reason };
  for (const [field, none] of Object.entries(OF_VEHICLES) as [keyof typeof OF_VEHICLES, number | null][])
    if (rule[field] !== none) return { field, reason };
  return null;
}

/**
 * The licence expiries that a rule notifies of now. The day is that of the rule's time zone. Outside its days and hours
 * the rule returns nothing: expiries are notified once they begin.
 *
 * @param owner of the rule: drivers that the owner may not see are left out
 * @param nowMs Unix milliseconds
 */
export function licenceExpiriesOf<D extends Pick<Driver, 'id' | 'dealerId' | 'groupIds' | 'licenceExpiresOn'>>(
  rule: NotificationRule,
  owner: User,
  drivers: Iterable<D>,
  nowMs: number,
): { driver: D; expiry: LicenceExpiry }[] {
  const { licenceWarningDays, timeZone } = rule;
  if (!rule.active || !isLicenceRule(rule) || !isRuleTime(rule, nowMs)) return [];
  const date = Temporal.Instant.fromEpochMilliseconds(Math.floor(nowMs)).toZonedDateTimeISO(timeZone).toPlainDate();
  // ISO dates sort chronologically as text.
  const today = date.toString();
  const until = licenceWarningDays === 0 ? null : date.add({ days: licenceWarningDays }).toString();
  const found: { driver: D; expiry: LicenceExpiry }[] = [];
  for (const driver of drivers) {
    const { licenceExpiresOn } = driver;
    if (licenceExpiresOn === null) continue;
    const isExpired = licenceExpiresOn < today;
    if (!isExpired && (until === null || licenceExpiresOn > until)) continue;
    if (!maySeeDriver(owner, driver) || !namesDriverIn(rule, driver)) continue;
    const lastDay = Temporal.PlainDate.from(licenceExpiresOn);
    const stage = isExpired ? 'expired' : 'expires-soon';
    const firstDay = isExpired ? lastDay.add({ days: 1 }) : lastDay.subtract({ days: licenceWarningDays });
    // The id uses the date's time regardless of the rule's time zone, so that it is the same for all rules.
    const dateMs = Math.max(0, Date.parse(licenceExpiresOn));
    const expiry: LicenceExpiry = {
      id: deriveEventId(LICENCE_EXPIRY, driver.id, `${licenceExpiresOn}/${stage}`, dateMs),
      kind: LICENCE_EXPIRY,
      phase: 'begin',
      vehicleId: null,
      driverId: driver.id,
      stage,
      licenceExpiresOn,
      startedAtMs: firstDay.toZonedDateTime(timeZone).epochMilliseconds,
      endedAtMs: null,
    };
    found.push({ driver, expiry });
  }
  return found;
}
