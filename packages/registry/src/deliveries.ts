import type {
  DeliveryId,
  Notification,
  NotificationId,
  NotificationRule,
  NotificationRuleId,
  UserId,
} from '@outrider/domain';
import type { Transaction } from 'kysely';
import { sql } from 'kysely';
import { NotFoundError } from './errors.ts';
import { fromNotificationRow } from './notification-row.ts';
import { type Page, type Paging, pageOf } from './page.ts';
import type { DeliveryRow, Tables } from './schema.ts';
import { inChunks, type Store } from './store.ts';

export const CHANNELS = ['email', 'webhook'] as const;
export type Channel = (typeof CHANNELS)[number];

/** `cancelled`: what it was for is gone, so it was not sent. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** A notification on its way over one channel to one address. */
export interface Delivery {
  id: DeliveryId;
  notificationId: NotificationId;
  userId: UserId;
  ruleId: NotificationRuleId;
  channel: Channel;
  /** Address of the mailbox, or URL of the webhook. */
  target: string;
  state: DeliveryState;
  /** Begun so far. */
  attempts: number;
  createdAtMs: number;
  /** Null when there will be none. */
  nextAttemptAtMs: number | null;
  /** Null while it is pending. */
  finishedAtMs: number | null;
  /** What the last attempt met; null where it met nothing. */
  lastError: string | null;
  /** HTTP status or SMTP code of the last attempt. */
  responseStatus: number | null;
}

/** A delivery that the caller, and nobody else, is to send now. */
export interface LeasedDelivery {
  delivery: Delivery;
  notification: Notification;
  /** Who has to take it: see {@link endpointOf}. */
  endpoint: string;
  /** Until when it is tried. */
  giveUpAtMs: number;
  lease: string;
}

/** How an attempt ended. */
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
  /** How many in all. */
  limit: number;
  /** Of one endpoint at most so many … */
  perEndpoint: number;
  /** … less those that the caller has under way with it. */
  busy: ReadonlyMap<string, number>;
  /** From then on somebody else may have it, unless it is renewed. */
  leaseMs: number;
}

/** How long a delivery is tried. */
export const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** Endpoints that one call looks at: with more of them, the next call goes on where this one stopped. */
const MAX_ENDPOINTS = 500;

/** Notifications on their way over e-mail and webhooks. */
export class Deliveries {
  readonly #store: Store;
  /** Where the next lease begins, so that no endpoint is always the last to be asked. */
  #after = '';

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Takes deliveries that are due, some of each endpoint: one that does not answer keeps no other one waiting. A lease
   * that runs out without an outcome makes the delivery due again, so a worker that died loses none.
   */
  async lease({ limit, perEndpoint, busy, leaseMs }: LeaseOptions): Promise<LeasedDelivery[]> {
    const nowMs = this.#store.now();
    const lease = this.#store.newId();
    const ids: string[] = [];
    for (const endpoint of await this.#endpoints()) {
      if (ids.length >= limit) break;
      this.#after = endpoint;
      const room = Math.min(perEndpoint - (busy.get(endpoint) ?? 0), limit - ids.length);
      if (room <= 0) continue;
      const rows = await this.#store.db
        .selectFrom('deliveries')
        .select('id')
        .where('state', '=', 'pending')
        .where('endpoint', '=', endpoint)
        .where('next_attempt_at_ms', '<=', nowMs)
        .orderBy('next_attempt_at_ms')
        .limit(room)
        .execute();
      ids.push(...rows.map((row) => row.id));
    }
    if (ids.length === 0) return [];
    const rows = await this.#store.db
      .updateTable('deliveries')
      .set((e) => ({ lease, next_attempt_at_ms: nowMs + leaseMs, attempts: e('attempts', '+', 1) }))
      .where('id', 'in', ids)
      .where('state', '=', 'pending')
      // Another worker may have seen it too: whoever comes first has it.
      .where('next_attempt_at_ms', '<=', nowMs)
      .returningAll()
      .execute();
    if (rows.length === 0) return [];
    const notifications = new Map(
      (
        await this.#store.db
          .selectFrom('notifications')
          .selectAll()
          .where(
            'id',
            'in',
            rows.map((row) => row.notification_id),
          )
          .execute()
      ).map((row) => [row.id, fromNotificationRow(row)]),
    );
    return rows.flatMap((row) => {
      const notification = notifications.get(row.notification_id);
      if (!notification) return [];
      return [{ delivery: fromRow(row), notification, endpoint: row.endpoint, giveUpAtMs: row.give_up_at_ms, lease }];
    });
  }

