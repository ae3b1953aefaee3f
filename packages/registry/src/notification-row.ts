import type { FleetEvent, Notification, NotificationId, NotificationRuleId, UserId } from '@outrider/domain';
import type { NotificationRow } from './schema.ts';

export function fromNotificationRow(row: NotificationRow): Notification {
  return {
    id: row.id as NotificationId,
    userId: row.userId as UserId,
    number: row.number,
    ruleId: row.ruleId as NotificationRuleId,
    ruleVersion: row.ruleVersion,
    ruleName: row.ruleName,
    vehicleName: row.vehicleName,
    geofenceName: row.geofenceName,
    event: JSON.parse(row.event) as FleetEvent,
    createdAtMs: row.createdAtMs,
    readAtMs: row.readAtMs,
  };
}

export function toNotificationRow(notification: Notification): NotificationRow {
  const { event } = notification;
  return {
    id: notification.id,
    userId: notification.userId,
    number: notification.number,
    ruleId: notification.ruleId,
    ruleVersion: notification.ruleVersion,
    ruleName: notification.ruleName,
    eventId: event.id,
    phase: event.phase,
    vehicleId: event.vehicleId,
    vehicleName: notification.vehicleName,
    geofenceName: notification.geofenceName,
    createdAtMs: notification.createdAtMs,
    readAtMs: notification.readAtMs,
    event: JSON.stringify(event),
  };
}
