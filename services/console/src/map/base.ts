import { signal } from '@preact/signals';
import type { LayerSpecification, SourceSpecification, StyleSpecification } from 'maplibre-gl';
import type { Palette } from './style.ts';

/** A map that the service or another server offers. */
export interface MapOffer {
  name: string;
  /** Of the service's own files: where their TileJSON is. */
  tileJson: string | null;
  online: { kind: 'raster' | 'vector' | 'style'; url: string; attribution: string | null } | null;
}

/** What is drawn below everything of the console's own. */
export interface BaseMap {
  sources: Record<string, SourceSpecification>;
  layers: LayerSpecification[];
  /** Of a style's pictures. */
  sprite: string | null;
}

/** The map that is built in. */
export const WORLD = 'world';
export const ONLINE = 'online';
const SOURCE = 'base';

/** Empty until they are known. */
export const maps = signal<readonly MapOffer[]>([]);
let asked: Promise<void> | null = null;

/** Reads once which maps there are; the world is there in any case. */
export function loadMaps(): Promise<void> {
  asked ??= fetch('/maps')
    .then((response) => response.json())
    .then(({ items, online }: { items: { name: string; tileJson: string }[]; online: MapOffer['online'] }) => {
      const files = items.map(({ name, tileJson }) => ({ name, tileJson, online: null }));
      maps.value = online ? [{ name: ONLINE, tileJson: null, online }, ...files] : files;
    })
    .catch(() => {
      // Asked again with the next map.
      asked = null;
    });
  return asked;
}

/** The map to show: the chosen one, else the online map, else null for the world. */
export function chosenMap(offers: readonly MapOffer[], wanted: string | null): MapOffer | null {
  const found = offers.find(({ name }) => name === (wanted ?? ONLINE));
  return found === undefined || found.name === WORLD ? null : found;
}

/** @throws {Error} where the map's own description can't be read */
export async function readBase({ tileJson, online }: MapOffer, colors: Palette): Promise<BaseMap> {
  const attribution = online?.attribution ?? null;
  const credit = attribution === null ? {} : { attribution };
  if (online?.kind === 'style') return styleBase((await readJson(online.url)) as StyleSpecification, credit);
  if (online?.kind === 'raster')
    return rasterBase({ type: 'raster', tiles: [online.url], tileSize: 256, ...credit }, colors);
  if (online !== null)
    // Nothing says which layers it has: those of OpenMapTiles are the most common.
    return vectorBase(
      { type: 'vector', tiles: [online.url], maxzoom: 14, ...credit },
      SCHEMAS.openMapTiles,
      [],
      colors,
    );
  const described = (await readJson(tileJson ?? '')) as TileJson;
  const tiles = described.tiles.map((path) => location.origin + path);
  const { minzoom, maxzoom } = described;
  const own = { tiles, minzoom, maxzoom, ...(described.attribution ? { attribution: described.attribution } : {}) };
  if (described.vector_layers === undefined) return rasterBase({ type: 'raster', tileSize: 256, ...own }, colors);
  const ids = described.vector_layers.map(({ id }) => id);
  return vectorBase({ type: 'vector', ...own }, schemaOf(ids), ids, colors);
}

interface TileJson {
  tiles: string[];
  minzoom: number;
  maxzoom: number;
  attribution?: string;
  vector_layers?: { id: string }[];
}

async function readJson(url: string): Promise<unknown> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}

/** The style's sources and layers under names that are not the console's. */
function styleBase({ sources, layers, sprite }: StyleSpecification, credit: object): BaseMap {
  const named = (name: string) => `${SOURCE}-${name}`;
  return {
    sources: Object.fromEntries(
      Object.entries(sources).map(([name, source]) => [named(name), { ...source, ...credit } as SourceSpecification]),
    ),
    layers: layers.map((layer) => ({
      ...layer,
      id: named(layer.id),
      ...('source' in layer && typeof layer.source === 'string' ? { source: named(layer.source) } : {}),
    })) as LayerSpecification[],
    sprite: typeof sprite === 'string' ? sprite : null,
  };
}

