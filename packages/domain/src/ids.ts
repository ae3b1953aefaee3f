import { hash } from 'node:crypto';

declare const brand: unique symbol;
/** A string type that the compiler distinguishes from other branded strings. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };

/** UUID that the service gives to a vehicle profile. */
export type VehicleId = Brand<string, 'VehicleId'>;
/** UUID of a vehicle group. */
export type GroupId = Brand<string, 'GroupId'>;
/** UUID of a user, dealer or operator account. */
export type UserId = Brand<string, 'UserId'>;
/** UUID of a geofence. */
export type GeofenceId = Brand<string, 'GeofenceId'>;
/** UUID of an event; derived, see {@link deriveEventId}. */
export type EventId = Brand<string, 'EventId'>;
/** UUID of a notification rule. */
export type NotificationRuleId = Brand<string, 'NotificationRuleId'>;
/** UUID of a notification. */
export type NotificationId = Brand<string, 'NotificationId'>;
/** UUID of an incident: that of the notification that opened it. */
export type IncidentId = Brand<string, 'IncidentId'>;
/** UUID of a notification's delivery over one channel. */
export type DeliveryId = Brand<string, 'DeliveryId'>;
/** UUID of a job: work that takes longer than an API call may. */
export type JobId = Brand<string, 'JobId'>;
export type ReportScheduleId = Brand<string, 'ReportScheduleId'>;
/** UUID of a video terminal's profile. */
export type VideoProfileId = Brand<string, 'VideoProfileId'>;
/** UUID of a task that fetches video. */
export type VideoTaskId = Brand<string, 'VideoTaskId'>;
/** UUID of a command to a terminal. */
export type CommandId = Brand<string, 'CommandId'>;
/** UUID of a driver. */
export type DriverId = Brand<string, 'DriverId'>;
/** UUID of an assignment of a driver to a vehicle. */
export type DriverAssignmentId = Brand<string, 'DriverAssignmentId'>;
/** UUID of a link that shows vehicles to anyone who has it. */
export type ShareLinkId = Brand<string, 'ShareLinkId'>;
/** UUID of a maintenance plan. */
export type MaintenancePlanId = Brand<string, 'MaintenancePlanId'>;
/** UUID of a record of a service that was done. */
export type ServiceRecordId = Brand<string, 'ServiceRecordId'>;
/** UUID of an API key. */
export type ApiKeyId = Brand<string, 'ApiKeyId'>;
/** UUID of a passkey. */
export type PasskeyId = Brand<string, 'PasskeyId'>;
/** UUID of a login session. */
export type SessionId = Brand<string, 'SessionId'>;
/** Identifier that a terminal sends: IMEI, serial number or phone number, as the terminal writes it. */
export type TerminalId = Brand<string, 'TerminalId'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True when `text` is a UUID in lower-case canonical form (RFC 9562). */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The UUID in canonical form (lower case), whatever its case in `text`. Null where `text` is no UUID. */
export function readUuid(text: string): string | null {
  const lower = text.toLowerCase();
  return isUuid(lower) ? lower : null;
}

/**
 * Derives the id of an event. The same facts always give the same id, so that a replay of the log creates no second
 * event. The id has the form of a UUIDv7: its time part is the time of the fix that began the event; the rest is a hash
 * of what the event is about.
 *
 * @param kind kind of the event, such as `geofence-visit`
 * @param aboutId vehicle the event is about, or the driver where no vehicle is part of it
 * @param subject geofence id, or what else distinguishes two events of one kind and time; may be empty
 * @param beganAtMs Unix milliseconds of the fix that began the event
 */
export function deriveEventId(
  kind: string,
  aboutId: VehicleId | DriverId,
  subject: string,
  beganAtMs: number,
): EventId {
  const digest = hash('sha256', `${kind}\n${aboutId}\n${subject}\n${beganAtMs}`);
  const time = beganAtMs.toString(16).padStart(12, '0');
  // Version 7, and the variant in the upper two bits of the ninth byte (RFC 9562).
  const variant = '89ab'[Number.parseInt(digest.charAt(4), 16) & 3];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${digest.slice(1, 4)}-${variant}${digest.slice(5, 8)}-${digest.slice(8, 20)}` as EventId;
}

/** The time in an event's id: Unix milliseconds of the fix that began it (see {@link deriveEventId}). */
export function beganAtMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
