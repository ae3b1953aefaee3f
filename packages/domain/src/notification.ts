import type { Geofence, User, Vehicle } from './definitions.ts';
import { type FleetEvent, isLate } from './event.ts';
import type { NotificationId, NotificationRuleId, UserId } from './ids.ts';
import { eventJson, isoTime } from './json.ts';
import { maySeeGeofence } from './notification-rule.ts';
import { type Caller, maySeeVehicle } from './rights.ts';

/** An event told to one user because a rule of theirs asked for it. */
export interface Notification {
  id: NotificationId;
  userId: UserId;
  /** Grows by one with each notification of the user: what a client's cursor counts. */
  number: number;
  ruleId: NotificationRuleId;
  ruleVersion: number;
  /** Names as they were when it was told. */
  ruleName: string;
  vehicleName: string;
  /** Null where the event is about no geofence. */
  geofenceName: string | null;
  event: FleetEvent;
  createdAtMs: number;
  /** Null until the user has read it. */
  readAtMs: number | null;
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
 * May the account be told of it, now? Rights are those of now: a vehicle or a geofence that it may not see any more is
 * no longer its business. What is gone altogether is nobody's secret.
 *
 * @param about the vehicle and the geofence that it is about, and the geofence's owner, as they are defined now
 */
export function mayHear(
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
