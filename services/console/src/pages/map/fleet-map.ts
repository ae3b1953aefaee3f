import { effect } from '@preact/signals';
import type { MapLayerMouseEvent, Map as MapLibreMap, MapMouseEvent } from 'maplibre-gl';
import { latitudeOf, longitudeOf, mercatorX, mercatorY } from '../../fleet/mercator.ts';
import { fleet, geofences } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { clusterFeatures, clustersOf, inView } from '../../map/clusters.ts';
import { FleetLayer } from '../../map/fleet-layer.ts';
import { createMap, fit, type Place, placeText, prefersLessMotion, setData, viewOf, worldSize } from '../../map/map.ts';
import { pick } from '../../map/pick.ts';
import { geofenceFeatures } from '../../map/shapes.ts';
import { mapColors } from '../../map/style.ts';
import { preferences } from '../../preferences.ts';

const MOST_LABELS = 300;
const CLUSTERS_ABOVE = 2000;
const CELL_PX = 70;
const PICK_RADIUS_PX = 14;
/** Labels keep up with moving vehicles at this pace, clusters at a quarter of it. */
const LABEL_MS = 250;

export interface FleetMapEvents {
  onSelect: (id: string | null) => void;
  onHover: (id: string | null, x: number, y: number) => void;
  onMove: (place: string) => void;
  /** The user moved the map: nothing is followed any more. */
  onDrag: () => void;
}

/** The live map: vehicles, their names or clusters, geofences; follows one vehicle where asked. */
export class FleetMap {
  readonly map: MapLibreMap;
  readonly #layer: FleetLayer;
  readonly #destroy: (() => void)[] = [];
  #followed: string | null = null;
  #isReady = false;
  #frame = 0;
  #hasFitted: boolean;
  #ticks = 0;

