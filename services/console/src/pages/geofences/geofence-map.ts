import type { Geozone } from '@outrider/client';
import type { Map as MapLibreMap } from 'maplibre-gl';
import type { TerraDraw } from 'terra-draw';
import { createMap, fit } from '../../map/map.ts';
import { setData } from '../../map/set-data.ts';
import { geofenceFeatures } from '../../map/shapes.ts';
import type { Draft, Drawn } from './draft.ts';

/** The drawing tool's names of the shapes. */
const MODES = { polygon: 'polygon', multipolygon: 'polygon', circle: 'circle', line: 'linestring' } as const;
/** Distance within which drawn points snap to vertices of other geofences. */
const SNAP_PX = 12;
/** Click tolerance around a vertex or an edge. */
const HANDLE_PX = 20;

export interface GeofenceMapEvents {
  onSelect: (id: string) => void;
  onDraw: (area: Drawn) => void;
}

/** Geofences on a map, and the drawing tool over one of them. */
export class GeofenceMap {
  readonly #map: MapLibreMap;
  readonly #events: GeofenceMapEvents;
  readonly #destroyMap: () => void;
  readonly #ready: Promise<void>;
  #draw: Promise<TerraDraw> | null = null;
  /** Null until loaded. */
  #tool: TerraDraw | null = null;
  #isDrawing = false;
  #vertices: [number, number][] = [];
  #shown: readonly Geozone[] = [];
  #hasFitted = false;
  #isDestroyed = false;

  constructor(container: HTMLElement, events: GeofenceMapEvents) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { map, on, destroy } = createMap(container, null, resolve);
    this.#ready = promise;
    this.#map = map;
    this.#events = events;
    this.#destroyMap = destroy;
    on('click', 'geofence-areas', ({ features, lngLat }) => {
      const id = features?.[0]?.properties.id as string | undefined;
      if (id !== undefined && !this.#isDrawing && !this.#isOfTool(lngLat)) events.onSelect(id);
    });
  }

  /** Shows geofences except the edited one. */
  async show(geofences: readonly Geozone[], editedId: string | null): Promise<void> {
    await this.#ready;
    if (this.#isDestroyed) return;
    const others = geofences.filter(({ id }) => id !== editedId);
    setData(this.#map, 'geofences', geofenceFeatures(others));
    this.#vertices = others.flatMap(({ geometry }) => {
      if (geometry.type === 'Polygon') return geometry.coordinates.flat();
      if (geometry.type === 'MultiPolygon') return geometry.coordinates.flat(2);
      return geometry.type === 'LineString' ? geometry.coordinates : [];
    });
    this.#shown = geofences;
    if (this.#hasFitted || geofences.length === 0) return;
    this.#hasFitted = true;
    this.#fit(geofences, { isAnimated: false });
  }

  fitAll(): void {
    if (this.#shown.length > 0) this.#fit(this.#shown, { isAnimated: false });
  }

  fitTo(geofence: Geozone): void {
    this.#hasFitted = true;
    void this.#ready.then(() => !this.#isDestroyed && this.#fit([geofence], { isAnimated: true }));
  }

  /** Starts drawing a shape, or editing the given one; null ends drawing. */
  async edit(shape: Draft['shape'] | null, area: Drawn | null): Promise<void> {
    this.#isDrawing = shape !== null && area === null;
    if (shape === null && this.#draw === null) return;
    await this.#ready;
    this.#draw ??= this.#start();
    const draw = await this.#draw;
    if (this.#isDestroyed) return;
    draw.clear();
    if (shape === null) draw.setMode('static');
    else if (area === null) draw.setMode(MODES[shape]);
    else {
      const properties = { mode: MODES[shape] };
      const [added] = draw.addFeatures([{ type: 'Feature', geometry: area as GeoJSON.Polygon, properties }]);
      draw.setMode('select');
      if (added?.valid && added.id !== undefined) draw.selectFeature(added.id);
    }
  }

  /** Cancels a half-drawn shape; false if none exists. */
  cancelDrawing(): boolean {
    if (this.#tool?.getModeState() !== 'drawing') return false;
    const mode = this.#tool.getMode();
    this.#tool.clear();
    this.#tool.setMode('static');
    this.#tool.setMode(mode);
    return true;
  }

  destroy(): void {
    this.#isDestroyed = true;
    if (this.#draw === null) return this.#destroyMap();
    // The tool draws once more in the next frame, and needs the map until then.
    const end = () => requestAnimationFrame(() => this.#destroyMap());
    void this.#draw.then((draw) => draw.stop()).then(end, end);
  }

  #fit(geofences: readonly Geozone[], { isAnimated }: { isAnimated: boolean }): void {
    let [west, south, east, north] = [180, 90, -180, -90];
    for (const { geometry } of geofenceFeatures(geofences).features) {
      const polygons =
        geometry.type === 'MultiPolygon' ? geometry.coordinates : [(geometry as GeoJSON.Polygon).coordinates];
      for (const [longitude = 0, latitude = 0] of polygons.flat(2)) {
        west = Math.min(west, longitude);
        east = Math.max(east, longitude);
        south = Math.min(south, latitude);
        north = Math.max(north, latitude);
      }
    }
    if (east >= west) fit(this.#map, [west, south, east, north], isAnimated);
  }

  /**
   * Whether a click hits the drawing tool's own features, such as the last point of a polygon, and so belongs to the
   * tool.
   */
  #isOfTool(at: { lng: number; lat: number }): boolean {
    const options = { pointerDistance: HANDLE_PX, includePolygonsWithinPointerDistance: true };
    return (this.#tool?.getFeaturesAtLngLat(at, options).length ?? 0) > 0;
  }

  /** The nearest vertex of another geofence within snapping distance. */
  #vertexNear(at: [number, number]): [number, number] | undefined {
    const point = this.#map.project(at);
    let found: [number, number] | undefined;
    let least = SNAP_PX;
    for (const vertex of this.#vertices) {
      if (Math.abs(vertex[1] - at[1]) > 1) continue;
      const distance = this.#map.project(vertex).dist(point);
      if (distance > least) continue;
      least = distance;
      found = vertex;
    }
    return found;
  }

  async #start(): Promise<TerraDraw> {
    const [tool, { TerraDrawMapLibreGLAdapter }] = await Promise.all([
      import('terra-draw'),
      import('terra-draw-maplibre-gl-adapter'),
    ]);
    const snapping = { toCustom: ({ lng, lat }: { lng: number; lat: number }) => this.#vertexNear([lng, lat]) };
    const corners = { midpoints: true, draggable: true, deletable: true, snappable: snapping };
    const draw = new tool.TerraDraw({
      adapter: new TerraDrawMapLibreGLAdapter({ map: this.#map }),
      modes: [
        new tool.TerraDrawPolygonMode({ snapping }),
        new tool.TerraDrawLineStringMode({ snapping }),
        new tool.TerraDrawCircleMode(),
        new tool.TerraDrawSelectMode({
          flags: {
            polygon: { feature: { draggable: true, coordinates: corners } },
            linestring: { feature: { draggable: true, coordinates: corners } },
            circle: { feature: { draggable: true, coordinates: { resizable: 'center' } } },
          },
        }),
      ],
    });
    draw.start();
    this.#tool = draw;
    draw.on('finish', (id) => {
      const area = draw.getSnapshotFeature(id)?.geometry;
      this.#isDrawing = false;
      // Deferred, so that the tool finishes its own work first.
      if (area?.type === 'Polygon' || area?.type === 'LineString') setTimeout(() => this.#events.onDraw(area as Drawn));
    });
    return draw;
  }
}
