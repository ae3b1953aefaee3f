import { hash, randomBytes } from 'node:crypto';
import type { ShareLinkId, UserId, VehicleId } from '@outrider/domain';
import type { AuditNote } from '../audit/audit-notes.ts';
import { NotFoundError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { ShareLinkRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';

/** A link that shows vehicles to anyone who has it. */
export interface ShareLink {
  id: ShareLinkId;
  /** Creator of the link, which shows what this account may see. */
  ownerId: UserId;
  name: string | null;
  /** In the order of the request. Deleted vehicles are left out. */
  vehicleIds: readonly VehicleId[];
  /** The link shows tracks of this interval; null: current positions. */
  track: { fromMs: number; toMs: number } | null;
  createdAtMs: number;
  expiresAtMs: number;
}

/** Matches links for which every given field holds. */
export interface ShareLinkFilter {
  ownerId?: UserId;
  /** Links of the dealer and the dealer's users. */
  ofDealer?: UserId;
}

export type ShareLinkFields = Omit<ShareLink, 'id' | 'createdAtMs'>;

const TOKEN_BYTES = 16;

/** Share links. Their tokens are stored as hashes. */
export class ShareLinks {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @returns the link, and its token: 128 random bits, which are not stored
   * @throws {QuotaExceededError}
   */
  create(fields: ShareLinkFields): Promise<{ link: ShareLink; token: string }> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    return this.#store.write(async (writer) => {
      const { tx, newId, nowMs } = writer;
      // Expired links do not count against the quota.
      await removeRows(writer, await expired(tx, nowMs).where('ownerId', '=', fields.ownerId).execute());
      const link: ShareLink = { ...fields, id: newId() as ShareLinkId, createdAtMs: nowMs };
      await tx
        .insertInto('shareLinks')
        .values({
          id: link.id,
          ownerId: link.ownerId,
          tokenHash: hashOf(token),
          name: link.name,
          fromMs: link.track?.fromMs ?? null,
          toMs: link.track?.toMs ?? null,
          createdAtMs: link.createdAtMs,
          expiresAtMs: link.expiresAtMs,
        })
        .execute();
      const vehicles = link.vehicleIds.map((vehicleId, nth) => ({ linkId: link.id, nth, vehicleId }));
      for (const some of inChunks(vehicles)) await tx.insertInto('shareLinkVehicles').values(some).execute();
      writer.note(noteOf('created', link));
      writer.growth.add(link.ownerId, 'shareLinks', 1);
      return { link, token };
    });
  }

  /** Null: it does not exist, or has expired. */
  async get(id: ShareLinkId): Promise<ShareLink | null> {
    return this.#one(await this.#live().where('id', '=', id).executeTakeFirst());
  }

  /** Null: no link has the token, or it has expired. */
  async byToken(token: string): Promise<ShareLink | null> {
    return this.#one(await this.#live().where('tokenHash', '=', hashOf(token)).executeTakeFirst());
  }

  /** In the order of their ids, which is that of their creation. Without expired ones. */
  async list(filter: ShareLinkFilter, paging: Paging): Promise<Page<ShareLink>> {
    let query = this.#live();
    if (filter.ownerId !== undefined) query = query.where('ownerId', '=', filter.ownerId);
    const { ofDealer } = filter;
    if (ofDealer !== undefined)
      query = query.where((e) =>
        e.or([
          e('ownerId', '=', ofDealer),
          e('ownerId', 'in', e.selectFrom('users').select('users.id').where('users.dealerId', '=', ofDealer)),
        ]),
      );
    return readPage(query, paging, (rows) => withVehicles(this.#store.db, rows));
  }

  /** @throws {NotFoundError} */
  delete(id: ShareLinkId): Promise<void> {
    return this.#store.write(async (writer) => {
      const row = await writer.tx.selectFrom('shareLinks').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) throw new NotFoundError('share-link', id);
      await removeNoted(writer, [row]);
    });
  }

  /**
   * Forgets expired links.
   *
   * @param limit at most this many
   * @returns how many they were
   */
  clean(limit: number): Promise<number> {
    return this.#store.write(async (writer) => {
      const rows = await expired(writer.tx, writer.nowMs).limit(limit).execute();
      await removeRows(writer, rows);
      return rows.length;
    });
  }

  #live() {
    return this.#store.db.selectFrom('shareLinks').selectAll().where('expiresAtMs', '>', this.#store.now());
  }

  async #one(row: ShareLinkRow | undefined): Promise<ShareLink | null> {
    const [link] = row === undefined ? [] : await withVehicles(this.#store.db, [row]);
    return link ?? null;
  }
}

