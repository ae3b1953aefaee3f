import { type Directory, SYSTEM_CLOCK, type User } from '@outrider/domain';
import { type Geocoder, OwnPlaces, type Point } from '@outrider/geocoder';
import type { NamedPlace } from '@outrider/reports';
import { rightToGeofence } from './rights.ts';

export interface PlaceSources {
  directory: Directory;
  geocoder: Geocoder;
}

/** Names places for one caller: by the smallest geofence around that they may see, else by the geocoder. */
export class PlaceAccess {
  readonly #caller: User;
  readonly #sources: PlaceSources;
  #own: OwnPlaces | null = null;
  /** Remaining time to wait for addresses. */
  #leftMs: number;

  /** @param waitMs total time to wait for unknown addresses; then the nearest town is used */
  constructor(caller: User, sources: PlaceSources, waitMs: number) {
    this.#caller = caller;
    this.#sources = sources;
    this.#leftMs = waitMs;
  }

  /** Descriptions of the places, in the order of the points; null if nothing is known. */
  async placesOf(points: readonly Point[]): Promise<(NamedPlace | null)[]> {
    if (points.length === 0) return [];
    const { geocoder } = this.#sources;
    const own = this.#own ?? this.#ownPlaces();
    const geofences = points.map((point) => own.around(point));
    const others = points.filter((_, index) => geofences[index] === null);
    const beganAtMs = SYSTEM_CLOCK.steadyMs();
    const found = others.length === 0 ? [] : await geocoder.placesOf(others, this.#leftMs);
    this.#leftMs = Math.max(0, this.#leftMs - (SYSTEM_CLOCK.steadyMs() - beganAtMs));
    const places = found.values();
    return geofences.map((geofence): NamedPlace | null => {
      if (geofence !== null) return { text: geofence.name, source: 'geozone', geozoneId: geofence.id };
      const place = places.next().value ?? null;
      return place && { ...place, geozoneId: null };
    });
  }

  #ownPlaces(): OwnPlaces {
    const { directory } = this.#sources;
    const visible = [...directory.geofences.values()].filter(
      (geofence) => rightToGeofence(this.#caller, geofence, directory.ownerOf(geofence)) !== 'none',
    );
    this.#own = new OwnPlaces(visible);
    return this.#own;
  }
}
