import { existsSync, readdirSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { extname, join, parse } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { notFound } from '@outrider/access';
import type { Logger } from '@outrider/runtime';
import { Hono } from 'hono';
import { PMTiles, TileType } from 'pmtiles';
import type { ApiEnv } from '../context.ts';
import { isKnown } from '../http/byte-range.ts';
import { acceptsGzip } from '../http/static-files.ts';
import type { OnlineMap } from './online-map.ts';

/** Metadata of a map: TileJSON 3.0 without its addresses. */
interface MapInfo {
  name: string;
  attribution?: string;
  bounds?: number[];
  center?: number[];
  minzoom: number;
  maxzoom: number;
  vector_layers?: unknown;
}

interface TileMap {
  info: MapInfo;
  /** Media type of its tiles. */
  type: string;
  /** Null: the map has no such tile. */
  tile(z: number, x: number, y: number): Uint8Array | null | Promise<Uint8Array | null>;
  close(): void | Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  pbf: 'application/vnd.mapbox-vector-tile',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
};
const PMTILES_TYPES: Readonly<Record<number, keyof typeof TYPES>> = {
  [TileType.Mvt]: 'pbf',
  [TileType.Png]: 'png',
  [TileType.Jpeg]: 'jpg',
  [TileType.Webp]: 'webp',
};
const OPENERS: Readonly<Record<string, (file: string) => TileMap | Promise<TileMap>>> = {
  '.mbtiles': openMbtiles,
  '.pmtiles': openPmtiles,
};
const NAME = /^[\w-]{1,64}$/;
const MAX_ZOOM = 24;
/** Replacing a map takes a restart, and browsers revalidate after this time. */
const CACHED = 'public, max-age=86400';

/** A file in a folder of maps, with its state. */
export interface MapFile {
  file: string;
  bytes: number;
  /**
   * `new`: added since the start; served after a restart. `hidden`: an earlier folder has a map of this name.
   * `refused`: its name or format is not that of a map.
   */
  state: 'served' | 'new' | 'hidden' | 'refused' | 'unreadable';
  /** Metadata of the map, if it is served. */
  info: Pick<MapInfo, 'name' | 'attribution' | 'minzoom' | 'maxzoom'> | null;
}

export interface Maps {
  app: Hono<ApiEnv>;
  /** Current files in the folders. */
  files(): Promise<MapFile[]>;
  close(): Promise<void>;
}

/**
 * Serves map tiles from files: `world.mbtiles` is `/maps/world/{z}/{x}/{y}`. Maps are not secret, so they need no token
 * and are outside the rate limits.
 *
 * @param online a map of another server, which browsers request directly
 * @param folders scanned once, at the start; of two maps with the same name, the one in the first folder is served
 */
export function mapTiles(folders: readonly string[], logger: Logger, online: OnlineMap | null = null): Maps {
  const maps = new Map<string, { file: string; etag: string; opened: Promise<TileMap | null> | null }>();
  for (const folder of folders)
    for (const file of existsSync(folder) ? readdirSync(folder).sort() : []) {
      const { name, ext } = parse(file);
      if (OPENERS[ext] === undefined || !NAME.test(name) || maps.has(name)) continue;
      const path = join(folder, file);
      const { size, mtimeMs } = statSync(path);
      maps.set(name, { file: path, etag: `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`, opened: null });
    }

  /** Opens a map when it is first requested. A file that can't be read is logged once and serves nothing. */
  async function mapOf(name: string): Promise<{ map: TileMap; etag: string }> {
    const found = maps.get(name);
    if (found === undefined) throw notFound();
    found.opened ??= Promise.try(OPENERS[extname(found.file)] as (file: string) => TileMap, found.file).catch(
      (error) => {
        logger.error({ err: error, file: found.file }, 'a map cannot be read');
        return null;
      },
    );
    const map = await found.opened;
    if (map === null) throw notFound();
    return { map, etag: found.etag };
  }

  async function files(): Promise<MapFile[]> {
    const found: MapFile[] = [];
    for (const folder of folders)
      for (const file of existsSync(folder) ? readdirSync(folder).sort() : []) {
        const path = join(folder, file);
        const facts = statSync(path, { throwIfNoEntry: false });
        if (facts?.isFile() !== true) continue;
        const { name, ext } = parse(file);
        const served = maps.get(name);
        const isServed = served?.file === path;
        const map = isServed ? await mapOf(name).catch(() => null) : null;
        const isMap = OPENERS[ext] !== undefined && NAME.test(name);
        const absent = !isMap ? 'refused' : served === undefined ? 'new' : 'hidden';
        const state = !isServed ? absent : map === null ? 'unreadable' : 'served';
        found.push({ file, bytes: facts.size, state, info: map?.map.info ?? null });
      }
    return found;
  }

  const app = new Hono<ApiEnv>();
  app.get('/maps', (c) => {
    const { origin: _, ...asked } = online ?? {};
    const items = [...maps.keys()].map((name) => ({ name, tileJson: `/maps/${name}` }));
    return c.json({ items, online: online && asked });
  });
  app.get('/maps/:name', async (c) => {
    const name = c.req.param('name');
    const { map } = await mapOf(name);
    return c.json({ tilejson: '3.0.0', tiles: [`/maps/${name}/{z}/{x}/{y}`], scheme: 'xyz', ...map.info });
  });
  app.get('/maps/:name/:z{\\d{1,2}}/:x{\\d{1,8}}/:y{\\d{1,8}}', async (c) => {
    const { map, etag } = await mapOf(c.req.param('name'));
    const [z, x, y] = [Number(c.req.param('z')), Number(c.req.param('x')), Number(c.req.param('y'))];
    if (z > MAX_ZOOM || x >= 2 ** z || y >= 2 ** z) throw notFound();
    const headers = { etag, 'cache-control': CACHED, vary: 'Accept-Encoding' };
    if (isKnown(c.req.header('if-none-match'), etag)) return c.body(null, 304, headers);
    const tile = await map.tile(z, x, y);
    // A tile that the map lacks is an empty one, not an error: maps leave out the sea.
    if (tile === null) return c.body(null, 204, headers);
    const isZipped = tile[0] === 0x1f && tile[1] === 0x8b;
    const sendsZipped = isZipped && acceptsGzip(c.req.header('accept-encoding'));
    const body = isZipped && !sendsZipped ? gunzipSync(tile) : tile;
    return c.body(body as Uint8Array<ArrayBuffer>, 200, {
      ...headers,
      'content-type': map.type,
      ...(sendsZipped ? { 'content-encoding': 'gzip' } : {}),
    });
  });
  return {
    app,
    files,
    async close() {
      for (const { opened } of maps.values()) await (await opened)?.close();
    },
  };
}

/** MBTiles 1.3: rows are counted from the south. */
function openMbtiles(file: string): TileMap {
  const database = new DatabaseSync(file, { readOnly: true });
  const said = new Map(
    database
      .prepare('SELECT name, value FROM metadata')
      .all()
      .map(({ name, value }) => [String(name), String(value)]),
  );
  const select = database.prepare(
    'SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?',
  );
  const numbers = (name: string) => said.get(name)?.split(',').map(Number);
  const bounds = numbers('bounds');
  const center = numbers('center');
  const attribution = said.get('attribution');
  const { vector_layers } = JSON.parse(said.get('json') ?? '{}');
  return {
    info: {
      name: said.get('name') ?? parse(file).name,
      ...(attribution === undefined ? {} : { attribution }),
      ...(bounds === undefined ? {} : { bounds }),
      ...(center === undefined ? {} : { center }),
      minzoom: Number(said.get('minzoom') ?? 0),
      maxzoom: Number(said.get('maxzoom') ?? MAX_ZOOM),
      ...(vector_layers === undefined ? {} : { vector_layers }),
    },
    type: TYPES[said.get('format') ?? ''] ?? 'application/octet-stream',
    tile: (z, x, y) => (select.get(z, x, 2 ** z - 1 - y)?.tile_data as Uint8Array | undefined) ?? null,
    close: () => database.close(),
  };
}

async function openPmtiles(file: string): Promise<TileMap> {
  const handle = await open(file);
  const archive = new PMTiles({ getKey: () => file, getBytes: (offset, length) => bytesOf(handle, offset, length) });
  const header = await archive.getHeader();
  const metadata = (await archive.getMetadata()) as Partial<MapInfo>;
  return {
    info: {
      name: metadata.name ?? parse(file).name,
      ...(metadata.attribution === undefined ? {} : { attribution: metadata.attribution }),
      bounds: [header.minLon, header.minLat, header.maxLon, header.maxLat],
      center: [header.centerLon, header.centerLat, header.centerZoom],
      minzoom: header.minZoom,
      maxzoom: header.maxZoom,
      ...(metadata.vector_layers === undefined ? {} : { vector_layers: metadata.vector_layers }),
    },
    type: TYPES[PMTILES_TYPES[header.tileType] ?? ''] ?? 'application/octet-stream',
    async tile(z, x, y) {
      const found = await archive.getZxy(z, x, y);
      return found === undefined ? null : new Uint8Array(found.data);
    },
    close: () => handle.close(),
  };
}

async function bytesOf(handle: FileHandle, offset: number, length: number): Promise<{ data: ArrayBuffer }> {
  const { buffer, bytesRead } = await handle.read(new Uint8Array(length), 0, length, offset);
  return { data: buffer.buffer.slice(0, bytesRead) };
}
