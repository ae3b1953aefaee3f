import {
  type CommandId,
  type CommandOrder,
  type CommandReason,
  type CommandState,
  commandMayBecome,
  type EventId,
  type NotificationRuleId,
  type UserId,
  type VehicleCommand,
  type VehicleId,
} from '@outrider/domain';
import type { Transaction } from 'kysely';
import type { AuditNote } from '../audit/audit-notes.ts';
import { NotFoundError, TooManyCommandsError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { Tables, VehicleCommandRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';

/** A requested command. */
export interface NewCommand {
  vehicleId: VehicleId;
  order: CommandOrder;
  maxSpeedKmh: number | null;
  createdBy: UserId;
  expiresAtMs: number;
}

export interface CommandFilter {
  vehicleId: VehicleId;
  state?: CommandState;
  /** Leaves out commands of type `text`. */
  withoutText?: boolean;
}

/** What to do with a queued command now: send it, let it wait, or end it for a reason. */
export type CommandJudgement = 'send' | 'wait' | CommandReason;

/** How a command that was sent ended. */
export type CommandEnd =
  | { state: 'acknowledged'; answer: string | null }
  | { state: 'refused' | 'unanswered'; reason: CommandReason; answer?: string | null };

/** Maximum of queued and sent commands per vehicle. */
export const MAX_OPEN_COMMANDS_PER_VEHICLE = 20;
/** Maximum of queued and sent commands that one account, or its rules, requested. */
export const MAX_OPEN_COMMANDS_PER_ACCOUNT = 500;
const MINUTE_MS = 60_000;
const OPEN = ['queued', 'sent'] as const;
const MAX_ANSWER_CHARACTERS = 1000;

/**
 * Commands to the terminals of vehicles. A command is marked as sent before it is sent, so that a crash in between
 * cannot make it be sent twice: delivery is at most once.
 */
export class VehicleCommands {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Queues a command. Queued commands that it revokes are cancelled: see {@link revokes}.
   *
   * @param perMinute limit per account
   * @returns the command, and those that it revoked
   * @throws {TooManyCommandsError} {NotFoundError} without the vehicle
   */
  create(wish: NewCommand, perMinute: number): Promise<{ command: VehicleCommand; revoked: VehicleCommand[] }> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      await requireLately(tx, wish.createdBy, perMinute, nowMs);
      const full = await openBound(tx, wish.vehicleId, wish.createdBy);
      if (full !== null) throw full;
      const vehicle = await vehicleOf(tx, wish.vehicleId);
      if (vehicle === undefined) throw new NotFoundError('vehicle', wish.vehicleId);
      const revoked: VehicleCommand[] = [];
      for (const row of await openOf(tx, wish.vehicleId)) {
        if (row.state !== 'queued' || !revokes(wish.order, fromRow(row).order)) continue;
        revoked.push(await step(writer, row, 'cancelled', { reason: 'superseded' }));
      }
      const row = newRow(wish, writer.newId(), nowMs, { ruleId: null, eventId: null });
      await tx.insertInto('vehicleCommands').values(row).execute();
      writer.note(noteOf(null, row, vehicle));
      return { command: fromRow(row), revoked };
    });
  }

  async get(id: CommandId): Promise<VehicleCommand | null> {
    const row = await this.#store.db.selectFrom('vehicleCommands').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : fromRow(row);
  }

  /** The newest first. */
  async list({ vehicleId, state, withoutText }: CommandFilter, paging: Paging): Promise<Page<VehicleCommand>> {
    let query = this.#store.db.selectFrom('vehicleCommands').selectAll().where('vehicleId', '=', vehicleId);
    if (state !== undefined) query = query.where('state', '=', state);
    if (withoutText === true) query = query.where('type', '!=', 'text');
    return readPage(query, paging, (rows) => rows.map(fromRow), 'newest first');
  }

  /**
   * Withdraws a command that was not sent.
   *
   * @returns the command as it now is, and whether this call ended it
   * @throws {NotFoundError}
   */
  cancel(id: CommandId): Promise<{ command: VehicleCommand; cancelled: boolean }> {
    return this.#store.write(async (writer) => {
      const row = await writer.tx.selectFrom('vehicleCommands').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) throw new NotFoundError('command', id);
      if (row.state !== 'queued') return { command: fromRow(row), cancelled: false };
      return { command: await step(writer, row, 'cancelled', {}), cancelled: true };
    });
  }

  /** A page of vehicles with queued commands, each with the id of a command. */
  async waiting(after: string | null, limit: number): Promise<{ id: string; vehicleId: VehicleId }[]> {
    let query = this.#store.db
      .selectFrom('vehicleCommands')
      .select(['id', 'vehicleId'])
      .where('state', '=', 'queued')
      .orderBy('id')
      .limit(limit);
    if (after !== null) query = query.where('id', '>', after);
    return (await query.execute()) as { id: string; vehicleId: VehicleId }[];
  }

  /** The queued commands of a vehicle, the oldest first; none while a sent command is open. */
  async next(vehicleId: VehicleId): Promise<VehicleCommand[]> {
    const rows = await openOf(this.#store.db, vehicleId);
    return rows.some(({ state }) => state === 'sent') ? [] : rows.map(fromRow);
  }

  /**
   * Takes the oldest queued command that may be sent now, and marks it as sent. Only the caller may send it, once.
   *
   * @param judge called for each command before it, and for it
   * @returns the command to send, if any, and those that ended
   */
  begin(
    vehicleId: VehicleId,
    judge: (command: VehicleCommand) => CommandJudgement,
  ): Promise<{ sent: VehicleCommand | null; ended: VehicleCommand[] }> {
    return this.#store.write(async (writer) => {
      const ended: VehicleCommand[] = [];
      const rows = await openOf(writer.tx, vehicleId);
      // One command at a time, so that they arrive in order and an answer without a number can be assigned.
      if (rows.some(({ state }) => state === 'sent')) return { sent: null, ended };
      for (const row of rows) {
        if (Number(row.expiresAtMs) <= writer.nowMs) continue;
        const judgement = judge(fromRow(row));
        if (judgement === 'wait') continue;
        if (judgement === 'send') return { sent: await step(writer, row, 'sent', { sentAtMs: writer.nowMs }), ended };
        ended.push(await step(writer, row, 'refused', { reason: judgement }));
      }
      return { sent: null, ended };
    });
  }

  /** Ends a command that was sent. @returns null where it has ended already */
  settle(id: CommandId, end: CommandEnd): Promise<VehicleCommand | null> {
    const answer = end.answer?.slice(0, MAX_ANSWER_CHARACTERS).replaceAll('\0', '\u{FFFD}') ?? null;
    return this.#fromSent(id, end.state, { reason: 'reason' in end ? end.reason : null, answer });
  }

  /** Queues a command again that was certainly not sent. @returns null where it has ended already */
  requeue(id: CommandId): Promise<VehicleCommand | null> {
    return this.#fromSent(id, 'queued', { sentAtMs: null });
  }

  #fromSent(id: CommandId, state: CommandState, more: CommandStep): Promise<VehicleCommand | null> {
    return this.#store.write(async (writer) => {
      const row = await writer.tx.selectFrom('vehicleCommands').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined || row.state !== 'sent' ? null : step(writer, row, state, more);
    });
  }

  /**
   * Ends queued commands that have expired, and sent ones that were not answered.
   *
   * @param answerMs time after sending at which a command counts as unanswered
   */
  expire(answerMs: number, limit: number): Promise<VehicleCommand[]> {
    const choose = (db: Reader, nowMs: number) =>
      db
        .selectFrom('vehicleCommands')
        .selectAll()
        .where((e) =>
          e.or([
            e.and([e('state', '=', 'queued'), e('expiresAtMs', '<=', nowMs)]),
            e.and([e('state', '=', 'sent'), e('sentAtMs', '<=', nowMs - answerMs)]),
          ]),
        )
        .orderBy('id')
        .limit(limit)
        .execute();
    const work = async (writer: Writer, rows: readonly VehicleCommandRow[]) => {
      const ended: VehicleCommand[] = [];
      for (const row of rows)
        ended.push(
          row.state === 'queued'
            ? await step(writer, row, 'expired', {})
            : await step(writer, row, 'unanswered', { reason: 'no-answer' }),
        );
      return ended;
    };
    return this.#store.writeDue('commands to end', choose, work, async () => {
      const least = async (state: string, column: 'expiresAtMs' | 'sentAtMs') => {
        const { at } = await this.#store.db
          .selectFrom('vehicleCommands')
          .select((e) => e.fn.min(column).as('at'))
          .where('state', '=', state)
          .executeTakeFirstOrThrow();
        return at === null ? Number.POSITIVE_INFINITY : Number(at);
      };
      const dueMs = Math.min(await least('queued', 'expiresAtMs'), (await least('sent', 'sentAtMs')) + answerMs);
      return Number.isFinite(dueMs) ? dueMs : null;
    });
  }

  /**
   * Forgets commands that ended before a time.
   *
   * @param limit at most this many
   * @returns how many they were
   */
  async clean(beforeMs: number, limit: number): Promise<number> {
    const old = await this.#store.db
      .selectFrom('vehicleCommands')
      .select('id')
      .where('finishedAtMs', '<', beforeMs)
      .orderBy('finishedAtMs')
      .limit(limit)
      .execute();
    for (const some of inChunks(old.map(({ id }) => id)))
      await this.#store.db.deleteFrom('vehicleCommands').where('id', 'in', some).execute();
    return old.length;
  }
}

