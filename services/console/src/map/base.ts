import { signal } from '@preact/signals';
import type { LayerSpecification, SourceSpecification, StyleSpecification } from 'maplibre-gl';
import type { Palette } from './style.ts';

/** A map that the service or another server offers. */
export interface MapOffer {
  name: string;
  /** For a file of the service: the address of its TileJSON. */
  tileJson: string | null;
  online: { kind: 'raster' | 'vector' | 'style'; url: string; attribution: string | null } | null;
}

/** Sources and layers below everything that the console draws itself. */
export interface BaseMap {
  sources: Record<string, SourceSpecification>;
  layers: LayerSpecification[];
  /** Address of the style's sprite. */
  sprite: string | null;
  /**
   * Lowest zoom at which the map is drawn over the world map, which stays around it. Null: it replaces the world map.
   */
  overWorldFrom: number | null;
}

/** The built-in map. */
export const WORLD = 'world';
export const ONLINE = 'online';
const SOURCE = 'base';

/** Empty until loaded. */
export const maps = signal<readonly MapOffer[]>([]);
let asked: Promise<void> | null = null;

/** Loads the list of available maps once. The world map is always available. */
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

/** The map to show: the chosen one, else the online map, else the first file of a region, else null for the world. */
export function chosenMap(offers: readonly MapOffer[], wanted: string | null): MapOffer | null {
  if (wanted === WORLD) return null;
  const others = offers.filter(({ name }) => name !== WORLD);
  return others.find(({ name }) => name === (wanted ?? ONLINE)) ?? others[0] ?? null;
}

/** @throws {Error} where the map's own description can't be read */
export async function readBase({ tileJson, online }: MapOffer, colors: Palette): Promise<BaseMap> {
  const attribution = online?.attribution ?? null;
  const credit = attribution === null ? {} : { attribution };
  if (online?.kind === 'style') return styleBase((await readJson(online.url)) as StyleSpecification, credit);
  if (online?.kind === 'raster')
    return rasterBase({ type: 'raster', tiles: [online.url], tileSize: 256, ...credit }, colors);
  if (online !== null)
    // The layers of such tiles are not declared. Those of OpenMapTiles are the most common.
    return vectorBase(
      { type: 'vector', tiles: [online.url], maxzoom: 14, ...credit },
      SCHEMAS.openMapTiles,
      [],
      colors,
    );
  const described = (await readJson(tileJson ?? '')) as TileJson;
  const tiles = described.tiles.map((path) => location.origin + path);
  const { minzoom, maxzoom } = described;
  const { bounds = WHOLE } = described;
  const own = { tiles, minzoom, maxzoom, bounds, ...(described.attribution && { attribution: described.attribution }) };
  const ids = described.vector_layers?.map(({ id }) => id);
  const base =
    ids === undefined
      ? rasterBase({ type: 'raster', tileSize: 256, ...own }, colors)
      : vectorBase({ type: 'vector', ...own }, schemaOf(ids), ids, colors);
  return bounds[2] - bounds[0] > 350 ? base : overWorld(base, bounds, minzoom);
}

type Bounds = [west: number, south: number, east: number, north: number];
const WHOLE: Bounds = [-180, -85.0511, 180, 85.0511];

interface TileJson {
  tiles: string[];
  minzoom: number;
  maxzoom: number;
  bounds?: Bounds;
  attribution?: string;
  vector_layers?: { id: string }[];
}

async function readJson(url: string): Promise<unknown> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}

/** Restricts a regional map to its region: its background covers the region, not the world. */
export function overWorld(base: BaseMap, [west, south, east, north]: Bounds, minzoom: number): BaseMap {
  const source = `${SOURCE}-region`;
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  const data: GeoJSON.Polygon = { type: 'Polygon', coordinates: [ring] };
  return {
    ...base,
    sources: { ...base.sources, [source]: { type: 'geojson', data } },
    layers: base.layers.map((layer) =>
      layer.type === 'background'
        ? {
            ...{ id: layer.id, type: 'fill', source, minzoom },
            paint: { 'fill-color': layer.paint?.['background-color'] as string, 'fill-antialias': false },
          }
        : layer,
    ),
    overWorldFrom: minzoom,
  };
}

