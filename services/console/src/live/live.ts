import {
  type DefinitionChange,
  type FeedEvent,
  LiveConnection,
  type LiveCounters,
  type LiveMessage,
  type LiveStatus,
  type LiveSubscription,
} from '@outrider/client';
import { signal } from '@preact/signals';
import type { CommandChange } from '../commands/model.ts';
import { DefinitionChanges } from '../fleet/definition-changes.ts';
import { isPast } from '../fleet/past.ts';
import { fleet, forgetDefinitions, hasStates, loadDefinitions, takeRecord } from '../fleet/store.ts';
import { countIncidents } from '../incidents.ts';
import { onCaughtUp, onMissed, onNotification, unreadCount } from '../notifications.ts';
import { toast } from '../parts/toast.tsx';
import { refreshUser, user } from '../session.ts';
import { forgetVideoProfiles, rereadVideoProfiles } from '../video/profiles.ts';
import { t } from '../words/words.ts';
import { liveDelay } from './delay.ts';

const ALWAYS = { definitions: true, unread: true, reportJobs: true, videoTasks: true, commands: true, incidents: true };
const ALL: LiveSubscription = { ...ALWAYS, positions: true, states: true, counters: true, delays: true };
const HIDDEN: LiveSubscription = { ...ALWAYS, positions: false };
/** A tab that is hidden for longer receives only events and notifications. */
const HIDDEN_AFTER_MS = 30_000;

/**
 * Interval between measurements of the round-trip time: one that was taken while the page was busy is soon replaced.
 */
const PING_EVERY_MS = 2000;

/** State of the page's connection to the live API, and the newest messages. */
export const live = {
  status: signal<LiveStatus>('connecting'),
  /** The newest event, or its new version after a recalculation. */
  event: signal<FeedEvent | null>(null),
  /** The newest change of a video task. */
  videoTask: signal<Extract<LiveMessage, { type: 'video-task' }> | null>(null),
  /** The newest change of a command to a terminal. */
  command: signal<CommandChange | null>(null),
  /** The newest counters of vehicles whose counters grew or were corrected. */
  counters: signal<readonly LiveCounters[]>([]),
  /** Grows with each answered subscription. Data that no subscription repeats is then read by REST. */
  resumed: signal(0),
  /** The newest changes of definitions that the user may see. */
  changes: signal<readonly DefinitionChange[]>([]),
  /** The report job that ended last. */
  reportJob: signal<Extract<LiveMessage, { type: 'report-job' }> | null>(null),
  /** The newest change of an incident. */
  incident: signal<Extract<LiveMessage, { type: 'incident' }> | null>(null),
};

/** How long the map and the definitions wait for the live API. */
const ANSWERS_WITHIN_MS = 1500;

/**
 * Resolves when the live API answers, is unavailable, or sends nothing for a while. Creating the map and its WebGL
 * context keeps the page busy, and responses to earlier requests arrive meanwhile. Definitions that are read before the
 * subscription are read once more.
 */
export function liveAnswered(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ANSWERS_WITHIN_MS);
    const stop = live.status.subscribe((status) => {
      if (status === 'connecting') return;
      clearTimeout(timer);
      resolve();
      queueMicrotask(() => stop());
    });
  });
}

/**
 * Loads the definitions and follows the live API until the returned function is called. That function restores the
 * initial state, as another user may log in.
 */
