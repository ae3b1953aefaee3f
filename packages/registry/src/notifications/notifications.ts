import {
  type DriverId,
  type EventId,
  type FleetEvent,
  isLate,
  isTooSoon,
  type LicenceExpiry,
  type Notification,
  type NotificationId,
  type NotificationRule,
  orderOfRule,
  type UserId,
  type VehicleCommand,
} from '@outrider/domain';
import type { Transaction } from 'kysely';
import { SERVICE } from '../audit/actor.ts';
import { insertNotes } from '../audit/audit-notes.ts';
import { insertRuleCommands, type RuleCommandWish } from '../fleet/vehicle-commands.ts';
import { type ConsumerPlace, placesOf, setPlace } from '../store/consumer-places.ts';
import type { Tables } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { insertDeliveries } from './deliveries.ts';
import { deleteIncidents, deleteIncidentsOf, openIncidents } from './incidents.ts';
import { toNotificationRow } from './notification-row.ts';
import { insertWaiting, takeWaiting, type WaitingNotification } from './waiting-notifications.ts';

/** A notification that a rule requests, before it is saved. */
export interface NotificationDraft {
  /** Offset of the event in its partition of topic `events`. */
  offset: number;
  rule: Pick<
    NotificationRule,
    | 'id'
    | 'version'
    | 'ownerId'
    | 'name'
    | 'minIntervalMinutes'
    | 'emails'
    | 'webhookUrl'
    | 'channelIds'
    | 'push'
    | 'command'
    | 'severity'
    | 'shared'
    | 'escalateAfterMinutes'
  >;
  event: FleetEvent;
  vehicleName: string;
  geofenceName: string | null;
  /** How long the event has lasted, where the rule waited for that. */
  lastedMs?: number;
}

/** A notification about a licence, before it is saved. */
export interface LicenceDraft {
  rule: NotificationDraft['rule'];
  event: LicenceExpiry;
  driverName: string;
}

/** Result of processing a range of one partition of topic `events`. */
export interface NotificationBatch {
  consumer: string;
  partition: number;
  /** Offset at which the consumer continues when this is saved. */
  next: number;
  /** Drafts of one rule are in the order of their offsets, all below `next`. */
  drafts: readonly NotificationDraft[];
  /** Notifications that wait for their event to last, saved with the offset. Default: none. */
  waiting?: readonly WaitingNotification[];
  /** More drafts of the same events follow, so the saved offset stays. Default: false. */
  isPart?: boolean;
  /** Called after saving, with the commands that the rules send. */
  onCommands?(commands: readonly VehicleCommand[]): void;
}

