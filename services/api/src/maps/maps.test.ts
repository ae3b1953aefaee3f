import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import { zxyToTileId } from 'pmtiles';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from '../api.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'maps-'));
const own = join(folder, 'own');
const shipped = join(folder, 'shipped');

/** Each tile is its own address, as text: gzipped as vector tiles are. */
function writeMbtiles(file: string, name: string): void {
  const database = new DatabaseSync(file);
  database.exec(`
    CREATE TABLE metadata (name TEXT, value TEXT);
    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
  `);
  const say = database.prepare('INSERT INTO metadata VALUES (?, ?)');
  for (const [key, value] of Object.entries({
    name,
    format: 'pbf',
    minzoom: '0',
    maxzoom: '2',
    bounds: '-180,-85,180,85',
    attribution: 'Natural Earth',
    json: '{"vector_layers":[{"id":"land","fields":{}}]}',
  }))
    say.run(key, value);
  const add = database.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)');
  // Rows count from the south.
  for (const [z, x, y] of [
    [0, 0, 0],
    [2, 1, 0],
  ] as const)
    add.run(z, x, 2 ** z - 1 - y, gzipSync(`${name} ${z}/${x}/${y}`));
  database.close();
}

/** PMTiles 3 with one tile, nothing in it compressed. */
function pmtiles(z: number, x: number, y: number, tile: Buffer): Buffer {
  const varints = (...numbers: number[]) =>
    Buffer.from(
      numbers.flatMap((number) => {
        const bytes = [];
        let rest = number;
        for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
        return [...bytes, rest];
      }),
    );
  const directory = varints(1, zxyToTileId(z, x, y), 1, tile.length, 1);
  const metadata = Buffer.from(JSON.stringify({ name: 'Region', attribution: 'Surveyors' }));
  const header = Buffer.alloc(127);
  header.write('PMTiles');
  header.writeUInt8(3, 7);
  const parts = [directory, metadata, Buffer.alloc(0), tile];
  let at = 127;
  for (const [nth, part] of parts.entries()) {
    header.writeBigUInt64LE(BigInt(at), 8 + nth * 16);
    header.writeBigUInt64LE(BigInt(part.length), 16 + nth * 16);
    at += part.length;
  }
  for (const offset of [72, 80, 88]) header.writeBigUInt64LE(1n, offset);
  header.set([1, 1, 1, 1, z, z], 96);
  for (const [nth, degrees] of [-10, -20, 30, 40].entries()) header.writeInt32LE(degrees * 1e7, 102 + nth * 4);
  header.writeUInt8(z, 118);
  return Buffer.concat([header, ...parts]);
}

let world: World;
beforeAll(async () => {
  mkdirSync(own);
  mkdirSync(shipped);
  writeMbtiles(join(shipped, 'world.mbtiles'), 'shipped');
  writeMbtiles(join(own, 'world.mbtiles'), 'own');
  writeMbtiles(join(shipped, 'sea.mbtiles'), 'sea');
  writeFileSync(join(own, 'region.pmtiles'), pmtiles(3, 4, 2, Buffer.from('tile of the region')));
  writeFileSync(join(own, 'broken.mbtiles'), 'no database');
  writeFileSync(join(own, 'notes.txt'), 'secret');
  writeFileSync(join(own, '.hidden.mbtiles'), '');
  world = await World.open({ mapFolders: [own, join(folder, 'none'), shipped] });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await world.api.fetch(new Request(`http://outrider.test/maps${path}`, { headers }), {
    incoming: { socket: { remoteAddress: '192.0.2.7' } } as never,
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

test('lists the maps, each with its TileJSON; a map of the operator replaces the one that is shipped', async () => {
  const { items, online } = JSON.parse((await get('')).bytes.toString());
  expect(online).toBeNull();
  expect(items.map(({ name }: { name: string }) => name)).toEqual(['broken', 'region', 'world', 'sea']);
  const tileJson = JSON.parse((await get('/world')).bytes.toString());
  expect(tileJson).toEqual({
    tilejson: '3.0.0',
    name: 'own',
    scheme: 'xyz',
    tiles: ['/maps/world/{z}/{x}/{y}'],
    attribution: 'Natural Earth',
    bounds: [-180, -85, 180, 85],
    minzoom: 0,
    maxzoom: 2,
    vector_layers: [{ id: 'land', fields: {} }],
  });
});

test('tiles of MBTiles, counted from the north, as they are stored; unpacked for who takes no gzip', async () => {
  const zipped = await get('/world/2/1/0', { 'accept-encoding': 'gzip, br' });
  expect(gunzipSync(zipped.bytes).toString()).toBe('own 2/1/0');
  expect(zipped.headers.get('content-encoding')).toBe('gzip');
  expect(zipped.headers.get('content-type')).toBe('application/vnd.mapbox-vector-tile');
  const plain = await get('/world/2/1/0');
  expect([plain.bytes.toString(), plain.headers.get('content-encoding')]).toEqual(['own 2/1/0', null]);
  const again = await get('/world/2/1/0', { 'if-none-match': plain.headers.get('etag') ?? '' });
  expect([again.status, again.bytes.length]).toEqual([304, 0]);
  expect((await get('/sea/0/0/0')).bytes.toString()).toBe('sea 0/0/0');
});

test('tiles of PMTiles', async () => {
  expect((await get('/region/3/4/2')).bytes.toString()).toBe('tile of the region');
  expect((await get('/region/3/4/3')).status).toBe(204);
  const tileJson = JSON.parse((await get('/region')).bytes.toString());
  expect(tileJson).toMatchObject({ name: 'Region', attribution: 'Surveyors', minzoom: 3, maxzoom: 3 });
  expect(tileJson.bounds).toEqual([-10, -20, 30, 40]);
});

test('a tile that a map leaves out is empty; an address that can be none is not found', async () => {
  expect((await get('/world/2/3/3')).status).toBe(204);
  for (const path of ['/world/2/4/0', '/world/2/0/4', '/world/25/0/0', '/world/a/0/0', '/world/2/-1/0', '/none/0/0/0'])
    expect((await get(path)).status, path).toBe(404);
});

test('a file that is no map is logged once and serves nothing; others are not served at all', async () => {
  for (let n = 0; n < 3; n += 1) expect((await get('/broken/0/0/0')).status).toBe(404);
  expect(world.logged).toHaveLength(1);
  for (const path of ['/notes', '/notes.txt', '/.hidden', '/..%2fworld', '/../own/notes.txt'])
    expect((await get(path)).bytes.toString(), path).not.toContain('secret');
});

test('tiles need no token and cost no calls', async () => {
  for (let n = 0; n < 70; n += 1) expect((await get('/world/0/0/0')).status).toBe(200);
  expect((await get('/world/0/0/0')).headers.get('ratelimit')).toBeNull();
});
