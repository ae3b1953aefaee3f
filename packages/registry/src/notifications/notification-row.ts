import type {
  IncidentId,
  Notification,
  NotificationId,
  NotificationRuleId,
  NotifiedEvent,
  Severity,
  UserId,
} from '@outrider/domain';
import type { NotificationRow } from '../store/schema.ts';

export function fromNotificationRow(row: NotificationRow): Notification {
  const event = JSON.parse(row.event) as NotifiedEvent;
  return {
    id: row.id as NotificationId,
    userId: row.userId as UserId,
    number: row.number,
    ruleId: row.ruleId as NotificationRuleId,
    ruleVersion: row.ruleVersion,
    ruleName: row.ruleName,
    vehicleName: event.vehicleId === null ? null : row.vehicleName,
    geofenceName: row.geofenceName,
    driverName: row.driverName,
    severity: row.severity as Severity,
    incidentId: row.incidentId as IncidentId | null,
    event,
    lastedMs: row.lastedMs,
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
    vehicleId: event.vehicleId ?? '',
    vehicleName: notification.vehicleName ?? '',
    geofenceName: notification.geofenceName,
    driverId: event.vehicleId === null ? event.driverId : null,
    driverName: notification.driverName,
    lastedMs: notification.lastedMs,
    createdAtMs: notification.createdAtMs,
    readAtMs: notification.readAtMs,
    event: JSON.stringify(event),
    severity: notification.severity,
    incidentId: notification.incidentId,
  };
}
