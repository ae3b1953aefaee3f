import type { LicenceExpiry, Notification, PublishedEvent } from '@outrider/client';
import { signal } from '@preact/signals';
import { announce } from './alerts.ts';
import { formats } from './format.ts';
import { toast } from './parts/toast.tsx';
import { joined, t } from './words/words.ts';

/** The newest notification. */
export const newest = signal<Notification | null>(null);
/** As the live API says. Null: not known yet. */
export const unreadCount = signal<number | null>(null);
/** Notifications that came while there was no connection, until they were seen. */
export const missed = signal<{ count: number; sinceMs: number } | null>(null);

/** One that arrives while the page is open. */
export function onNotification(notification: Notification): void {
  newest.value = notification;
  toast(describe(notification), 'info', '/notifications');
  announce(notification.ruleName, describe(notification), '/notifications');
}

/** One that was made while there was no connection: it is counted, and makes no noise of its own. */
export function onMissed(notification: Notification): void {
  newest.value = notification;
  const { count, sinceMs } = missed.peek() ?? { count: 0, sinceMs: Number.POSITIVE_INFINITY };
  missed.value = { count: count + 1, sinceMs: Math.min(sinceMs, Date.parse(notification.createdAt)) };
}

/** All that was missed is there. */
export function onCaughtUp(count: number): void {
  if (count === 0) return;
  const text = t().alerts.missed(count);
  toast(text, 'info', '/notifications');
  announce(t().pages.notifications, text, '/notifications');
}

/** Fields that some kinds of event have. */
export interface OwnFields {
  alarm?: unknown;
  geofenceId?: unknown;
}

/** “Van 7: Geofence begins, Depot”. */
export function describe({ vehicleName, geofenceName, driverName, event }: Notification): string {
  if (isLicence(event)) {
    const { licenceOf, aDriver } = t().alerts;
    return licenceOf(driverName ?? aDriver, event.stage === 'expired', formats().calendarDate(event.licenceExpiresOn));
  }
  return describeEvent(event, vehicleName ?? '', geofenceName);
}

/** Is it about a driver's licence? Then no vehicle is part of it. */
export function isLicence(event: Notification['event']): event is LicenceExpiry {
  return event.vehicleId === null;
}

export function describeEvent(event: PublishedEvent, vehicleName: string, geofenceName: string | null): string {
  const { alarm } = event as PublishedEvent & OwnFields;
  const what =
    typeof alarm === 'string' ? (t().alerts.alarmNames[alarm] ?? alarm) : (t().events[event.kind] ?? event.kind);
  const phase = t().phases[event.phase] ?? event.phase;
  return joined([joined([vehicleName, `${what} ${phase}`], ': '), geofenceName], ', ');
}

/** When this phase of an event happened. */
export function eventTime({
  phase,
  startedAt,
  endedAt,
}: Pick<PublishedEvent, 'phase' | 'startedAt' | 'endedAt'>): string {
  return phase === 'end' && endedAt !== null ? endedAt : startedAt;
}

/** The map at the place of an event. */
export function mapLink({ vehicleId, latitude, longitude }: PublishedEvent): string {
  return `/?vehicle=${vehicleId}&at=15/${latitude.toFixed(5)}/${longitude.toFixed(5)}`;
}