export async function deleteShareLinksOf(writer: Writer, ownerId: UserId): Promise<void> {
  const rows = await writer.tx.selectFrom('shareLinks').selectAll().where('ownerId', '=', ownerId).execute();
  await removeNoted(writer, rows);
}

/** Removes a deleted vehicle from all links. Links without another vehicle are deleted. */
export async function dropFromShareLinks(writer: Writer, vehicleId: VehicleId): Promise<void> {
  const { tx } = writer;
  const named = await tx.selectFrom('shareLinkVehicles').select('linkId').where('vehicleId', '=', vehicleId).execute();
  for (const some of inChunks(named.map(({ linkId }) => linkId))) {
    const rows = await tx.selectFrom('shareLinks').selectAll().where('id', 'in', some).execute();
    const links = await withVehicles(tx, rows);
    const ending = new Set(links.filter((link) => link.vehicleIds.every((id) => id === vehicleId)).map(({ id }) => id));
    await removeNoted(
      writer,
      rows.filter(({ id }) => ending.has(id as ShareLinkId)),
    );
  }
  await tx.deleteFrom('shareLinkVehicles').where('vehicleId', '=', vehicleId).execute();
}

function expired(db: Reader, nowMs: number) {
  return db.selectFrom('shareLinks').selectAll().where('expiresAtMs', '<=', nowMs);
}

async function removeNoted(writer: Writer, rows: readonly ShareLinkRow[]): Promise<void> {
  for (const link of await withVehicles(writer.tx, rows)) writer.note(noteOf('deleted', link));
  await removeRows(writer, rows);
}

async function removeRows(writer: Writer, rows: readonly ShareLinkRow[]): Promise<void> {
  for (const some of inChunks(rows.map(({ id }) => id))) {
    await writer.tx.deleteFrom('shareLinkVehicles').where('linkId', 'in', some).execute();
    await writer.tx.deleteFrom('shareLinks').where('id', 'in', some).execute();
  }
  for (const { ownerId } of rows) writer.growth.add(ownerId as UserId, 'shareLinks', -1);
}

async function withVehicles(db: Reader, rows: readonly ShareLinkRow[]): Promise<ShareLink[]> {
  const vehicles = new Map<string, VehicleId[]>(rows.map(({ id }) => [id, []]));
  for (const some of inChunks([...vehicles.keys()])) {
    const named = await db
      .selectFrom('shareLinkVehicles')
      .select(['linkId', 'vehicleId'])
      .where('linkId', 'in', some)
      .orderBy('nth')
      .execute();
    for (const { linkId, vehicleId } of named) vehicles.get(linkId)?.push(vehicleId as VehicleId);
  }
  return rows.map((row) => ({
    id: row.id as ShareLinkId,
    ownerId: row.ownerId as UserId,
    name: row.name,
    vehicleIds: vehicles.get(row.id) ?? [],
    track: row.fromMs === null || row.toMs === null ? null : { fromMs: Number(row.fromMs), toMs: Number(row.toMs) },
    createdAtMs: Number(row.createdAtMs),
    expiresAtMs: Number(row.expiresAtMs),
  }));
}

function noteOf(action: 'created' | 'deleted', link: ShareLink): AuditNote {
  const { id, ownerId, name, vehicleIds, track, expiresAtMs } = link;
  const fields = { ownerId, name, vehicleIds, track, expiresAtMs };
  return {
    action,
    subject: { kind: 'share-link', id, name: name ?? '' },
    before: action === 'deleted' ? fields : null,
    after: action === 'created' ? fields : null,
    ownerIds: [ownerId],
  };
}

function hashOf(token: string): string {
  return hash('sha256', token);
}
