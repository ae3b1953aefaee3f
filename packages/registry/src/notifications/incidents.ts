import type {
  DriverId,
  GeofenceId,
  Incident,
  IncidentAct,
  IncidentEntry,
  IncidentEntryKind,
  IncidentId,
  IncidentSeverity,
  IncidentState,
  Notification,
  NotificationId,
  NotificationRule,
  NotificationRuleId,
  NotifiedEvent,
  OpenIncidents,
  UserId,
  VehicleId,
} from '@outrider/domain';
import type { ExpressionBuilder, Transaction } from 'kysely';
import { IncidentClosedError, NotFoundError, TooManyError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { IncidentEntryRow, IncidentRow, NotificationRow, Tables } from '../store/schema.ts';
import { inChunks, type Reader, type Store } from '../store/store.ts';
import { insertDeliveries } from './deliveries.ts';
import { fromNotificationRow } from './notification-row.ts';
import { RULES } from './notification-rules.ts';

/** Selects the incidents of an account, and those shared in its organisation. */
export interface IncidentAudience {
  userId: UserId;
  /** The dealer; null: the operator's own accounts. */
  organisationId: UserId | null;
}

/** Matches incidents for which every given field holds. */
export interface IncidentFilter {
  states?: readonly IncidentState[];
  severity?: IncidentSeverity;
  vehicleId?: VehicleId;
  assigneeId?: UserId;
  /** When the incident was opened. */
  fromMs?: number;
  /** Exclusive. */
  toMs?: number;
}

/** Limit per incident, which only a faulty program would exceed. */
export const MAX_INCIDENT_ENTRIES = 500;
const ESCALATED_AT_ONCE = 100;

/** Fields of a rule that apply when an incident is opened. */
export type IncidentTerms = Pick<NotificationRule, 'shared' | 'escalateAfterMinutes'>;

/** Incidents. Each belongs to the notification that opened it, and is deleted with it. */
export class Incidents {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The newest first. */
  list(audience: IncidentAudience, filter: IncidentFilter, paging: Paging): Promise<Page<Incident>> {
    let query = incidentRows(this.#store.db).where((e) => isOf(e, audience));
    if (filter.states !== undefined) query = query.where('incidents.state', 'in', filter.states);
    if (filter.severity !== undefined) query = query.where('incidents.severity', '=', filter.severity);
    if (filter.vehicleId !== undefined) query = query.where('notifications.vehicleId', '=', filter.vehicleId);
    if (filter.assigneeId !== undefined) query = query.where('incidents.assigneeId', '=', filter.assigneeId);
    if (filter.fromMs !== undefined) query = query.where('incidents.createdAtMs', '>=', filter.fromMs);
    if (filter.toMs !== undefined) query = query.where('incidents.createdAtMs', '<', filter.toMs);
    return readPage(query, paging, (rows) => rows.map(fromRow), 'newest first', 'incidents.id');
  }

  /** Unacknowledged incidents, counted by the fields that decide who may see them. */
  async open(audience: IncidentAudience): Promise<OpenIncidents[]> {
    const geofenceId = this.#store.jsonText('event', 'geofenceId');
    const rows = await this.#store.db
      .selectFrom('incidents')
      .innerJoin('notifications', 'notifications.id', 'incidents.id')
      .select(['ownerId', 'shared', 'vehicleId', geofenceId.as('geofenceId'), 'driverId'])
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('incidents.state', '=', 'open')
      .where((e) => isOf(e, audience))
      .groupBy(['ownerId', 'shared', 'vehicleId', geofenceId, 'driverId'])
      .execute();
    return rows.map((row) => ({
      ownerId: row.ownerId as UserId,
      shared: row.shared === 1,
      vehicleId: row.vehicleId === '' ? null : (row.vehicleId as VehicleId),
      geofenceId: row.geofenceId as GeofenceId | null,
      driverId: row.driverId as DriverId | null,
      count: Number(row.count),
    }));
  }

  /** Null when no incident has this id. */
  get(id: IncidentId): Promise<Incident | null> {
    return incidentOf(this.#store.db, id);
  }

  /** Incidents among these ids. */
  async byIds(ids: readonly IncidentId[]): Promise<Incident[]> {
    const incidents: Incident[] = [];
    for (const some of inChunks([...new Set(ids)]))
      incidents.push(...(await incidentRows(this.#store.db).where('incidents.id', 'in', some).execute()).map(fromRow));
    return incidents;
  }

  /** History of an incident, the oldest entry first. */
  async entries(id: IncidentId): Promise<IncidentEntry[]> {
    const rows = await this.#store.db
      .selectFrom('incidentEntries')
      .selectAll()
      .where('incidentId', '=', id)
      .orderBy('id')
      .execute();
    return rows.map(({ incidentId: _, ...row }) => ({
      ...row,
      kind: row.kind as IncidentEntryKind,
      createdBy: row.createdBy as UserId | null,
      assigneeId: row.assigneeId as UserId | null,
    }));
  }

  /**
   * Records an action on an incident. Actions that change nothing are not recorded: acknowledging it again, closing it
   * again, or assigning it to its assignee.
   *
   * @throws {NotFoundError} {IncidentClosedError} {TooManyError}
   */
  act(id: IncidentId, act: IncidentAct, createdBy: UserId): Promise<Incident> {
    const nowMs = this.#store.now();
    return this.#store.db.transaction().execute(async (tx) => {
      const incident = found(await lockedIncident(tx, id), id);
      const change = changeOf(incident, act, nowMs);
      if (change === null) return incident;
      const { count } = await tx
        .selectFrom('incidentEntries')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('incidentId', '=', id)
        .executeTakeFirstOrThrow();
      if (Number(count) >= MAX_INCIDENT_ENTRIES)
        throw new TooManyError(`${MAX_INCIDENT_ENTRIES} entries are the most for one incident`);
      if (act.kind === 'escalated') await this.#insertEscalation(tx, incident, nowMs);
      return this.#change(tx, incident, change, { createdBy, assigneeId: null, text: null, ...act }, nowMs);
    });
  }

  /**
   * Escalates incidents that nobody has acknowledged in time, each once across all instances. Sends messages to the
   * targets that the rule names for escalation.
   *
   * @returns the incidents; less than a hundred when none are left
   */
  escalateDue(): Promise<Incident[]> {
    return this.#store.due(
      'escalations',
      [],
      () => this.#escalateDue(),
      async () => {
        const { dueAtMs } = await this.#store.db
          .selectFrom('incidents')
          .select(({ fn }) => fn.min('escalateAtMs').as('dueAtMs'))
          .executeTakeFirstOrThrow();
        return dueAtMs === null ? null : Number(dueAtMs);
      },
    );
  }

  async #escalateDue(): Promise<Incident[]> {
    const nowMs = this.#store.now();
    const due = await this.#store.db
      .selectFrom('incidents')
      .select('id')
      .where('escalateAtMs', '<=', nowMs)
      .orderBy('escalateAtMs')
      .limit(ESCALATED_AT_ONCE)
      .execute();
    const escalated: Incident[] = [];
    for (const { id } of due) {
      const incident = await this.#store.db.transaction().execute(async (tx) => {
        const incident = await lockedIncident(tx, id as IncidentId);
        // The incident was deleted, acknowledged, or escalated by another instance meanwhile.
        if (incident === null || incident.escalateAtMs === null || incident.escalateAtMs > nowMs) return null;
        await this.#insertEscalation(tx, incident, nowMs);
        const change = { escalateAtMs: null, escalatedAtMs: nowMs };
        const entry = { kind: 'escalated' as const, createdBy: null, assigneeId: null, text: null };
        return this.#change(tx, incident, change, entry, nowMs);
      });
      if (incident !== null) escalated.push(incident);
    }
    return escalated;
  }

  /** Queues the messages of an escalation: to the rule's addresses for it, its channels and browsers. */
  async #insertEscalation(tx: Transaction<Tables>, { id, ruleId }: Incident, nowMs: number): Promise<void> {
    const [rule] = await RULES.load(tx, [ruleId]);
    const row = await tx.selectFrom('notifications').selectAll().where('id', '=', id).executeTakeFirst();
    if (rule === undefined || row === undefined) return;
    const { escalateTo: emails, channelIds, push } = rule;
    const targets = { emails, channelIds, push, webhookUrl: null };
    await insertDeliveries(tx, [fromNotificationRow(row)], [targets], nowMs, this.#store.newId, true);
  }

  async #change(
    tx: Transaction<Tables>,
    { id, version }: Incident,
    change: Partial<IncidentRow>,
    entry: Omit<IncidentEntry, 'id' | 'atMs'>,
    nowMs: number,
  ): Promise<Incident> {
    await tx
      .updateTable('incidents')
      .set({ ...change, version: version + 1, changedAtMs: nowMs })
      .where('id', '=', id)
      .execute();
    await insertEntries(tx, [{ ...entry, id: this.#store.newId(), incidentId: id, atMs: nowMs }]);
    return found(await incidentOf(tx, id), id);
  }
}

/**
 * Opens an incident for each notification that is more severe than `info`. A rule has one incident per event, so a
 * notification of the event's end is recorded in that incident.
 *
 * @param terms of the rule of each notification
 * @returns by the ids of the notifications, the incidents
 */
export async function openIncidents(
  tx: Transaction<Tables>,
  notifications: readonly Notification[],
  terms: readonly IncidentTerms[],
  nowMs: number,
  newId: () => string,
): Promise<Map<NotificationId, IncidentId>> {
  const of = new Map<NotificationId, IncidentId>();
  const grave = notifications.flatMap((notification, nth) => {
    const { shared = false, escalateAfterMinutes = null } = terms[nth] ?? {};
    return notification.severity === 'info' ? [] : [{ notification, shared, escalateAfterMinutes }];
  });
  if (grave.length === 0) return of;
  const known = new Map<string, string>();
  for (const some of inChunks([...new Set(grave.map(({ notification }) => notification.event.id))])) {
    const rows = await tx
      .selectFrom('incidents')
      .select(['id', 'ruleId', 'eventId'])
      .where('eventId', 'in', some)
      .execute();
    for (const { id, ruleId, eventId } of rows) known.set(`${ruleId} ${eventId}`, id);
  }
  const opened: IncidentRow[] = [];
  const ended: { id: string; endedAtMs: number | null }[] = [];
  for (const { notification, shared, escalateAfterMinutes } of grave) {
    const { id, ruleId, userId, severity, event } = notification;
    const key = `${ruleId} ${event.id}`;
    const knownId = known.get(key);
    of.set(id, (knownId ?? id) as string as IncidentId);
    if (knownId !== undefined) {
      if (event.phase === 'end') ended.push({ id: knownId, endedAtMs: event.endedAtMs });
      continue;
    }
    known.set(key, id);
    opened.push({
      ...{ id, version: 1, ownerId: userId, shared: shared ? 1 : 0, ruleId, eventId: event.id, severity },
      ...{ state: 'open', assigneeId: null, createdAtMs: nowMs, changedAtMs: nowMs },
      ...{ acknowledgedAtMs: null, closedAtMs: null, endedAtMs: event.endedAtMs, escalatedAtMs: null },
      escalateAtMs: escalateAfterMinutes === null ? null : nowMs + escalateAfterMinutes * 60_000,
    });
  }
  for (const some of inChunks(opened)) await tx.insertInto('incidents').values(some).execute();
  for (const { id, endedAtMs } of ended) {
    await tx
      .updateTable('incidents')
      .set((e) => ({ endedAtMs, changedAtMs: nowMs, version: e('version', '+', 1) }))
      .where('id', '=', id)
      .execute();
    const entry = { kind: 'ended', createdBy: null, assigneeId: null, text: null };
    await insertEntries(tx, [{ ...entry, id: newId(), incidentId: id, atMs: nowMs }]);
  }
  return of;
}

/** Deletes incidents with their history. */
export async function deleteIncidents(tx: Reader, ids: readonly string[]): Promise<void> {
  await tx.deleteFrom('incidentEntries').where('incidentId', 'in', ids).execute();
  await tx.deleteFrom('incidents').where('id', 'in', ids).execute();
}

/** Deletes the incidents of a deleted account, and removes the account from incidents of others. */
export async function deleteIncidentsOf(tx: Reader, userId: UserId): Promise<void> {
  const own = tx.selectFrom('incidents').select('id').where('ownerId', '=', userId);
  await tx.deleteFrom('incidentEntries').where('incidentId', 'in', own).execute();
  await tx.deleteFrom('incidents').where('ownerId', '=', userId).execute();
  await tx.updateTable('incidents').set({ assigneeId: null }).where('assigneeId', '=', userId).execute();
  await tx.updateTable('incidentEntries').set({ createdBy: null }).where('createdBy', '=', userId).execute();
  await tx.updateTable('incidentEntries').set({ assigneeId: null }).where('assigneeId', '=', userId).execute();
}

/** @returns the changed columns; null: nothing changes */
function changeOf(incident: Incident, act: IncidentAct, nowMs: number): Partial<IncidentRow> | null {
  const isClosed = incident.state === 'closed';
  switch (act.kind) {
    case 'acknowledged':
      if (incident.state !== 'open') return null;
      return { state: 'acknowledged', acknowledgedAtMs: nowMs, escalateAtMs: null };
    case 'assigned':
      if (isClosed) throw new IncidentClosedError(incident.id);
      return act.assigneeId === incident.assigneeId ? null : { assigneeId: act.assigneeId };
    case 'commented':
      return {};
    case 'escalated':
      if (isClosed) throw new IncidentClosedError(incident.id);
      return { escalateAtMs: null, escalatedAtMs: nowMs };
    case 'closed':
      if (isClosed) return null;
      return {
        ...{ state: 'closed', closedAtMs: nowMs, escalateAtMs: null },
        acknowledgedAtMs: incident.acknowledgedAtMs ?? nowMs,
      };
  }
}

/** Rows of incidents joined with their notifications. */
function incidentRows(db: Reader) {
  return db
    .selectFrom('incidents')
    .innerJoin('notifications', 'notifications.id', 'incidents.id')
    .selectAll('incidents')
    .select([
      'notifications.ruleName',
      'notifications.vehicleName',
      'notifications.geofenceName',
      'notifications.driverName',
      'notifications.event',
    ]);
}

/** The account belongs to the organisation, so the index of owners finds all incidents. */
function isOf(e: ExpressionBuilder<Tables, 'incidents'>, { userId, organisationId }: IncidentAudience) {
  const members = e
    .selectFrom('users')
    .select('users.id')
    .where((of) =>
      organisationId === null
        ? of.and([of('users.role', '!=', 'dealer'), of('users.dealerId', 'is', null)])
        : of.or([of('users.id', '=', organisationId), of('users.dealerId', '=', organisationId)]),
    );
  return e.and([
    e('incidents.ownerId', 'in', members),
    e.or([e('incidents.shared', '=', 1), e('incidents.ownerId', '=', userId)]),
  ]);
}

async function incidentOf(db: Reader, id: IncidentId): Promise<Incident | null> {
  const row = await incidentRows(db).where('incidents.id', '=', id).executeTakeFirst();
  return row === undefined ? null : fromRow(row);
}

/** The incident, its row locked until the transaction ends. */
async function lockedIncident(tx: Transaction<Tables>, id: IncidentId): Promise<Incident | null> {
  await tx
    .updateTable('incidents')
    .set((e) => ({ version: e.ref('version') }))
    .where('id', '=', id)
    .execute();
  return incidentOf(tx, id);
}

function found(incident: Incident | null, id: IncidentId): Incident {
  if (incident === null) throw new NotFoundError('incident', id);
  return incident;
}

async function insertEntries(tx: Transaction<Tables>, rows: readonly IncidentEntryRow[]): Promise<void> {
  for (const some of inChunks(rows)) await tx.insertInto('incidentEntries').values(some).execute();
}

type JoinedRow = IncidentRow &
  Pick<NotificationRow, 'ruleName' | 'vehicleName' | 'geofenceName' | 'driverName' | 'event'>;

function fromRow({ eventId: _, ...row }: JoinedRow): Incident {
  const event = JSON.parse(row.event) as NotifiedEvent;
  return {
    ...row,
    id: row.id as IncidentId,
    ownerId: row.ownerId as UserId,
    shared: row.shared === 1,
    ruleId: row.ruleId as NotificationRuleId,
    vehicleName: event.vehicleId === null ? null : row.vehicleName,
    severity: row.severity as IncidentSeverity,
    state: row.state as IncidentState,
    event,
    assigneeId: row.assigneeId as UserId | null,
  };
}