/** Saves notifications together with the offsets of the events that they are about. */
export class Notifications {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Offsets at which a consumer continues, by partition; partitions that it never saved are missing. */
  places(consumer: string): Promise<Map<number, ConsumerPlace>> {
    return placesOf(this.#store.db, consumer);
  }

  /**
   * Records which log a consumer reads.
   *
   * @param offset where it continues in the log; null: unchanged
   */
  setPlace(consumer: string, partition: number, identity: string, offset: number | null): Promise<void> {
    return setPlace(this.#store.db, consumer, partition, identity, offset);
  }

  /**
   * Saves the notifications of a range of events, with their deliveries and the next offset, in one transaction. Each
   * event yields at most one notification per rule and phase, however often this is called. Left out are drafts below
   * the saved offset, repeated ones, those too soon after the last of their rule and vehicle, and those of deleted
   * accounts.
   *
   * @returns the new notifications, in the order of the drafts
   */
  async record(batch: NotificationBatch): Promise<Notification[]> {
    const { consumer, partition, next, waiting = [], isPart = false, onCommands = () => {} } = batch;
    const nowMs = this.#store.now();
    let commands: VehicleCommand[] = [];
    const saved = this.#store.db.transaction().execute(async (tx) => {
      const done = await lockOffset(tx, consumer, partition);
      if (next <= done) return [];
      const fresh = batch.drafts.filter((draft) => draft.offset >= done);
      const made =
        fresh.length === 0
          ? []
          : await this.#insert(tx, fresh, nowMs, (queued) => {
              commands = queued;
            });
      if (isPart) return made;
      await insertWaiting(tx, waiting);
      await tx
        .updateTable('consumerOffsets')
        .set({ nextOffset: next })
        .where('consumer', '=', consumer)
        .where('logPartition', '=', partition)
        .execute();
      return made;
    });
    const made = await saved;
    if (commands.length > 0) onCommands(commands);
    return made;
  }

  /**
   * Saves the notifications of events that have lasted as long as their rules require, each once. Those that no longer
   * wait are left out.
   */
  async recordWaited(
    drafts: readonly NotificationDraft[],
    onCommands: (commands: readonly VehicleCommand[]) => void = () => {},
  ): Promise<Notification[]> {
    const nowMs = this.#store.now();
    let commands: VehicleCommand[] = [];
    const made = await this.#store.db.transaction().execute(async (tx) => {
      const taken: NotificationDraft[] = [];
      // The same order everywhere, so that transactions that take the same ones cannot deadlock.
      const sorted = drafts.toSorted((a, b) => (waitingKey(a) < waitingKey(b) ? -1 : 1));
      for (const draft of sorted)
        if (await takeWaiting(tx, { event: draft.event, ruleId: draft.rule.id })) taken.push(draft);
      return this.#insert(tx, taken, nowMs, (queued) => {
        commands = queued;
      });
    });
    if (commands.length > 0) onCommands(commands);
    return made;
  }

  /**
   * Saves the notification of a licence, once per rule, driver, date and stage across all instances. The record of it
   * is kept for as long as the rule and the driver exist, and so for longer than the notification.
   *
   * @returns null where it was notified before, or rule or driver have changed since they were read
   */
  recordLicence(draft: LicenceDraft): Promise<Notification | null> {
    const nowMs = this.#store.now();
    return this.#store.db.transaction().execute(async (tx) => {
      if (!(await takeLicence(tx, draft))) return null;
      const drafts = await withoutRepeated(tx, await withoutOwnerless(tx, [draft]));
      return (await this.#save(tx, drafts, nowMs))[0] ?? null;
    });
  }

  async #insert(
    tx: Transaction<Tables>,
    drafts: readonly NotificationDraft[],
    nowMs: number,
    onCommands: (commands: VehicleCommand[]) => void,
  ): Promise<Notification[]> {
    const kept = await withoutTooSoon(tx, await withoutRepeated(tx, await withoutOwnerless(tx, drafts)));
    const made = await this.#save(tx, kept, nowMs);
    const { commands, notes } = await insertRuleCommands(tx, kept.flatMap(commandsOf), nowMs, this.#store.newId);
    await insertNotes(tx, notes, SERVICE, nowMs, this.#store.newId);
    onCommands(commands);
    return made;
  }

  /** Saves notifications, numbered, with their deliveries. */
  async #save(
    tx: Transaction<Tables>,
    drafts: readonly (NotificationDraft | LicenceDraft)[],
    nowMs: number,
  ): Promise<Notification[]> {
    const numbers = await takeNumbers(
      tx,
      drafts.map(({ rule }) => rule.ownerId),
    );
    const rules: NotificationDraft['rule'][] = [];
    const made = drafts.map((draft, nth): Notification => {
      const { rule, event } = draft;
      rules.push(rule);
      return {
        id: this.#store.newId() as NotificationId,
        userId: rule.ownerId,
        number: numbers[nth] ?? 0,
        ruleId: rule.id,
        ruleVersion: rule.version,
        ruleName: rule.name,
        vehicleName: 'vehicleName' in draft ? draft.vehicleName : null,
        geofenceName: 'geofenceName' in draft ? draft.geofenceName : null,
        driverName: 'driverName' in draft ? draft.driverName : null,
        severity: rule.severity,
        incidentId: null,
        event,
        lastedMs: ('lastedMs' in draft ? draft.lastedMs : undefined) ?? null,
        createdAtMs: nowMs,
        readAtMs: null,
      };
    });
    const incidentIds = await openIncidents(tx, made, rules, nowMs, this.#store.newId);
    for (const notification of made) notification.incidentId = incidentIds.get(notification.id) ?? null;
    for (const some of inChunks(made))
      await tx.insertInto('notifications').values(some.map(toNotificationRow)).execute();
    await insertDeliveries(tx, made, rules, nowMs, this.#store.newId);
    return made;
  }

  /**
   * Deletes the oldest notifications with their deliveries: those created before a time, and those of each user beyond
   * the newest `maxPerUser`.
   *
   * @param limit at most about this many in one call
   * @returns how many they were; less than `limit` when none are left to forget
   */
  async forget(options: { beforeMs: number; maxPerUser: number; limit: number }): Promise<number> {
    const { beforeMs, maxPerUser, limit } = options;
    return this.#store.db.transaction().execute(async (tx) => {
      await tx.deleteFrom('deliveryCircuits').where('changedAtMs', '<', beforeMs).execute();
      const old = await tx
        .selectFrom('notifications')
        .select(['id', 'userId', 'number'])
        .where('createdAtMs', '<', beforeMs)
        .orderBy('createdAtMs')
        .limit(limit)
        .execute();
      const forgotten = await forgetRows(tx, old);
      if (forgotten >= limit) return forgotten;
      const full = await tx
        .selectFrom('notificationCounters')
        .select(['userId', 'lastNumber'])
        .where((e) => e(e('lastNumber', '-', e.ref('forgottenNumber')), '>', maxPerUser))
        .orderBy('userId')
        .limit(1)
        .execute();
      let more = 0;
      for (const { userId, lastNumber } of full) {
        const upTo = lastNumber - maxPerUser;
        const surplus = await tx
          .selectFrom('notifications')
          .select(['id', 'userId', 'number'])
          .where('userId', '=', userId)
          .where('number', '<=', upTo)
          .orderBy('number')
          .limit(limit)
          .execute();
        more += await forgetRows(tx, surplus);
        if (surplus.length < limit)
          await tx
            .updateTable('notificationCounters')
            .set({ forgottenNumber: upTo })
            .where('userId', '=', userId)
            .where('forgottenNumber', '<', upTo)
            .execute();
      }
      // There may be another user with too many.
      return full.length > 0 ? limit : forgotten + more;
    });
  }
}

