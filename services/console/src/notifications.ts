import type { Notification } from '@outrider/client';
import { signal } from '@preact/signals';
import { toast } from './parts/toast.tsx';
import { t } from './words/words.ts';

/** The newest notification. */
export const newest = signal<Notification | null>(null);
/** As the live API says. Null: not known yet. */
export const unreadCount = signal<number | null>(null);

/** One that arrives while the page is open. */
export function onNotification(notification: Notification): void {
  newest.value = notification;
  toast(describe(notification), 'info', '/notifications');
}

/** “Van 7: Geofence begins, Depot”. */
export function describe({ vehicleName, geofenceName, event }: Notification): string {
  const what = t().events[event.kind] ?? event.kind;
  const phase = t().phases[event.phase] ?? event.phase;
  return `${vehicleName}: ${what} ${phase}${geofenceName === null ? '' : `, ${geofenceName}`}`;
}
