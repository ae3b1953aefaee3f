import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import type { AddressServer } from './address-server.ts';
import type { Gazetteer } from './gazetteer.ts';

/** Degrees. */
export interface Point {
  latitude: number;
  longitude: number;
}

/** Description of a place, with its source. */
export interface Place {
  text: string;
  /** `address`: the address server; `town`: the nearest town of the gazetteer. */
  source: 'address' | 'town';
}

/** Describes places in words. */
export interface Geocoder {
  /**
   * Descriptions of the points, in their order; null if nothing is known. Addresses that are not cached are queried for
   * as long as `withinMs` allows; else the nearest town is used. Never throws.
   */
  placesOf(points: readonly Point[], withinMs: number): Promise<(Place | null)[]>;
}

export interface GeocoderParts {
  /** Null: only towns are used. */
  addressServer: AddressServer | null;
  /** Called once, when the first town is needed. */
  openGazetteer: () => Promise<Gazetteer>;
  /** Called when the gazetteer can't be read; then there are no towns. */
  onError?: (error: unknown) => void;
  clock?: Clock;
}

/** Opens a geocoder: it returns an address if a server knows one in time, else the nearest town. */
export function openGeocoder({ addressServer, openGazetteer, onError, clock = SYSTEM_CLOCK }: GeocoderParts): Geocoder {
  let gazetteer: Promise<Gazetteer | null> | null = null;
  const towns = () => {
    gazetteer ??= openGazetteer().catch((error: unknown) => {
      onError?.(error);
      return null;
    });
    return gazetteer;
  };

  async function addressOf({ latitude, longitude }: Point, untilMs: number): Promise<string | null> {
    const kept = addressServer?.kept(latitude, longitude);
    if (kept !== undefined) return kept;
    const withinMs = untilMs - clock.steadyMs();
    if (addressServer === null || withinMs <= 0) return null;
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = clock.after(withinMs, () => resolve(undefined));
    const address = await Promise.race([addressServer.ask(latitude, longitude, withinMs), late]);
    timer.cancel();
    return address ?? null;
  }

  return {
    async placesOf(points, withinMs) {
      const untilMs = clock.steadyMs() + withinMs;
      const addresses = await Promise.all(points.map((point) => addressOf(point, untilMs)));
      const isWhole = addresses.every((address) => address !== null);
      const known = isWhole ? null : await towns();
      return points.map(({ latitude, longitude }, index): Place | null => {
        const address = addresses[index] ?? null;
        if (address !== null) return { text: address, source: 'address' };
        const town = known?.nearest(latitude, longitude) ?? null;
        return town === null ? null : { text: town, source: 'town' };
      });
    },
  };
}
