import type { IControl, Map as MapLibreMap, MapMouseEvent } from 'maplibre-gl';
import { metresBetween } from '../fleet/mercator.ts';
import { formats } from '../format.ts';
import { t } from '../words/words.ts';
import { setData } from './set-data.ts';

type Place = [longitude: number, latitude: number];

/** A button that measures: each click on the map adds a point, Escape or the button ends it. */
export class MeasureControl implements IControl {
  readonly #box = document.createElement('div');
  readonly #button = document.createElement('button');
  readonly #output = document.createElement('output');
  #map: MapLibreMap | null = null;
  #places: Place[] = [];

  onAdd(map: MapLibreMap): HTMLElement {
    this.#map = map;
    this.#box.className = 'maplibregl-ctrl maplibregl-ctrl-group measure';
    this.#button.type = 'button';
    this.#button.title = t().maps.measure;
    this.#button.setAttribute('aria-label', t().maps.measure);
    this.#button.setAttribute('aria-pressed', 'false');
    this.#button.addEventListener('click', () => this.#set(!this.#isOn));
    this.#box.append(this.#button, this.#output);
    map.getContainer().addEventListener('keydown', this.#onKey);
    // Runs before the map's own handler, so that a click selects nothing on the map.
    map.getCanvasContainer().addEventListener('click', this.#onClick, { capture: true });
    return this.#box;
  }

  onRemove(): void {
    this.#map?.getContainer().removeEventListener('keydown', this.#onKey);
    this.#map?.getCanvasContainer().removeEventListener('click', this.#onClick, { capture: true });
    this.#box.remove();
    this.#map = null;
  }

  get #isOn(): boolean {
    return this.#button.getAttribute('aria-pressed') === 'true';
  }

  #set(isOn: boolean): void {
    this.#button.setAttribute('aria-pressed', String(isOn));
    this.#places = [];
    this.#show();
    this.#output.textContent = isOn ? t().maps.measureHint : '';
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !this.#isOn) return;
    // The panel stays open.
    event.preventDefault();
    this.#set(false);
  };

  readonly #onClick = (event: MouseEvent): void => {
    const map = this.#map;
    if (map === null || !this.#isOn) return;
    event.stopPropagation();
    const box = map.getCanvas().getBoundingClientRect();
    const { lng, lat }: MapMouseEvent['lngLat'] = map.unproject([event.clientX - box.left, event.clientY - box.top]);
    this.#places.push([lng, lat]);
    this.#show();
    const steps = this.#places.slice(1).map((to, nth) => metresBetween(this.#places[nth] as Place, to));
    this.#output.textContent = formats().distance(steps.reduce((sum, metres) => sum + metres, 0));
  };

  #show(): void {
    if (this.#map === null) return;
    const point = (coordinates: Place): GeoJSON.Feature => ({
      type: 'Feature',
      properties: {},
      geometry: { type: 'Point', coordinates },
    });
    const line: GeoJSON.Feature = {
      type: 'Feature',
      properties: {},
      geometry: { type: 'LineString', coordinates: this.#places },
    };
    const features = [...(this.#places.length > 1 ? [line] : []), ...this.#places.map(point)];
    setData(this.#map, 'measure', { type: 'FeatureCollection', features });
  }
}
