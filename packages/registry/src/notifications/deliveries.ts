import type {
  DeliveryId,
  Notification,
  NotificationId,
  NotificationRule,
  NotificationRuleId,
  Owner,
  UserId,
} from '@outrider/domain';
import type { Transaction } from 'kysely';
import { sql } from 'kysely';
import { NotFoundError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { DeliveryCircuitRow, DeliveryRow, Tables } from '../store/schema.ts';
import { inChunks, type Store } from '../store/store.ts';
import { inTurns, ownersOf } from '../work/fair-order.ts';
import { Leases, outOfTime } from '../work/leases.ts';
import type { DeliverySlots, SlotWish } from './delivery-slots.ts';
import { browsersOf, confirmedChannels, WEB_PUSH } from './message-channels.ts';
import { fromNotificationRow } from './notification-row.ts';

/** `email`, `webhook`, or the kind of a message channel. */
export type Channel = string;

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
  /** Address of the mailbox, URL of the webhook, or id of the message channel. */
  target: string;
  state: DeliveryState;
  /** Attempts begun up to now. */
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
  /** Whether it says that an incident is escalated. */
  isEscalation: boolean;
  /** The last attempts, the oldest first. */
  log: readonly DeliveryAttempt[];
}

/** An attempt that has ended. */
export interface DeliveryAttempt {
  /** When it ended. */
  atMs: number;
  /** What it met; null where it delivered. */
  error: string | null;
  status: number | null;
}

/** Of a delivery the newest attempts are kept. */
const MAX_LOGGED_ATTEMPTS = 20;

/** A delivery that the caller, and nobody else, is to send now. */
export interface LeasedDelivery {
  delivery: Delivery;
  notification: Notification;
  /** Who has to take it: see {@link endpointOf}. */
  endpoint: string;
  /** Until when it is tried. */
  giveUpAtMs: number;
  lease: string;
  /** The slot that it holds, to be released by {@link DeliverySlots.release}. */
  slot: SlotWish;
}

/**
 * How an endpoint took an attempt: `prompt`: it answered, whatever it answered; `slow`: it answered late; `silent`: no
 * connection, or no answer; `unknown`: no attempt was made.
 */
export type EndpointHealth = 'prompt' | 'slow' | 'silent' | 'unknown';

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
  /** The caller's slots: what is leased takes one each. */
  slots: DeliverySlots;
  /** From then on somebody else may have it, unless it is renewed. */
  leaseMs: number;
}

/** How long a delivery is tried. */
export const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** Accounts, and endpoints of an account, that one query returns: the next one goes on where this one stopped. */
const MAX_ACCOUNTS = 500;
const MAX_ENDPOINTS = 200;
/** Accounts whose last endpoint is remembered. */
const MAX_CURSORS = 10_000;
/** An endpoint that did not answer is left alone for this long, twice as long after each further failure, … */
const FIRST_BREAK_MS = 5000;
/** … and no longer than this. */
const LONGEST_BREAK_MS = 600_000;
/**
 * What a late or missing answer adds, and a prompt one takes away again, up to a bound. An endpoint with strikes is
 * tried by one delivery at a time. So one that answers now and then does not count as one that works.
 */
const STRIKES_OF_FAILURE = 4;
const MAX_STRIKES = 16;
/** A new endpoint has to answer once. */
const FIRST_STRIKES = 1;

/** An endpoint of an account, with deliveries that are due. */
interface DueEndpoint {
  endpoint: string;
  isProbe: boolean;
}

/** Notifications on their way over e-mail and webhooks. */
export class Deliveries {
  readonly #store: Store;
  readonly #leases: Leases<'deliveries'>;
  /** Where the next query for accounts begins, so that no account is always beyond its bound. */
  #afterAccount = '';
  /** The same for the endpoints of an account. */
  readonly #afterEndpoint = new Map<string, string>();

