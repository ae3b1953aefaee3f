import type { Directory } from './directory.ts';
import { isLate } from './events/index.ts';
import type { DriverId, GeofenceId, IncidentId, NotificationId, NotificationRuleId, UserId, VehicleId } from './ids.ts';
import { isoTime } from './json.ts';
import { isLicenceExpiry, type NotifiedEvent, notifiedEventJson } from './licence-expiry.ts';
import { limitedAccount } from './resources/api-key.ts';
import { type Driver, maySeeDriver } from './resources/driver.ts';
import { geofenceOf, type Severity } from './resources/notification-rule.ts';
import {
  type Caller,
  type Member,
  maySeeGeofence,
  maySeeVehicle,
  type OwnedGeofence,
  type SeenVehicle,
} from './rights.ts';

/** An event that a user is notified of by one of their rules. */
export interface Notification {
  id: NotificationId;
  userId: UserId;
  /** Grows by one with each notification of the user; used as a cursor by clients. */
  number: number;
  ruleId: NotificationRuleId;
  ruleVersion: number;
  /** Names and severity at the time when the notification was created. */
  ruleName: string;
  severity: Severity;
  /** The incident that this notification opened or whose event has ended; null: its rule opens none. */
  incidentId: IncidentId | null;
  /** Null where the event is not about a vehicle. */
  vehicleName: string | null;
  /** Null where the event is not about a geofence. */
  geofenceName: string | null;
  /** Set for a notification about a driver; null for others, and once the driver was deleted. */
  driverName: string | null;
  event: NotifiedEvent;
  /** How long the event had lasted, where its rule waited for that; null: the event's begin or end was notified. */
  lastedMs: number | null;
  createdAtMs: number;
  /** Null until the user has read it. */
  readAtMs: number | null;
}

/** Channel of the hub on which {@link NotificationsRead} is published as JSON. */
export const NOTIFICATIONS_READ_CHANNEL = 'notifications-read';

/** A user has read notifications. */
export interface NotificationsRead {
  userId: UserId;
}

/** A notification as REST, the live API and webhooks show it. Its user is left out. */
export function notificationJson(notification: Notification): Record<string, unknown> {
  const { id, number, ruleId, ruleVersion, ruleName, vehicleName, geofenceName, driverName } = notification;
  const { severity, incidentId, event, lastedMs, createdAtMs, readAtMs } = notification;
  return {
    id,
    number,
    ruleId,
    ruleVersion,
    ruleName,
    vehicleName,
    geofenceName,
    driverName,
    severity,
    incidentId,
    late: !isLicenceExpiry(event) && isLate(event),
    lastedSeconds: lastedMs === null ? null : lastedMs / 1000,
    event: notifiedEventJson(event),
    createdAt: isoTime(createdAtMs),
    readAt: readAtMs === null ? null : isoTime(readAtMs),
  };
}

/** Current definitions of what a notification is about. */
export interface NotificationSubject {
  vehicle: SeenVehicle | undefined;
  geofence: OwnedGeofence | undefined;
  geofenceOwner: Member | undefined;
  driver?: Pick<Driver, 'dealerId' | 'groupIds'> | undefined;
}

/**
 * Whether the account may be notified of the subject now. Current rights decide: a vehicle, geofence or driver that the
 * account may no longer see hides the event. A deleted one does not.
 */
export function mayReceive(
  caller: Caller & Member,
  { vehicle, geofence, geofenceOwner, driver }: NotificationSubject,
): boolean {
  if (caller.blocked) return false;
  // For deleted subjects, the rights of a key that is limited to groups can't be checked.
  if (vehicle === undefined && driver === undefined && limitedAccount(caller) !== null) return false;
  if (vehicle !== undefined && !maySeeVehicle(caller, vehicle)) return false;
  if (driver !== undefined && !maySeeDriver(caller, driver)) return false;
  return geofence === undefined || maySeeGeofence(caller, geofence, geofenceOwner ?? null);
}

/** Ids of what a notification is about; null: not about one. */
export interface NotificationSubjectIds {
  vehicleId: VehicleId | null;
  geofenceId: GeofenceId | null;
  driverId: DriverId | null;
}

/** Ids of what a notified event is about. */
export function subjectIdsOf(event: NotifiedEvent): NotificationSubjectIds {
  if (isLicenceExpiry(event)) return { vehicleId: null, geofenceId: null, driverId: event.driverId };
  return { vehicleId: event.vehicleId, geofenceId: geofenceOf(event), driverId: null };
}

/** Looks up the current definitions of what a notification is about. */
export function subjectIn(
  directory: Directory,
  { vehicleId, geofenceId, driverId }: NotificationSubjectIds,
): NotificationSubject {
  const geofence = geofenceId === null ? undefined : directory.geofences.get(geofenceId);
  return {
    vehicle: vehicleId === null ? undefined : directory.vehicles.get(vehicleId),
    geofence,
    geofenceOwner: directory.ownerOf(geofence),
    driver: driverId === null ? undefined : directory.drivers.get(driverId),
  };
}

/** Number of unread notifications about the same subject. */
export interface UnreadCount extends NotificationSubjectIds {
  count: number;
}

/** Number of unread notifications whose subjects the caller may see now. */
export function visibleUnread(caller: Caller & Member, unread: readonly UnreadCount[], directory: Directory): number {
  const visible = unread.filter((each) => mayReceive(caller, subjectIn(directory, each)));
  return visible.reduce((sum, { count }) => sum + count, 0);
}
