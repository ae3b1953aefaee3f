import {
  DRIVER_DEFAULTS,
  DRIVER_FIELDS,
  type Driver,
  type DriverCode,
  type DriverId,
  driverCodeOf,
  type GroupId,
  NO_CUSTOM_FIELDS,
  type UserId,
} from '@outrider/domain';
import { requireDealer } from '../accounts/dealers.ts';
import { dropFromRules } from '../notifications/notification-rules.ts';
import { forgetDriverInNotifications } from '../notifications/notifications.ts';
import { ConflictError } from '../store/errors.ts';
import { columnsOfFields, fieldsOfRow } from '../store/field-columns.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import { Resource, revised } from '../store/resource.ts';
import type { DriverCodeRow, DriverRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { type BulkOutcome, BulkPlan, type BulkWrite, notDealers, writeOrTry } from './bulk.ts';
import {
  checkExternalIds,
  customColumnsOf,
  customFieldsOf,
  externalIdUnder,
  newCustomFields,
  requireFreeExternalId,
  type WithCustomFields,
} from './custom-fields.ts';
import { deleteAssignmentsOfDriver } from './driver-assignments.ts';
import { groupsOf, setGroups, withSortedGroups } from './memberships.ts';

/** Fields of a driver that the caller provides; the registry assigns the others. */
export type DriverFields = WithCustomFields<Omit<Driver, 'kind' | 'id' | 'version' | 'codes'>> & {
  /** Current codes. */
  codes: readonly string[];
};

export type DriverWrite = BulkWrite<DriverId, DriverFields>;

/** Matches drivers for which every given field holds. */
export interface DriverFilter {
  dealerId?: UserId;
  /** In at least one of these groups; an empty list matches none. */
  anyOfGroups?: readonly GroupId[];
}

/** Maximum of codes per driver, past ones included. The oldest are deleted. */
export const MAX_CODES_OF_DRIVER = 50;

/** Drivers, their codes and who may see them. */
export class Drivers {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @throws {ConflictError} when another driver of the dealer (or the operator) has one of the codes
   * @throws {UnknownReferenceError} when the dealer or a group does not exist
   */
  create(fields: DriverFields): Promise<Driver> {
    return this.#store.write((writer) => DRIVERS.create(writer, newDriver(writer, fields)));
  }

  get(id: DriverId): Promise<Driver | null> {
    return DRIVERS.get(this.#store.db, id);
  }

  /** In the order of their ids, which is that of their creation. */
  async list(filter: DriverFilter, paging: Paging): Promise<Page<Driver>> {
    if (filter.anyOfGroups?.length === 0) return { items: [], next: null };
    let query = this.#store.db.selectFrom('drivers').selectAll();
    if (filter.dealerId !== undefined) query = query.where('dealerId', '=', filter.dealerId);
    const { anyOfGroups } = filter;
    if (anyOfGroups !== undefined)
      query = query.where((e) =>
        e('id', 'in', e.selectFrom('driverGroupMembers').select('memberId').where('groupId', 'in', anyOfGroups)),
      );
    return readPage(query, paging, (rows) => withDetails(this.#store.db, rows));
  }

  /**
   * A code that the driver gives up remains the driver's for the time until now.
   *
   * @param expectedVersion version that the caller last saw; null: any
   * @throws {NotFoundError} {StaleError} {ConflictError} {UnknownReferenceError}
   */
  update(id: DriverId, expectedVersion: number | null, patch: Partial<DriverFields>): Promise<Driver> {
    return this.#store.write((writer) =>
      DRIVERS.update(writer, id, expectedVersion, (current) => driverAfter(writer, current, patch)),
    );
  }

  /**
   * Adds and changes many drivers: all of them, or none.
   *
   * @throws {BulkError} with the failure of each write
   */
  writeAll(writes: readonly DriverWrite[], dryRun: boolean): Promise<BulkOutcome<Driver>[]> {
    return writeOrTry(this.#store, dryRun, async (writer) => {
      const ids = writes.flatMap(({ id }) => (id === null ? [] : [id]));
      const plan = new BulkPlan<Driver>();
      plan.take<DriverFields>(
        'driver',
        writes,
        await DRIVERS.load(writer.tx, ids),
        (fields) => newDriver(writer, fields),
        (current, patch) => driverAfter(writer, current, patch),
      );
      const wrong = await notDealers(
        writer.tx,
        plan.planned.map(({ next }) => next.dealerId),
      );
      for (const { index, next } of plan.planned) {
        const error = wrong.get(next.dealerId);
        if (error !== undefined) plan.fail(index, error);
      }
      await plan.checkGroups(writer.tx);
      await checkCodes(writer.tx, plan);
      await checkExternalIds(writer, plan, 'driver', ({ dealerId }) => dealerId);
      plan.requireAllGood();
      return plan.carryOut(writer, 'driverGroupMembers', {
        async insertRows(_, created) {
          await DRIVERS.insertRows(writer, created);
          for (const driver of created) await writeCodes(writer, driver);
        },
        async updateRow(_, driver) {
          await DRIVERS.updateRow(writer, driver);
          await writeCodes(writer, driver);
        },
      });
    });
  }

  /**
   * Deletes a driver with all personal data: names and values are removed from the audit trail, and events keep only
   * the code.
   *
   * @throws {NotFoundError} {StaleError}
   */
  delete(id: DriverId, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const driver = await DRIVERS.expected(writer, id, expectedVersion);
      await dropFromRules(writer, 'driver', id);
      await deleteAssignmentsOfDriver(writer, id);
      await tx.deleteFrom('driverGroupMembers').where('memberId', '=', id).execute();
      await tx.deleteFrom('driverCodes').where('driverId', '=', id).execute();
      await forgetDriverInNotifications(writer, id);
      await DRIVERS.deleteRow(writer, id);
      await tx
        .updateTable('audit')
        .set({ subjectName: '', before: null, after: null })
        .where('subjectKind', '=', 'driver')
        .where('subjectId', '=', id)
        .execute();
      const { id: driverId, kind, version, dealerId, groupIds, licenceExpiresOn } = driver;
      const impersonal = { ...DRIVER_DEFAULTS, name: '', codes: [], ...NO_CUSTOM_FIELDS };
      writer.deleted({ ...impersonal, kind, id: driverId, version, dealerId, groupIds, licenceExpiresOn });
    });
  }
}

