import type {
  DeliveryId,
  Notification,
  NotificationId,
  NotificationRule,
  NotificationRuleId,
  UserId,
} from '@outrider/domain';
import type { Transaction } from 'kysely';
import { NotFoundError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { DeliveryRow, Tables } from '../store/schema.ts';
import { inChunks, type Store } from '../store/store.ts';
import { Leases, outOfTime } from '../work/leases.ts';
import { DeliveryCircuits, type EndpointHealth } from './delivery-circuits.ts';
import type { DeliverySlots, SlotWish } from './delivery-slots.ts';
import { DueDeliveries } from './due-deliveries.ts';
import { browsersOf, confirmedChannels, WEB_PUSH } from './message-channels.ts';
import { fromNotificationRow } from './notification-row.ts';

/** `email`, `webhook`, or the kind of a message channel. */
export type Channel = string;

/** `cancelled`: the delivery was not sent, because its reason no longer exists. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Delivery of a notification to one address over one channel. */
export interface Delivery {
  id: DeliveryId;
  notificationId: NotificationId;
  userId: UserId;
  ruleId: NotificationRuleId;
  channel: Channel;
  /** Address of the mailbox, URL of the webhook, or id of the message channel. */
  target: string;
  state: DeliveryState;
  /** Number of attempts that were started. */
  attempts: number;
  createdAtMs: number;
  /** Null: no further attempt. */
  nextAttemptAtMs: number | null;
  /** Null while it is pending. */
  finishedAtMs: number | null;
  /** Error of the last attempt; null: none. */
  lastError: string | null;
  /** HTTP status or SMTP code of the last attempt. */
  responseStatus: number | null;
  /** Whether it reports that an incident is escalated. */
  isEscalation: boolean;
  /** The last attempts, the oldest first. */
  log: readonly DeliveryAttempt[];
}

/** A finished attempt. */
export interface DeliveryAttempt {
  /** When the attempt ended. */
  atMs: number;
  /** Null where it was delivered. */
  error: string | null;
  status: number | null;
}

/** Maximum of attempts that are kept per delivery: the newest. */
const MAX_LOGGED_ATTEMPTS = 20;

/** A delivery that is leased by the caller for sending. */
export interface LeasedDelivery {
  delivery: Delivery;
  notification: Notification;
  /** The receiving server: see {@link endpointOf}. */
  endpoint: string;
  /** Time of the last possible attempt. */
  giveUpAtMs: number;
  lease: string;
  /** The slot that it holds, to be released by {@link DeliverySlots.release}. */
  slot: SlotWish;
}

/** Outcome of an attempt. */
export type Outcome =
  | { state: 'delivered'; status: number | null }
  | { state: 'pending'; error: string; status: number | null; nextAttemptAtMs: number }
  | { state: 'failed' | 'cancelled'; error: string; status: number | null };

export interface DeliveryFilter {
  channel?: Channel;
  state?: DeliveryState;
  ruleId?: NotificationRuleId;
  fromMs?: number;
  /** Exclusive. */
  toMs?: number;
}

export interface LeaseOptions {
  /** The caller's slots: each leased delivery takes one. */
  slots: DeliverySlots;
  /** After this time another worker may lease the delivery, unless the lease is renewed. */
  leaseMs: number;
}

/** How long attempts are repeated. */
export const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** Deliveries of notifications by e-mail, webhook and message channel. */
export class Deliveries {
  readonly #store: Store;
  readonly #leases: Leases<'deliveries'>;
  readonly #circuits: DeliveryCircuits;
  readonly #due: DueDeliveries;
  constructor(store: Store) {
    this.#store = store;
    this.#circuits = new DeliveryCircuits(store);
    this.#due = new DueDeliveries(store, this.#circuits);
    this.#leases = new Leases(store, {
      table: 'deliveries',
      open: ['pending'],
      dueAt: 'nextAttemptAtMs',
      leasedUntil: 'nextAttemptAtMs',
    });
  }

  /**
   * Leases due deliveries, for the owners in turn and within the shares of `slots`. An owner with many deliveries, or
   * with many endpoints that do not answer, therefore delays no other owner. A webhook that has not proven to answer is
   * tried by one delivery of its account at a time, across all instances, and not before its break is over. A delivery
   * that is due after its last possible time, and was attempted, is given up.
   */
  async lease({ slots, leaseMs }: LeaseOptions): Promise<LeasedDelivery[]> {
    if (slots.free === 0) return [];
    return this.#store.due(
      'deliveries',
      [],
      () => this.#lease(slots, leaseMs),
      () => this.#leases.nextDueMs(),
    );
  }

  async #lease(slots: DeliverySlots, leaseMs: number): Promise<LeasedDelivery[]> {
    const chosen = await this.#due.choose(slots, leaseMs);
    const leased: LeasedDelivery[] = [];
    try {
      const rows = await this.#leases.take(this.#store.db, [...chosen.keys()], leaseMs, {}, outOfTime);
      const notifications = await this.#notifications(rows.map((row) => row.notificationId));
      for (const row of rows) {
        const notification = notifications.get(row.notificationId);
        const slot = chosen.get(row.id);
        if (!notification || !slot) continue;
        chosen.delete(row.id);
        const { endpoint, lease, giveUpAtMs } = row;
        leased.push({ delivery: fromRow(row), notification, endpoint, giveUpAtMs, lease, slot });
      }
    } finally {
      for (const slot of chosen.values()) slots.release(slot);
    }
    for (const slot of chosen.values()) if (slot.isProbe) await this.#circuits.note(slot, 'unknown');
    return leased;
  }

  async #notifications(ids: readonly string[]): Promise<Map<string, Notification>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#store.db.selectFrom('notifications').selectAll().where('id', 'in', ids).execute();
    return new Map(rows.map((row) => [row.id, fromNotificationRow(row)]));
  }

  /** Extends leases. Deliveries that are settled, or leased by another worker, are not changed. */
  async renew(leased: readonly Pick<LeasedDelivery, 'delivery' | 'lease'>[], leaseMs: number): Promise<void> {
    await this.#leases.renew(
      leased.map(({ delivery, lease }) => ({ id: delivery.id, lease })),
      leaseMs,
    );
  }

  /**
   * Records the outcome of an attempt, and the health of the endpoint.
   *
   * @returns false when the lease was lost: nothing was noted of the delivery
   */
  async settle(
    { delivery, lease, slot }: Pick<LeasedDelivery, 'delivery' | 'lease' | 'slot'>,
    outcome: Outcome,
    health: EndpointHealth,
  ): Promise<boolean> {
    const nowMs = this.#store.now();
    if (delivery.channel !== 'email') await this.#circuits.note(slot, health);
    const isPending = outcome.state === 'pending';
    const error = outcome.state === 'delivered' ? null : outcome.error;
    const log = [...delivery.log, { atMs: nowMs, error, status: outcome.status }].slice(-MAX_LOGGED_ATTEMPTS);
    return this.#leases.settle(
      this.#store.db,
      { id: delivery.id, lease },
      {
        state: outcome.state,
        lastError: error,
        responseStatus: outcome.status,
        attemptLog: JSON.stringify(log),
        finishedAtMs: isPending ? null : nowMs,
        nextAttemptAtMs: isPending ? outcome.nextAttemptAtMs : nowMs,
      },
    );
  }

  /** Deliveries of the user, the newest first. */
  async list(userId: UserId, filter: DeliveryFilter, paging: Paging): Promise<Page<Delivery>> {
    let query = this.#store.db.selectFrom('deliveries').selectAll().where('userId', '=', userId);
    if (filter.channel !== undefined) query = query.where('channel', '=', filter.channel);
    if (filter.state !== undefined) query = query.where('state', '=', filter.state);
    if (filter.ruleId !== undefined) query = query.where('ruleId', '=', filter.ruleId);
    if (filter.fromMs !== undefined) query = query.where('createdAtMs', '>=', filter.fromMs);
    if (filter.toMs !== undefined) query = query.where('createdAtMs', '<', filter.toMs);
    return readPage(query, paging, (rows) => rows.map(fromRow), 'newest first');
  }

  /** Null when the user has no delivery with this id. */
  async get(userId: UserId, id: DeliveryId): Promise<Delivery | null> {
    const row = await this.#store.db
      .selectFrom('deliveries')
      .selectAll()
      .where('id', '=', id)
      .where('userId', '=', userId)
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /**
   * Schedules a delivery again, now and for as long as a new one. A delivery that is being sent is not changed.
   *
   * @throws {NotFoundError} when the user has no delivery with this id
   */
  async resend(userId: UserId, id: DeliveryId): Promise<Delivery> {
    const nowMs = this.#store.now();
    await this.#store.db
      .updateTable('deliveries')
      .set({
        state: 'pending',
        attempts: 0,
        nextAttemptAtMs: nowMs,
        giveUpAtMs: nowMs + GIVE_UP_AFTER_MS,
        finishedAtMs: null,
      })
      .where('id', '=', id)
      .where('userId', '=', userId)
      .where((e) => e.or([e('lease', 'is', null), e('nextAttemptAtMs', '<=', nowMs)]))
      .execute();
    const delivery = await this.get(userId, id);
    if (!delivery) throw new NotFoundError('delivery', id);
    return delivery;
  }
}

