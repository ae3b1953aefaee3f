import type { FeedEvent, Notification, PublishedEvent } from '@outrider/client';
import { signal } from '@preact/signals';
import { announce } from './alerts.ts';
import { Loadable } from './parts/loading/loadable.ts';
import { toast } from './parts/toast.tsx';
import { loadPageWords } from './words/page-words.ts';
import { t } from './words/words.ts';

/** Code that describes events. Loaded after the map. */
const sentences = new Loadable(async () => {
  const code = await import('./sentences/sentences.ts');
  await loadPageWords();
  return code;
});

/** The newest notification. */
export const newest = signal<Notification | null>(null);
/** From the live API. Null: not known yet. */
export const unreadCount = signal<number | null>(null);
/** Notifications that arrived while the connection was down, until the user has seen them. */
export const missed = signal<{ count: number; sinceMs: number } | null>(null);

/** Handles a notification that arrives while the page is open. */
export function onNotification(notification: Notification): void {
  newest.value = notification;
  const { ruleName } = notification;
  const show = (text: string) => {
    toast(text, 'info', '/notifications');
    announce(ruleName, text, '/notifications');
  };
  sentences.loaded().then(
    ({ describe }) => show(describe(notification)),
    () => show(ruleName),
  );
}

/** Handles a notification that was created while the connection was down: it is counted, without a sound of its own. */
export function onMissed(notification: Notification): void {
  newest.value = notification;
  const { count, sinceMs } = missed.peek() ?? { count: 0, sinceMs: Number.POSITIVE_INFINITY };
  missed.value = { count: count + 1, sinceMs: Math.min(sinceMs, Date.parse(notification.createdAt)) };
}

/** Called when all missed notifications have arrived. */
export function onCaughtUp(count: number): void {
  if (count === 0) return;
  const text = t().alerts.missed(count);
  toast(text, 'info', '/notifications');
  announce(t().pages.notifications, text, '/notifications');
}

/** When this phase of an event happened. */
export function eventTime({ phase, startedAt, endedAt }: Pick<FeedEvent, 'phase' | 'startedAt' | 'endedAt'>): string {
  return phase === 'end' && endedAt !== null ? endedAt : startedAt;
}

/** Link to the map at the place of an event. */
export function mapLink({ vehicleId, latitude, longitude }: PublishedEvent): string {
  return `/?vehicle=${vehicleId}&at=15/${latitude.toFixed(5)}/${longitude.toFixed(5)}`;
}