/** A command that a rule sends because of an event. */
export interface RuleCommandWish extends NewCommand {
  ruleId: NotificationRuleId;
  eventId: EventId;
}

/**
 * Queues the commands of rules, in the transaction of their notifications. A command that has expired or exceeds a
 * bound is stored as ended, so that its owner sees the outcome.
 *
 * @returns the commands, and the notes for the audit trail
 */
export async function insertRuleCommands(
  tx: Transaction<Tables>,
  wishes: readonly RuleCommandWish[],
  nowMs: number,
  newId: () => string,
): Promise<{ commands: VehicleCommand[]; notes: AuditNote[] }> {
  const commands: VehicleCommand[] = [];
  const notes: AuditNote[] = [];
  for (const wish of wishes) {
    const vehicle = await vehicleOf(tx, wish.vehicleId);
    if (vehicle === undefined) continue;
    const row = newRow(wish, newId(), nowMs, wish);
    if (wish.expiresAtMs <= nowMs) Object.assign(row, { state: 'expired', finishedAtMs: nowMs });
    else if ((await openBound(tx, wish.vehicleId, wish.createdBy)) !== null)
      Object.assign(row, { state: 'refused', reason: 'too-many', finishedAtMs: nowMs });
    await tx.insertInto('vehicleCommands').values(row).execute();
    commands.push(fromRow(row));
    notes.push(noteOf(null, row, vehicle));
  }
  return { commands, notes };
}

