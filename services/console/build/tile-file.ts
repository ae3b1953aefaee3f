import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import type { GeoJSONVT } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import { mercatorX, mercatorY } from '../src/fleet/mercator.ts';

/** Layers of vector tiles by name, each an index of its features. */
export type TileLayers = Record<string, GeoJSONVT>;

export interface TileMap {
  name: string;
  attribution: string | null;
  minZoom: number;
  maxZoom: number;
  /** West, south, east, north, in degrees. */
  bounds: readonly [number, number, number, number];
  center: { longitude: number; latitude: number; zoom: number };
  /** Properties of the features of each layer, with their types as TileJSON 3.0 names them. */
  fields: Readonly<Record<string, Readonly<Record<string, 'String' | 'Number' | 'Boolean'>>>>;
  /** Layers that are drawn at a zoom. */
  layersAt(zoom: number): TileLayers;
}

/** Writes a map as vector tiles, in a new MBTiles 1.3 file. */
export function writeTiles(file: string, map: TileMap): { tiles: number; bytes: number } {
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA page_size = 1024;
    CREATE TABLE metadata (name TEXT, value TEXT);
    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
    CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row);
    BEGIN`);
  writeMetadata(database, map);
  const insert = database.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)');
  const written = { tiles: 0, bytes: 0 };
  const [west, south, east, north] = map.bounds;
  for (let zoom = map.minZoom; zoom <= map.maxZoom; zoom += 1) {
    const layers = map.layersAt(zoom);
    const last = 2 ** zoom - 1;
    const within = (share: number) => Math.max(0, Math.min(last, Math.floor(share * (last + 1))));
    for (let column = within(mercatorX(west)); column <= within(mercatorX(east)); column += 1)
      for (let row = within(mercatorY(north)); row <= within(mercatorY(south)); row += 1) {
        const tile = encode(layers, zoom, column, row);
        if (tile === null) continue;
        // MBTiles counts rows from the south.
        insert.run(zoom, column, last - row, tile);
        written.tiles += 1;
        written.bytes += tile.length;
      }
  }
  database.exec('COMMIT');
  database.close();
  return written;
}

function encode(layers: TileLayers, zoom: number, column: number, row: number): Uint8Array | null {
  const tiles = Object.entries(layers).flatMap(([name, index]) => {
    const tile = index.getTile(zoom, column, row);
    return tile && tile.features.length > 0 ? [[name, tile] as const] : [];
  });
  if (tiles.length === 0) return null;
  return gzipSync(fromGeojsonVt(Object.fromEntries(tiles), { version: 2 }), { level: 9 });
}

function writeMetadata(database: DatabaseSync, map: TileMap): void {
  const insert = database.prepare('INSERT INTO metadata VALUES (?, ?)');
  const { minZoom, maxZoom, center } = map;
  const zooms = { minzoom: minZoom, maxzoom: maxZoom };
  const vectorLayers = Object.entries(map.fields).map(([id, fields]) => ({ id, fields, ...zooms }));
  const metadata: Record<string, string> = {
    name: map.name,
    format: 'pbf',
    type: 'baselayer',
    minzoom: String(minZoom),
    maxzoom: String(maxZoom),
    bounds: map.bounds.join(),
    center: [center.longitude, center.latitude, center.zoom].join(),
    ...(map.attribution !== null && { attribution: map.attribution }),
    json: JSON.stringify({ vector_layers: vectorLayers }),
  };
  for (const [name, value] of Object.entries(metadata)) insert.run(name, value);
}
