import { type Clock, type Directory, type User, type UserId, visibleUnread } from '@outrider/domain';
import type { Inboxes } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';
import type { Connections } from '../connections.ts';
import { jsonFrame } from '../frames.ts';
import type { LiveMetrics } from '../live-metrics.ts';

export interface UnreadFeedContext {
  inbox: Pick<Inboxes, 'unread'>;
  directory: Directory;
  connections: Pick<Connections, 'of'>;
  metrics: Pick<LiveMetrics, 'sent'>;
  logger: Logger;
  clock: Clock;
}

/** Shortest interval between two counts of a user's notifications. */
const COUNT_EVERY_MS = 1000;

/** Sends the number of unread notifications to the clients that subscribed to it. */
export class UnreadFeed {
  readonly #context: UnreadFeedContext;
  /** Users being counted or counted within the interval; true: something changed since. */
  readonly #counting = new Map<UserId, boolean>();
  #isStopped = false;

  constructor(context: UnreadFeedContext) {
    this.#context = context;
  }

  /** Notes that the number may have changed: a notification was saved or read, or rights changed. */
  changed(userId: UserId): void {
    if (this.#isStopped || !this.#isWanted(userId)) return;
    if (this.#counting.has(userId)) this.#counting.set(userId, true);
    else void this.#count(userId);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #count(userId: UserId): Promise<void> {
    this.#counting.set(userId, false);
    try {
      const { directory, inbox } = this.#context;
      const unread = directory.users.has(userId) ? await inbox.unread(userId) : [];
      /** Cache by caller: clients of the same caller have the same count. */
      const counts = new Map<User, number>();
      for (const client of this.#context.connections.of(userId)) {
        const caller = client.callerIn(directory);
        if (!client.subscription?.unread || caller === undefined) continue;
        const count = counts.get(caller) ?? visibleUnread(caller, unread, directory);
        counts.set(caller, count);
        client.send(jsonFrame({ type: 'unread', count }));
        this.#context.metrics.sent.unread.inc();
      }
    } catch (error) {
      this.#context.logger.error({ err: error, userId }, 'counting unread notifications failed');
    }
    const again = this.#context.clock.after(COUNT_EVERY_MS, () => {
      const isStale = this.#counting.get(userId);
      this.#counting.delete(userId);
      if (isStale) this.changed(userId);
    });
    again.unref();
  }

  #isWanted(userId: UserId): boolean {
    for (const { subscription } of this.#context.connections.of(userId)) if (subscription?.unread) return true;
    return false;
  }
}
