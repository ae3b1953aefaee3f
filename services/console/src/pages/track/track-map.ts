import type { StopsRow } from '@outrider/client';
import { effect } from '@preact/signals';
import type { Map as MapLibreMap } from 'maplibre-gl';
import { geofences } from '../../fleet/store.ts';
import { createMap, fit, setData } from '../../map/map.ts';
import { geofenceFeatures } from '../../map/shapes.ts';
import type { ReplayClock } from '../../track/clock.ts';
import { nearest, placeAt, type Track, trackLines, trackOf } from '../../track/track.ts';

const PICK_RADIUS_PX = 20;

/** A track on the map: its line by speed, its stops, and the vehicle where the clock has it. */
export class TrackMap {
  readonly #map: MapLibreMap;
  readonly #clock: ReplayClock;
  readonly #destroy: (() => void)[] = [];
  #track: Track = trackOf([]);
  #stops: readonly StopsRow[] = [];
  #isReady = false;

  constructor(container: HTMLElement, clock: ReplayClock) {
    const { map, destroy } = createMap(container, null);
    this.#map = map;
    this.#clock = clock;
    this.#destroy.push(destroy);
    map.once('load', () => {
      this.#isReady = true;
      this.#draw();
      this.#destroy.push(
        effect(() => setData(map, 'geofences', geofenceFeatures(geofences.value))),
        effect(() => this.#place(clock.timeMs.value)),
      );
    });
    map.on('click', ({ lngLat, point }) => {
      const index = nearest(this.#track, lngLat.lng, lngLat.lat);
      if (index < 0) return;
      const at = map.project([this.#track.longitude[index] as number, this.#track.latitude[index] as number]);
      if (at.dist(point) <= PICK_RADIUS_PX) clock.seek(this.#track.timeMs[index] as number);
    });
  }

  show(track: Track, stops: readonly StopsRow[]): void {
    this.#track = track;
    this.#stops = stops;
    if (this.#isReady) this.#draw();
  }

  destroy(): void {
    for (const end of this.#destroy.toReversed()) end();
  }

  #draw(): void {
    const track = this.#track;
    setData(this.#map, 'track', trackLines(track));
    setData(this.#map, 'stops', {
      type: 'FeatureCollection',
      features: this.#stops.map(({ longitude, latitude }) => ({
        type: 'Feature',
        properties: {},
        geometry: { type: 'Point', coordinates: [longitude, latitude] },
      })),
    });
    this.#place(this.#clock.timeMs.peek());
    if (track.count === 0) return;
    const [west, east] = bounds(track.longitude);
    const [south, north] = bounds(track.latitude);
    fit(this.#map, [west, south, east, north], false);
  }

  #place(timeMs: number): void {
    const place = placeAt(this.#track, timeMs);
    const features: GeoJSON.Feature[] = [];
    if (place !== null) {
      const geometry = { type: 'Point' as const, coordinates: [place.longitude, place.latitude] };
      features.push({ type: 'Feature', properties: {}, geometry });
    }
    setData(this.#map, 'marker', { type: 'FeatureCollection', features });
  }
}

function bounds(values: Float64Array): [number, number] {
  return values.reduce<[number, number]>(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
}
