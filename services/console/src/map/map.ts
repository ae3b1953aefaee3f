import { effect } from '@preact/signals';
import { type LngLatBoundsLike, Map as MapLibreMap, NavigationControl, ScaleControl, setWorkerUrl } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import 'maplibre-gl/dist/maplibre-gl.css';
import { mercatorX, mercatorY } from '../fleet/mercator.ts';
import { toast } from '../parts/toast.tsx';
import { preferences } from '../preferences.ts';
import { isNarrow } from '../text-size.ts';
import { t } from '../words/words.ts';
import { type BaseMap, chosenMap, loadMaps, maps, readBase } from './base.ts';
import type { View } from './clusters.ts';
import { keep, takeKept } from './kept.ts';
import { MeasureControl } from './measure.ts';
import { setData } from './set-data.ts';
import {
  ARROW_SPACE,
  ARROW_SPACE_PX,
  isDark,
  LOWEST_OWN_LAYER,
  layersOf,
  palette,
  styleOf,
  WORLD_LAYERS,
} from './style.ts';

// A worker from a URL, not from a blob: the content security policy allows nothing else.
setWorkerUrl(new URL(workerUrl, location.href).href);

export interface Place {
  zoom: number;
  latitude: number;
  longitude: number;
}

/** Text of a map position in the address bar, such as `12.5/59.93863/30.31413`. */
export function placeText({ zoom, latitude, longitude }: Place): string {
  return `${Number(zoom.toFixed(2))}/${latitude.toFixed(5)}/${longitude.toFixed(5)}`;
}

export function readPlace(text: string | null): Place | null {
  const [zoom = Number.NaN, latitude = Number.NaN, longitude = Number.NaN] = (text ?? '').split('/').map(Number);
  const isValid = zoom >= 0 && zoom <= 24 && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 540;
  return isValid ? { zoom, latitude, longitude } : null;
}

/** The map while one screen uses it. When the screen releases it, its content and listeners are removed. */
export interface ScreenMap {
  map: MapLibreMap;
  /** Like `on` of the map. */
  on: MapLibreMap['on'];
  destroy: () => void;
}

/**
 * Shows the map in an element, in the theme's colours. One map instance is reused by all screens, as starting a map
 * takes longer than most screens do. A second map at the same time is a separate instance.
 *
 * @param place null: the last position, or the world
 * @param onReady called once the map can show data, unless the screen has ended before
 */
export function createMap(container: HTMLElement, place: Place | null, onReady: () => void): ScreenMap {
  const own = takeKept<KeptMap>() ?? new KeptMap(container, place);
  const { map } = own;
  own.showIn(container, place);
  const stopControls = addControls(map);
  const listened: { unsubscribe(): void }[] = [];
  let isEnded = false;
  void own.ready.then(() => {
    if (!isEnded) onReady();
  });
  return {
    map,
    on: ((...args: Parameters<MapLibreMap['on']>) => {
      const subscription = map.on(...args);
      listened.push(subscription);
      return subscription;
    }) as MapLibreMap['on'],
    destroy() {
      isEnded = true;
      for (const subscription of listened) subscription.unsubscribe();
      stopControls();
      own.leave();
      keep(own);
    },
  };
}

/** The map with its theme and the chosen base, in an element that goes from screen to screen. */
class KeptMap {
  readonly map: MapLibreMap;
  /** Resolves when the style is loaded. */
  readonly ready: Promise<void>;
  readonly #host = document.createElement('div');
  readonly #ends: (() => void)[] = [];