export function connectLive(): () => void {
  let isClosed = false;
  let hasReadDefinitions = false;
  /** After a connection loss: missed messages arrive before the answer to the cursor. */
  let isCatchingUp = false;
  let hideTimer: ReturnType<typeof setTimeout> | null = null;
  let isHidden = false;

  const onMessage = (message: LiveMessage) => {
    if (message.type === 'resumed') {
      const { missed, missedNotifications } = message;
      // A subscription that replaces another on the same connection missed nothing.
      if (isCatchingUp) {
        if (!isHidden && missed > 0 && missedNotifications === 0) toast(t().reconnected(missed));
        onCaughtUp(missedNotifications);
      }
      isCatchingUp = false;
      live.resumed.value += 1;
      countIncidents();
    } else if (message.type === 'definition') {
      live.changes.value = message.changes;
      rereadVideoProfiles(message.changes);
      definitions.take(message.changes);
      // The user's own rights may have changed, and with them the menu.
      if (message.changes.some(({ kind, id }) => kind === 'user' && id === user.peek()?.id)) void refreshUser();
    } else if (message.type === 'notification' && isCatchingUp) onMissed(message);
    else take(message);
  };
  const readDefinitions = () => {
    hasReadDefinitions = true;
    void loadDefinitions();
  };
  const connection = new LiveConnection({
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/live`,
    isBinary: true,
    subscription: ALL,
    onMessage,
    onStatus: (status) => {
      if (live.status.peek() === 'open') isCatchingUp = true;
      live.status.value = status;
      // A refused upgrade looks like a broken connection: a REST call shows whether the session is over.
      if (status === 'waiting' || status === 'unauthorized') void refreshUser();
      // Changes before the subscription are not sent, so everything is read after it.
      if (status === 'open') {
        liveDelay.begin();
        measureWay();
        void refreshUser();
        readDefinitions();
      }
    },
  });
  const measureWay = () =>
    void connection.roundTripMs().then((ms) => {
      if (ms !== null) liveDelay.measured(ms);
    });
  const pings = setInterval(measureWay, PING_EVERY_MS);
  const subscribe = () => connection.subscribe(isHidden || isPast.peek() ? HIDDEN : ALL);
  const definitions = new DefinitionChanges(subscribe);
  let wasPast = false;
  const stopPast = isPast.subscribe((isNow) => {
    if (isNow !== wasPast) subscribe();
    wasPast = isNow;
  });
  // Pages work without the live API.
  void liveAnswered().then(() => {
    if (!hasReadDefinitions && !isClosed) readDefinitions();
  });

  const onVisibility = () => {
    if (hideTimer !== null) clearTimeout(hideTimer);
    if (document.hidden)
      hideTimer = setTimeout(() => {
        isHidden = true;
        subscribe();
      }, HIDDEN_AFTER_MS);
    else if (isHidden) {
      isHidden = false;
      subscribe();
    }
  };
  const onOnline = () => connection.retryNow();
  const onOffline = () => connection.networkLost();
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('online', onOnline);
  addEventListener('offline', onOffline);
  return () => {
    isClosed = true;
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('online', onOnline);
    removeEventListener('offline', onOffline);
    if (hideTimer !== null) clearTimeout(hideTimer);
    clearInterval(pings);
    definitions.stop();
    stopPast();
    connection.close();
    live.status.value = 'connecting';
    forgetDefinitions();
    forgetVideoProfiles();
  };
}

function take(message: LiveMessage): void {
  switch (message.type) {
    case 'records': {
      if (isPast.peek()) break;
      const nowMs = performance.now();
      for (const record of message.records) {
        if (message.about === 'vehicles') {
          fleet.setDriving(record.vehicleId, null);
          fleet.setTank(record.vehicleId, null);
        }
        takeRecord(record, nowMs);
      }
      if (message.delaysMs !== null) liveDelay.arrived(message.delaysMs, nowMs);
      if (message.isComplete) hasStates.value = true;
      break;
    }
    case 'vehicle-drivers':
      if (isPast.peek()) break;
      for (const { vehicleId, driver, driverCode } of message.drivers)
        fleet.setDriving(vehicleId, driver === null && driverCode === null ? null : { driver, code: driverCode });
      break;
    case 'vehicle-tanks':
      if (isPast.peek()) break;
      for (const { vehicleId, tank } of message.tanks) fleet.setTank(vehicleId, tank?.percent ?? null);
      break;
    case 'vehicle-counters':
      live.counters.value = message.counters;
      break;
    case 'unread':
      unreadCount.value = message.count;
      break;
    case 'event':
      live.event.value = message;
      break;
    case 'report-job':
      live.reportJob.value = message;
      break;
    case 'incident':
      live.incident.value = message;
      countIncidents();
      break;
    case 'video-task':
      live.videoTask.value = message;
      break;
    case 'command':
      live.command.value = message.command;
      break;
    case 'notification':
      onNotification(message);
      break;
    case 'gap':
      toast(t().gap, 'error');
      break;
  }
}