/** The style's sources and layers, renamed so that they cannot collide with the console's. */
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
    overWorldFrom: null,
  };
}

function rasterBase(source: SourceSpecification, colors: Palette): BaseMap {
  return {
    sources: { [SOURCE]: source },
    layers: [background(colors.land), { id: `${SOURCE}-tiles`, type: 'raster', source: SOURCE }],
    sprite: null,
    overWorldFrom: null,
  };
}

/** Names of the tile layers by their content. */
interface Schema {
  /** Land is drawn on water; if the tiles have no land layer, water on land. */
  land: readonly string[];
  /** Areas of all kinds: parks and woods are drawn green, quarters as built up. */
  areas: readonly string[];
  water: readonly string[];
  roads: readonly string[];
  /** Lines with street names. */
  roadNames: readonly string[];
  buildings: readonly string[];
  borders: readonly string[];
  places: readonly string[];
}

export const SCHEMAS = {
  protomaps: {
    land: ['earth'],
    areas: ['landcover', 'landuse'],
    water: ['water'],
    roads: ['roads'],
    roadNames: ['roads'],
    buildings: ['buildings'],
    borders: ['boundaries'],
    places: ['places'],
  },
  shortbread: {
    land: [],
    areas: ['land'],
    water: ['ocean', 'water_polygons'],
    roads: ['streets'],
    roadNames: ['street_labels'],
    buildings: ['buildings'],
    borders: ['boundaries'],
    places: ['place_labels'],
  },
  openMapTiles: {
    land: [],
    areas: ['landcover', 'landuse', 'park'],
    water: ['water'],
    roads: ['transportation'],
    roadNames: ['transportation_name'],
    buildings: ['building'],
    borders: ['boundary'],
    places: ['place'],
  },
} as const satisfies Record<string, Schema>;

/**
 * The three schemas name the kind of a feature differently: `kind` in Protomaps and Shortbread, `class` in
 * OpenMapTiles.
 */
const KIND = ['coalesce', ['get', 'kind'], ['get', 'class'], ''];
const isOneOf = (kinds: readonly string[]) => ['in', KIND, ['literal', kinds]];
const GREEN = isOneOf([
  ...['forest', 'wood', 'scrub', 'grass', 'grassland', 'meadow', 'heath', 'orchard', 'vineyard', 'garden', 'park'],
  ...['public_park', 'village_green', 'recreation_ground', 'golf_course', 'cemetery', 'allotments'],
  ...['national_park', 'nature_reserve', 'protected_area'],
]);
const BUILT_UP = isOneOf([
  'residential',
  'commercial',
  'industrial',
  'retail',
  'suburb',
  'neighbourhood',
  'urban_area',
]);
const MAJOR = isOneOf(['motorway', 'trunk', 'primary', 'highway', 'major_road']);
const MEDIUM = isOneOf(['secondary', 'tertiary', 'medium_road']);
const PATH = isOneOf(['path', 'footway', 'cycleway', 'steps', 'track', 'bridleway', 'pedestrian', 'ferry', 'rail']);

/** Width of a street in pixels, by its class. */
const roadWidth = (edgePx: number) => {
  const byClass = (major: number, medium: number, minor: number, path: number) => [
    ...['case', MAJOR, major + edgePx, MEDIUM, medium + edgePx, PATH, path],
    minor + edgePx,
  ];
  return [
    ...['interpolate', ['exponential', 1.5], ['zoom']],
    ...[6, byClass(0.6, 0.2, 0, 0), 10, byClass(1.8, 0.9, 0.3, 0), 13, byClass(4, 2.6, 1.5, 0.3)],
    ...[16, byClass(12, 9, 6.5, 1.2), 20, byClass(70, 56, 44, 8)],
  ];
};

