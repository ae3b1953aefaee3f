import {
  type Directory,
  hasRight,
  maySeeVehicle,
  type ShareLinkId,
  type User,
  type Vehicle,
  type VehicleId,
  type VehicleState,
} from '@outrider/domain';
import type { Page, Paging, Registry, ShareLink } from '@outrider/registry';
import { TRACK_PLACES, trackReport } from '@outrider/reports';
import { badField, notFound } from './problem.ts';
import { ReportAccess, type ReportAccessSources } from './report-access.ts';
import { requireRight, rightToShareLink, rightToVehicle, visibleShareLinks } from './rights.ts';

export interface ShareConfig {
  /** Longest validity of a link in days. */
  maxDays: number;
}

export interface ShareSources extends ReportAccessSources {
  registry: ReportAccessSources['registry'] & Pick<Registry, 'shareLinks'>;
  directory: Directory;
  config: { share: ShareConfig };
}

/** A link as requested. */
export interface ShareWish {
  name: string | null;
  vehicleIds: readonly VehicleId[];
  track: { fromMs: number; toMs: number } | null;
  expiresAtMs: number;
}

/** Points of a track: longitude, latitude, time in Unix milliseconds, speed in km/h. */
export type SharedPoint = [longitude: number, latitude: number, timeMs: number, speedKmh: number | null];

/** Everything that a link shows of a vehicle. */
export interface SharedVehicle {
  name: string;
  /** Null in a track. */
  state: VehicleState | null;
  /** The last fix; null before the first one, and in a track. */
  position: {
    fixTimeMs: number;
    latitude: number;
    longitude: number;
    speedKmh: number | null;
    courseDeg: number | null;
  } | null;
  /** Null if the link shows current positions. */
  points: SharedPoint[] | null;
}

const DAY_MS = 86_400_000;
export const MAX_SHARED_VEHICLES = 20;
export const MAX_SHARED_TRACK_DAYS = 31;
/** Points per vehicle. */
const MAX_POINTS = 2000;

/** Share links that one caller may see and end. */
export class ShareAccess {
  readonly #caller: User;
  readonly #sources: ShareSources;

  constructor(caller: User, sources: ShareSources) {
    this.#caller = caller;
    this.#sources = sources;
  }

