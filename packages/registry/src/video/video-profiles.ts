import {
  isSecretAddress,
  type UserId,
  type Vehicle,
  type VehicleId,
  type VideoProfile,
  type VideoProfileId,
  type VideoProtocol,
  withoutSecrets,
} from '@outrider/domain';
import { isOfVehicles, type OfVehicles } from '../fleet/of-vehicles.ts';
import { ConflictError, OperatorOnlyError, UnknownReferenceError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import { asExpected, revised, StoredDefinitions } from '../store/resource.ts';
import type { VehicleRow, VideoProfileRow } from '../store/schema.ts';
import type { Secrets } from '../store/secrets.ts';
import { inChunks, type Store, type Writer } from '../store/store.ts';
import { addressKey, mayBeFetched, ownerOfAddress } from './video-addresses.ts';
import { endTasksOf } from './video-task-rows.ts';

/** Fields of a video profile that the caller provides; the registry assigns the others. */
export type VideoProfileFields = Omit<VideoProfile, 'kind' | 'id' | 'version'>;

/** Matches profiles of vehicles for which every given field holds. */
export type VideoProfileFilter = OfVehicles;

/** Whether a video terminal is connected, and since when. */
export interface Presence {
  online: boolean;
  sinceMs: number;
}

/** Profiles of video terminals, at most one per vehicle, and which of the terminals are online. */
export class VideoProfiles {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @throws {ConflictError} when the vehicle has a profile, another profile has the terminal's address, or another
   *   vehicle has the terminal
   * @throws {OperatorOnlyError} when no vehicle has the terminal, and the caller is not an operator
   * @throws {UnknownReferenceError} when the vehicle does not exist
   */
  create(fields: VideoProfileFields): Promise<VideoProfile> {
    return this.#store.write(async (writer) => {
      const profile: VideoProfile = {
        ...fields,
        kind: 'video-profile',
        id: writer.newId() as VideoProfileId,
        version: 1,
      };
      const dealerIds = await check(writer, profile);
      await checkAddress(writer, profile);
      await writer.tx.insertInto('videoProfiles').values(toProfileRow(profile, this.#store.secrets)).execute();
      writer.changed(profile, null, dealerIds);
      return profile;
    });
  }

  async get(id: VideoProfileId): Promise<VideoProfile | null> {
    const row = await this.#store.db.selectFrom('videoProfiles').selectAll().where('id', '=', id).executeTakeFirst();
    return row ? openedProfile(row, this.#store.secrets) : null;
  }

  /** In the order of their ids, which is that of their creation. */
  async list(filter: VideoProfileFilter, paging: Paging): Promise<Page<VideoProfile>> {
    if (filter.anyOfGroups?.length === 0) return { items: [], next: null };
    const { db, secrets } = this.#store;
    const query = db
      .selectFrom('videoProfiles')
      .innerJoin('vehicles', 'vehicles.id', 'videoProfiles.vehicleId')
      .selectAll('videoProfiles')
      .where(isOfVehicles(filter));
    const opened = (rows: VideoProfileRow[]) => rows.map((row) => openedProfile(row, secrets));
    return readPage(query, paging, opened, 'oldest first', 'videoProfiles.id');
  }

  /**
   * @param expectedVersion version that the caller last saw; null: any
   * @returns the profile as it now is; a patch that changes nothing makes no new version
   * @throws {NotFoundError} {StaleError} {ConflictError} {OperatorOnlyError} {UnknownReferenceError}
   */
  update(
    id: VideoProfileId,
    expectedVersion: number | null,
    patch: Partial<Omit<VideoProfileFields, 'vehicleId'>>,
  ): Promise<VideoProfile> {
    return this.#store.write(async (writer) => {
      const current = await requireProfile(writer, this.#store.secrets, id, expectedVersion);
      const profile = revised(current, patch);
      if (profile === current) return current;
      const dealerIds = await check(writer, profile);
      const { id: _, addressKey, ...columns } = toProfileRow(profile, this.#store.secrets);
      const isMoved = profile.address !== current.address;
      if (isMoved) await checkAddress(writer, profile);
      // A profile that lost its address to the terminal's owner must not get it back by an unrelated change.
      const changed = { ...columns, ...(isMoved ? { addressKey } : {}) };
      await writer.tx.updateTable('videoProfiles').set(changed).where('id', '=', id).execute();
      writer.changed(profile, current, dealerIds);
      return profile;
    });
  }

  /**
   * Deletes the profile. Its unfinished tasks fail. Files that were fetched stay.
   *
   * @throws {NotFoundError} {StaleError}
   */
  delete(id: VideoProfileId, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const profile = await requireProfile(writer, this.#store.secrets, id, expectedVersion);
      await removeProfile(writer, profile, await dealersOfVehicle(writer, profile.vehicleId));
    });
  }

  /**
   * To be called right before a fetch: the terminal may have moved to another vehicle since the profile was made, and
   * older profiles were not checked.
   */
  mayBeFetched(profile: Pick<VideoProfile, 'protocol' | 'address' | 'vehicleId'>): Promise<boolean> {
    return mayBeFetched(this.#store.db, profile);
  }

  /** Saves whether a terminal is online now. If that has not changed, the time of the last change stays. */
  async setPresence(id: VideoProfileId, online: boolean): Promise<void> {
    const presence = { online: online ? 1 : 0, sinceMs: this.#store.now() } as const;
    await this.#store.db
      .insertInto('videoPresence')
      .values({ profileId: id, ...presence })
      .onConflict((conflict) =>
        conflict.column('profileId').doUpdateSet(presence).where('videoPresence.online', '!=', presence.online),
      )
      .execute();
  }

  /** Marks all terminals as offline. For the start of the service that observes them. */
  async forgetPresence(): Promise<void> {
    await this.#store.db
      .updateTable('videoPresence')
      .set({ online: 0, sinceMs: this.#store.now() })
      .where('online', '=', 1)
      .execute();
  }

  /** Presence of the profiles among these that were ever online. */
  async presence(ids: readonly VideoProfileId[]): Promise<Map<VideoProfileId, Presence>> {
    const known = new Map<VideoProfileId, Presence>();
    for (const some of inChunks(ids)) {
      const rows = await this.#store.db
        .selectFrom('videoPresence')
        .selectAll()
        .where('profileId', 'in', some)
        .execute();
      for (const row of rows)
        known.set(row.profileId as VideoProfileId, { online: row.online === 1, sinceMs: row.sinceMs });
    }
    return known;
  }
}

/** Leaves out secret addresses. */
export const PROFILES = new StoredDefinitions<VideoProfile, VideoProfileRow>({
  kind: 'video-profile',
  table: 'videoProfiles',
  read: (_, rows) => rows.map(fromProfileRow),
});

/** Deletes the video profile of a vehicle that is being deleted. */
export async function deleteVideoProfileOf(writer: Writer, vehicle: Pick<Vehicle, 'id' | 'dealerId'>): Promise<void> {
  const row = await writer.tx
    .selectFrom('videoProfiles')
    .selectAll()
    .where('vehicleId', '=', vehicle.id)
    .executeTakeFirst();
  if (row) await removeProfile(writer, fromProfileRow(row), vehicle.dealerId === null ? [] : [vehicle.dealerId]);
}

/** Moves the profile of a vehicle to the one that gets its terminal. Fetched videos stay with the old vehicle. */
export async function moveVideoProfile(
  writer: Writer,
  secrets: Secrets,
  from: Pick<Vehicle, 'id' | 'dealerId'>,
  to: Pick<Vehicle, 'id' | 'dealerId'>,
): Promise<void> {
  const { tx, newId } = writer;
  const row = await tx.selectFrom('videoProfiles').selectAll().where('vehicleId', '=', from.id).executeTakeFirst();
  if (row === undefined) return;
  await deleteVideoProfileOf(writer, from);
  const profile: VideoProfile = {
    ...openedProfile(row, secrets),
    ...{ id: newId() as VideoProfileId, version: 1, vehicleId: to.id },
  };
  await tx.insertInto('videoProfiles').values(toProfileRow(profile, secrets)).execute();
  writer.changed(profile, null, to.dealerId === null ? [] : [to.dealerId]);
}

async function removeProfile(writer: Writer, profile: VideoProfile, dealerIds: readonly UserId[]): Promise<void> {
  await endTasksOf(writer, profile.id);
  await writer.tx.deleteFrom('videoPresence').where('profileId', '=', profile.id).execute();
  await PROFILES.deleteRow(writer, profile.id);
  writer.deleted(profile, dealerIds);
}

async function requireProfile(
  { tx }: Writer,
  secrets: Secrets,
  id: VideoProfileId,
  expectedVersion: number | null,
): Promise<VideoProfile> {
  const row = await tx.selectFrom('videoProfiles').selectAll().where('id', '=', id).executeTakeFirst();
  return asExpected(row && openedProfile(row, secrets), 'video-profile', id, expectedVersion);
}

/** @returns the dealers that it concerns */
async function check(writer: Writer, profile: VideoProfile): Promise<UserId[]> {
  const dealerIds = await dealersOfVehicle(writer, profile.vehicleId);
  const other = await others(writer, profile).where('vehicleId', '=', profile.vehicleId).executeTakeFirst();
  if (other) throw new ConflictError('video-profile', 'vehicleId', profile.vehicleId);
  return dealerIds;
}

/**
 * Requires that the address is the terminal of the profile's vehicle. Only operators, and the service itself, may use
 * the address of a terminal that no vehicle has.
 */
async function checkAddress(writer: Writer, profile: VideoProfile): Promise<void> {
  const key = addressKey(profile);
  if (key === null) return;
  const owner = await ownerOfAddress(writer.tx, profile);
  if (owner !== null && owner.id !== profile.vehicleId)
    throw new ConflictError('video-profile', 'address', profile.address);
  const holder = await others(writer, profile).where('addressKey', '=', key).executeTakeFirst();
  if (owner !== null) {
    // Another profile got the address before addresses were checked. It must not block the owner.
    if (holder)
      await writer.tx.updateTable('videoProfiles').set({ addressKey: null }).where('id', '=', holder.id).execute();
    return;
  }
  if (holder) throw new ConflictError('video-profile', 'address', profile.address);
  const { user } = writer.actor;
  if (user !== null && user.role !== 'operator') throw new OperatorOnlyError('address');
}

function others({ tx }: Writer, profile: VideoProfile) {
  return tx.selectFrom('videoProfiles').select('id').where('id', '!=', profile.id);
}

async function dealersOfVehicle({ tx }: Writer, id: VehicleId): Promise<UserId[]> {
  const vehicle: Pick<VehicleRow, 'dealerId'> | undefined = await tx
    .selectFrom('vehicles')
    .select('dealerId')
    .where('id', '=', id)
    .executeTakeFirst();
  if (!vehicle) throw new UnknownReferenceError('vehicleId', id);
  return vehicle.dealerId === null ? [] : [vehicle.dealerId as UserId];
}

type Terms = Omit<VideoProfile, 'kind' | 'id' | 'version' | 'vehicleId' | 'protocol' | 'address'>;

/** A profile for use outside the registry: see `withoutSecrets`. */
export function fromProfileRow(row: VideoProfileRow): VideoProfile {
  return withoutSecrets(profileOf(row, row.address));
}

/** A profile with its address in clear, for fetching, and for people who may see it. */
export function openedProfile(row: VideoProfileRow, secrets: Secrets): VideoProfile {
  return profileOf(row, secrets.open(row.address, { table: 'video_profiles', id: row.id }));
}

function profileOf(row: VideoProfileRow, address: string): VideoProfile {
  const terms = JSON.parse(row.terms) as Terms;
  return {
    kind: 'video-profile',
    id: row.id as VideoProfileId,
    version: row.version,
    vehicleId: row.vehicleId as VehicleId,
    name: terms.name,
    protocol: row.protocol as VideoProtocol,
    address,
    channels: terms.channels,
    quality: terms.quality,
    audio: terms.audio,
    maxFragmentSeconds: terms.maxFragmentSeconds,
    maxParallelDownloads: terms.maxParallelDownloads,
    timeZone: terms.timeZone,
  };
}

export function toProfileRow(profile: VideoProfile, secrets: Secrets): VideoProfileRow {
  const terms: Terms = {
    name: profile.name,
    channels: profile.channels,
    quality: profile.quality,
    audio: profile.audio,
    maxFragmentSeconds: profile.maxFragmentSeconds,
    maxParallelDownloads: profile.maxParallelDownloads,
    timeZone: profile.timeZone,
  };
  return {
    id: profile.id,
    version: profile.version,
    vehicleId: profile.vehicleId,
    protocol: profile.protocol,
    address: isSecretAddress(profile)
      ? secrets.seal(profile.address, { table: 'video_profiles', id: profile.id })
      : profile.address,
    addressKey: addressKey(profile),
    terms: JSON.stringify(terms),
  };
}
