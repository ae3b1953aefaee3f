import {
  type Directory,
  mayReceive,
  type Notification,
  notificationJson,
  subjectIdsOf,
  subjectIn,
} from '@outrider/domain';
import type { Inboxes } from '@outrider/registry';
import { isDebugEnabled, type Logger } from '@outrider/runtime';
import type { SavedNotifications } from '../../notifications.ts';
import type { LiveClient } from '../client.ts';
import type { Connections } from '../connections.ts';
import { jsonFrame } from '../frames.ts';
import type { LiveMetrics } from '../live-metrics.ts';
import type { StreamPlaces, Subscription } from '../messages.ts';

export interface NotificationFeedContext {
  inbox: Pick<Inboxes, 'after' | 'progressByUser'>;
  directory: Directory;
  connections: Connections;
  metrics: LiveMetrics;
  logger: Logger;
  cursorAt(places: StreamPlaces, lastNotification: number | null): string;
  /** Current positions in the live events. */
  here(client: LiveClient): StreamPlaces;
}

/** Notifications per read for a client that missed some. */
const READ_AT_ONCE = 200;
const FORGOTTEN_DETAIL = 'these notifications are no longer kept';

/**
 * Sends notifications to the clients of their users. The hub only hints at new ones. The inbox determines what is sent
 * and in which order, so a lost hint loses nothing.
 */
export class NotificationFeed {
  readonly #context: NotificationFeedContext;

  constructor(context: NotificationFeedContext) {
    this.#context = context;
  }

  /** Handles the hub's hint that notifications of a user were saved. */
  onSaved({ userId, last, notifications }: SavedNotifications): void {
    for (const client of this.#context.connections.of(userId)) {
      client.newestNotification = Math.max(client.newestNotification, last);
      if (client.lastNotification === null || client.catchingUp) continue;
      const [first] = notifications;
      // The next notifications in order are sent at once. Otherwise they are read from the inbox, in order.
      if (client.reading === null && first !== undefined && first.number <= client.lastNotification + 1) {
        for (const notification of notifications)
          if (notification.number > client.lastNotification)
            this.#send(client, notification, this.#context.here(client));
      }
      this.sendMissedSoon(client);
    }
  }

  /** Sets where the client's notifications resume: after that of its cursor, or from now on. */
  async begin(client: LiveClient, { notifications, since }: Subscription): Promise<void> {
    // A client that only changes its vehicles continues where it is.
    const before = client.lastNotification;
    client.lastNotification = null;
    if (!notifications || client.userId === null) return;
    const progress = (await this.#context.inbox.progressByUser([client.userId])).get(client.userId);
    const { lastNumber, forgottenNumber } = progress ?? { lastNumber: 0, forgottenNumber: 0 };
    client.newestNotification = Math.max(client.newestNotification, lastNumber);
    const from = before ?? since?.notifications ?? lastNumber;
    if (from < forgottenNumber) sendForgotten(client, from + 1, forgottenNumber + 1);
    // A number that was never assigned comes from another inbox and has no meaning here.
    client.lastNotification = Math.min(Math.max(from, forgottenNumber), lastNumber);
  }

  /** Reads and sends notifications that the client has not been sent, if any exist. */
  sendMissedSoon(client: LiveClient): void {
    if (client.lastNotification === null || client.reading !== null || client.catchingUp || !client.open) return;
    if (client.newestNotification <= client.lastNotification) return;
    client.reading = this.sendMissed(client, null)
      .catch((error) => {
        this.#context.logger.error({ err: error }, 'reading the notifications of a live client failed');
        client.close(1011, 'the service could not answer');
      })
      .finally(() => {
        client.reading = null;
        this.sendMissedSoon(client);
      });
  }

  /**
   * @param places the client's positions in the events; null: those of the live events
   * @returns number of notifications sent
   */
  async sendMissed(client: LiveClient, places: StreamPlaces | null): Promise<number> {
    let count = 0;
    while (
      client.open &&
      client.userId !== null &&
      client.lastNotification !== null &&
      client.newestNotification > client.lastNotification
    ) {
      // Notifications saved during the read may be missing in its result.
      const newest = client.newestNotification;
      const missed = await this.#context.inbox.after(client.userId, client.lastNotification, READ_AT_ONCE);
      for (const notification of missed) {
        // The subscription may have ended meanwhile.
        if (client.lastNotification === null) return count;
        // Numbers are consecutive: missing ones were deleted.
        if (notification.number > client.lastNotification + 1)
          sendForgotten(client, client.lastNotification + 1, notification.number);
        if (this.#send(client, notification, places ?? this.#context.here(client))) count++;
      }
      await client.drained();
      if (missed.length < READ_AT_ONCE && client.lastNotification !== null && client.lastNotification < newest) {
        // Announced but not in the inbox: deleted meanwhile.
        sendForgotten(client, client.lastNotification + 1, newest + 1);
        client.lastNotification = newest;
      }
    }
    return count;
  }

  /** Finds notifications whose hint from the hub was lost. */
  async findUnannounced(): Promise<void> {
    const { connections, inbox } = this.#context;
    const userIds = [...connections.byUser()].flatMap(([userId, clients]) =>
      [...clients].some(({ lastNotification }) => lastNotification !== null) ? [userId] : [],
    );
    for (const [userId, { lastNumber }] of await inbox.progressByUser(userIds))
      for (const client of connections.of(userId)) {
        client.newestNotification = Math.max(client.newestNotification, lastNumber);
        this.sendMissedSoon(client);
      }
  }

  /** Sends the next notification. If the client has lost the right to it, it is skipped and counts as sent. */
  #send(client: LiveClient, notification: Notification, places: StreamPlaces): boolean {
    const { metrics, logger, cursorAt } = this.#context;
    client.lastNotification = notification.number;
    if (!this.#mayReceive(client, notification)) return false;
    const cursor = cursorAt(places, client.lastNotification);
    client.send(jsonFrame({ type: 'notification', ...notificationJson(notification), cursor }));
    metrics.sent.notification.inc();
    if (isDebugEnabled(logger)) {
      const { id, userId, event } = notification;
      logger.debug({ traceId: event.traceId, notificationId: id, userId }, 'notification sent to a live client');
    }
    return true;
  }

  #mayReceive(client: LiveClient, { event }: Notification): boolean {
    const { directory } = this.#context;
    const user = client.callerIn(directory);
    return user !== undefined && mayReceive(user, subjectIn(directory, subjectIdsOf(event)));
  }
}

function sendForgotten(client: LiveClient, from: number, to: number): void {
  client.send(jsonFrame({ type: 'gap', stream: 'notifications', from, to, detail: FORGOTTEN_DETAIL }));
}
