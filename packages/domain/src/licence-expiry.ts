import { EVENT_KINDS, type FleetEvent } from './events/index.ts';
import { type DriverId, deriveEventId, type EventId } from './ids.ts';
import { eventJson, isoTime } from './json.ts';
import { type Driver, maySeeDriver } from './resources/driver.ts';
import { isRuleTime, type NotificationRule, namesDriverIn } from './resources/notification-rule.ts';
import type { User } from './resources/user.ts';

/** Kind of a notification about a driver's licence. It is no kind of event: no vehicle is part of it. */
export const LICENCE_EXPIRY = 'licence-expiry';

/** Days ahead where a rule says nothing else, and the most that it may say. */
export const DEFAULT_LICENCE_WARNING_DAYS = 30;
export const MAX_LICENCE_WARNING_DAYS = 365;

/** `expires-soon`: the licence is still valid, but not for much longer. `expired`: its last day is over. */
export type LicenceStage = 'expires-soon' | 'expired';

/** A driver's licence expires, or has expired. A worker finds it by the calendar; no vehicle and no place is known. */
export interface LicenceExpiry {
  /** The same for each rule, driver, date and stage. */
  id: EventId;
  kind: typeof LICENCE_EXPIRY;
  /** Always `begin`: it does not last, each stage is one of its own. */
  phase: 'begin';
  vehicleId: null;
  driverId: DriverId;
  stage: LicenceStage;
  /** The last day on which the licence is valid, as `2027-05-31`. */
  licenceExpiresOn: string;
  /** Unix milliseconds: when the day began, in the time zone of the rule, on which the stage began. */
  startedAtMs: number;
  endedAtMs: null;
  /** No packet brought it about. */
  traceId?: undefined;
}

/** What a notification is about. */
export type NotifiedEvent = FleetEvent | LicenceExpiry;

/** Every kind that a rule can notify of. */
export const NOTIFIED_KINDS = [...EVENT_KINDS, LICENCE_EXPIRY] as const;

export function isLicenceExpiry(event: NotifiedEvent): event is LicenceExpiry {
  return event.kind === LICENCE_EXPIRY;
}

/** As notifications and incidents show it. */
export function notifiedEventJson(event: NotifiedEvent): Record<string, unknown> {
  if (!isLicenceExpiry(event)) return eventJson(event);
  const { startedAtMs, endedAtMs: _, ...rest } = event;
  return { ...rest, startedAt: isoTime(startedAtMs), endedAt: null };
}

/** Does the rule notify of licences? Then of nothing else: see {@link licenceRuleFault}. */
export function isLicenceRule({ eventKinds }: Pick<NotificationRule, 'eventKinds'>): boolean {
  return eventKinds.includes(LICENCE_EXPIRY);
}

/** What a rule of licences can't ask for, because no vehicle is part of it, with the value that asks for nothing. */
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

/** @returns the field of a rule of licences that asks for something of vehicles, and why it may not; null: none does */
export function licenceRuleFault(
  rule: Pick<NotificationRule, 'eventKinds' | 'phases' | keyof typeof OF_VEHICLES> &
    Partial<Pick<NotificationRule, 'command'>>,
): { field: keyof NotificationRule; reason: string } | null {
  if (!isLicenceRule(rule)) return null;
  if (rule.eventKinds.length > 1)
    return { field: 'eventKinds', reason: `A rule of ${LICENCE_EXPIRY} has no other kind: no vehicle is part of it.` };
  if (!rule.phases.includes('begin'))
    return { field: 'phases', reason: `A rule of ${LICENCE_EXPIRY} needs begin: it has no end.` };
  const reason = `A rule of ${LICENCE_EXPIRY} does not have this: no vehicle is part of it.`;
  if ((rule.command ?? null) !== null) return { field: 'command', reason };
  for (const [field, none] of Object.entries(OF_VEHICLES) as [keyof typeof OF_VEHICLES, number | null][])
    if (rule[field] !== none) return { field, reason };
  return null;
}

/**
 * What a rule notifies of drivers now. The day is that of the rule's time zone. Outside of its days and hours a rule
 * waits: what it has to say is said when they come.
 *
 * @param owner of the rule: of drivers that the owner may not see nothing is said
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
  // Dates as text are in the order of time.
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
    // The time in the id is that of the date, whatever the time zone of the rule: the id is the same for all rules.
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
