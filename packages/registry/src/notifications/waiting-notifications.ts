import type { EventId, FleetEvent, NotificationRuleId } from '@outrider/domain';
import { sql, type Transaction } from 'kysely';
import type { Tables, WaitingNotificationRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store } from '../store/store.ts';

/** A rule that will notify of an event if the event lasts as long as the rule asks for. */
export interface WaitingNotification {
  ruleId: NotificationRuleId;
  /** The event in its begin phase. */
  event: FleetEvent;
  /** When it will have lasted long enough, in Unix milliseconds. */
  dueMs: number;
  /** Consumer that read the begin of the event, and partition: its end arrives there too. */
  consumer: string;
  partition: number;
}

type Key = { ruleId: NotificationRuleId; event: Pick<FleetEvent, 'id'> };

/** Events that have begun, and of which rules notify once they have lasted long enough. */
export class WaitingNotifications {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Due ones, in the order of their times.
   *
   * @param after the last of the page before; null: from the first
   */
  async due(nowMs: number, after: WaitingNotification | null, limit: number): Promise<WaitingNotification[]> {
    let query = this.#store.db
      .selectFrom('waitingNotifications')
      .selectAll()
      .where('dueMs', '<=', nowMs)
      .orderBy('dueMs')
      .orderBy('eventId')
      .orderBy('ruleId')
      .limit(limit);
    if (after !== null)
      query = query.where(
        sql<boolean>`(due_ms, event_id, rule_id) > (${after.dueMs}, ${after.event.id}, ${after.ruleId})`,
      );
    return (await query.execute()).map(fromRow);
  }

  /** Waiting notifications of these events. */
  async ofEvents(eventIds: readonly EventId[]): Promise<WaitingNotification[]> {
    const found: WaitingNotification[] = [];
    for (const some of inChunks(eventIds)) {
      const rows = this.#store.db.selectFrom('waitingNotifications').selectAll().where('eventId', 'in', some);
      found.push(...(await rows.orderBy('eventId').orderBy('ruleId').execute()).map(fromRow));
    }
    return found;
  }

  /** Sets another time, after the rule was changed. */
  async postpone({ event, ruleId }: Key, dueMs: number): Promise<void> {
    await this.#store.db
      .updateTable('waitingNotifications')
      .set({ dueMs })
      .where('eventId', '=', event.id)
      .where('ruleId', '=', ruleId)
      .execute();
  }

  /** Deletes them without notifying. */
  async drop(waiting: readonly Key[]): Promise<void> {
    for (const each of waiting) await takeWaiting(this.#store.db, each);
  }
}

/** @returns false where it no longer exists: another instance took it, or its event was too short */
export async function takeWaiting(db: Reader, { event, ruleId }: Key): Promise<boolean> {
  const taken = await db
    .deleteFrom('waitingNotifications')
    .where('eventId', '=', event.id)
    .where('ruleId', '=', ruleId)
    .returning('eventId')
    .executeTakeFirst();
  return taken !== undefined;
}

export async function insertWaiting(tx: Transaction<Tables>, waiting: readonly WaitingNotification[]): Promise<void> {
  for (const some of inChunks(waiting.map(toRow)))
    await tx
      .insertInto('waitingNotifications')
      .values(some)
      .onConflict((row) => row.columns(['eventId', 'ruleId']).doNothing())
      .execute();
}

function fromRow(row: WaitingNotificationRow): WaitingNotification {
  return {
    ruleId: row.ruleId as NotificationRuleId,
    event: JSON.parse(row.event) as FleetEvent,
    dueMs: row.dueMs,
    consumer: row.consumer,
    partition: row.logPartition,
  };
}

function toRow({ ruleId, event, dueMs, consumer, partition }: WaitingNotification): WaitingNotificationRow {
  return {
    eventId: event.id,
    ruleId,
    vehicleId: event.vehicleId,
    dueMs,
    consumer,
    logPartition: partition,
    event: JSON.stringify(event),
  };
}
