import {
  LiveConnection,
  type LiveMessage,
  type LiveStatus,
  type LiveSubscription,
  type PublishedEvent,
} from '@outrider/client';
import { signal } from '@preact/signals';
import { DefinitionChanges } from '../fleet/definition-changes.ts';
import { forgetDefinitions, loadDefinitions, takeRecord } from '../fleet/store.ts';
import { onNotification, unreadCount } from '../notifications.ts';
import { toast } from '../parts/toast.tsx';
import { refreshUser } from '../session.ts';
import { t } from '../words/words.ts';

const ALL: LiveSubscription = { positions: true, states: true, definitions: true, unread: true };
const HIDDEN: LiveSubscription = { ...ALL, positions: false, states: false };
/** A tab that is hidden for longer gets events and notifications only. */
const HIDDEN_AFTER_MS = 30_000;

/** What the page knows of its connection to the live API. */
export const live = {
  status: signal<LiveStatus>('connecting'),
  /** The newest event. */
  event: signal<PublishedEvent | null>(null),
};

/** Loads the definitions and follows the live API, until the returned function is called. */
export function connectLive(): () => void {
  let isFirst = true;
  let hideTimer: ReturnType<typeof setTimeout> | null = null;
  let isHidden = false;

  const onMessage = (message: LiveMessage) => {
    if (message.type === 'resumed') {
      const missed = message.missed + message.missedNotifications;
      if (!isFirst && !isHidden && live.status.peek() === 'open' && missed > 0) toast(t().reconnected(missed));
      isFirst = false;
    } else if (message.type === 'definition') definitions.take(message.changes);
    else take(message);
  };
  const connection = new LiveConnection({
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/live`,
    isBinary: true,
    // Positions are asked for once the vehicles that they are about are known.
    subscription: HIDDEN,
    onMessage,
    onStatus: (status) => {
      live.status.value = status;
      // A refused upgrade looks like a broken connection: a REST call shows whether the session is over.
      if (status === 'waiting' || status === 'unauthorized') void refreshUser();
      // Rights and names may have changed meanwhile.
      if (status === 'open' && !isFirst) void loadDefinitions();
    },
  });
  const definitions = new DefinitionChanges(() => connection.subscribe(isHidden ? HIDDEN : ALL));
  void loadDefinitions().then(() => connection.subscribe(ALL));

  const onVisibility = () => {
    if (hideTimer !== null) clearTimeout(hideTimer);
    if (document.hidden)
      hideTimer = setTimeout(() => {
        isHidden = true;
        connection.subscribe(HIDDEN);
      }, HIDDEN_AFTER_MS);
    else if (isHidden) {
      isHidden = false;
      connection.subscribe(ALL);
    }
  };
  const onOnline = () => connection.retryNow();
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('online', onOnline);
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('online', onOnline);
    if (hideTimer !== null) clearTimeout(hideTimer);
    definitions.stop();
    connection.close();
    forgetDefinitions();
  };
}

function take(message: LiveMessage): void {
  switch (message.type) {
    case 'records':
      for (const record of message.records) takeRecord(record);
      break;
    case 'unread':
      unreadCount.value = message.count;
      break;
    case 'event':
      live.event.value = message;
      break;
    case 'notification':
      onNotification(message);
      break;
    case 'gap':
      toast(t().gap, 'error');
      break;
  }
}
