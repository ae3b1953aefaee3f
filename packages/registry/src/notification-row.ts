import type { FleetEvent, Notification, NotificationId, NotificationRuleId, UserId } from '@outrider/domain';
import type { NotificationRow } from './schema.ts';

export function fromNotificationRow(row: NotificationRow): Notification {
  return {
    id: row.id as NotificationId,
    userId: row.user_id as UserId,
    number: row.number,
    ruleId: row.rule_id as NotificationRuleId,
    ruleVersion: row.rule_version,
    ruleName: row.rule_name,
    vehicleName: row.vehicle_name,
    geofenceName: row.geofence_name,
    event: JSON.parse(row.event) as FleetEvent,
    createdAtMs: row.created_at_ms,
    readAtMs: row.read_at_ms,
  };
}

export function toNotificationRow(notification: Notification): NotificationRow {
  const { event } = notification;
  return {
    id: notification.id,
    user_id: notification.userId,
    number: notification.number,
    rule_id: notification.ruleId,
    rule_version: notification.ruleVersion,
    rule_name: notification.ruleName,
    event_id: event.id,
    phase: event.phase,
    vehicle_id: event.vehicleId,
    vehicle_name: notification.vehicleName,
    geofence_name: notification.geofenceName,
    created_at_ms: notification.createdAtMs,
    read_at_ms: notification.readAtMs,
    event: JSON.stringify(event),
  };
}