/** Gives all drivers of a deleted dealer to the operator, without codes that another driver has. */
export async function releaseDrivers(writer: Writer, dealerId: UserId): Promise<void> {
  const rows = await writer.tx.selectFrom('drivers').selectAll().where('dealerId', '=', dealerId).execute();
  for (const before of await withDetails(writer.tx, rows)) {
    const taken = await holdersOf(writer.tx, null, presentCodes(before));
    const codes = before.codes.filter(({ code }) => !taken.has(code));
    const externalId = await externalIdUnder(writer, before, null);
    const driver: Driver = { ...before, dealerId: null, externalId, codes, version: before.version + 1 };
    await DRIVERS.replace(writer, driver, before);
  }
}

export const DRIVERS = new Resource<Driver, DriverRow>({
  kind: 'driver',
  table: 'drivers',
  read: withDetails,
  toRow: toDriverRow,
  async check(writer, driver) {
    await requireDealer(writer.tx, driver.dealerId);
    await requireFreeExternalId(writer, driver, driver.dealerId);
    const holders = await holdersOf(writer.tx, driver.dealerId, presentCodes(driver));
    for (const [code, holder] of holders) if (holder !== driver.id) throw new ConflictError('driver', 'codes', code);
  },
  async writeDetails(writer, driver, before) {
    await writeCodes(writer, driver);
    if (driver.groupIds !== before?.groupIds) await setGroups(writer, 'driverGroupMembers', driver.id, driver.groupIds);
  },
});

export function presentCodes({ codes }: Pick<Driver, 'codes'>): string[] {
  return codes.filter(({ untilMs }) => untilMs === null).map(({ code }) => code);
}

function newDriver(writer: Writer, { codes, ...fields }: DriverFields): Driver {
  return {
    ...withSortedGroups(fields),
    ...newCustomFields(fields),
    kind: 'driver',
    id: writer.newId() as DriverId,
    version: 1,
    codes: codesAfter([], codes, writer.nowMs),
  };
}

function driverAfter(writer: Writer, current: Driver, { codes, ...fields }: Partial<DriverFields>): Driver {
  return revised<Driver>(current, {
    ...withSortedGroups(fields),
    ...(codes !== undefined && { codes: codesAfter(current.codes, codes, writer.nowMs) }),
  });
}

