import { effect } from '@preact/signals';
import type { MapLayerMouseEvent, Map as MapLibreMap, MapMouseEvent } from 'maplibre-gl';
import { ageOf } from '../../fleet/age.ts';
import { latitudeOf, longitudeOf, mercatorX, mercatorY } from '../../fleet/mercator.ts';
import { fleet, geofences, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { liveDelay } from '../../live/delay.ts';
import { clusterFeatures, clustersOf, inView } from '../../map/clusters.ts';
import { FleetLayer } from '../../map/fleet-layer.ts';
import { Labels } from '../../map/labels.ts';
import { createMap, fit, type Place, placeText, prefersLessMotion, viewOf, worldSize } from '../../map/map.ts';
import { crowdScale, type Label } from '../../map/pace.ts';
import { bySpot, pick } from '../../map/pick.ts';
import { setData } from '../../map/set-data.ts';
import { geofenceFeatures } from '../../map/shapes.ts';
import { mapColors } from '../../map/style.ts';
import { preferences } from '../../preferences.ts';
import type { AskedPlace } from './nearest-menu.tsx';

const MOST_LABELS = 300;
const CLUSTERS_ABOVE = 2000;
const CELL_PX = 70;
const PICK_RADIUS_PX = 14;
/** Vehicles closer than this share one place on the map. */
const SPOT_PX = 6;
/** Interval at which labels follow moving vehicles. Clusters follow at four times this interval. */
const LABEL_MS = 250;
/** Overdue vehicles are searched once per this many intervals. */
const OVERDUE_TICKS = 8;

export interface HoveredCluster {
  count: number;
  /** Number of vehicles in each state, in the order of `STATES`. */
  states: readonly number[];
}

/** Ids of the vehicles at one place of the map, the one nearest to the pointer first. */
export type Spot = readonly [string, ...string[]];

export interface FleetMapEvents {
  /** A click, at a point in pixels of the map. */
  onSelect: (spot: Spot | null, x: number, y: number) => void;
  onHover: (over: Spot | HoveredCluster | null, x: number, y: number) => void;
  onMove: (place: string) => void;
  /** A right click or a long press, which asks for the nearest vehicles. */
  onAsk: (place: AskedPlace) => void;
  /** The user moved the map, which ends following. */
  onDrag: () => void;
  /** The zoom changed, so that menus beside places are no longer at these places. */
  onZoom?: () => void;
}

/** The live map: vehicles, their names or clusters, and geofences. It can follow one vehicle. */
export class FleetMap {
  readonly map: MapLibreMap;
  readonly #layer: FleetLayer;
  readonly #labels: Labels;
  readonly #destroy: (() => void)[] = [];
  #followed: string | null = null;
  #selected: string | null = null;
  /** Whether the selected vehicle was visible when it was selected, so that the panel which opens must not hide it. */
  #isKeptInView = false;
  #isReady = false;
  #frame = 0;
  /** Whether the map still fits all known vehicles: until all are loaded, or somebody moves the map. */
  #fitsAll: boolean;
  #ticks = 0;
  #hasClusters = false;

  constructor(container: HTMLElement, place: Place | null, events: FleetMapEvents) {
    const { map, on, destroy } = createMap(container, place, () => this.#start());
    this.map = map;
    this.#labels = new Labels(map);
    this.#fitsAll = place === null;
    this.#layer = new FleetLayer(map, fleet, mapColors.peek(), () => liveDelay.drawn(performance.now()));
    this.#destroy.push(destroy, () => this.#layer.destroy());
    liveDelay.isDrawn = () => this.#layer.isVisible && !document.hidden;
    this.#destroy.push(() => {
      liveDelay.isDrawn = () => false;
    });
    on('click', (event) => events.onSelect(this.#at(event), event.point.x, event.point.y));
    on('contextmenu', ({ lngLat, point }) =>
      events.onAsk({ longitude: lngLat.lng, latitude: lngLat.lat, x: point.x, y: point.y }),
    );
    on('mousemove', (event) => {
      const over = this.#at(event) ?? this.#clusterAt(event);
      map.getCanvas().style.cursor = over === null ? '' : 'pointer';
      events.onHover(over, event.point.x, event.point.y);
    });
    on('mouseout', () => events.onHover(null, 0, 0));
    on('dragstart', () => events.onDrag());
    on('zoomstart', () => events.onZoom?.());
    for (const type of ['dragstart', 'wheel', 'dblclick'] as const)
      on(type, () => {
        this.#fitsAll = false;
        this.#isKeptInView = false;
      });
    // The map takes its new size first, and then moves to keep its content in place.
    on('resize', () => queueMicrotask(() => this.#keepInView()));
    on('moveend', () => {
      if (this.#followed !== null) return;
      const { lng, lat } = map.getCenter();
      events.onMove(placeText({ zoom: map.getZoom(), latitude: lat, longitude: lng }));
      this.#refresh();
    });
    on('click', 'cluster-circles', (event: MapLayerMouseEvent) => {
      if (!this.#layer.isVisible)
        map.easeTo({ center: event.lngLat, zoom: map.getZoom() + 2, animate: !prefersLessMotion() });
    });
    // Registered after the listeners above: an effect runs at once, and moves the map if the fleet is loaded already.
    this.#destroy.push(
      effect(() => this.#layer.setColors(mapColors.value, preferences.value.vehicleColors)),
      effect(() => {
        void fleet.version.value;
        const isComplete = loaded.value === true;
        if (!this.#isReady) this.#refresh();
        if (!this.#fitsAll || !this.fitAll(false)) return;
        this.#fitsAll = !isComplete;
      }),
    );
  }

  select(id: string | null): void {
    this.#selected = id;
    this.#isKeptInView = id !== null && this.#isInView(id);
    this.#layer.select(id);
    this.#refresh();
  }

  follow(id: string | null): void {
    this.#followed = id;
    cancelAnimationFrame(this.#frame);
    if (id === null) return;
    this.#keepUp();
    if (this.map.getZoom() < 12) this.#centre(id, 14);
  }

  /** The centre of the map. */
  middle(): AskedPlace {
    const { lng, lat } = this.map.getCenter();
    const { clientWidth, clientHeight } = this.map.getContainer();
    return { longitude: lng, latitude: lat, x: clientWidth / 2, y: clientHeight / 2 };
  }

  /** Moves the map to the vehicle, unless it is already visible. */
  show(id: string): void {
    if (this.map.getZoom() >= 10 && this.#isInView(id)) return;
    this.#centre(id, Math.max(13, this.map.getZoom()));
  }

  /** Moves the map to a place, at street level. */
  showPlace({ longitude, latitude }: { longitude: number; latitude: number }): void {
    this.#fitsAll = false;
    const zoom = Math.max(15, this.map.getZoom());
    this.map.easeTo({ center: [longitude, latitude], zoom, animate: !prefersLessMotion() });
  }

  /**
   * Shows all vehicles that pass the filter.
   *
   * @returns whether there is one with a position
   */
  fitAll(isAnimated = true): boolean {
    const bounds = fleet.boundsOf((index) => fleet.shown[index] === 1);
    if (bounds === null) return false;
    fit(this.map, bounds, isAnimated);
    return true;
  }

  destroy(): void {
    cancelAnimationFrame(this.#frame);
    for (const end of this.#destroy.toReversed()) end();
  }

  #start(): void {
    this.#isReady = true;
    this.#destroy.push(
      effect(() => setData(this.map, 'geofences', geofenceFeatures(geofences.value))),
      effect(() => {
        void preferences.value.clusters;
        this.#refresh();
      }),
    );
    const timer = setInterval(() => {
      this.#ticks += 1;
      if (this.#ticks % OVERDUE_TICKS === 0) fleet.noteOverdue();
      const isMoving = performance.now() < fleet.restsAtMs + LABEL_MS;
      if (!document.hidden && (isMoving || this.#ticks % 4 === 0)) this.#refresh();
    }, LABEL_MS);
    this.#keepUp();
    this.#destroy.push(() => clearInterval(timer));
  }

  /** Keeps the followed vehicle at the centre. */
  #keepUp(): void {
    if (this.#followed === null || !this.#isReady) return;
    this.#frame = requestAnimationFrame(() => this.#keepUp());
    const index = fleet.indexOf(this.#followed);
    if (index < 0 || !fleet.hasPosition(index) || this.map.isMoving()) return;
    const nowMs = performance.now();
    const lng = longitudeOf(fleet.drawnX(index, nowMs));
    const lat = latitudeOf(fleet.drawnY(index, nowMs));
    const center = this.map.getCenter();
    if (Math.abs(center.lng - lng) + Math.abs(center.lat - lat) > 1e-7) this.map.jumpTo({ center: [lng, lat] });
  }

  #placeOf(id: string): { lng: number; lat: number } | null {
    const index = fleet.indexOf(id);
    if (index < 0 || !fleet.hasPosition(index)) return null;
    return { lng: fleet.longitude[index] as number, lat: fleet.latitude[index] as number };
  }

  #isInView(id: string): boolean {
    const at = this.#placeOf(id);
    return at !== null && this.map.getBounds().contains(at);
  }

  /** Moves the map to the selected vehicle if a panel that has just opened took the space where it was visible. */
  #keepInView(): void {
    if (!this.#isKeptInView || this.#selected === null || this.map.isMoving() || this.#isInView(this.#selected)) return;
    this.#centre(this.#selected, this.map.getZoom());
  }

  #centre(id: string, zoom: number): void {
    const center = this.#placeOf(id);
    if (center !== null) this.map.easeTo({ center, zoom, animate: !prefersLessMotion() });
  }

  /** Updates the names of the vehicles in view, or the clusters if there are too many vehicles. */
  #refresh(): void {
    const view = viewOf(this.map);
    const within = inView(fleet, view);
    const count = within.length;
    const { clientWidth, clientHeight } = this.map.getContainer();
    this.#layer.setScale(crowdScale(count, clientWidth * clientHeight));
    if (!this.#isReady) return;
    const isCrowded = preferences.peek().clusters && count > CLUSTERS_ABOVE;
    if (isCrowded && !this.#layer.isVisible && this.#ticks % 4 !== 0) return;
    this.#layer.isVisible = !isCrowded;
    const clusters = isCrowded ? clustersOf(fleet, view, CELL_PX / worldSize(this.map)) : [];
    // Clearing an empty source would redraw the map for nothing.
    if (clusters.length > 0 || this.#hasClusters)
      setData(
        this.map,
        'clusters',
        clusterFeatures(clusters, (value) => formats().number(value)),
      );
    this.#hasClusters = clusters.length > 0;
    this.#labels.show(count <= MOST_LABELS ? this.#labelsOf(within) : []);
  }

  /**
   * Labels in view, with the age of late vehicles. Several vehicles at one place have one name and the number of
   * others.
   */
  #labelsOf(indexes: readonly number[]): Label[] {
    const nowMs = performance.now();
    const points = indexes.map((index) => ({ index, x: fleet.drawnX(index, nowMs), y: fleet.drawnY(index, nowMs) }));
    return bySpot(points, SPOT_PX / worldSize(this.map)).map((spot) => {
      const shown = spot.find(({ index }) => fleet.vehicles[index]?.id === this.#selected) ?? spot[0];
      const { index, x, y } = shown as (typeof points)[number];
      const name = fleet.vehicles[index]?.name ?? '';
      const age = fleet.isLate(index) ? `\n${ageOf(index)}` : '';
      return { name: `${name}${spot.length === 1 ? '' : ` +${formats().number(spot.length - 1)}`}${age}`, x, y };
    });
  }

  #clusterAt({ point }: MapMouseEvent): HoveredCluster | null {
    if (this.#layer.isVisible || !this.#isReady) return null;
    const [feature] = this.map.queryRenderedFeatures(point, { layers: ['cluster-circles'] });
    if (feature === undefined) return null;
    // The map returns lists as JSON text.
    const { count, states } = feature.properties as { count: number; states: string };
    return { count, states: JSON.parse(states) as number[] };
  }

  #at({ lngLat }: MapMouseEvent): Spot | null {
    if (!this.#layer.isVisible) return null;
    const [radius, spot] = [PICK_RADIUS_PX / worldSize(this.map), SPOT_PX / worldSize(this.map)];
    const options = { radius, spot, nowMs: performance.now() };
    const [first, ...others] = pick(fleet, mercatorX(lngLat.lng), mercatorY(lngLat.lat), options).flatMap(
      (index) => fleet.vehicles[index]?.id ?? [],
    );
    return first === undefined ? null : [first, ...others];
  }
}