/** Ends the open commands of a vehicle that is being deleted. */
export async function endCommandsOf(writer: Writer, vehicleId: VehicleId): Promise<void> {
  for (const row of await openOf(writer.tx, vehicleId))
    await step(writer, row, row.state === 'queued' ? 'cancelled' : 'unanswered', { reason: 'vehicle-deleted' });
}

/**
 * Whether a command revokes an earlier one that was not sent yet. Resuming the engine revokes blocking it; setting an
 * output revokes setting the same output before.
 */
function revokes(order: CommandOrder, earlier: CommandOrder): boolean {
  if (order.type === 'engine-resume') return earlier.type === 'engine-block';
  if (order.type !== 'output-set' || earlier.type !== 'output-set') return false;
  return order.parameters.output === earlier.parameters.output;
}

/** Columns that change with the state of a command. */
type CommandStep = Partial<Omit<VehicleCommandRow, 'reason'>> & { reason?: CommandReason | null };

/** Moves a command to its next state, with a line in the audit trail. */
async function step(
  writer: Writer,
  row: VehicleCommandRow,
  state: CommandState,
  more: CommandStep,
): Promise<VehicleCommand> {
  if (!commandMayBecome(row.state as CommandState, state))
    throw new Error(`a command can't go from ${row.state} to ${state}`);
  const { tx, nowMs } = writer;
  const finishedAtMs = state === 'sent' || state === 'queued' ? null : nowMs;
  const changed = { ...row, ...more, state, changedAtMs: nowMs, finishedAtMs };
  const { id, ...columns } = changed;
  await tx.updateTable('vehicleCommands').set(columns).where('id', '=', id).execute();
  writer.note(noteOf(row, changed, await vehicleOf(tx, row.vehicleId as VehicleId)));
  return fromRow(changed);
}

function openOf(db: Reader, vehicleId: VehicleId): Promise<VehicleCommandRow[]> {
  return db
    .selectFrom('vehicleCommands')
    .selectAll()
    .where('vehicleId', '=', vehicleId)
    .where('state', 'in', OPEN)
    .orderBy('id')
    .execute();
}

