import type { Geozone, ReportTemplate } from '@outrider/client';
import { effect } from '@preact/signals';
import type { Map as MapLibreMap } from 'maplibre-gl';
import { geofences } from '../../fleet/store.ts';
import { createMap, fit } from '../../map/map.ts';
import { setData } from '../../map/set-data.ts';
import { geofenceFeatures } from '../../map/shapes.ts';
import { endPlaceOf, type Place, placedRows, placeOf, type Row } from './rows.ts';

/** More marks would hide each other. */
export const MOST_MARKS = 5000;
const PICK_RADIUS_PX = 12;
const SHOWN_ZOOM = 12;

/** Map of the places of a report's rows. A click on one chooses its row. */
export class ReportMap {
  readonly #map: MapLibreMap;
  readonly #destroy: (() => void)[] = [];
  #rows: readonly Row[] = [];
  #chosen: Row | null = null;
  #shape: ReportTemplate['shape'] = null;
  #isReady = false;

  constructor(container: HTMLElement, onChoose: (row: Row) => void) {
    const { map, on, destroy } = createMap(container, null, () => {
      this.#isReady = true;
      this.#destroy.push(effect(() => this.#drawGeofences(geofences.value)));
      this.#draw();
    });
    this.#map = map;
    this.#destroy.push(destroy);
    on('click', ({ point: { x, y } }) => {
      const around: [[number, number], [number, number]] = [
        [x - PICK_RADIUS_PX, y - PICK_RADIUS_PX],
        [x + PICK_RADIUS_PX, y + PICK_RADIUS_PX],
      ];
      const [found] = map.queryRenderedFeatures(around, { layers: ['track-stops'] });
      const row = this.#rows[Number(found?.properties.index)];
      if (row) onChoose(row);
    });
    on('mouseenter', 'track-stops', () => {
      map.getCanvas().style.cursor = 'pointer';
    });
    on('mouseleave', 'track-stops', () => {
      map.getCanvas().style.cursor = '';
    });
  }

  show(rows: readonly Row[], shape: ReportTemplate['shape']): void {
    this.#rows = rows;
    this.#shape = shape;
    if (this.#isReady) this.#draw();
  }

  /** Marks a row, and moves the map there if the row is out of view. */
  choose(row: Row | null): void {
    this.#chosen = row;
    if (!this.#isReady) return;
    this.#mark();
    const place = row && placeOf(row);
    if (!place) return;
    const { longitude, latitude } = place;
    if (!this.#map.getBounds().contains([longitude, latitude]) || this.#map.getZoom() < SHOWN_ZOOM - 4)
      this.#map.easeTo({ center: [longitude, latitude], zoom: Math.max(SHOWN_ZOOM, this.#map.getZoom()) });
  }

  destroy(): void {
    for (const end of this.#destroy.toReversed()) end();
  }

  #drawGeofences(all: readonly Geozone[]): void {
    const shape = this.#shape as unknown as Geozone | null;
    setData(this.#map, 'geofences', geofenceFeatures(shape === null ? all : [...all, shape]));
  }

  #draw(): void {
    this.#drawGeofences(geofences.peek());
    const placed = placedRows(this.#rows, MOST_MARKS);
    setData(this.#map, 'stops', {
      type: 'FeatureCollection',
      features: placed.map(({ index, place }) => pointAt(place, { index })),
    });
    this.#mark();
    if (placed.length === 0 || this.#chosen !== null) return;
    const longitudes = placed.map(({ place }) => place.longitude);
    const latitudes = placed.map(({ place }) => place.latitude);
    fit(this.#map, [least(longitudes), least(latitudes), most(longitudes), most(latitudes)], false);
  }

  #mark(): void {
    const places = this.#chosen === null ? [] : [placeOf(this.#chosen), endPlaceOf(this.#chosen)];
    const found = places.filter((place) => place !== null);
    setData(this.#map, 'marker', { type: 'FeatureCollection', features: found.map((place) => pointAt(place, {})) });
  }
}

function pointAt({ longitude, latitude }: Place, properties: GeoJSON.GeoJsonProperties): GeoJSON.Feature {
  return { type: 'Feature', properties, geometry: { type: 'Point', coordinates: [longitude, latitude] } };
}

const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
