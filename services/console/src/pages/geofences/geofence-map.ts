import type { Geozone } from '@outrider/client';
import type { Map as MapLibreMap } from 'maplibre-gl';
import type { TerraDraw } from 'terra-draw';
import { createMap, fit, setData } from '../../map/map.ts';
import { geofenceFeatures } from '../../map/shapes.ts';

/** Of the form beside the geofence. */
const PANEL_PX = 340;

export interface GeofenceMapEvents {
  onSelect: (id: string) => void;
  onDraw: (area: GeoJSON.Polygon) => void;
}

/** Geofences on a map, and the drawing tool over one of them. */
export class GeofenceMap {
  readonly #map: MapLibreMap;
  readonly #events: GeofenceMapEvents;
  readonly #destroyMap: () => void;
  readonly #ready: Promise<void>;
  #draw: Promise<TerraDraw> | null = null;
  #isDrawing = false;
  #hasFitted = false;
  #isDestroyed = false;

  constructor(container: HTMLElement, events: GeofenceMapEvents) {
    const { map, destroy } = createMap(container, null);
    this.#map = map;
    this.#events = events;
    this.#destroyMap = destroy;
    this.#ready = new Promise((resolve) => map.once('load', () => resolve()));
    map.on('click', 'geofence-areas', ({ features }) => {
      const id = features?.[0]?.properties.id as string | undefined;
      if (id !== undefined && !this.#isDrawing) events.onSelect(id);
    });
  }

  /** Shows geofences without the one that is edited. */
  async show(geofences: readonly Geozone[], editedId: string | null): Promise<void> {
    await this.#ready;
    if (this.#isDestroyed) return;
    setData(this.#map, 'geofences', geofenceFeatures(geofences.filter(({ id }) => id !== editedId)));
    if (this.#hasFitted || geofences.length === 0) return;
    this.#hasFitted = true;
    this.#fit(geofences, { isBesideForm: false });
  }

  fitTo(geofence: Geozone): void {
    this.#hasFitted = true;
    void this.#ready.then(() => !this.#isDestroyed && this.#fit([geofence], { isBesideForm: true }));
  }

  /** Lets a shape be drawn, or the given one be changed; null ends drawing. */
  async edit(shape: 'polygon' | 'circle' | null, area: GeoJSON.Polygon | null): Promise<void> {
    this.#isDrawing = shape !== null && area === null;
    if (shape === null && this.#draw === null) return;
    await this.#ready;
    this.#draw ??= this.#start();
    const draw = await this.#draw;
    if (this.#isDestroyed) return;
    draw.clear();
    if (shape === null) draw.setMode('static');
    else if (area === null) draw.setMode(shape);
    else {
      const [added] = draw.addFeatures([{ type: 'Feature', geometry: area, properties: { mode: shape } }]);
      draw.setMode('select');
      if (added?.valid && added.id !== undefined) draw.selectFeature(added.id);
    }
  }

  destroy(): void {
    this.#isDestroyed = true;
    void this.#draw?.then((draw) => draw.stop());
    this.#destroyMap();
  }

  #fit(geofences: readonly Geozone[], { isBesideForm }: { isBesideForm: boolean }): void {
    let [west, south, east, north] = [180, 90, -180, -90];
    for (const { geometry } of geofenceFeatures(geofences).features)
      for (const [longitude = 0, latitude = 0] of (geometry as GeoJSON.Polygon).coordinates.flat()) {
        west = Math.min(west, longitude);
        east = Math.max(east, longitude);
        south = Math.min(south, latitude);
        north = Math.max(north, latitude);
      }
    if (east >= west) fit(this.#map, [west, south, east, north], isBesideForm, isBesideForm ? PANEL_PX : 0);
  }

  async #start(): Promise<TerraDraw> {
    const [tool, { TerraDrawMapLibreGLAdapter }] = await Promise.all([
      import('terra-draw'),
      import('terra-draw-maplibre-gl-adapter'),
    ]);
    const corners = { midpoints: true, draggable: true, deletable: true };
    const draw = new tool.TerraDraw({
      adapter: new TerraDrawMapLibreGLAdapter({ map: this.#map }),
      modes: [
        new tool.TerraDrawPolygonMode(),
        new tool.TerraDrawCircleMode(),
        new tool.TerraDrawSelectMode({
          flags: {
            polygon: { feature: { draggable: true, coordinates: corners } },
            circle: { feature: { draggable: true, coordinates: { resizable: 'center' } } },
          },
        }),
      ],
    });
    draw.start();
    draw.on('finish', (id) => {
      const area = draw.getSnapshotFeature(id)?.geometry;
      this.#isDrawing = false;
      // The tool finishes its own work first.
      if (area?.type === 'Polygon') setTimeout(() => this.#events.onDraw(area as GeoJSON.Polygon));
    });
    return draw;
  }
}