  /** Endpoints with something that waits, after the one that was asked last and then from the beginning. */
  async #endpoints(): Promise<string[]> {
    // From one endpoint to the next by the index: it costs what there are endpoints, not what waits at one of them.
    const { rows } = await sql<{ endpoint: string | null }>`
      with recursive step(endpoint, nth) as (
        select (select min(endpoint) from deliveries where state = 'pending' and endpoint > ${this.#after}), 1
        union all
        select (select min(endpoint) from deliveries where state = 'pending' and endpoint > step.endpoint), nth + 1
        from step where endpoint is not null and nth < ${MAX_ENDPOINTS}
      )
      select endpoint from step`.execute(this.#store.db);
    const after = rows.flatMap(({ endpoint }) => (endpoint === null ? [] : [endpoint]));
    if (this.#after === '' || after.length >= MAX_ENDPOINTS) return after;
    const upTo = this.#after;
    this.#after = '';
    const all = await this.#endpoints();
    return [...after, ...all.filter((endpoint) => endpoint <= upTo)];
  }

  /** Whoever has them needs them longer; what was settled, or is somebody else's by now, stays as it is. */
  async renew(leased: readonly Pick<LeasedDelivery, 'delivery' | 'lease'>[], leaseMs: number): Promise<void> {
    const nowMs = this.#store.now();
    for (const [lease, some] of Map.groupBy(leased, (each) => each.lease))
      for (const ids of inChunks(some.map(({ delivery }) => delivery.id)))
        await this.#store.db
          .updateTable('deliveries')
          .set({ next_attempt_at_ms: nowMs + leaseMs })
          .where('id', 'in', ids)
          .where('lease', '=', lease)
          .where('state', '=', 'pending')
          .execute();
  }

  /**
   * Notes how the attempt ended.
   *
   * @returns false when the lease had run out and the delivery is somebody else's: nothing was noted
   */
  async settle({ delivery, lease }: Pick<LeasedDelivery, 'delivery' | 'lease'>, outcome: Outcome): Promise<boolean> {
    const nowMs = this.#store.now();
    const [result] = await this.#store.db
      .updateTable('deliveries')
      .set({
        state: outcome.state,
        lease: null,
        last_error: outcome.state === 'delivered' ? null : outcome.error,
        response_status: outcome.status,
        finished_at_ms: outcome.state === 'pending' ? null : nowMs,
        next_attempt_at_ms: outcome.state === 'pending' ? outcome.nextAttemptAtMs : nowMs,
      })
      .where('id', '=', delivery.id)
      .where('lease', '=', lease)
      .execute();
    return result?.numUpdatedRows === 1n;
  }

  /** The user's, the newest first. */
  async list(userId: UserId, filter: DeliveryFilter, paging: Paging): Promise<Page<Delivery>> {
    let query = this.#store.db
      .selectFrom('deliveries')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('id', 'desc')
      .limit(paging.limit + 1);
    if (paging.after !== null) query = query.where('id', '<', paging.after);
    if (filter.channel !== undefined) query = query.where('channel', '=', filter.channel);
    if (filter.state !== undefined) query = query.where('state', '=', filter.state);
    if (filter.ruleId !== undefined) query = query.where('rule_id', '=', filter.ruleId);
    if (filter.fromMs !== undefined) query = query.where('created_at_ms', '>=', filter.fromMs);
    if (filter.toMs !== undefined) query = query.where('created_at_ms', '<', filter.toMs);
    const page = pageOf(await query.execute(), paging);
    return { ...page, items: page.items.map(fromRow) };
  }

  /** Null when there is none of the user's with this id. */
  async get(userId: UserId, id: DeliveryId): Promise<Delivery | null> {
    const row = await this.#store.db
      .selectFrom('deliveries')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /**
   * Sends it again, now and for as long as a new one. One that is under way at this moment stays as it is.
   *
   * @throws {NotFoundError} when there is none of the user's with this id
   */
  async resend(userId: UserId, id: DeliveryId): Promise<Delivery> {
    const nowMs = this.#store.now();
    await this.#store.db
      .updateTable('deliveries')
      .set({
        state: 'pending',
        attempts: 0,
        next_attempt_at_ms: nowMs,
        give_up_at_ms: nowMs + GIVE_UP_AFTER_MS,
        finished_at_ms: null,
      })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where((e) => e.or([e('lease', 'is', null), e('next_attempt_at_ms', '<=', nowMs)]))
      .execute();
    const delivery = await this.get(userId, id);
    if (!delivery) throw new NotFoundError('delivery', id);
    return delivery;
  }
}

/** A delivery for each channel that the rule of a notification names. */
export async function insertDeliveries(
  tx: Transaction<Tables>,
  notifications: readonly Notification[],
  rules: readonly Pick<NotificationRule, 'emails' | 'webhookUrl'>[],
  nowMs: number,
  newId: () => string,
): Promise<void> {
  const rows: DeliveryRow[] = [];
  for (const [nth, notification] of notifications.entries()) {
    const { emails = [], webhookUrl = null } = rules[nth] ?? {};
    const targets: [Channel, string][] = emails.map((address) => ['email', address]);
    if (webhookUrl !== null) targets.push(['webhook', webhookUrl]);
    for (const [channel, target] of targets)
      rows.push({
        id: newId(),
        notification_id: notification.id,
        user_id: notification.userId,
        rule_id: notification.ruleId,
        channel,
        target,
        endpoint: endpointOf(channel, target),
        state: 'pending',
        attempts: 0,
        created_at_ms: nowMs,
        next_attempt_at_ms: nowMs,
        give_up_at_ms: nowMs + GIVE_UP_AFTER_MS,
        finished_at_ms: null,
        lease: null,
        last_error: null,
        response_status: null,
      });
  }
  for (const some of inChunks(rows)) await tx.insertInto('deliveries').values(some).execute();
}

/** Who has to take it: the server of a webhook, the domain of a mailbox. */
export function endpointOf(channel: Channel, target: string): string {
  if (channel === 'email') return `mailto:${target.slice(target.lastIndexOf('@') + 1).toLowerCase()}`;
  return URL.canParse(target) ? new URL(target).origin : target;
}

function fromRow(row: DeliveryRow): Delivery {
  return {
    id: row.id as DeliveryId,
    notificationId: row.notification_id as NotificationId,
    userId: row.user_id as UserId,
    ruleId: row.rule_id as NotificationRuleId,
    channel: row.channel as Channel,
    target: row.target,
    state: row.state as DeliveryState,
    attempts: row.attempts,
    createdAtMs: row.created_at_ms,
    nextAttemptAtMs: row.state === 'pending' ? row.next_attempt_at_ms : null,
    finishedAtMs: row.finished_at_ms,
    lastError: row.last_error,
    responseStatus: row.response_status,
  };
}