  /** @returns the link, and its token, which cannot be read again */
  async add(wish: ShareWish, nowMs: number): Promise<{ link: ShareLink; token: string }> {
    requireRight(this.#caller, 'share');
    const { maxDays } = this.#sources.config.share;
    for (const [nth, id] of wish.vehicleIds.entries())
      if (!this.#sees(id)) throw badField(`/vehicleIds/${nth}`, 'There is no such vehicle.');
    if (wish.expiresAtMs <= nowMs) throw badField('/expiresAt', 'It must be in the future.');
    if (wish.expiresAtMs > nowMs + maxDays * DAY_MS)
      throw badField('/expiresAt', `A link must end within ${maxDays} days.`);
    if (wish.track !== null) {
      const { fromMs, toMs } = wish.track;
      if (toMs <= fromMs) throw badField('/track/to', 'It must be later than `from`.');
      if (toMs - fromMs > MAX_SHARED_TRACK_DAYS * DAY_MS)
        throw badField('/track/to', `A shared track must cover at most ${MAX_SHARED_TRACK_DAYS} days.`);
    }
    return this.#sources.registry.shareLinks.create({ ...wish, ownerId: this.#caller.id });
  }

  /** @param ownOnly only the caller's own, instead of all that the caller may see */
  async links(paging: Paging, ownOnly: boolean): Promise<Page<ShareLink>> {
    const filter = ownOnly ? { ownerId: this.#caller.id } : visibleShareLinks(this.#caller);
    const page = await this.#sources.registry.shareLinks.list(filter, paging);
    const items = page.items.filter((link) => this.#isKept(link)).map((link) => this.#shown(link));
    return { ...page, items };
  }

  async link(id: ShareLinkId): Promise<ShareLink> {
    return this.#shown(await this.#link(id));
  }

  async remove(id: ShareLinkId): Promise<void> {
    await this.#sources.registry.shareLinks.delete((await this.#link(id)).id);
  }

  async #link(id: ShareLinkId): Promise<ShareLink> {
    const link = await this.#sources.registry.shareLinks.get(id);
    if (link === null || !this.#isKept(link)) throw notFound();
    return link;
  }

  #isKept(link: ShareLink): boolean {
    return rightToShareLink(this.#caller, link, this.#sources.directory.users.get(link.ownerId)) !== 'none';
  }

  /** Hides vehicles that the caller may no longer see. */
  #shown(link: ShareLink): ShareLink {
    return { ...link, vehicleIds: link.vehicleIds.filter((id) => this.#sees(id)) };
  }

  #sees(id: VehicleId): boolean {
    return rightToVehicle(this.#caller, this.#sources.directory.vehicles.get(id)) !== 'none';
  }
}

/** A valid link, with the vehicles that its maker may see. */
export interface SharedLink {
  link: ShareLink;
  maker: User;
  vehicles: readonly Vehicle[];
}

/**
 * The target of a share link. It shows what its maker may see and share at the moment of the call. If no vehicle is
 * left, the link has ended.
 *
 * @returns null if no link has the token, or it has ended
 */
export async function sharedLink(
  { registry, directory }: Pick<ShareSources, 'registry' | 'directory'>,
  token: string,
): Promise<SharedLink | null> {
  const link = await registry.shareLinks.byToken(token);
  const maker = link === null ? undefined : directory.users.get(link.ownerId);
  if (link === null || maker === undefined || !hasRight(maker, 'share')) return null;
  const vehicles = link.vehicleIds
    .map((id) => directory.vehicles.get(id))
    .filter((vehicle) => vehicle !== undefined)
    .filter((vehicle) => maySeeVehicle(maker, vehicle));
  return vehicles.length === 0 ? null : { link, maker, vehicles };
}

/** Current positions of the vehicles. */
export async function sharedPositions(
  { hub }: Pick<ShareSources, 'hub'>,
  { vehicles }: SharedLink,
): Promise<SharedVehicle[]> {
  const statuses = new Map((await hub.latest(vehicles.map(({ id }) => id))).map((each) => [each.vehicleId, each]));
  return vehicles.map(({ id, name }) => {
    const { position = null, activity = null } = statuses.get(id) ?? {};
    return {
      name,
      state: activity?.state ?? 'unknown',
      position: position && {
        fixTimeMs: position.fixTimeMs,
        latitude: position.latitude,
        longitude: position.longitude,
        speedKmh: position.speedKmh,
        courseDeg: position.courseDeg,
      },
      points: null,
    };
  });
}

/** The tracks in the link's interval, up to now, simplified to the most significant points. */
export async function sharedTracks(
  sources: ShareSources,
  { link, maker, vehicles }: SharedLink,
  nowMs: number,
): Promise<SharedVehicle[]> {
  if (link.track === null) throw new Error('the link shows no track');
  const { fromMs, toMs } = link.track;
  const archive = new ReportAccess(maker, sources).sources;
  const shared: SharedVehicle[] = [];
  for (const vehicle of vehicles) {
    const question = {
      ...{ vehicles: [vehicle], fromMs, toMs: Math.min(toMs, nowMs), timeZone: 'UTC', period: 'day' as const },
      ...{
        eventKinds: null,
        geofenceId: null,
        maxPoints: MAX_POINTS,
        workHours: null,
        ecoWeights: null,
        sensors: null,
        driverIds: null,
        nowMs,
        signal: AbortSignal.timeout(30_000),
      },
    };
    const { rows } = fromMs < nowMs ? await trackReport.page(archive, question, null, MAX_POINTS) : { rows: [] };
    const points = rows.map(
      (row): SharedPoint => [
        row[TRACK_PLACES.longitude] as number,
        row[TRACK_PLACES.latitude] as number,
        row[TRACK_PLACES.fixTime] as number,
        row[TRACK_PLACES.speedKmh] as number | null,
      ],
    );
    shared.push({ name: vehicle.name, state: null, position: null, points });
  }
  return shared;
}
