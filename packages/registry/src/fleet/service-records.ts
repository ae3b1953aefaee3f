import type {
  MaintenancePlanId,
  ServiceFile,
  ServiceFileId,
  ServiceRecord,
  ServiceRecordId,
  UserId,
  VehicleId,
} from '@outrider/domain';
import type { AuditNote } from '../audit/audit-notes.ts';
import { NotFoundError, TooManyError } from '../store/errors.ts';
import { type Page, type Paging, pageOf } from '../store/page.ts';
import { requireStorage } from '../store/quotas.ts';
import type { ServiceFileRow, ServiceRecordRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { mark } from './counters.ts';

export type ServiceFields = Omit<ServiceRecord, 'id' | 'createdAtMs' | 'files' | 'createdBy'> & { createdBy: UserId };

/** An uploaded file. */
export interface StoredServiceFile extends ServiceFile {
  /** Hash of its bytes, in hexadecimal. */
  sha256: string;
}
export interface NotedServiceFile extends StoredServiceFile {
  createdAtMs: number;
}

export const MAX_RECORDS_PER_VEHICLE = 2000;
export const MAX_FILES_PER_RECORD = 10;

/** Services done on vehicles, with their files. */
export class ServiceRecords {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws {NotFoundError} {TooManyError} */
  add(fields: ServiceFields): Promise<ServiceRecord> {
    return this.#store.write(async (writer) => {
      const { tx, newId, nowMs } = writer;
      const { vehicleId, cost, ...rest } = fields;
      const count = await tx
        .selectFrom('serviceRecords')
        .select((e) => e.fn.countAll<number>().as('count'))
        .where('vehicleId', '=', vehicleId)
        .executeTakeFirst();
      if (Number(count?.count ?? 0) >= MAX_RECORDS_PER_VEHICLE)
        throw new TooManyError(`A vehicle may have ${MAX_RECORDS_PER_VEHICLE} service records`);
      const id = newId() as ServiceRecordId;
      await tx
        .insertInto('serviceRecords')
        .values({
          ...rest,
          id,
          vehicleId,
          createdAtMs: nowMs,
          costMinor: cost?.amountMinor ?? null,
          currency: cost?.currency ?? null,
        })
        .execute();
      await mark(tx, vehicleId, fields.atMs);
      const record: ServiceRecord = { ...fields, id, createdAtMs: nowMs, files: [] };
      writer.note(await this.#note(writer, 'created', record));
      return record;
    });
  }

  async get(id: ServiceRecordId): Promise<ServiceRecord | null> {
    const row = await this.#store.db.selectFrom('serviceRecords').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : ((await withFiles(this.#store.db, [row]))[0] ?? null);
  }

  /** Descending by id: the newest first. */
  async list(
    vehicleIds: readonly VehicleId[],
    paging: Paging,
    planId?: MaintenancePlanId,
  ): Promise<Page<ServiceRecord>> {
    const rows: ServiceRecordRow[] = [];
    for (const some of inChunks(vehicleIds)) {
      let query = this.#store.db
        .selectFrom('serviceRecords')
        .selectAll()
        .where('vehicleId', 'in', some)
        .orderBy('id', 'desc')
        .limit(paging.limit + 1);
      if (paging.after !== null) query = query.where('id', '<', paging.after);
      if (planId !== undefined) query = query.where('planId', '=', planId);
      rows.push(...(await query.execute()));
    }
    rows.sort((a, b) => (a.id < b.id ? 1 : -1));
    const page = pageOf(rows.slice(0, paging.limit + 1), paging);
    return { ...page, items: await withFiles(this.#store.db, page.items) };
  }

  /** Services of a time range, in the order of their times, for reports. */
  async between(vehicleIds: readonly VehicleId[], fromMs: number, toMs: number): Promise<ServiceRecord[]> {
    const rows: ServiceRecordRow[] = [];
    for (const some of inChunks(vehicleIds))
      rows.push(
        ...(await this.#store.db
          .selectFrom('serviceRecords')
          .selectAll()
          .where('vehicleId', 'in', some)
          .where('atMs', '>=', fromMs)
          .where('atMs', '<', toMs)
          .orderBy('atMs')
          .execute()),
      );
    return withFiles(this.#store.db, rows);
  }

  /** Currency in which most services of a time range were paid; null: nothing was paid. */
  async currencyOf(vehicleIds: readonly VehicleId[], fromMs: number, toMs: number): Promise<string | null> {
    const counts = new Map<string, number>();
    for (const some of inChunks(vehicleIds)) {
      const rows = await this.#store.db
        .selectFrom('serviceRecords')
        .select(['currency', (e) => e.fn.countAll<number>().as('count')])
        .where('vehicleId', 'in', some)
        .where('atMs', '>=', fromMs)
        .where('atMs', '<', toMs)
        .where('currency', 'is not', null)
        .groupBy('currency')
        .execute();
      for (const { currency, count } of rows)
        if (currency !== null) counts.set(currency, (counts.get(currency) ?? 0) + Number(count));
    }
    const [first] = [...counts].toSorted(([a, of], [b, than]) => than - of || (a < b ? -1 : 1));
    return first?.[0] ?? null;
  }

  /** @returns its files, which are to be removed from the store */
  remove(id: ServiceRecordId): Promise<readonly ServiceFile[]> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const row = await tx.selectFrom('serviceRecords').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) throw new NotFoundError('service-record', id);
      const [record] = await withFiles(tx, [row]);
      await tx.deleteFrom('serviceFiles').where('recordId', '=', id).execute();
      await tx.deleteFrom('serviceRecords').where('id', '=', id).execute();
      if (record !== undefined) writer.note(await this.#note(writer, 'deleted', record));
      return record?.files ?? [];
    });
  }

  /**
   * Records an uploaded file.
   *
   * @throws {NotFoundError} {TooManyError} {QuotaExceededError}
   */
  addFile(recordId: ServiceRecordId, file: StoredServiceFile, createdBy: UserId): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const { record, vehicle } = await recordAndVehicle(tx, recordId);
      if (record.files.length >= MAX_FILES_PER_RECORD)
        throw new TooManyError(`A service record may have ${MAX_FILES_PER_RECORD} files`);
      await requireStorage(writer, { account: createdBy, dealer: vehicle.dealerId }, file.bytes);
      const row = { ...file, recordId, vehicleId: record.vehicleId, createdBy, createdAtMs: nowMs };
      await tx.insertInto('serviceFiles').values(row).execute();
      writer.note(fileNote('created', record, vehicle.dealerId, file));
    });
  }

  async file(recordId: ServiceRecordId, id: ServiceFileId): Promise<NotedServiceFile | null> {
    const query = this.#store.db.selectFrom('serviceFiles').selectAll().where('id', '=', id);
    const row = await query.where('recordId', '=', recordId).executeTakeFirst();
    return row === undefined
      ? null
      : { ...serviceFileOf(row), sha256: row.sha256, createdAtMs: Number(row.createdAtMs) };
  }

  /** Deletes the record of a file; the caller then removes it from the store. @throws {NotFoundError} */
  removeFile(recordId: ServiceRecordId, id: ServiceFileId): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const { record, vehicle } = await recordAndVehicle(tx, recordId);
      const file = record.files.find((each) => each.id === id);
      if (file === undefined) throw new NotFoundError('service-record', id);
      await tx.deleteFrom('serviceFiles').where('id', '=', id).execute();
      writer.note(fileNote('deleted', record, vehicle.dealerId, file));
    });
  }

  /** Ids among these of files that belong to a record. */
  async knownFiles(ids: readonly string[]): Promise<Set<string>> {
    const known = new Set<string>();
    for (const some of inChunks(ids)) {
      const query = this.#store.db.selectFrom('serviceFiles').select('id').where('id', 'in', some);
      for (const { id } of await query.execute()) known.add(id);
    }
    return known;
  }

  async #note({ tx }: Writer, action: 'created' | 'deleted', record: ServiceRecord): Promise<AuditNote> {
    const { id, files, createdBy, createdAtMs, ...fields } = record;
    const vehicle = await tx
      .selectFrom('vehicles')
      .select('dealerId')
      .where('id', '=', record.vehicleId)
      .executeTakeFirst();
    return {
      action,
      subject: { kind: 'service-record', id, name: record.title },
      before: action === 'deleted' ? fields : null,
      after: action === 'created' ? fields : null,
      dealerIds: vehicle?.dealerId == null ? [] : [vehicle.dealerId as UserId],
    };
  }
}