  constructor(container: HTMLElement, place: Place | null, events: FleetMapEvents) {
    const { map, destroy } = createMap(container, place);
    this.map = map;
    this.#hasFitted = place !== null;
    this.#layer = new FleetLayer(fleet, mapColors.peek());
    this.#destroy.push(destroy);
    map.once('load', () => this.#start());
    map.on('click', (event) => events.onSelect(this.#at(event)));
    map.on('mousemove', (event) => {
      const id = this.#at(event);
      map.getCanvas().style.cursor = id === null ? '' : 'pointer';
      events.onHover(id, event.point.x, event.point.y);
    });
    map.on('mouseout', () => events.onHover(null, 0, 0));
    map.on('dragstart', () => events.onDrag());
    map.on('moveend', () => {
      if (this.#followed !== null) return;
      const { lng, lat } = map.getCenter();
      events.onMove(placeText({ zoom: map.getZoom(), latitude: lat, longitude: lng }));
      this.#refresh();
    });
    map.on('click', 'cluster-circles', (event: MapLayerMouseEvent) => {
      if (!this.#layer.isVisible)
        map.easeTo({ center: event.lngLat, zoom: map.getZoom() + 2, animate: !prefersLessMotion() });
    });
  }

  select(id: string | null): void {
    this.#layer.selected = id;
    this.map.triggerRepaint();
    this.#refresh();
  }

  follow(id: string | null): void {
    this.#followed = id;
    if (id === null) return;
    if (this.map.getZoom() < 12) this.#centre(id, 14);
  }

  /** Shows the vehicle, unless it can be seen already. */
  show(id: string): void {
    const index = fleet.indexOf(id);
    if (index < 0 || !fleet.hasPosition(index)) return;
    const at = { lng: fleet.longitude[index] as number, lat: fleet.latitude[index] as number };
    if (this.map.getZoom() >= 10 && this.map.getBounds().contains(at)) return;
    this.#centre(id, Math.max(13, this.map.getZoom()));
  }

  /** Shows all vehicles that pass the filter. */
  fitAll(isAnimated = true): void {
    let [west, south, east, north] = [1, 0, 0, 1];
    for (let index = 0; index < fleet.count; index += 1) {
      if (fleet.shown[index] !== 1 || !fleet.hasPosition(index)) continue;
      west = Math.min(west, fleet.x[index] as number);
      east = Math.max(east, fleet.x[index] as number);
      north = Math.min(north, fleet.y[index] as number);
      south = Math.max(south, fleet.y[index] as number);
    }
    if (east < west) return;
    this.#hasFitted = true;
    fit(this.map, [longitudeOf(west), latitudeOf(south), longitudeOf(east), latitudeOf(north)], isAnimated);
  }

  destroy(): void {
    cancelAnimationFrame(this.#frame);
    for (const end of this.#destroy.toReversed()) end();
  }

  #start(): void {
    this.map.addLayer(this.#layer, 'vehicle-names');
    this.#isReady = true;
    this.#destroy.push(
      effect(() => setData(this.map, 'geofences', geofenceFeatures(geofences.value))),
      effect(() => this.#layer.setColors(mapColors.value)),
      effect(() => {
        void preferences.value.clusters;
        this.#refresh();
      }),
      effect(() => {
        void fleet.version.value;
        if (!this.#hasFitted) this.fitAll(false);
      }),
    );
    const timer = setInterval(() => {
      this.#ticks += 1;
      const isMoving = performance.now() < fleet.restsAtMs + LABEL_MS;
      if (!document.hidden && (isMoving || this.#ticks % 4 === 0)) this.#refresh();
    }, LABEL_MS);
    const step = () => {
      this.#frame = requestAnimationFrame(step);
      this.#keepUp();
    };
    step();
    this.#destroy.push(() => clearInterval(timer));
  }

  /** Keeps the followed vehicle in the middle. */
  #keepUp(): void {
    const index = this.#followed === null ? -1 : fleet.indexOf(this.#followed);
    if (index < 0 || !fleet.hasPosition(index) || this.map.isMoving()) return;
    const nowMs = performance.now();
    const lng = longitudeOf(fleet.drawnX(index, nowMs));
    const lat = latitudeOf(fleet.drawnY(index, nowMs));
    const center = this.map.getCenter();
    if (Math.abs(center.lng - lng) + Math.abs(center.lat - lat) > 1e-7) this.map.jumpTo({ center: [lng, lat] });
  }

  #centre(id: string, zoom: number): void {
    const index = fleet.indexOf(id);
    if (index < 0 || !fleet.hasPosition(index)) return;
    const center: [number, number] = [fleet.longitude[index] as number, fleet.latitude[index] as number];
    this.map.easeTo({ center, zoom, animate: !prefersLessMotion() });
  }

  /** Names of the vehicles in view, or clusters where there are too many. */
  #refresh(): void {
    if (!this.#isReady) return;
    const view = viewOf(this.map);
    const wantsClusters = preferences.peek().clusters;
    const few = inView(fleet, view, MOST_LABELS);
    const isCrowded = wantsClusters && few === null && inView(fleet, view, CLUSTERS_ABOVE) === null;
    if (isCrowded && !this.#layer.isVisible && this.#ticks % 4 !== 0) return;
    this.#layer.isVisible = !isCrowded;
    const clusters = isCrowded ? clustersOf(fleet, view, CELL_PX / worldSize(this.map)) : [];
    setData(
      this.map,
      'clusters',
      clusterFeatures(clusters, (count) => formats().number(count)),
    );
    setData(this.map, 'labels', { type: 'FeatureCollection', features: this.#labels(few ?? []) });
  }

  #labels(indexes: readonly number[]): GeoJSON.Feature[] {
    const nowMs = performance.now();
    return indexes.map((index) => ({
      type: 'Feature',
      properties: { name: fleet.vehicles[index]?.name ?? '' },
      geometry: {
        type: 'Point',
        coordinates: [longitudeOf(fleet.drawnX(index, nowMs)), latitudeOf(fleet.drawnY(index, nowMs))],
      },
    }));
  }

  #at({ lngLat }: MapMouseEvent): string | null {
    if (!this.#layer.isVisible) return null;
    const radius = PICK_RADIUS_PX / worldSize(this.map);
    const index = pick(fleet, mercatorX(lngLat.lng), mercatorY(lngLat.lat), radius, performance.now());
    return fleet.vehicles[index]?.id ?? null;
  }
}
