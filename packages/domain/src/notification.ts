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

/** An event that one user is notified of, because a rule of theirs asks for it. */
export interface Notification {
  id: NotificationId;
  userId: UserId;
  /** Grows by one with each notification of the user: what a client's cursor counts. */
  number: number;
  ruleId: NotificationRuleId;
  ruleVersion: number;
  /** Names as they were when the notification was created, as is the severity. */
  ruleName: string;
  severity: Severity;
  /** The incident that it opened, or whose event it says is over; null: its rule opens none. */
  incidentId: IncidentId | null;
  /** Null where no vehicle is part of it. */
  vehicleName: string | null;
  /** Null where the event is about no geofence. */
  geofenceName: string | null;
  /** Of a notification about a driver; null for others, and once the driver was deleted. */
  driverName: string | null;
  event: NotifiedEvent;
  /** How long the event had lasted, where its rule waited for that; null: its begin or its end is the reason. */
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

/** A notification as REST, the live API and webhooks show it: whose it is goes without saying. */
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

/** What a notification is about, as it is defined now. */
export interface NotificationSubject {
  vehicle: SeenVehicle | undefined;
  geofence: OwnedGeofence | undefined;
  geofenceOwner: Member | undefined;
  driver?: Pick<Driver, 'dealerId' | 'groupIds'> | undefined;
}

/**
 * May the account be notified of it now? Current rights decide: a vehicle, a geofence or a driver that the account may
 * no longer see hides the event. A deleted one hides nothing.
 */
export function mayReceive(
  caller: Caller & Member,
  { vehicle, geofence, geofenceOwner, driver }: NotificationSubject,
): boolean {
  if (caller.blocked) return false;
  // Of what was deleted nobody knows whether a key that is limited to groups might have seen it.
  if (vehicle === undefined && driver === undefined && limitedAccount(caller) !== null) return false;
  if (vehicle !== undefined && !maySeeVehicle(caller, vehicle)) return false;
  if (driver !== undefined && !maySeeDriver(caller, driver)) return false;
  return geofence === undefined || maySeeGeofence(caller, geofence, geofenceOwner ?? null);
}

/** Ids of what a notification is about; null: it is about none. */
export interface NotificationSubjectIds {
  vehicleId: VehicleId | null;
  geofenceId: GeofenceId | null;
  driverId: DriverId | null;
}

/** What an event that is notified is about. */
export function subjectIdsOf(event: NotifiedEvent): NotificationSubjectIds {
  if (isLicenceExpiry(event)) return { vehicleId: null, geofenceId: null, driverId: event.driverId };
  return { vehicleId: event.vehicleId, geofenceId: geofenceOf(event), driverId: null };
}

/** What a notification is about, as it is defined now. */
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

/** Unread notifications about the same. */
export interface UnreadCount extends NotificationSubjectIds {
  count: number;
}

/** How many unread notifications are about what the caller may see now. */
export function visibleUnread(caller: Caller & Member, unread: readonly UnreadCount[], directory: Directory): number {
  const visible = unread.filter((each) => mayReceive(caller, subjectIn(directory, each)));
  return visible.reduce((sum, { count }) => sum + count, 0);
}
