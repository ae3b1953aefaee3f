import type {
  DriverId,
  GeofenceId,
  Notification,
  NotificationId,
  NotificationRuleId,
  UnreadCount,
  UserId,
  VehicleId,
} from '@outrider/domain';
import { NotFoundError } from '../store/errors.ts';
import { inChunks, type Store } from '../store/store.ts';
import { fromNotificationRow } from './notification-row.ts';

/** The range of a user's notification numbers. */
export interface NotificationProgress {
  /** Number of the newest; 0 before the first. */
  lastNumber: number;
  /** Notifications up to and including this number are deleted. */
  forgottenNumber: number;
}

/** Matches notifications for which every given field holds. */
export interface NotificationFilter {
  unread?: boolean;
  vehicleId?: VehicleId;
  ruleId?: NotificationRuleId;
  eventKind?: string;
  /** When the notification was created. */
  fromMs?: number;
  /** Exclusive. */
  toMs?: number;
}

/** A page of an inbox. `next` is the number after which the next page starts. */
export interface NotificationPage {
  items: Notification[];
  next: number | null;
}

const NEVER: NotificationProgress = { lastNumber: 0, forgottenNumber: 0 };

/** The notifications of each user, and which of them were read. */
export class Inboxes {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Notifications of the user, the newest first. */
  async list(
    userId: UserId,
    filter: NotificationFilter,
    { limit, after }: { limit: number; after: number | null },
  ): Promise<NotificationPage> {
    let query = this.#store.db
      .selectFrom('notifications')
      .selectAll()
      .where('userId', '=', userId)
      .orderBy('number', 'desc')
      .limit(limit + 1);
    if (after !== null) query = query.where('number', '<', after);
    if (filter.unread !== undefined) query = query.where('readAtMs', filter.unread ? 'is' : 'is not', null);
    if (filter.vehicleId !== undefined) query = query.where('vehicleId', '=', filter.vehicleId);
    if (filter.ruleId !== undefined) query = query.where('ruleId', '=', filter.ruleId);
    if (filter.eventKind !== undefined)
      query = query.where(this.#store.jsonText('event', 'kind'), '=', filter.eventKind);
    if (filter.fromMs !== undefined) query = query.where('createdAtMs', '>=', filter.fromMs);
    if (filter.toMs !== undefined) query = query.where('createdAtMs', '<', filter.toMs);
    const rows = await query.execute();
    const items = rows.slice(0, limit).map(fromNotificationRow);
    return { items, next: rows.length > limit ? (items.at(-1)?.number ?? null) : null };
  }

  /** Notifications of the user after a number, the oldest first. */
  async after(userId: UserId, number: number, limit: number): Promise<Notification[]> {
    const rows = await this.#store.db
      .selectFrom('notifications')
      .selectAll()
      .where('userId', '=', userId)
      .where('number', '>', number)
      .orderBy('number')
      .limit(limit)
      .execute();
    return rows.map(fromNotificationRow);
  }

  /** Null when the user has no notification with this id. */
  async get(userId: UserId, id: NotificationId): Promise<Notification | null> {
    const row = await this.#store.db
      .selectFrom('notifications')
      .selectAll()
      .where('id', '=', id)
      .where('userId', '=', userId)
      .executeTakeFirst();
    return row ? fromNotificationRow(row) : null;
  }

  /** Notifications of the user among these ids. */
  async byIds(userId: UserId, ids: readonly NotificationId[]): Promise<Map<NotificationId, Notification>> {
    const found = new Map<NotificationId, Notification>();
    for (const some of inChunks([...new Set(ids)])) {
      const rows = await this.#store.db
        .selectFrom('notifications')
        .selectAll()
        .where('id', 'in', some)
        .where('userId', '=', userId)
        .execute();
      for (const row of rows) found.set(row.id as NotificationId, fromNotificationRow(row));
    }
    return found;
  }

  async progress(userId: UserId): Promise<NotificationProgress> {
    return (await this.progressByUser([userId])).get(userId) ?? NEVER;
  }

  /** The counters of all users who have ever had a notification. */
  async progressByUser(userIds: readonly UserId[]): Promise<Map<UserId, NotificationProgress>> {
    const progressByUser = new Map<UserId, NotificationProgress>();
    for (const some of inChunks(userIds)) {
      const rows = await this.#store.db
        .selectFrom('notificationCounters')
        .selectAll()
        .where('userId', 'in', some)
        .execute();
      for (const row of rows)
        progressByUser.set(row.userId as UserId, { lastNumber: row.lastNumber, forgottenNumber: row.forgottenNumber });
    }
    return progressByUser;
  }

  /** Unread notifications, counted per subject: which of them count depends on the user's rights. */
  async unread(userId: UserId): Promise<UnreadCount[]> {
    const geofenceId = this.#store.jsonText('event', 'geofenceId');
    const rows = await this.#store.db
      .selectFrom('notifications')
      .select(({ fn }) => ['vehicleId', geofenceId.as('geofenceId'), 'driverId', fn.countAll<number>().as('count')])
      .where('userId', '=', userId)
      .where('readAtMs', 'is', null)
      .groupBy(['vehicleId', geofenceId, 'driverId'])
      .execute();
    return rows.map((row) => ({
      vehicleId: row.vehicleId === '' ? null : (row.vehicleId as VehicleId),
      geofenceId: row.geofenceId as GeofenceId | null,
      driverId: row.driverId as DriverId | null,
      count: Number(row.count),
    }));
  }

  /**
   * Marks a notification as read. The time of the first reading stays.
   *
   * @throws {NotFoundError} when the user has no notification with this id
   */
  async markRead(userId: UserId, id: NotificationId): Promise<Notification> {
    await this.#store.db
      .updateTable('notifications')
      .set({ readAtMs: this.#store.now() })
      .where('id', '=', id)
      .where('userId', '=', userId)
      .where('readAtMs', 'is', null)
      .execute();
    const notification = await this.get(userId, id);
    if (!notification) throw new NotFoundError('notification', id);
    return notification;
  }

  /**
   * Marks all notifications up to and including a number as read. Those that arrived later stay unread.
   *
   * @returns how many were unread
   */
  async markAllRead(userId: UserId, upTo: number): Promise<number> {
    const [result] = await this.#store.db
      .updateTable('notifications')
      .set({ readAtMs: this.#store.now() })
      .where('userId', '=', userId)
      .where('number', '<=', upTo)
      .where('readAtMs', 'is', null)
      .execute();
    return Number(result?.numUpdatedRows ?? 0);
  }
}
