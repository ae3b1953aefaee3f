import type { Map as MapLibreMap } from 'maplibre-gl';
import { latitudeOf, longitudeOf } from '../fleet/mercator.ts';
import { worldSize } from './map.ts';
import { areNearVehicles, type Label } from './pace.ts';
import { setData } from './set-data.ts';

/**
 * The name labels of vehicles. Placing them redraws the whole map, so it waits until a label is visibly left behind.
 */
export class Labels {
  readonly #map: MapLibreMap;
  #shown: readonly Label[] = [];

  constructor(map: MapLibreMap) {
    this.#map = map;
  }

  show(labels: readonly Label[]): void {
    if (areNearVehicles(this.#shown, labels, worldSize(this.#map))) return;
    this.#shown = labels;
    const features = labels.map(
      ({ name, x, y }): GeoJSON.Feature => ({
        type: 'Feature',
        properties: { name },
        geometry: { type: 'Point', coordinates: [longitudeOf(x), latitudeOf(y)] },
      }),
    );
    setData(this.#map, 'labels', { type: 'FeatureCollection', features });
  }
}
