import type { FeedEvent, Notification, PublishedEvent } from '@outrider/client';
import { signal } from '@preact/signals';
import { announce } from './alerts.ts';
import { Loadable } from './parts/loading/loadable.ts';
import { toast } from './parts/toast.tsx';
import { loadPageWords } from './words/page-words.ts';
import { t } from './words/words.ts';

/** What is said of an event: comes after the map. */
const sentences = new Loadable(async () => {
  const code = await import('./sentences/sentences.ts');
  await loadPageWords();
  return code;
});

/** The newest notification. */
export const newest = signal<Notification | null>(null);
/** As the live API says. Null: not known yet. */
export const unreadCount = signal<number | null>(null);
/** Notifications that came while there was no connection, until they were seen. */
export const missed = signal<{ count: number; sinceMs: number } | null>(null);

/** One that arrives while the page is open. */
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

/** When this phase of an event happened. */
export function eventTime({ phase, startedAt, endedAt }: Pick<FeedEvent, 'phase' | 'startedAt' | 'endedAt'>): string {
  return phase === 'end' && endedAt !== null ? endedAt : startedAt;
}

/** The map at the place of an event. */
export function mapLink({ vehicleId, latitude, longitude }: PublishedEvent): string {
  return `/?vehicle=${vehicleId}&at=15/${latitude.toFixed(5)}/${longitude.toFixed(5)}`;
}