  constructor(store: Store) {
    this.#store = store;
    this.#leases = new Leases(store, {
      table: 'deliveries',
      open: ['pending'],
      dueAt: 'nextAttemptAtMs',
      leasedUntil: 'nextAttemptAtMs',
    });
  }

  /**
   * Leases deliveries that are due, for the owners in turn and within the shares of `slots`: one with many deliveries,
   * or with many endpoints that do not answer, keeps no other one waiting. A webhook that has not proven to answer is
   * tried by one delivery of its account at a time, whichever instance sends it, and not before its break is over. One
   * that is due after its last time, and was attempted, is given up.
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
    const chosen = await this.#choose(slots, leaseMs);
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
    for (const slot of chosen.values()) if (slot.isProbe) await this.#note(slot, 'unknown');
    return leased;
  }

  async #notifications(ids: readonly string[]): Promise<Map<string, Notification>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#store.db.selectFrom('notifications').selectAll().where('id', 'in', ids).execute();
    return new Map(rows.map((row) => [row.id, fromNotificationRow(row)]));
  }

  /** Deliveries that are due, each with the slot that was taken for it. */
  async #choose(slots: DeliverySlots, leaseMs: number): Promise<Map<string, SlotWish>> {
    const nowMs = this.#store.now();
    const chosen = new Map<string, SlotWish>();
    const queues = new Map<Owner, AsyncGenerator<[string, SlotWish]>>();
    const takeNext = async (owner: Owner) => {
      const queue = queues.get(owner) ?? this.#dueOf(owner, slots, nowMs, leaseMs);
      queues.set(owner, queue);
      const next = await queue.next();
      if (next.done) return null;
      chosen.set(...next.value);
      return next.value;
    };
    try {
      await inTurns(slots.turns, await this.#dueOwners(nowMs), () => slots.free === 0, takeNext);
      return chosen;
    } catch (error) {
      for (const slot of chosen.values()) slots.release(slot);
      throw error;
    }
  }

  /** The due deliveries of an owner, its endpoints in turn; each has its slot. Ends where no share has any left. */
  async *#dueOf(
    owner: Owner,
    slots: DeliverySlots,
    nowMs: number,
    leaseMs: number,
  ): AsyncGenerator<[string, SlotWish]> {
    const ids = new Map<DueEndpoint, string[]>();
    let endpoints = await this.#dueEndpoints(owner.account, nowMs);
    while (endpoints.length > 0) {
      const left: DueEndpoint[] = [];
      for (const due of endpoints) {
        const { endpoint, isProbe } = due;
        const slot = { owner, channel: endpoint.startsWith('mailto:') ? 'email' : 'webhook', endpoint, isProbe };
        if (!slots.take(slot)) continue;
        let id: string | undefined;
        try {
          const queue = ids.get(due) ?? (await this.#oldestDue(owner.account, due, slots, nowMs));
          ids.set(due, queue);
          if (queue.length > 0 && (!isProbe || (await this.#claimProbe(slot, nowMs, leaseMs)))) id = queue.shift();
        } finally {
          if (id === undefined) slots.release(slot);
        }
        if (id === undefined) continue;
        this.#remember(owner.account, endpoint);
        if (!isProbe) left.push(due);
        yield [id, slot];
      }
      endpoints = left;
    }
  }

  async #oldestDue(
    account: string,
    { endpoint, isProbe }: DueEndpoint,
    { shares }: DeliverySlots,
    nowMs: number,
  ): Promise<string[]> {
    const rows = await this.#store.db
      .selectFrom('deliveries')
      .select('id')
      .where('state', '=', 'pending')
      .where('userId', '=', account)
      .where('endpoint', '=', endpoint)
      .where('nextAttemptAtMs', '<=', nowMs)
      .orderBy('nextAttemptAtMs')
      .limit(isProbe ? 1 : shares.perAccountAndEndpoint)
      .execute();
    return rows.map(({ id }) => id);
  }

  #remember(account: string, endpoint: string): void {
    this.#afterEndpoint.delete(account);
    this.#afterEndpoint.set(account, endpoint);
    for (const key of this.#afterEndpoint.keys()) {
      if (this.#afterEndpoint.size <= MAX_CURSORS) break;
      this.#afterEndpoint.delete(key);
    }
  }

  /** Owners with deliveries that are due: of more than the bound, others in each call. */
  async #dueOwners(nowMs: number): Promise<Owner[]> {
    const due: string[] = [];
    const from = this.#afterAccount;
    let hasWrapped = from === '';
    while (due.length < MAX_ACCOUNTS) {
      const page = await this.#accounts(this.#afterAccount);
      for (const { account, dueAtMs } of page) {
        if (hasWrapped && from !== '' && account > from) return this.#owners(due);
        if (dueAtMs <= nowMs) due.push(account);
        this.#afterAccount = account;
      }
      if (page.length === MAX_ACCOUNTS) continue;
      this.#afterAccount = '';
      if (hasWrapped) break;
      hasWrapped = true;
    }
    return this.#owners(due);
  }

  async #owners(accounts: readonly string[]): Promise<Owner[]> {
    return [...(await ownersOf(this.#store.db, accounts)).values()];
  }

  /** Accounts with something pending, and when the first of it is due. */
  async #accounts(after: string): Promise<{ account: string; dueAtMs: number }[]> {
    // From one account to the next by the index: the cost depends on the accounts, not on how much waits for one of
    // them.
    const { rows } = await sql<{ userId: string; dueMs: number }>`
      with recursive step(user_id, due_ms, nth) as (
        select user_id, next_attempt_at_ms, 1 from deliveries where id = (
          select id from deliveries where state = 'pending' and user_id > ${after}
          order by user_id, next_attempt_at_ms limit 1)
        union all
        select d.user_id, d.next_attempt_at_ms, nth + 1 from step join deliveries d on d.id = (
          select id from deliveries where state = 'pending' and user_id > step.user_id
          order by user_id, next_attempt_at_ms limit 1)
        where nth < ${MAX_ACCOUNTS}
      )
      select user_id, due_ms from step`.execute(this.#store.db);
    return rows.map(({ userId, dueMs }) => ({ account: userId, dueAtMs: Number(dueMs) }));
  }

  /** Endpoints of an account with something that is due and may be tried, after the one that was served last. */
  async #dueEndpoints(account: string, nowMs: number): Promise<DueEndpoint[]> {
    const after = this.#afterEndpoint.get(account) ?? '';
    const found = await this.#endpoints(account, after);
    if (after !== '' && found.length < MAX_ENDPOINTS) found.push(...(await this.#endpoints(account, '')));
    const last = found.at(-1);
    // Where all of a full page have to wait, the next call goes on behind it.
    if (found.length >= MAX_ENDPOINTS && last) this.#remember(account, last.endpoint);
    const due = found.filter(({ dueAtMs }) => dueAtMs <= nowMs);
    return [...new Map(due.map((each) => [each.endpoint, each])).values()];
  }

  /** From one endpoint to the next by the index, as from one account to the next. */
  async #endpoints(account: string, after: string): Promise<(DueEndpoint & { dueAtMs: number })[]> {
    const { rows } = await sql<{ endpoint: string; dueMs: number; strikes: number | null; retryMs: number | null }>`
      with recursive step(endpoint, due_ms, nth) as (
        select endpoint, next_attempt_at_ms, 1 from deliveries where id = (
          select id from deliveries where state = 'pending' and user_id = ${account} and endpoint > ${after}
          order by endpoint, next_attempt_at_ms limit 1)
        union all
        select d.endpoint, d.next_attempt_at_ms, nth + 1 from step join deliveries d on d.id = (
          select id from deliveries where state = 'pending' and user_id = ${account} and endpoint > step.endpoint
          order by endpoint, next_attempt_at_ms limit 1)
        where nth < ${MAX_ENDPOINTS}
      )
      select step.endpoint, step.due_ms, c.strikes, c.retry_at_ms as retry_ms from step
      left join delivery_circuits c on c.user_id = ${account} and c.endpoint = step.endpoint
      order by nth`.execute(this.#store.db);
    return rows.map(({ endpoint, dueMs, strikes, retryMs }) => ({
      endpoint,
      dueAtMs: Math.max(Number(dueMs), Number(retryMs ?? 0)),
      isProbe: !endpoint.startsWith('mailto:') && (strikes ?? FIRST_STRIKES) > 0,
    }));
  }

  /** @returns false where another delivery of the account tries the endpoint already */
  async #claimProbe({ owner, endpoint }: SlotWish, nowMs: number, leaseMs: number): Promise<boolean> {
    const row = await this.#store.db
      .insertInto('deliveryCircuits')
      .values({
        userId: owner.account,
        endpoint,
        strikes: FIRST_STRIKES,
        failures: 0,
        retryAtMs: nowMs + leaseMs,
        changedAtMs: nowMs,
      })
      .onConflict((c) =>
        c
          .columns(['userId', 'endpoint'])
          .doUpdateSet({ retryAtMs: nowMs + leaseMs, changedAtMs: nowMs })
          .where('deliveryCircuits.retryAtMs', '<=', nowMs),
      )
      .returning('endpoint')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Notes how an endpoint took an attempt. */
  async #note({ owner, endpoint, isProbe }: SlotWish, health: EndpointHealth): Promise<void> {
    const nowMs = this.#store.now();
    // One that works and goes on working is not written down again.
    if (!isProbe && (health === 'prompt' || health === 'unknown')) return;
    const { db } = this.#store;
    const row = await db
      .selectFrom('deliveryCircuits')
      .selectAll()
      .where('userId', '=', owner.account)
      .where('endpoint', '=', endpoint)
      .executeTakeFirst();
    // Of several that failed together, the first is the failure that counts.
    if (!isProbe && row !== undefined && row.retryAtMs > nowMs) return;
    const noted = { ...circuitAfter(health, row, nowMs), changedAtMs: nowMs };
    await db
      .insertInto('deliveryCircuits')
      .values({ userId: owner.account, endpoint, ...noted })
      .onConflict((c) => c.columns(['userId', 'endpoint']).doUpdateSet(noted))
      .execute();
  }

  /** Extends leases; deliveries that are settled, or leased by another worker, stay as they are. */
  async renew(leased: readonly Pick<LeasedDelivery, 'delivery' | 'lease'>[], leaseMs: number): Promise<void> {
    await this.#leases.renew(
      leased.map(({ delivery, lease }) => ({ id: delivery.id, lease })),
      leaseMs,
    );
  }

  /**
   * Notes how the attempt ended, and how the endpoint took it.
   *
   * @returns false when the lease was lost: nothing was noted of the delivery
   */
  async settle(
    { delivery, lease, slot }: Pick<LeasedDelivery, 'delivery' | 'lease' | 'slot'>,
    outcome: Outcome,
    health: EndpointHealth,
  ): Promise<boolean> {
    const nowMs = this.#store.now();
    if (delivery.channel !== 'email') await this.#note(slot, health);
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

  /** The user's, the newest first. */
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
   * Sends it again, now and for as long as a new one. One that is under way at this moment stays as it is.
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

function circuitAfter(
  health: EndpointHealth,
  row: Pick<DeliveryCircuitRow, 'strikes' | 'failures'> | undefined,
  nowMs: number,
): Pick<DeliveryCircuitRow, 'strikes' | 'failures' | 'retryAtMs'> {
  const { strikes, failures } = row ?? { strikes: FIRST_STRIKES, failures: 0 };
  const more = Math.min(MAX_STRIKES, strikes + STRIKES_OF_FAILURE);
  switch (health) {
    case 'unknown':
      return { strikes, failures, retryAtMs: 0 };
    case 'prompt':
      return { strikes: Math.max(0, strikes - 1), failures: 0, retryAtMs: 0 };
    case 'slow':
      return { strikes: more, failures: 0, retryAtMs: 0 };
    case 'silent': {
      const breakMs = Math.min(FIRST_BREAK_MS * 2 ** failures, LONGEST_BREAK_MS);
      return { strikes: more, failures: failures + 1, retryAtMs: nowMs + breakMs };
    }
  }
}

/**
 * A delivery for each channel that the rule of a notification names.
 *
 * @param isEscalation whether it says that its incident is escalated
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

/** Who has to take it: the server of a webhook, the domain of a mailbox. */
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
