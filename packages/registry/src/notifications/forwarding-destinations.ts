import type { EventKind, GroupId, UserId, VehicleId } from '@outrider/domain';
import { sql } from 'kysely';
import type { AuditNote } from '../audit/audit-notes.ts';
import { NotFoundError, StaleVersionError, TooManyError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { ForwardingDestinationRow } from '../store/schema.ts';
import type { SecretPlace } from '../store/secrets.ts';
import type { Reader, Store, Writer } from '../store/store.ts';
import { type Lease, Leases } from '../work/leases.ts';

/** Selects what is forwarded from the log. */
export interface ForwardingFilter {
  /** Null: not limited to vehicles. Together with groups: vehicles that are named or in one of the groups. */
  vehicleIds: readonly VehicleId[] | null;
  /** Null: not limited to groups. */
  groupIds: readonly GroupId[] | null;
  positions: boolean;
  events: boolean;
  /** Null: events of every kind. */
  eventKinds: readonly EventKind[] | null;
}

/** Time range that was no longer in the log when the forwarder read it. */
export interface ForwardingGap {
  fromMs: number;
  toMs: number;
  noticedAtMs: number;
}

/** Another system to which an account's positions and events are forwarded. */
export interface ForwardingDestination {
  id: string;
  version: number;
  /** The account whose rights limit what is forwarded. */
  ownerId: UserId;
  name: string;
  /** A kind of `packages/forwarding`, which defines the settings. */
  kind: string;
  settings: object;
  hasSecret: boolean;
  /** Names of HTTP headers whose values are not shown. */
  secretHeaderNames: readonly string[];
  /** Host and port of the receiving system. */
  endpoint: string;
  filter: ForwardingFilter;
  active: boolean;
  createdAtMs: number;
  /** Everything that was in the log by then was forwarded; null: forwarding has not started. */
  reachedAtMs: number | null;
  /** When the progress was saved; null: never. */
  savedAtMs: number | null;
  /** A forwarder is working on it. */
  isLeased: boolean;
  /** Attempts that failed since the last success. */
  failures: number;
  nextAttemptAtMs: number;
  lastError: string | null;
  lastErrorAtMs: number | null;
  lastSuccessAtMs: number | null;
  positionsSent: number;
  eventsSent: number;
  /** Items that the receiving system refused, or that its protocol can't carry. */
  refused: number;
  lastRefusal: string | null;
  /** Null: nothing was missing in the log. */
  gap: ForwardingGap | null;
}

export type ForwardingFields = Pick<
  ForwardingDestination,
  'name' | 'kind' | 'settings' | 'endpoint' | 'filter' | 'active'
>;

/** Secrets of a destination: stored sealed, and never shown. */
export interface ForwardingSecrets {
  /** Key that signs batches, or a password. */
  secret: string | null;
  /** Header values by name. */
  headers: Readonly<Record<string, string>>;
}

/** A destination leased by a forwarder, with its secrets. */
export interface LeasedDestination extends ForwardingDestination, Lease {
  secrets: ForwardingSecrets;
  /** Time in the log from which items are forwarded while a cursor is missing. */
  beginAtMs: number;
  positionsCursor: string | null;
  eventsCursor: string | null;
}

/** Progress of a destination since it was last saved. */
export interface ForwardingProgress {
  positionsCursor: string | null;
  eventsCursor: string | null;
  reachedAtMs: number | null;
  positionsSent: number;
  eventsSent: number;
  refused: number;
  /** Null: no item was refused. */
  lastRefusal: string | null;
  /** Null: no gap was found. */
  gap: ForwardingGap | null;
  /** The receiving system confirmed something since the lease began. */
  isSuccess: boolean;
}

/** Outcome of the work on a destination. Null: it continues at once, here or in another instance. */
export type ForwardingSettlement = { error: string; nextAttemptAtMs: number } | null;

/** Limit per account. */
export const MAX_DESTINATIONS_PER_USER = 20;
const [ACTIVE, PAUSED] = ['active', 'paused'];
const KIND = 'forwarding-destination';

/** Forwarding destinations, their progress, and the forwarder that works on each. */
export class ForwardingDestinations {
  readonly #store: Store;
  readonly #leases: Leases<'forwardingDestinations'>;

  constructor(store: Store) {
    this.#store = store;
    this.#leases = new Leases(store, {
      table: 'forwardingDestinations',
      open: [ACTIVE],
      dueAt: 'nextAttemptAtMs',
      leasedUntil: 'leasedUntilMs',
      countsAttempts: false,
    });
  }

  /**
   * The destination starts with what is written to the log from now on.
   *
   * @throws {TooManyError} when the account has {@link MAX_DESTINATIONS_PER_USER}
   */
  create(ownerId: UserId, fields: ForwardingFields, secrets: ForwardingSecrets): Promise<ForwardingDestination> {
    return this.#store.write(async (writer) => {
      const { tx, newId, nowMs } = writer;
      const { count } = await tx
        .selectFrom('forwardingDestinations')
        .select((e) => e.fn.countAll<number | string>().as('count'))
        .where('ownerId', '=', ownerId)
        .executeTakeFirstOrThrow();
      if (Number(count) >= MAX_DESTINATIONS_PER_USER)
        throw new TooManyError(`${MAX_DESTINATIONS_PER_USER} forwarding destinations are the most for one account`);
      const id = newId();
      const row: ForwardingDestinationRow = {
        id,
        version: 1,
        ownerId,
        ...columnsOf(fields),
        ...{
          secret: null,
          secretHeaders: null,
          secretHeaderNames: null,
          ...secretColumns(this.#store.secrets, id, secrets),
        },
        createdAtMs: nowMs,
        beginAtMs: nowMs,
        positionsCursor: null,
        eventsCursor: null,
        reachedAtMs: null,
        savedAtMs: null,
        failures: 0,
        nextAttemptAtMs: nowMs,
        lease: null,
        leasedUntilMs: 0,
        lastError: null,
        lastErrorAtMs: null,
        lastSuccessAtMs: null,
        positionsSent: 0,
        eventsSent: 0,
        refused: 0,
        lastRefusal: null,
        gapFromMs: null,
        gapToMs: null,
        gapNoticedAtMs: null,
      };
      await tx.insertInto('forwardingDestinations').values(row).execute();
      const destination = fromRow(row, nowMs);
      writer.note(noteOf('created', null, destination));
      return destination;
    });
  }

  /** In the order of their creation. @param ownerId undefined: of all accounts */
  async list(ownerId: UserId | undefined, paging: Paging): Promise<Page<ForwardingDestination>> {
    let query = this.#store.db.selectFrom('forwardingDestinations').selectAll();
    if (ownerId !== undefined) query = query.where('ownerId', '=', ownerId);
    return readPage(query, paging, (rows) => rows.map((row) => fromRow(row, this.#store.now())));
  }

  /** Null when none has this id. */
  async get(id: string): Promise<ForwardingDestination | null> {
    const row = await this.#row(this.#store.db, id);
    return row === undefined ? null : fromRow(row, this.#store.now());
  }

  async secrets(id: string): Promise<ForwardingSecrets> {
    const row = await this.#row(this.#store.db, id);
    return row === undefined ? { secret: null, headers: {} } : openedSecrets(this.#store.secrets, row);
  }

  /**
   * A forwarder that works on the destination stops within seconds. With the new fields it is due at once.
   *
   * @param expectedVersion version that the caller last saw; null: any
   * @param secrets new ones; those that are left out stay
   * @throws {NotFoundError} {StaleVersionError}
   */
  update(
    id: string,
    expectedVersion: number | null,
    fields: ForwardingFields,
    secrets: Partial<ForwardingSecrets> = {},
  ): Promise<ForwardingDestination> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const before = await this.#required(tx, id, expectedVersion);
      const row = await tx
        .updateTable('forwardingDestinations')
        .set({
          ...columnsOf(fields),
          ...beginsAnew(before, fields.filter, nowMs),
          version: before.version + 1,
          ...secretColumns(this.#store.secrets, id, secrets),
          failures: 0,
          nextAttemptAtMs: nowMs,
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      const destination = fromRow(row, nowMs);
      writer.note(noteOf('changed', fromRow(before, nowMs), destination, Object.keys(secrets).length > 0));
      return destination;
    });
  }

  /**
   * Forwards again what was written to the log from a time on.
   *
   * @throws {NotFoundError}
   */
  replay(id: string, fromMs: number): Promise<ForwardingDestination> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const before = await this.#required(tx, id, null);
      const row = await tx
        .updateTable('forwardingDestinations')
        .set({
          version: before.version + 1,
          beginAtMs: fromMs,
          positionsCursor: null,
          eventsCursor: null,
          reachedAtMs: fromMs,
          savedAtMs: null,
          failures: 0,
          nextAttemptAtMs: nowMs,
          ...{ gapFromMs: null, gapToMs: null, gapNoticedAtMs: null },
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      const destination = fromRow(row, nowMs);
      writer.note({ ...noteOf('changed', null, destination), action: 'replayed', before: null, after: { fromMs } });
      return destination;
    });
  }

  /** Records in the audit trail that somebody tested the destination. */
  noteTest(destination: ForwardingDestination, isGood: boolean): Promise<void> {
    return this.#store.write(async (writer) => {
      writer.note({ ...noteOf('changed', null, destination), action: 'tested', before: null, after: { isGood } });
    });
  }

  /** @throws {NotFoundError} {StaleVersionError} */
  delete(id: string, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const row = await this.#required(writer.tx, id, expectedVersion);
      await writer.tx.deleteFrom('forwardingDestinations').where('id', '=', id).execute();
      writer.note(noteOf('deleted', fromRow(row, writer.nowMs), null));
    });
  }

  /** Leases destinations that no forwarder works on, those that have waited longest first. */
  lease(limit: number, leaseMs: number): Promise<LeasedDestination[]> {
    const { db } = this.#store;
    const find = async (): Promise<string[]> => {
      const query = db.selectFrom('forwardingDestinations').select('id');
      const due = query.where(this.#leases.isDue(this.#store.now())).orderBy('nextAttemptAtMs').limit(limit);
      return (await due.execute()).map(({ id }) => id);
    };
    return this.#store.due(
      'forwarding destinations',
      [],
      async () => {
        const rows = await this.#leases.take(db, await find(), leaseMs);
        return rows.map((row) => ({
          ...fromRow(row, this.#store.now()),
          lease: row.lease,
          secrets: openedSecrets(this.#store.secrets, row),
          beginAtMs: row.beginAtMs,
          positionsCursor: row.positionsCursor,
          eventsCursor: row.eventsCursor,
        }));
      },
      () => this.#leases.nextDueMs(),
    );
  }

  /** Ends all leases. For the start of a forwarder that is the only one. */
  releaseAll(): Promise<void> {
    return this.#leases.releaseAll();
  }

  /** Whether the lease is still held, and the destination has not changed since it was leased. */
  async isCurrent({ id, lease, version }: LeasedDestination): Promise<boolean> {
    const row = this.#store.db.selectFrom('forwardingDestinations').select('id').where('id', '=', id);
    const current = row.where('lease', '=', lease).where('version', '=', version);
    return (await current.executeTakeFirst()) !== undefined;
  }

  /**
   * Saves the progress and renews the lease, if the lease is still held and the destination did not change since.
   *
   * @returns false where nothing was saved: the forwarder must stop working on it
   */
  async save(
    { id, lease, version }: LeasedDestination,
    progress: ForwardingProgress,
    leaseMs: number,
  ): Promise<boolean> {
    const nowMs = this.#store.now();
    const { positionsCursor, eventsCursor, reachedAtMs, lastRefusal, gap, isSuccess } = progress;
    const updated = await this.#store.db
      .updateTable('forwardingDestinations')
      .set({
        leasedUntilMs: nowMs + leaseMs,
        positionsCursor,
        eventsCursor,
        reachedAtMs,
        savedAtMs: nowMs,
        positionsSent: sql`positions_sent + ${progress.positionsSent}`,
        eventsSent: sql`events_sent + ${progress.eventsSent}`,
        refused: sql`refused + ${progress.refused}`,
        ...(lastRefusal === null ? {} : { lastRefusal }),
        ...(gap === null ? {} : { gapFromMs: gap.fromMs, gapToMs: gap.toMs, gapNoticedAtMs: gap.noticedAtMs }),
        ...(isSuccess ? { failures: 0, lastError: null, lastSuccessAtMs: nowMs } : {}),
      })
      .where('id', '=', id)
      .where('lease', '=', lease)
      .where('version', '=', version)
      .returning('id')
      .executeTakeFirst();
    return updated !== undefined;
  }

  /** Ends the work on a destination. A destination that was changed meanwhile is due at once, whatever the outcome. */
  async settle(leased: LeasedDestination, settlement: ForwardingSettlement): Promise<void> {
    const { db } = this.#store;
    if (settlement !== null) {
      const { error, nextAttemptAtMs } = settlement;
      await db
        .updateTable('forwardingDestinations')
        .set({
          failures: sql`failures + 1`,
          lastError: error,
          lastErrorAtMs: this.#store.now(),
          nextAttemptAtMs,
        })
        .where('id', '=', leased.id)
        .where('lease', '=', leased.lease)
        .where('version', '=', leased.version)
        .execute();
    }
    await this.#leases.settle(db, leased, {});
  }

  /** Numbers of active destinations whose last attempts failed, of other active ones, and of paused ones. */
  async counts(): Promise<{ failing: number; working: number; paused: number }> {
    const { rows } = await sql<{ state: string; failing: number; count: number | string }>`
      select state, case when failures > 0 then 1 else 0 end as failing, count(*) as count
      from forwarding_destinations group by 1, 2`.execute(this.#store.db);
    const sum = (wanted: (row: { state: string; failing: number }) => boolean) =>
      rows.filter(wanted).reduce((total, { count }) => total + Number(count), 0);
    return {
      failing: sum(({ state, failing }) => state === ACTIVE && failing === 1),
      working: sum(({ state, failing }) => state === ACTIVE && failing === 0),
      paused: sum(({ state }) => state === PAUSED),
    };
  }

  #row(db: Reader, id: string): Promise<ForwardingDestinationRow | undefined> {
    return db.selectFrom('forwardingDestinations').selectAll().where('id', '=', id).executeTakeFirst();
  }

  async #required(tx: Writer['tx'], id: string, expectedVersion: number | null): Promise<ForwardingDestinationRow> {
    const row = await this.#row(tx, id);
    if (row === undefined) throw new NotFoundError(KIND, id);
    if (expectedVersion !== null && expectedVersion !== row.version) throw new StaleVersionError(KIND, id, row.version);
    return row;
  }
}

