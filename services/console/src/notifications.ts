import type { Notification } from '@outrider/client';
import { signal } from '@preact/signals';
import { toast } from './parts/toast.tsx';
import { api } from './session.ts';
import { t } from './words/words.ts';

/** The newest notification. */
export const newest = signal<Notification | null>(null);
/** Null: not known yet. */
export const unreadCount = signal<number | null>(null);

/** One that arrives while the page is open. */
export function onNotification(notification: Notification): void {
  newest.value = notification;
  if (unreadCount.peek() !== null) unreadCount.value = (unreadCount.peek() ?? 0) + 1;
  toast(describe(notification), 'info', '/notifications');
}

/** Asks how many are unread; where that fails, what was known stays. */
export async function readUnreadCount(): Promise<void> {
  const answer = await api.get('/api/v1/notifications', { query: { limit: 1 } }).catch(() => null);
  if (answer !== null) unreadCount.value = answer.unreadCount;
}

/** “Van 7: Geofence begins, Depot”. */
export function describe({ vehicleName, geofenceName, event }: Notification): string {
  const what = t().events[event.kind] ?? event.kind;
  const phase = t().phases[event.phase] ?? event.phase;
  return `${vehicleName}: ${what} ${phase}${geofenceName === null ? '' : `, ${geofenceName}`}`;
}
