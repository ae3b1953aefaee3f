import type { Geocoder } from './geocoder.ts';

/** Names every place by its whole degrees, for tests. */
export const PLAIN_GEOCODER: Geocoder = {
  placesOf: async (points) =>
    points.map(({ latitude, longitude }) => ({
      text: `Town at ${Math.round(latitude)} ${Math.round(longitude)}`,
      source: 'town',
    })),
};
