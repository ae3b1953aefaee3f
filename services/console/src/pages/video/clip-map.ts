import { effect, type Signal } from '@preact/signals';
import type { Map as MapLibreMap } from 'maplibre-gl';
import { geofences } from '../../fleet/store.ts';
import { createMap, fit } from '../../map/map.ts';
import { setData } from '../../map/set-data.ts';
import { geofenceFeatures } from '../../map/shapes.ts';
import { nearest, placeAt, type Track, trackLines, trackOf } from '../../track/track.ts';

const PICK_RADIUS_PX = 24;

/** Part of a track, with the vehicle at the clock's time. A click on the track picks its time. */
export class ClipMap {
  readonly #map: MapLibreMap;
  readonly #destroy: (() => void)[] = [];
  #track: Track = trackOf([]);
  #timeMs: Signal<number>;
  #isReady = false;

  constructor(container: HTMLElement, timeMs: Signal<number>, onPick: (timeMs: number) => void) {
    const { map, on, destroy } = createMap(container, null, () => {
      this.#isReady = true;
      this.#draw();
      this.#destroy.push(
        effect(() => setData(map, 'geofences', geofenceFeatures(geofences.value))),
        effect(() => this.#place(timeMs.value)),
      );
    });
    this.#map = map;
    this.#timeMs = timeMs;
    this.#destroy.push(destroy);
    on('click', ({ lngLat, point }) => {
      const index = nearest(this.#track, lngLat.lng, lngLat.lat);
      if (index < 0) return;
      const at = map.project([this.#track.longitude[index] as number, this.#track.latitude[index] as number]);
      if (at.dist(point) <= PICK_RADIUS_PX) onPick(this.#track.timeMs[index] as number);
    });
  }

  show(track: Track): void {
    this.#track = track;
    if (this.#isReady) this.#draw();
  }

  destroy(): void {
    for (const end of this.#destroy.toReversed()) end();
  }

  #draw(): void {
    const { longitude, latitude, count } = this.#track;
    setData(this.#map, 'track', { type: 'FeatureCollection', features: trackLines(this.#track) });
    this.#place(this.#timeMs.peek());
    if (count > 0)
      fit(
        this.#map,
        [Math.min(...longitude), Math.min(...latitude), Math.max(...longitude), Math.max(...latitude)],
        false,
      );
  }

  #place(timeMs: number): void {
    const place = placeAt(this.#track, timeMs);
    const features: GeoJSON.Feature[] =
      place === null
        ? []
        : [
            {
              type: 'Feature',
              properties: { number: 0, name: '' },
              geometry: { type: 'Point', coordinates: [place.longitude, place.latitude] },
            },
          ];
    setData(this.#map, 'marker', { type: 'FeatureCollection', features });
  }
}