/** @throws {NotFoundError} */
async function recordAndVehicle(
  tx: Reader,
  id: ServiceRecordId,
): Promise<{ record: ServiceRecord; vehicle: { dealerId: UserId | null } }> {
  const row = await tx.selectFrom('serviceRecords').selectAll().where('id', '=', id).executeTakeFirst();
  const [record] = row === undefined ? [] : await withFiles(tx, [row]);
  if (record === undefined) throw new NotFoundError('service-record', id);
  const vehicle = await tx
    .selectFrom('vehicles')
    .select('dealerId')
    .where('id', '=', record.vehicleId)
    .executeTakeFirst();
  return { record, vehicle: { dealerId: (vehicle?.dealerId ?? null) as UserId | null } };
}

function fileNote(
  action: 'created' | 'deleted',
  { id, vehicleId, title }: ServiceRecord,
  dealerId: UserId | null,
  { name, mediaType, bytes }: ServiceFile,
): AuditNote {
  const fields = { vehicleId, file: { name, mediaType, bytes } };
  return {
    action,
    subject: { kind: 'service-record', id, name: title },
    before: action === 'deleted' ? fields : null,
    after: action === 'created' ? fields : null,
    dealerIds: dealerId === null ? [] : [dealerId],
  };
}

function serviceFileOf({ id, name, mediaType, bytes }: ServiceFileRow): ServiceFile {
  return { id: id as ServiceFileId, name, mediaType: mediaType as ServiceFile['mediaType'], bytes };
}

async function withFiles(db: Reader, rows: readonly ServiceRecordRow[]): Promise<ServiceRecord[]> {
  const files = new Map<string, ServiceFile[]>();
  for (const some of inChunks(rows.map(({ id }) => id)))
    for (const row of await db
      .selectFrom('serviceFiles')
      .selectAll()
      .where('recordId', 'in', some)
      .orderBy('id')
      .execute())
      files.set(row.recordId, [...(files.get(row.recordId) ?? []), serviceFileOf(row)]);
  return rows.map((row) => ({
    id: row.id as ServiceRecordId,
    vehicleId: row.vehicleId as VehicleId,
    planId: row.planId as MaintenancePlanId | null,
    title: row.title,
    atMs: Number(row.atMs),
    odometerM: row.odometerM,
    engineMs: row.engineMs,
    cost:
      row.costMinor === null || row.currency === null ? null : { amountMinor: row.costMinor, currency: row.currency },
    note: row.note,
    createdBy: row.createdBy as UserId | null,
    createdAtMs: Number(row.createdAtMs),
    files: files.get(row.id) ?? [],
  }));
}