/** Detects the schema by the layers that the tiles declare; null: unknown. */
export function schemaOf(ids: readonly string[]): Schema | null {
  const known = [
    ['earth', SCHEMAS.protomaps],
    ['streets', SCHEMAS.shortbread],
    ['transportation', SCHEMAS.openMapTiles],
  ] as const;
  return known.find(([id]) => ids.includes(id))?.[1] ?? null;
}

/** Draws vector tiles in the console's colours. With an unknown schema, every layer is drawn as lines. */
export function vectorBase(
  source: SourceSpecification,
  schema: Schema | null,
  ids: readonly string[],
  colors: Palette,
): BaseMap {
  const sources = { [SOURCE]: source };
  // Several layers of the style may draw one layer of the tiles.
  const layer = (id: string, part: string) => ({ id: `${SOURCE}-${part}-${id}`, source: SOURCE, 'source-layer': id });
  const fills = (names: readonly string[], part: string, color: string, filter?: unknown): LayerSpecification[] =>
    names.map((id) => ({
      ...layer(id, part),
      type: 'fill',
      filter: ['all', ['==', ['geometry-type'], 'Polygon'], ...(filter ? [filter] : [])] as never,
      paint: { 'fill-color': color },
    }));
  const lines = (names: readonly string[], part: string, paint: Record<string, unknown>): LayerSpecification[] =>
    names.map((id) => ({ ...layer(id, part), type: 'line', layout: ROUND, paint }));
  const texts = (names: readonly string[], part: string, rest: Record<string, unknown>): LayerSpecification[] =>
    names.map((id) => ({
      ...layer(id, part),
      type: 'symbol',
      layout: { 'text-field': ['get', 'name'], 'text-font': ['Noto Sans Regular'], 'text-padding': 6, ...rest },
      paint: { 'text-color': colors.city, 'text-halo-color': colors.halo, 'text-halo-width': 1.2 },
    }));
  if (schema === null)
    return {
      sources,
      layers: [background(colors.land), ...lines(ids, 'lines', { 'line-color': colors.coast, 'line-width': 1 })],
      sprite: null,
      overWorldFrom: null,
    };
  const fromZoom = (minzoom: number, layers: LayerSpecification[]) => layers.map((each) => ({ ...each, minzoom }));
  return {
    sources,
    layers: [
      background(schema.land.length > 0 ? colors.sea : colors.land),
      ...fills(schema.land, 'land', colors.land),
      ...fills(schema.areas, 'built-up', colors.builtUp, BUILT_UP),
      ...fills(schema.areas, 'green', colors.green, GREEN),
      ...fills(schema.water, 'water', colors.sea),
      ...fromZoom(13, fills(schema.buildings, 'buildings', colors.building)),
      ...fromZoom(
        11,
        lines(schema.roads, 'road-edges', { 'line-color': colors.roadEdge, 'line-width': roadWidth(1.6) }),
      ),
      ...lines(schema.roads, 'roads', {
        'line-color': ['case', MAJOR, colors.majorRoad, colors.road],
        'line-width': roadWidth(0),
      }),
      ...lines(schema.borders, 'borders', {
        ...{ 'line-color': colors.border, 'line-width': 1, 'line-dasharray': [3, 2] },
      }),
      ...fromZoom(12, texts(schema.roadNames, 'road-names', { 'symbol-placement': 'line', 'text-size': 11 })),
      ...texts(schema.places, 'places', { 'text-size': 13 }),
    ],
    sprite: null,
    overWorldFrom: null,
  };
}

const ROUND = { 'line-cap': 'round', 'line-join': 'round' } as const;

function background(color: string): LayerSpecification {
  return { id: `${SOURCE}-background`, type: 'background', paint: { 'background-color': color } };
}