/** Replaces the current codes by `wanted`. Codes that are given up remain the driver's for the time until now. */
function codesAfter(before: readonly DriverCode[], wanted: readonly string[], nowMs: number): DriverCode[] {
  const codes = new Set(wanted.map(driverCodeOf).filter((code) => code !== ''));
  const kept = before.map((held) =>
    held.untilMs === null && !codes.has(held.code) ? { ...held, untilMs: Math.max(nowMs, held.sinceMs + 1) } : held,
  );
  for (const { code, untilMs } of kept) if (untilMs === null) codes.delete(code);
  const added = [...codes].map((code): DriverCode => ({ code, sinceMs: nowMs, untilMs: null }));
  const all = [...kept, ...added].sort((a, b) => a.sinceMs - b.sinceMs || (a.code < b.code ? -1 : 1));
  const past = all.filter(({ untilMs }) => untilMs !== null).slice(0, Math.max(0, all.length - MAX_CODES_OF_DRIVER));
  return all.filter((held) => !past.includes(held));
}

/** Fails every write of a driver with a code that another driver of the dealer would have as well. */
async function checkCodes(db: Reader, plan: BulkPlan<Driver>): Promise<void> {
  const written = new Set<string>(plan.planned.map(({ next }) => next.id));
  const taken = new Set<string>();
  const wanted = new Map<UserId | null, Map<string, number>>();
  for (const { index, next } of plan.planned)
    for (const code of presentCodes(next)) {
      const key = `${next.dealerId} ${code}`;
      if (taken.has(key)) plan.fail(index, new ConflictError('driver', 'codes', code));
      taken.add(key);
      const ofDealer = wanted.get(next.dealerId) ?? new Map<string, number>();
      wanted.set(next.dealerId, ofDealer.set(code, index));
    }
  // A holder that is written as well gives its code up, or was found to be a duplicate above.
  for (const [dealerId, indexes] of wanted)
    for (const [code, holder] of await holdersOf(db, dealerId, [...indexes.keys()]))
      if (!written.has(holder)) plan.fail(indexes.get(code) ?? 0, new ConflictError('driver', 'codes', code));
}

/** Drivers of a dealer (null: the operator) that have these codes now, by code. */
async function holdersOf(db: Reader, dealerId: UserId | null, codes: readonly string[]): Promise<Map<string, string>> {
  const holders = new Map<string, string>();
  for (const some of inChunks(codes)) {
    const rows = await db
      .selectFrom('driverCodes')
      .select(['code', 'driverId'])
      .where('scope', '=', scopeOf(dealerId))
      .where('code', 'in', some)
      .where('untilMs', 'is', null)
      .execute();
    for (const { code, driverId } of rows) holders.set(code, driverId);
  }
  return holders;
}

export async function writeCodes({ tx }: Writer, { id, dealerId, codes }: Driver): Promise<void> {
  await tx.deleteFrom('driverCodes').where('driverId', '=', id).execute();
  const rows = codes.map(({ code, sinceMs, untilMs }) => ({
    driverId: id,
    code,
    scope: scopeOf(dealerId),
    sinceMs,
    untilMs,
  }));
  for (const some of inChunks(rows)) await tx.insertInto('driverCodes').values(some).execute();
}

function scopeOf(dealerId: UserId | null): string {
  return dealerId ?? 'operator';
}

async function withDetails(db: Reader, rows: readonly DriverRow[]): Promise<Driver[]> {
  const ids = rows.map(({ id }) => id);
  const groups = await groupsOf(db, 'driverGroupMembers', ids);
  const codes = new Map<string, DriverCode[]>(ids.map((id) => [id, []]));
  for (const some of inChunks(ids)) {
    const held = await db
      .selectFrom('driverCodes')
      .selectAll()
      .where('driverId', 'in', some)
      .orderBy('sinceMs')
      .orderBy('code')
      .execute();
    for (const row of held) codes.get(row.driverId)?.push(fromCodeRow(row));
  }
  return rows.map((row) => ({
    kind: 'driver',
    id: row.id as DriverId,
    version: row.version,
    ...fieldsOfRow(DRIVER_FIELDS, row),
    dealerId: row.dealerId as UserId | null,
    groupIds: groups.get(row.id) ?? [],
    codes: codes.get(row.id) ?? [],
    ...customFieldsOf(row),
  }));
}

function fromCodeRow({ code, sinceMs, untilMs }: DriverCodeRow): DriverCode {
  return { code, sinceMs: Number(sinceMs), untilMs: untilMs === null ? null : Number(untilMs) };
}

export function toDriverRow(driver: Driver): DriverRow {
  const { id, version, dealerId } = driver;
  return { id, version, ...columnsOfFields(DRIVER_FIELDS, driver), dealerId, ...customColumnsOf(driver) };
}
