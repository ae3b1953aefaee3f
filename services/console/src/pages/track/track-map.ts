import { effect } from '@preact/signals';
import type { Map as MapLibreMap, MapMouseEvent } from 'maplibre-gl';
import { fleet, geofences } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { createMap, fit, prefersLessMotion } from '../../map/map.ts';
import { setData } from '../../map/set-data.ts';
import { geofenceFeatures } from '../../map/shapes.ts';
import { vehicleKind } from '../../map/style.ts';
import type { ReplayClock } from '../../track/clock.ts';
import type { Mark } from '../../track/marks.ts';
import { indexAt, nearest, placeAt, type Track, trackLines } from '../../track/track.ts';
import type { Part } from './load.ts';
import { nameOf } from './names.ts';

const PICK_RADIUS_PX = 20;
const MARK_LAYERS = ['track-marks', 'track-stops'];

/** A part with the vehicle's number in the replay, which determines its colour. */
export type NumberedPart = Part & { number: number };
type Place = [longitude: number, latitude: number];

/** Tracks on the map: lines by speed or vehicle, gaps, stops, events, and each vehicle at the clock's time. */
export class TrackMap {
  readonly #map: MapLibreMap;
  readonly #clock: ReplayClock;
  readonly #destroy: (() => void)[] = [];
  #parts: readonly NumberedPart[] = [];
  #isBySpeed = true;
  #chosen: Mark | null = null;
  #isReady = false;
  /** Whether the map has been moved to the tracks or to the fleet. */
  #isPlaced = false;