/**
 * Creates a delivery for each channel that the rule of a notification names.
 *
 * @param isEscalation whether it reports that its incident is escalated
 */
export async function insertDeliveries(
  tx: Transaction<Tables>,
  notifications: readonly Notification[],
  rules: readonly Pick<NotificationRule, 'emails' | 'webhookUrl' | 'channelIds' | 'push'>[],
  nowMs: number,
  newId: () => string,
  isEscalation = false,
): Promise<void> {
  const known = await confirmedChannels(tx, [...new Set(rules.flatMap(({ channelIds }) => channelIds))]);
  const pushed = notifications.filter((_, nth) => rules[nth]?.push).map(({ userId }) => userId);
  const browsers = await browsersOf(tx, [...new Set(pushed)]);
  const rows: DeliveryRow[] = [];
  for (const [nth, notification] of notifications.entries()) {
    const { emails = [], webhookUrl = null, channelIds = [], push = false } = rules[nth] ?? {};
    const targets: { channel: Channel; target: string; endpoint: string }[] = emails.map((target) => ({
      ...{ channel: 'email', target, endpoint: endpointOf('email', target) },
    }));
    if (webhookUrl !== null)
      targets.push({ channel: 'webhook', target: webhookUrl, endpoint: endpointOf('webhook', webhookUrl) });
    for (const id of channelIds) {
      const channel = known.get(id);
      if (channel?.userId === notification.userId)
        targets.push({ channel: channel.kind, target: id, endpoint: channel.endpoint });
    }
    for (const { id, endpoint } of (push && browsers.get(notification.userId)) || [])
      targets.push({ channel: WEB_PUSH, target: id, endpoint });
    for (const { channel, target, endpoint } of targets)
      rows.push({
        id: newId(),
        notificationId: notification.id,
        userId: notification.userId,
        ruleId: notification.ruleId,
        channel,
        target,
        endpoint,
        state: 'pending',
        attempts: 0,
        createdAtMs: nowMs,
        nextAttemptAtMs: nowMs,
        giveUpAtMs: nowMs + GIVE_UP_AFTER_MS,
        finishedAtMs: null,
        lease: null,
        lastError: null,
        responseStatus: null,
        attemptLog: null,
        isEscalation: isEscalation ? 1 : 0,
      });
  }
  for (const some of inChunks(rows)) await tx.insertInto('deliveries').values(some).execute();
}

/** The receiving server: origin of a webhook, or domain of a mailbox. */
export function endpointOf(channel: 'email' | 'webhook', target: string): string {
  if (channel === 'email') return `mailto:${target.slice(target.lastIndexOf('@') + 1).toLowerCase()}`;
  return URL.canParse(target) ? new URL(target).origin : target;
}

function fromRow(row: DeliveryRow): Delivery {
  return {
    id: row.id as DeliveryId,
    notificationId: row.notificationId as NotificationId,
    userId: row.userId as UserId,
    ruleId: row.ruleId as NotificationRuleId,
    channel: row.channel,
    target: row.target,
    state: row.state as DeliveryState,
    attempts: row.attempts,
    createdAtMs: row.createdAtMs,
    nextAttemptAtMs: row.state === 'pending' ? row.nextAttemptAtMs : null,
    finishedAtMs: row.finishedAtMs,
    lastError: row.lastError,
    responseStatus: row.responseStatus,
    isEscalation: row.isEscalation === 1,
    log: row.attemptLog === null ? [] : (JSON.parse(row.attemptLog) as DeliveryAttempt[]),
  };
}
