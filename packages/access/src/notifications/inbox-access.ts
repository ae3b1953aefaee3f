import {
  type Directory,
  mayReceive,
  NOTIFICATIONS_READ_CHANNEL,
  type Notification,
  type NotificationId,
  type NotificationsRead,
  subjectIdsOf,
  subjectIn,
  type User,
  visibleUnread,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { Delivery, DeliveryFilter, NotificationFilter, Page, Paging, Registry } from '@outrider/registry';
import { notFound } from '../problem.ts';
import { requireRight } from '../rights.ts';

export interface InboxSources {
  registry: Pick<Registry, 'inboxes' | 'deliveries'>;
  directory: Directory;
  hub: Pick<Hub, 'publish'>;
}

/** A delivery with its notification; null if the notification is no longer visible to its user. */
export type ListedDelivery = Delivery & { notification: Notification | null };

/**
 * A caller's inbox and deliveries. All callers, including operators, see only their own, and only while the vehicle and
 * the geofence are visible to them.
 */
export class InboxAccess {
  readonly #caller: User;
  readonly #sources: InboxSources;

  constructor(caller: User, sources: InboxSources) {
    this.#caller = caller;
    this.#sources = sources;
  }

  async page(filter: NotificationFilter, paging: { limit: number; after: number | null }) {
    const { inboxes } = this.#sources.registry;
    const page = await inboxes.list(this.#caller.id, filter, paging);
    const unread = await inboxes.unread(this.#caller.id);
    const unreadCount = visibleUnread(this.#caller, unread, this.#sources.directory);
    return { items: page.items.filter((each) => this.#mayReceive(each)), next: page.next, unreadCount };
  }

  async markRead(id: NotificationId): Promise<Notification> {
    const { inboxes } = this.#sources.registry;
    const notification = await inboxes.get(this.#caller.id, id);
    if (notification === null || !this.#mayReceive(notification)) throw notFound();
    const read = await inboxes.markRead(this.#caller.id, id);
    await this.#announceRead();
    return read;
  }

  /** @param upTo number of the last notification that the caller has seen; null: all */
  async markAllRead(upTo: number | null): Promise<number> {
    const { inboxes } = this.#sources.registry;
    const count = await inboxes.markAllRead(this.#caller.id, upTo ?? Number.MAX_SAFE_INTEGER);
    await this.#announceRead();
    return count;
  }

  /** Notifies the live API. A client that misses the message learns the number with the next change. */
  async #announceRead(): Promise<void> {
    const message: NotificationsRead = { userId: this.#caller.id };
    await this.#sources.hub.publish(NOTIFICATIONS_READ_CHANNEL, JSON.stringify(message)).catch(() => {});
  }

  async deliveries(filter: DeliveryFilter, paging: Paging): Promise<Page<ListedDelivery>> {
    const { deliveries, inboxes } = this.#sources.registry;
    const page = await deliveries.list(this.#caller.id, filter, paging);
    const ids = page.items.map(({ notificationId }) => notificationId);
    const known = await inboxes.byIds(this.#caller.id, ids);
    const visible = (id: NotificationId) => {
      const notification = known.get(id);
      return notification !== undefined && this.#mayReceive(notification) ? notification : null;
    };
    return { ...page, items: page.items.map((each) => ({ ...each, notification: visible(each.notificationId) })) };
  }

  async resend(id: Delivery['id']): Promise<ListedDelivery> {
    requireRight(this.#caller, 'edit-notifications');
    const { deliveries, inboxes } = this.#sources.registry;
    const delivery = await deliveries.get(this.#caller.id, id);
    const notification = delivery && (await inboxes.get(this.#caller.id, delivery.notificationId));
    if (!delivery || !notification || !this.#mayReceive(notification)) throw notFound();
    return { ...(await deliveries.resend(this.#caller.id, id)), notification };
  }

  #mayReceive({ event }: Notification): boolean {
    return mayReceive(this.#caller, subjectIn(this.#sources.directory, subjectIdsOf(event)));
  }
}