  constructor(container: HTMLElement, clock: ReplayClock, onChoose: (mark: Mark | null) => void) {
    const { map, on, destroy } = createMap(container, null, () => {
      this.#isReady = true;
      this.#draw();
      this.#destroy.push(
        effect(() => setData(map, 'geofences', geofenceFeatures(geofences.value))),
        effect(() => {
          void fleet.version.value;
          this.#fitFleet();
        }),
        effect(() => this.#place(clock.timeMs.value)),
      );
    });
    this.#map = map;
    this.#clock = clock;
    this.#destroy.push(destroy);
    on('click', (event) => this.#click(event, onChoose));
    for (const layer of MARK_LAYERS) {
      on('mouseenter', layer, () => {
        map.getCanvas().style.cursor = 'pointer';
      });
      on('mouseleave', layer, () => {
        map.getCanvas().style.cursor = '';
      });
    }
  }

  show(parts: readonly NumberedPart[], isBySpeed: boolean): void {
    const isMoved =
      this.#parts.length !== parts.length || parts.some(({ track }, at) => track !== this.#parts[at]?.track);
    this.#parts = parts;
    this.#isBySpeed = isBySpeed;
    if (!this.#isReady) return;
    this.#draw(isMoved);
  }

  /** Shows a mark by its key: the route of a trip, or the starting point of any other mark. */
  choose(key: string | null): void {
    this.#chosen = this.#parts.flatMap(({ marks }) => marks).find((mark) => mark.key === key) ?? null;
    if (!this.#isReady) return;
    this.#drawChosen();
    if (this.#chosen !== null) this.#goTo(this.#chosen);
  }

  fitAll(): void {
    this.#fitPlaces(this.#parts.flatMap(({ track }) => placesOf(track, 0, track.count)));
  }

  /** While there is no track, shows where the vehicles are. */
  #fitFleet(): void {
    if (this.#isPlaced) return;
    const bounds = fleet.boundsOf(() => true);
    if (bounds === null) return;
    this.#isPlaced = true;
    fit(this.#map, bounds, false);
  }

  destroy(): void {
    for (const end of this.#destroy.toReversed()) end();
  }

  #click({ point, lngLat }: MapMouseEvent, onChoose: (mark: Mark | null) => void): void {
    const [hit] = this.#map.queryRenderedFeatures(point, { layers: MARK_LAYERS });
    const mark = this.#parts.flatMap(({ marks }) => marks).find(({ key }) => key === hit?.properties.key);
    if (mark) {
      this.#clock.seek(mark.fromMs);
      onChoose(mark);
      return;
    }
    let best = PICK_RADIUS_PX;
    for (const { track } of this.#parts) {
      const index = nearest(track, lngLat.lng, lngLat.lat);
      if (index < 0) continue;
      const [at] = placesOf(track, index, index + 1);
      const distance = this.#map.project(at as Place).dist(point);
      if (distance > best) continue;
      best = distance;
      this.#clock.seek(track.timeMs[index] as number);
    }
  }

  #draw(isMoved = true): void {
    const map = this.#map;
    const lines = this.#parts.flatMap(({ track, number }) =>
      trackLines(track, this.#isBySpeed ? null : vehicleKind(number)),
    );
    setData(map, 'track', { type: 'FeatureCollection', features: lines });
    const marks = this.#parts.flatMap((part) => part.marks);
    const points = (kind: Mark['kind']) => ({
      type: 'FeatureCollection' as const,
      features: marks
        .filter((mark) => mark.kind === kind)
        .map(({ key, longitude, latitude, durationSeconds }): GeoJSON.Feature => {
          const properties = { key, label: formats().duration(durationSeconds) };
          return { type: 'Feature', properties, geometry: { type: 'Point', coordinates: [longitude, latitude] } };
        }),
    });
    setData(map, 'stops', points('stop'));
    setData(map, 'marks', points('event'));
    this.#place(this.#clock.timeMs.peek());
    this.#drawChosen();
    if (isMoved && this.#chosen === null) this.fitAll();
  }

  #drawChosen(): void {
    const mark = this.#chosen;
    const coordinates = mark === null ? [] : this.#placesIn(mark);
    const features: GeoJSON.Feature[] =
      coordinates.length < 2
        ? []
        : [{ type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates } }];
    setData(this.#map, 'chosen', { type: 'FeatureCollection', features });
  }

  #goTo(mark: Mark): void {
    const places = this.#placesIn(mark);
    if (places.length > 1 && mark.kind !== 'stop') this.#fitPlaces(places);
    else this.#keepInView([mark.longitude, mark.latitude]);
  }

  /** The route during a mark. */
  #placesIn({ vehicleId, fromMs, toMs }: Mark): Place[] {
    const track = this.#parts.find((part) => part.vehicleId === vehicleId)?.track;
    if (track === undefined) return [];
    const last = toMs === null ? track.count : indexAt(track, toMs) + 1;
    return placesOf(track, Math.max(0, indexAt(track, fromMs)), last);
  }

  #place(timeMs: number): void {
    const features = this.#parts.flatMap(({ track, number, vehicleId }): GeoJSON.Feature[] => {
      const place = placeAt(track, timeMs);
      if (place === null) return [];
      const coordinates: Place = [place.longitude, place.latitude];
      if (this.#parts.length === 1 && this.#clock.isPlaying.peek()) this.#keepInView(coordinates);
      const name = this.#parts.length === 1 ? '' : nameOf(vehicleId);
      return [{ type: 'Feature', properties: { number, name }, geometry: { type: 'Point', coordinates } }];
    });
    setData(this.#map, 'marker', { type: 'FeatureCollection', features });
  }

  #keepInView(at: Place): void {
    if (this.#map.getBounds().contains(at) || this.#map.isMoving()) return;
    this.#map.panTo(at, { animate: !prefersLessMotion() });
  }

  #fitPlaces(places: readonly Place[]): void {
    if (places.length === 0) return;
    this.#isPlaced = true;
    let [west, south, east, north] = [180, 90, -180, -90];
    for (const [longitude, latitude] of places) {
      west = Math.min(west, longitude);
      east = Math.max(east, longitude);
      south = Math.min(south, latitude);
      north = Math.max(north, latitude);
    }
    fit(this.#map, [west, south, east, north], false);
  }
}

function placesOf(track: Track, from: number, to: number): Place[] {
  const places: Place[] = [];
  for (let index = from; index < Math.min(to, track.count); index += 1)
    places.push([track.longitude[index] as number, track.latitude[index] as number]);
  return places;
}