export async function deleteForwardingDestinationsOf(tx: Reader, ownerId: UserId): Promise<void> {
  await tx.deleteFrom('forwardingDestinations').where('ownerId', '=', ownerId).execute();
}

/** Columns for the given secrets; secrets that are left out stay. */
function secretColumns(sealer: Store['secrets'], id: string, { secret, headers }: Partial<ForwardingSecrets>) {
  const sealed = (text: string | null, table: SecretPlace['table']) => text && sealer.seal(text, { table, id });
  const names = Object.keys(headers ?? {});
  return {
    ...(secret === undefined ? {} : { secret: sealed(secret, 'forwarding_destinations') }),
    ...(headers !== undefined && {
      secretHeaders: sealed(names.length === 0 ? null : JSON.stringify(headers), 'forwarding_headers'),
      secretHeaderNames: names.length === 0 ? null : JSON.stringify(names),
    }),
  };
}

function openedSecrets(
  sealer: Store['secrets'],
  { id, secret, secretHeaders }: ForwardingDestinationRow,
): ForwardingSecrets {
  const headers = secretHeaders && sealer.open(secretHeaders, { table: 'forwarding_headers', id });
  return {
    secret: secret && sealer.open(secret, { table: 'forwarding_destinations', id }),
    headers: headers === null ? {} : (JSON.parse(headers) as Record<string, string>),
  };
}