function rasterBase(source: SourceSpecification, colors: Palette): BaseMap {
  return {
    sources: { [SOURCE]: source },
    layers: [background(colors.land), { id: `${SOURCE}-tiles`, type: 'raster', source: SOURCE }],
    sprite: null,
  };
}

/** Which layer of the tiles has what. */
interface Schema {
  /** Land is drawn on water; where the tiles have none, water on land. */
  land: readonly string[];
  green: readonly string[];
  water: readonly string[];
  roads: readonly string[];
  buildings: readonly string[];
  borders: readonly string[];
  places: readonly string[];
}

export const SCHEMAS = {
  protomaps: {
    land: ['earth'],
    green: ['landcover'],
    water: ['water'],
    roads: ['roads'],
    buildings: ['buildings'],
    borders: ['boundaries'],
    places: ['places'],
  },
  shortbread: {
    land: [],
    green: [],
    water: ['ocean', 'water_polygons'],
    roads: ['streets'],
    buildings: ['buildings'],
    borders: ['boundaries'],
    places: ['place_labels'],
  },
  openMapTiles: {
    land: [],
    green: ['park'],
    water: ['water'],
    roads: ['transportation'],
    buildings: ['building'],
    borders: ['boundary'],
    places: ['place'],
  },
} as const satisfies Record<string, Schema>;

/** By the layers that the tiles declare; null: none that is known. */
export function schemaOf(ids: readonly string[]): Schema | null {
  const known = [
    ['earth', SCHEMAS.protomaps],
    ['streets', SCHEMAS.shortbread],
    ['transportation', SCHEMAS.openMapTiles],
  ] as const;
  return known.find(([id]) => ids.includes(id))?.[1] ?? null;
}

/** Tiles in the console's colours; of an unknown kind every layer as lines. */
export function vectorBase(
  source: SourceSpecification,
  schema: Schema | null,
  ids: readonly string[],
  colors: Palette,
): BaseMap {
  const sources = { [SOURCE]: source };
  const layer = (id: string) => ({ id: `${SOURCE}-${id}`, source: SOURCE, 'source-layer': id });
  const fills = (names: readonly string[], color: string, opacity = 1): LayerSpecification[] =>
    names.map((id) => ({
      ...layer(id),
      type: 'fill',
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': color, 'fill-opacity': opacity },
    }));
  const lines = (names: readonly string[], color: string, width: unknown, dash?: number[]): LayerSpecification[] =>
    names.map((id) => ({
      ...layer(id),
      type: 'line',
      paint: { 'line-color': color, 'line-width': width as number, ...(dash ? { 'line-dasharray': dash } : {}) },
    }));
  if (schema === null)
    return { sources, layers: [background(colors.land), ...lines(ids, colors.coast, 1)], sprite: null };
  const roadWidth = ['interpolate', ['exponential', 1.6], ['zoom'], 5, 0.4, 12, 1.2, 16, 6];
  return {
    sources,
    layers: [
      background(schema.land.length > 0 ? colors.sea : colors.land),
      ...fills(schema.land, colors.land),
      ...fills(schema.green, colors.green, 0.5),
      ...fills(schema.water, colors.sea),
      ...fills(schema.buildings, colors.coast, 0.35),
      ...lines(schema.roads, colors.road, roadWidth),
      ...lines(schema.borders, colors.border, 1, [3, 2]),
      ...schema.places.map(
        (id): LayerSpecification => ({
          ...layer(id),
          type: 'symbol',
          layout: {
            'text-field': ['get', 'name'],
            'text-font': ['Noto Sans Regular'],
            'text-size': 12,
            'text-padding': 6,
          },
          paint: { 'text-color': colors.city, 'text-halo-color': colors.halo, 'text-halo-width': 1 },
        }),
      ),
    ],
    sprite: null,
  };
}

function background(color: string): LayerSpecification {
  return { id: `${SOURCE}-background`, type: 'background', paint: { 'background-color': color } };
}
