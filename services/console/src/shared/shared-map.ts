import type { Shared, Vehicle } from '@outrider/client';
import { effect, type Signal } from '@preact/signals';
import type { Map as MapLibreMap } from 'maplibre-gl';
import { Fleet } from '../fleet/fleet.ts';
import { FleetLayer } from '../map/fleet-layer.ts';
import { Labels } from '../map/labels.ts';
import { createMap, fit, prefersLessMotion } from '../map/map.ts';
import { setData } from '../map/set-data.ts';
import { mapColors, vehicleKind } from '../map/style.ts';
import { placeAt, type Track, trackLines } from '../track/track.ts';

const LABEL_MS = 500;
const CLOSE_ZOOM = 14;
const PLACE_ZOOM = 12;

/** The vehicles of a link at their current positions, or their tracks with each vehicle at the clock's time. */
export class SharedMap {
  readonly #map: MapLibreMap;
  readonly #labels: Labels;
  readonly #fleet = new Fleet();
  readonly #destroy: (() => void)[] = [];
  readonly #timeMs: Signal<number>;
  #shared: Shared | null = null;
  #tracks: readonly Track[] = [];
  #isReady = false;
  #hasFitted = false;

  constructor(container: HTMLElement, timeMs: Signal<number>) {
    const { map, destroy } = createMap(container, null, () => {
      this.#isReady = true;
      this.#draw();
      const timer = setInterval(() => this.#label(), LABEL_MS);
      this.#destroy.push(
        effect(() => layer.setColors(mapColors.value)),
        effect(() => this.#place(timeMs.value)),
        () => clearInterval(timer),
      );
    });
    this.#map = map;
    this.#labels = new Labels(map);
    this.#timeMs = timeMs;
    this.#destroy.push(destroy);
    const layer = new FleetLayer(map, this.#fleet, mapColors.peek());
    this.#destroy.push(() => layer.destroy());
  }

  show(shared: Shared, tracks: readonly Track[]): void {
    this.#shared = shared;
    this.#tracks = tracks;
    if (this.#isReady) this.#draw();
  }

  /** Moves the map to one of the vehicles, by its index in the list. */
  goTo(index: number): void {
    const track = this.#tracks[index];
    const at = track ? placeAt(track, this.#timeMs.peek()) : this.#shared?.vehicles[index]?.position;
    if (!at) return;
    const zoom = Math.max(CLOSE_ZOOM, this.#map.getZoom());
    this.#map.easeTo({ center: [at.longitude, at.latitude], zoom, animate: !prefersLessMotion() });
  }

  destroy(): void {
    for (const end of this.#destroy.toReversed()) end();
  }

  #draw(): void {
    const { vehicles = [] } = this.#shared ?? {};
    // Vehicles of a link have no ids, so their index in the list is used.
    this.#fleet.define(vehicles.map(({ name }, index) => ({ id: `${index}`, name }) as Vehicle));
    const places: [number, number][] = [];
    for (const [index, { position, state }] of vehicles.entries()) {
      if (position === null) continue;
      const { latitude, longitude, fixTime } = position;
      const fixMs = Date.parse(fixTime);
      this.#fleet.move(`${index}`, { ...position, fixMs });
      this.#fleet.setStatus(`${index}`, { state: state ?? 'unknown', contactMs: fixMs });
      places.push([longitude, latitude]);
    }
    const isSeveral = this.#tracks.length > 1;
    const lines = this.#tracks.flatMap((track, number) => trackLines(track, isSeveral ? vehicleKind(number) : null));
    setData(this.#map, 'track', { type: 'FeatureCollection', features: lines });
    for (const track of this.#tracks)
      for (let index = 0; index < track.count; index += 1)
        places.push([track.longitude[index] as number, track.latitude[index] as number]);
    this.#place(this.#timeMs.peek());
    this.#label();
    this.#fitTo(places);
  }

  /** Fits the map once; afterwards the viewer moves it. A single vehicle is kept in view. */
  #fitTo(places: readonly [number, number][]): void {
    const [only] = places;
    if (this.#hasFitted && this.#tracks.length === 0 && places.length === 1 && only !== undefined) {
      if (!this.#map.getBounds().contains(only)) this.#map.panTo(only, { animate: !prefersLessMotion() });
      return;
    }
    if (this.#hasFitted || places.length === 0) return;
    this.#hasFitted = true;
    const longitudes = places.map(([longitude]) => longitude);
    const latitudes = places.map(([, latitude]) => latitude);
    const south = Math.min(...latitudes);
    fit(this.#map, [Math.min(...longitudes), south, Math.max(...longitudes), Math.max(...latitudes)], false);
    // A single place is shown with the area around it.
    if (this.#map.getZoom() > PLACE_ZOOM && this.#tracks.length === 0) this.#map.setZoom(PLACE_ZOOM);
  }

  #place(timeMs: number): void {
    const { vehicles = [] } = this.#shared ?? {};
    const features = this.#tracks.flatMap((track, number): GeoJSON.Feature[] => {
      const at = placeAt(track, timeMs);
      if (at === null) return [];
      const properties = { number, name: this.#tracks.length > 1 ? (vehicles[number]?.name ?? '') : '' };
      return [{ type: 'Feature', properties, geometry: { type: 'Point', coordinates: [at.longitude, at.latitude] } }];
    });
    setData(this.#map, 'marker', { type: 'FeatureCollection', features });
  }

  #label(): void {
    if (document.hidden) return;
    const nowMs = performance.now();
    this.#labels.show(
      this.#fleet.vehicles.flatMap(({ name }, index) => {
        if (!this.#fleet.hasPosition(index)) return [];
        return [{ name, x: this.#fleet.drawnX(index, nowMs), y: this.#fleet.drawnY(index, nowMs) }];
      }),
    );
  }
}