function columnsOf({ name, kind, settings, endpoint, filter, active }: ForwardingFields) {
  return {
    name,
    kind,
    settings: JSON.stringify(settings),
    endpoint,
    filter: JSON.stringify(filter),
    state: active ? (ACTIVE as string) : (PAUSED as string),
  };
}

/** Forwards newly enabled positions or events from now on, and not those from long ago. */
function beginsAnew(before: ForwardingDestinationRow, filter: ForwardingFilter, nowMs: number) {
  const was = JSON.parse(before.filter) as ForwardingFilter;
  const cursors = { positions: before.positionsCursor, events: before.eventsCursor };
  const feeds = (['positions', 'events'] as const).filter((feed) => filter[feed]);
  const begin = feeds.filter((feed) => !was[feed]);
  // A feed that stays enabled but has no cursor yet keeps its start.
  const isFree = feeds.every((feed) => !was[feed] || cursors[feed] !== null);
  return {
    ...(begin.includes('positions') && { positionsCursor: null }),
    ...(begin.includes('events') && { eventsCursor: null }),
    ...(begin.length > 0 && isFree && { beginAtMs: nowMs }),
  };
}

function fromRow(row: ForwardingDestinationRow, nowMs: number): ForwardingDestination {
  const { gapFromMs, gapToMs, gapNoticedAtMs } = row;
  return {
    id: row.id,
    version: row.version,
    ownerId: row.ownerId as UserId,
    name: row.name,
    kind: row.kind,
    settings: JSON.parse(row.settings) as object,
    hasSecret: row.secret !== null,
    secretHeaderNames: row.secretHeaderNames === null ? [] : (JSON.parse(row.secretHeaderNames) as string[]),
    endpoint: row.endpoint,
    filter: JSON.parse(row.filter) as ForwardingFilter,
    active: row.state === ACTIVE,
    createdAtMs: row.createdAtMs,
    reachedAtMs: row.reachedAtMs,
    savedAtMs: row.savedAtMs,
    isLeased: row.lease !== null && row.leasedUntilMs > nowMs,
    failures: row.failures,
    nextAttemptAtMs: row.nextAttemptAtMs,
    lastError: row.lastError,
    lastErrorAtMs: row.lastErrorAtMs,
    lastSuccessAtMs: row.lastSuccessAtMs,
    positionsSent: Number(row.positionsSent),
    eventsSent: Number(row.eventsSent),
    refused: Number(row.refused),
    lastRefusal: row.lastRefusal,
    gap:
      gapFromMs === null || gapToMs === null || gapNoticedAtMs === null
        ? null
        : { fromMs: gapFromMs, toMs: gapToMs, noticedAtMs: gapNoticedAtMs },
  };
}

/** Settings are left out: people write keys into URLs. */
function noteOf(
  action: 'created' | 'changed' | 'deleted',
  before: ForwardingDestination | null,
  after: ForwardingDestination | null,
  hasNewSecret = false,
): AuditNote {
  const destination = after ?? before;
  const fields = (one: ForwardingDestination | null) =>
    one && {
      name: one.name,
      kind: one.kind,
      endpoint: one.endpoint,
      filter: one.filter,
      active: one.active,
      hasSecret: one.hasSecret,
      secretHeaderNames: one.secretHeaderNames,
    };
  const isSame = JSON.stringify(before?.settings) === JSON.stringify(after?.settings);
  const changed = { ...(hasNewSecret && { secretChanged: true }), ...(!isSame && { settingsChanged: true }) };
  return {
    action,
    subject: { kind: KIND, id: destination?.id ?? null, name: destination?.name ?? '' },
    before: fields(before),
    after: action === 'changed' ? { ...fields(after), ...changed } : fields(after),
    ownerIds: destination === null ? [] : [destination.ownerId],
  };
}