  constructor(container: HTMLElement, place: Place | null) {
    this.#host.className = 'map-host';
    container.append(this.#host);
    const map = new MapLibreMap({
      container: this.#host,
      style: styleOf(location.origin, palette.peek()),
      center: place === null ? [15, 30] : [place.longitude, place.latitude],
      zoom: place?.zoom ?? 1.5,
      maxZoom: 20,
      maxPitch: 0,
      fadeDuration: 0,
      attributionControl: { compact: false },
      // Only while the map is on a page, see below.
      trackResize: false,
    });
    this.map = map;
    const pixels = new Uint8Array(ARROW_SPACE_PX ** 2 * 4);
    map.addImage(ARROW_SPACE, { width: ARROW_SPACE_PX, height: ARROW_SPACE_PX, data: pixels });
    let isStyled = false;
    this.#ends.push(
      effect(() => {
        const colors = palette.value;
        this.#host.dataset.map = isDark.value ? 'dark' : 'light';
        if (isStyled) repaint(map, layersOf(colors));
      }),
    );
    this.ready = new Promise((resolve) => {
      map.once('load', () => {
        isStyled = true;
        repaint(map, layersOf(palette.peek()));
        this.#ends.push(followBase(map));
        resolve();
      });
    });
    const resize = new ResizeObserver(() => {
      if (!this.#host.isConnected) return;
      const moved = takeSize(map);
      // Keeps the content at its position on the page; by default the map would keep its centre.
      if (!map.isMoving() && moved !== null) map.panBy(moved, { animate: false });
    });
    resize.observe(this.#host);
    this.#ends.push(() => resize.disconnect());
  }

  showIn(container: HTMLElement, place: Place | null): void {
    container.append(this.#host);
    places.delete(this.map);
    this.map.resize();
    takeSize(this.map);
    if (place !== null) this.map.jumpTo({ center: [place.longitude, place.latitude], zoom: place.zoom });
  }

  /** Detaches the map from its screen and clears the screen's content. */
  leave(): void {
    const { map } = this;
    map.stop();
    map.getCanvas().style.cursor = '';
    for (const [id, source] of Object.entries(map.getStyle()?.sources ?? {}))
      if (source.type === 'geojson') setData(map, id, { type: 'FeatureCollection', features: [] });
    this.#host.remove();
  }

  remove(): void {
    for (const end of this.#ends) end();
    this.map.remove();
  }
}

/** Adds the controls on the side of the list, not of the panels. On a phone, panels open from below. */
function addControls(map: MapLibreMap): () => void {
  const isRtl = document.documentElement.dir === 'rtl';
  const corner = isRtl ? 'bottom-right' : 'bottom-left';
  const navigation = new NavigationControl();
  map.addControl(navigation, isNarrow() ? (isRtl ? 'top-left' : 'top-right') : corner);
  let scale: ScaleControl | null = null;
  const stopUnits = effect(() => {
    const { units } = preferences.value;
    if (scale !== null) map.removeControl(scale);
    scale = new ScaleControl({ unit: units });
    map.addControl(scale, corner);
  });
  const measure = new MeasureControl();
  map.addControl(measure, corner);
  return () => {
    stopUnits();
    for (const control of [navigation, scale, measure]) if (control !== null) map.removeControl(control);
  };
}

/** Draws the chosen map below everything else, over the world map or instead of it. */
function followBase(map: MapLibreMap): () => void {
  void loadMaps();
  let present: BaseMap | null = null;
  let turn = 0;
  const show = (base: BaseMap | null) => {
    for (const { id } of present?.layers ?? []) map.removeLayer(id);
    for (const id of Object.keys(present?.sources ?? {})) map.removeSource(id);
    present = base;
    const isWorldShown = base === null || base.overWorldFrom !== null;
    for (const id of WORLD_LAYERS) map.setLayoutProperty(id, 'visibility', isWorldShown ? 'visible' : 'none');
    map.setLayerZoomRange('cities', 0, base?.overWorldFrom ?? 24);
    if (base === null) return;
    for (const [id, source] of Object.entries(base.sources)) map.addSource(id, source);
    if (base.sprite !== null && map.getSprite().length === 0) map.addSprite('default', base.sprite);
    for (const layer of base.layers) map.addLayer(layer, LOWEST_OWN_LAYER);
  };
  const stop = effect(() => {
    const offer = chosenMap(maps.value, preferences.value.map);
    const colors = palette.value;
    turn += 1;
    const own = turn;
    if (offer === null) {
      if (present !== null) show(null);
      return;
    }
    readBase(offer, colors).then(
      (base) => {
        if (own === turn) show(base);
      },
      () => {
        if (own !== turn) return;
        show(null);
        toast(t().maps.failed, 'error');
      },
    );
  });
  return () => {
    turn += 1;
    stop();
  };
}

function repaint(map: MapLibreMap, layers: ReturnType<typeof layersOf>): void {
  for (const { id, paint = {} } of layers)
    for (const [name, value] of Object.entries(paint)) map.setPaintProperty(id, name as never, value as never);
}

/** The visible part of the Mercator square, with a margin. */
export function viewOf(map: MapLibreMap): View {
  const bounds = map.getBounds();
  return {
    west: mercatorX(bounds.getWest()),
    east: mercatorX(bounds.getEast()),
    north: mercatorY(Math.min(85, bounds.getNorth())),
    south: mercatorY(Math.max(-85, bounds.getSouth())),
  };
}

/** Width of the whole world in pixels. */
export function worldSize(map: MapLibreMap): number {
  return 512 * 2 ** map.getZoom();
}

/** Position of each map on the page. */
const places = new WeakMap<MapLibreMap, DOMRect>();

/**
 * Adapts the map to the size of its element, such as when a panel has opened beside it.
 *
 * @returns how far its centre has moved on the page, in pixels; null: not moved, or unknown
 */
function takeSize(map: MapLibreMap): [x: number, y: number] | null {
  const now = map.getContainer().getBoundingClientRect();
  const before = places.get(map);
  places.set(map, now);
  if (before === undefined) return null;
  const { left, top, width, height } = before;
  if (now.width === width && now.height === height) return null;
  map.resize();
  return [now.left - left + (now.width - width) / 2, now.top - top + (now.height - height) / 2];
}

/** Shows all of the bounds, with a margin. */
export function fit(map: MapLibreMap, bounds: LngLatBoundsLike, isAnimated = true): void {
  // A panel may have opened beside it just now.
  takeSize(map);
  const { clientWidth, clientHeight } = map.getContainer();
  const padding = Math.min(64, clientWidth / 6, clientHeight / 6);
  map.fitBounds(bounds, { padding, maxZoom: 15, animate: isAnimated && !prefersLessMotion() });
}

export function prefersLessMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