/** Commands that the rule sends to the terminal because of the event; none for late data. */
function commandsOf(draft: NotificationDraft): RuleCommandWish[] {
  const { rule, event } = draft;
  const { command } = rule;
  if (command === null || isLate(event)) return [];
  return [
    {
      vehicleId: event.vehicleId,
      order: orderOfRule(command),
      maxSpeedKmh: command.maxSpeedKmh,
      createdBy: rule.ownerId,
      expiresAtMs: dataTimeMs(draft) + command.expiresInSeconds * 1000,
      ruleId: rule.id,
      eventId: event.id,
    },
  ];
}

/** Time of the newest data that the notification depends on. */
function dataTimeMs({ event, lastedMs }: NotificationDraft): number {
  return lastedMs === undefined ? event.fixTimeMs : Math.max(event.fixTimeMs, event.startedAtMs + lastedMs);
}

/** Records that the rule notified of it. @returns false where it had, or where rule or driver have changed since */
async function takeLicence(tx: Transaction<Tables>, { rule, event }: LicenceDraft): Promise<boolean> {
  const { driverId, licenceExpiresOn, stage } = event;
  // Both rows stay locked until the transaction ends: a deletion meanwhile finds what was saved. The rule comes first,
  // as it does where a driver is deleted.
  const ofRule = await tx
    .updateTable('notificationRules')
    .set((e) => ({ version: e.ref('version') }))
    .where('id', '=', rule.id)
    .where('version', '=', rule.version)
    .returning('id')
    .executeTakeFirst();
  if (ofRule === undefined) return false;
  const driver = await tx
    .updateTable('drivers')
    .set((e) => ({ version: e.ref('version') }))
    .where('id', '=', driverId)
    .where('licenceExpiresOn', '=', licenceExpiresOn)
    .returning('id')
    .executeTakeFirst();
  if (driver === undefined) return false;
  const taken = await tx
    .insertInto('licenceNotices')
    .values({ ruleId: rule.id, driverId, licenceExpiresOn, stage })
    .onConflict((c) => c.columns(['ruleId', 'driverId', 'licenceExpiresOn', 'stage']).doNothing())
    .returning('ruleId')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Removes the name of a deleted driver from all inboxes. */
export async function forgetDriverInNotifications({ tx }: Writer, driverId: DriverId): Promise<void> {
  await tx.deleteFrom('licenceNotices').where('driverId', '=', driverId).execute();
  await tx.updateTable('notifications').set({ driverName: null }).where('driverId', '=', driverId).execute();
}

function waitingKey({ event, rule }: NotificationDraft): string {
  return `${event.id} ${rule.id}`;
}

/** Deletes the user's inbox, with the incidents in it. */
export async function deleteNotificationsOf({ tx }: Writer, userId: UserId): Promise<void> {
  // The counter first: a transaction that adds notifications locks it, so this waits and deletes those too.
  await tx.deleteFrom('notificationCounters').where('userId', '=', userId).execute();
  await tx.deleteFrom('deliveries').where('userId', '=', userId).execute();
  await tx.deleteFrom('deliveryCircuits').where('userId', '=', userId).execute();
  await tx.deleteFrom('channelTests').where('userId', '=', userId).execute();
  await deleteIncidentsOf(tx, userId);
  await tx.deleteFrom('notifications').where('userId', '=', userId).execute();
}

/** Deletes notifications, with their deliveries and the incidents that they opened. */
export async function deleteNotifications(tx: Reader, rows: readonly { id: string }[]): Promise<void> {
  for (const some of inChunks(rows.map(({ id }) => id))) {
    await tx.deleteFrom('deliveries').where('notificationId', 'in', some).execute();
    await deleteIncidents(tx, some);
    await tx.deleteFrom('notifications').where('id', 'in', some).execute();
  }
}

async function forgetRows(
  tx: Transaction<Tables>,
  rows: readonly { id: string; userId: string; number: number }[],
): Promise<number> {
  await deleteNotifications(tx, rows);
  const upTo = new Map<string, number>();
  for (const { userId, number } of rows) upTo.set(userId, Math.max(number, upTo.get(userId) ?? 0));
  for (const [userId, number] of [...upTo].sort(([a], [b]) => (a < b ? -1 : 1)))
    await tx
      .updateTable('notificationCounters')
      .set({ forgottenNumber: number })
      .where('userId', '=', userId)
      .where('forgottenNumber', '<', number)
      .execute();
  return rows.length;
}

/** The saved offset, its row locked until the transaction ends: another consumer of the partition waits here. */
async function lockOffset(tx: Transaction<Tables>, consumer: string, partition: number): Promise<number> {
  await tx
    .insertInto('consumerOffsets')
    .values({ consumer, logPartition: partition, nextOffset: 0, logIdentity: null })
    .onConflict((c) => c.columns(['consumer', 'logPartition']).doNothing())
    .execute();
  const row = await tx
    .updateTable('consumerOffsets')
    .set((e) => ({ nextOffset: e.ref('nextOffset') }))
    .where('consumer', '=', consumer)
    .where('logPartition', '=', partition)
    .returning('nextOffset')
    .executeTakeFirstOrThrow();
  return row.nextOffset;
}

/** Leaves out drafts whose owner was deleted after the rule was evaluated. */
async function withoutOwnerless<D extends Pick<NotificationDraft, 'rule'>>(
  db: Reader,
  drafts: readonly D[],
): Promise<D[]> {
  const known = new Set<string>();
  for (const some of inChunks([...new Set(drafts.map(({ rule }) => rule.ownerId))])) {
    const rows = await db.selectFrom('users').select('id').where('id', 'in', some).execute();
    for (const { id } of rows) known.add(id);
  }
  return drafts.filter(({ rule }) => known.has(rule.ownerId));
}

async function withoutRepeated<D extends NotificationDraft | LicenceDraft>(
  db: Reader,
  drafts: readonly D[],
): Promise<D[]> {
  const known = new Set<string>();
  for (const some of inChunks([...new Set(drafts.map(({ event }) => event.id))])) {
    const rows = await db
      .selectFrom('notifications')
      .select(['eventId', 'ruleId', 'phase'])
      .where('eventId', 'in', some)
      .execute();
    for (const row of rows) known.add(notificationKey(row.eventId as EventId, row.ruleId, row.phase));
  }
  return drafts.filter(({ event, rule }) => {
    const key = notificationKey(event.id, rule.id, event.phase);
    return !known.has(key) && known.add(key);
  });
}

function notificationKey(eventId: EventId, ruleId: string, phase: string): string {
  return `${eventId}/${ruleId}/${phase}`;
}

/** Leaves out drafts within the minimum interval of their rule, and records the others. */
async function withoutTooSoon(
  tx: Transaction<Tables>,
  drafts: readonly NotificationDraft[],
): Promise<NotificationDraft[]> {
  const spaced = drafts.filter(({ rule }) => rule.minIntervalMinutes > 0);
  const last = new Map<string, number>();
  const vehicleIds = [...new Set(spaced.map(({ event }) => event.vehicleId))];
  for (const some of inChunks([...new Set(spaced.map(({ rule }) => rule.id))]))
    for (const vehicles of inChunks(vehicleIds)) {
      const rows = await tx
        .selectFrom('ruleFirings')
        .selectAll()
        .where('ruleId', 'in', some)
        .where('vehicleId', 'in', vehicles)
        .execute();
      for (const row of rows) last.set(`${row.ruleId}/${row.vehicleId}`, row.fixTimeMs);
    }
  const fired = new Map<string, { ruleId: string; vehicleId: string; fixTimeMs: number }>();
  const kept = drafts.filter((draft) => {
    const { rule, event } = draft;
    if (rule.minIntervalMinutes === 0) return true;
    const key = `${rule.id}/${event.vehicleId}`;
    const lastMs = last.get(key) ?? null;
    const atMs = dataTimeMs(draft);
    if (isTooSoon(rule, lastMs, { origin: event.origin, fixTimeMs: atMs })) return false;
    // Late data is older than the last notification, and must not move its time back.
    const fixTimeMs = Math.max(atMs, lastMs ?? atMs);
    last.set(key, fixTimeMs);
    fired.set(key, { ruleId: rule.id, vehicleId: event.vehicleId, fixTimeMs });
    return true;
  });
  for (const some of inChunks([...fired].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)))
    await tx
      .insertInto('ruleFirings')
      .values(some)
      .onConflict((c) =>
        c.columns(['ruleId', 'vehicleId']).doUpdateSet((e) => ({ fixTimeMs: e.ref('excluded.fixTimeMs') })),
      )
      .execute();
  return kept;
}

/**
 * Takes the next number for each of the users, in their order. A user's counter stays locked until the transaction
 * ends, so no number below a visible one can still appear. Counters are locked in the order of the ids, so that two
 * transactions cannot deadlock.
 */
async function takeNumbers(tx: Transaction<Tables>, userIds: readonly UserId[]): Promise<number[]> {
  const next = new Map<UserId, number>();
  for (const [userId, { length }] of [...Map.groupBy(userIds, (id) => id)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { lastNumber } = await tx
      .insertInto('notificationCounters')
      .values({ userId, lastNumber: length, forgottenNumber: 0 })
      .onConflict((c) =>
        c.column('userId').doUpdateSet((e) => ({
          lastNumber: e('notificationCounters.lastNumber', '+', length),
        })),
      )
      .returning('lastNumber')
      .executeTakeFirstOrThrow();
    next.set(userId, lastNumber - length + 1);
  }
  return userIds.map((userId) => {
    const number = next.get(userId) ?? 0;
    next.set(userId, number + 1);
    return number;
  });
}
