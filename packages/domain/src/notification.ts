import type { Geofence, User, Vehicle } from './definitions.ts';
import type { Directory } from './directory.ts';
import { type FleetEvent, isLate } from './event.ts';
import type { GeofenceId, NotificationId, NotificationRuleId, UserId, VehicleId } from './ids.ts';
import { eventJson, isoTime } from './json.ts';
import { maySeeGeofence } from './notification-rule.ts';
import { type Caller, maySeeVehicle } from './rights.ts';

/** An event that one user is notified of, because a rule of theirs asks for it. */
export interface Notification {
  id: NotificationId;
  userId: UserId;
  /** Grows by one with each notification of the user: what a client's cursor counts. */
  number: number;
  ruleId: NotificationRuleId;
  ruleVersion: number;
  /** Names as they were when the notification was created. */
  ruleName: string;
  vehicleName: string;
  /** Null where the event is about no geofence. */
  geofenceName: string | null;
  event: FleetEvent;
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
  const { id, number, ruleId, ruleVersion, ruleName, vehicleName, geofenceName, createdAtMs, readAtMs } = notification;
  return {
    id,
    number,
    ruleId,
    ruleVersion,
    ruleName,
    vehicleName,
    geofenceName,
    late: isLate(notification.event),
    event: eventJson(notification.event),
    createdAt: isoTime(createdAtMs),
    readAt: readAtMs === null ? null : isoTime(readAtMs),
  };
}

/**
 * May the account be notified of it now? Current rights decide: a vehicle or a geofence that the account may no longer
 * see hides the event. A deleted one hides nothing.
 *
 * @param about the vehicle and the geofence that it is about, and the geofence's owner, as they are defined now
 */
export function mayReceive(
  caller: Caller,
  about: {
    vehicle: Pick<Vehicle, 'dealerId' | 'groupIds'> | undefined;
    geofence: Pick<Geofence, 'ownerId'> | undefined;
    geofenceOwner: Pick<User, 'dealerId'> | undefined;
  },
): boolean {
  const { vehicle, geofence, geofenceOwner } = about;
  if (caller.blocked) return false;
  if (vehicle !== undefined && !maySeeVehicle(caller, vehicle)) return false;
  return geofence === undefined || maySeeGeofence(caller, geofence, geofenceOwner ?? null);
}

/** Vehicle, geofence and geofence owner that a notification is about, as they are defined now. */
export function subjectIn(
  directory: Directory,
  { vehicleId, geofenceId }: { vehicleId: VehicleId; geofenceId: GeofenceId | null },
): Parameters<typeof mayReceive>[1] {
  const geofence = geofenceId === null ? undefined : directory.geofences.get(geofenceId);
  const geofenceOwner = directory.ownerOf(geofence);
  return { vehicle: directory.vehicles.get(vehicleId), geofence, geofenceOwner };
}

/** Unread notifications about one vehicle and, where they are about one, one geofence. */
export interface UnreadCount {
  vehicleId: VehicleId;
  geofenceId: GeofenceId | null;
  count: number;
}

/** How many unread notifications are about what the caller may see now. */
export function visibleUnread(caller: Caller, unread: readonly UnreadCount[], directory: Directory): number {
  const visible = unread.filter((each) => mayReceive(caller, subjectIn(directory, each)));
  return visible.reduce((sum, { count }) => sum + count, 0);
}