interface CommandedVehicle {
  name: string;
  dealerId: string | null;
}

function vehicleOf(db: Reader, id: VehicleId): Promise<CommandedVehicle | undefined> {
  return db.selectFrom('vehicles').select(['name', 'dealerId']).where('id', '=', id).executeTakeFirst();
}

async function requireLately(db: Reader, account: UserId, perMinute: number, nowMs: number): Promise<void> {
  const lately = await db
    .selectFrom('vehicleCommands')
    .select('createdAtMs')
    .where('createdBy', '=', account)
    .where('ruleId', 'is', null)
    .where('createdAtMs', '>', nowMs - MINUTE_MS)
    .orderBy('createdAtMs', 'desc')
    .limit(perMinute)
    .execute();
  const first = lately.at(-1);
  if (first !== undefined && lately.length >= perMinute)
    throw new TooManyCommandsError('minute', perMinute, Number(first.createdAtMs) + MINUTE_MS - nowMs);
}

/** The bound that one more command would exceed. */
async function openBound(db: Reader, vehicleId: VehicleId, account: UserId): Promise<TooManyCommandsError | null> {
  const count = async (column: 'vehicleId' | 'createdBy', id: string) => {
    const row = await db
      .selectFrom('vehicleCommands')
      .select((e) => e.fn.countAll().as('count'))
      .where(column, '=', id)
      .where('state', 'in', OPEN)
      .executeTakeFirstOrThrow();
    return Number(row.count);
  };
  if ((await count('vehicleId', vehicleId)) >= MAX_OPEN_COMMANDS_PER_VEHICLE)
    return new TooManyCommandsError('vehicle', MAX_OPEN_COMMANDS_PER_VEHICLE);
  if ((await count('createdBy', account)) >= MAX_OPEN_COMMANDS_PER_ACCOUNT)
    return new TooManyCommandsError('account', MAX_OPEN_COMMANDS_PER_ACCOUNT);
  return null;
}

function newRow(
  { vehicleId, order, maxSpeedKmh, createdBy, expiresAtMs }: NewCommand,
  id: string,
  nowMs: number,
  { ruleId, eventId }: Pick<VehicleCommandRow, 'ruleId' | 'eventId'>,
): VehicleCommandRow {
  return {
    id,
    vehicleId,
    type: order.type,
    parameters: JSON.stringify(order.parameters),
    state: 'queued',
    reason: null,
    answer: null,
    maxSpeedKmh,
    createdBy,
    ruleId,
    eventId,
    createdAtMs: nowMs,
    changedAtMs: nowMs,
    expiresAtMs,
    sentAtMs: null,
    finishedAtMs: null,
  };
}

function fromRow(row: VehicleCommandRow): VehicleCommand {
  const time = (value: number | null) => (value === null ? null : Number(value));
  return {
    id: row.id as CommandId,
    vehicleId: row.vehicleId as VehicleId,
    order: { type: row.type, parameters: JSON.parse(row.parameters) } as CommandOrder,
    state: row.state as CommandState,
    reason: row.reason as CommandReason | null,
    answer: row.answer,
    maxSpeedKmh: row.maxSpeedKmh,
    createdBy: row.createdBy as UserId | null,
    ruleId: row.ruleId as NotificationRuleId | null,
    eventId: row.eventId as EventId | null,
    createdAtMs: Number(row.createdAtMs),
    changedAtMs: Number(row.changedAtMs),
    expiresAtMs: Number(row.expiresAtMs),
    sentAtMs: time(row.sentAtMs),
    finishedAtMs: time(row.finishedAtMs),
  };
}

function noteOf(
  before: VehicleCommandRow | null,
  after: VehicleCommandRow,
  vehicle: CommandedVehicle | undefined,
): AuditNote {
  const { state, reason, answer } = after;
  const { vehicleId, type, parameters, maxSpeedKmh, ruleId, expiresAtMs } = after;
  const asked = { vehicleId, type, parameters: JSON.parse(parameters) as unknown, maxSpeedKmh, ruleId, expiresAtMs };
  return {
    action: before === null ? 'created' : 'changed',
    subject: { kind: 'command', id: after.id, name: `${type}: ${vehicle?.name ?? ''}` },
    before: before && { state: before.state },
    after: before === null ? { ...asked, state, reason } : { state, reason, answer },
    dealerIds: vehicle?.dealerId == null ? [] : [vehicle.dealerId as UserId],
  };
}
