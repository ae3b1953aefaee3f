import { GeoJSONVT } from '@maplibre/geojson-vt';
import { createDemoScenario, drawTown, type TownLayer } from '@outrider/simulator';
import { writeTiles } from './tile-file.ts';

const MIN_ZOOM = 8;
const MAX_ZOOM = 14;
/** Lowest zoom at which a layer is drawn, as in Shortbread. */
const FROM_ZOOM: Readonly<Record<TownLayer, number>> = {
  land: 9,
  water_polygons: MIN_ZOOM,
  buildings: 14,
  streets: MIN_ZOOM,
  street_labels: 11,
  place_labels: MIN_ZOOM,
};
/** Lowest zoom by kind of street. Kinds that are not listed are drawn from zoom 11 on. */
const ROAD_FROM_ZOOM: Readonly<Record<string, number>> = {
  motorway: 5,
  trunk: 6,
  primary: 8,
  secondary: 9,
  service: 13,
};

/**
 * Cuts the demo's town into vector tiles of the Shortbread schema, zoom 8 to 14.
 *
 * @param file an MBTiles file, which is overwritten
 */
export function writeTownMap(file: string): { tiles: number; bytes: number } {
  const { network } = createDemoScenario();
  const town = drawTown(network);
  const [longitude, latitude] = network.junctions[network.center] ?? [0, 0];
  const kind = { kind: 'String' } as const;
  const named = { ...kind, name: 'String' } as const;
  return writeTiles(file, {
    name: town.name,
    attribution: null,
    minZoom: MIN_ZOOM,
    maxZoom: MAX_ZOOM,
    bounds: [longitude - 0.2, latitude - 0.135, longitude + 0.26, latitude + 0.135],
    center: { longitude, latitude, zoom: 12 },
    fields: {
      land: kind,
      water_polygons: kind,
      buildings: kind,
      streets: named,
      street_labels: named,
      place_labels: { ...named, population: 'Number' },
    },
    layersAt: (zoom) =>
      Object.fromEntries(
        Object.entries(town.layers)
          .filter(([layer]) => zoom >= FROM_ZOOM[layer as TownLayer])
          .map(([layer, all]) => {
            const features = all.filter(
              ({ properties }) => !layer.startsWith('street') || zoom >= (ROAD_FROM_ZOOM[properties?.kind] ?? 11),
            );
            const options = { maxZoom: MAX_ZOOM, indexMaxZoom: 5, tolerance: 2, buffer: 64 };
            return [layer, new GeoJSONVT({ type: 'FeatureCollection', features }, options)];
          }),
      ),
  });
}
