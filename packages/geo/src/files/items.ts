import { FileError, type FileFeature, type FileGeometry, MAX_FILE_SHAPES } from './feature.ts';

/** Default name and sizes for shapes that have none in the file. */
export interface ItemDefaults {
  name: string;
  /** Where null, shapes without a size of their own are left out. */
  radiusM: number | null;
  widthM: number | null;
}

/** A shape of a file. */
export interface FileItem {
  name: string;
  /** Feature for an import, whose values are not validated yet. Null: it can't be a geofence. */
  feature: object | null;
  /** Type of a geometry that can't be a geofence. */
  unsupported: string | null;
  /** Missing size of a point or a line, which has no default either: the shape is left out. */
  lacks: 'radiusM' | 'widthM' | null;
  /** Names of unknown properties, which are left out. */
  ignored: string[];
}

const SHAPES: Readonly<Record<string, string>> = {
  Polygon: 'polygon',
  MultiPolygon: 'multipolygon',
  Point: 'circle',
  LineString: 'line',
};
/** Nesting depth of coordinate arrays. Deeper ones are left for the import to reject. */
const DEPTHS: Readonly<Record<string, number>> = { Point: 0, LineString: 1, Polygon: 2, MultiPolygon: 3 };
/** Limit on collections nested in collections. */
const MAX_DEPTH = 16;

/** Properties to read: of several names, the first with a value counts. */
const NAMES = {
  name: ['name', 'Name', 'NAME', 'title'],
  description: ['description', 'desc', 'Description'],
  color: ['color', 'stroke', 'fill', 'marker-color'],
  radiusM: ['radiusM', 'radius'],
  widthM: ['widthM', 'width'],
  speedLimitKmh: ['speedLimitKmh'],
  minDwellSeconds: ['minDwellSeconds'],
  category: ['category'],
  groupIds: ['groupIds'],
  sharedGroupIds: ['sharedGroupIds'],
  sharedWithOrganisation: ['sharedWithOrganisation'],
  externalId: ['externalId'],
  customAttributes: ['customAttributes'],
} as const;
/** Properties that exports add and that are ignored on import. */
const COMPUTED = ['shape', 'ownerId', 'areaM2', 'perimeterM', 'id', 'longitude', 'latitude'];
const KNOWN: ReadonlySet<string> = new Set([...Object.values(NAMES).flat(), ...COMPUTED]);

/**
 * Converts features to geofences. A collection of shapes becomes several geofences, and each gets a unique name.
 *
 * @throws {FileError} when there are too many
 */
export function itemsOf(features: readonly FileFeature[], defaults: ItemDefaults): FileItem[] {
  const uniqueName = uniqueNames();
  const items: FileItem[] = [];
  for (const feature of features) {
    const { geometry, properties } = feature;
    const shapes = [...shapesOf(circleIn(feature) ?? geometry, 0)];
    const isOne = shapes.length === 1 && geometry?.type !== 'GeometryCollection';
    const ignored = Object.keys(properties).filter((name) => !KNOWN.has(name) && properties[name] != null);
    for (const shape of shapes) {
      if (items.length === MAX_FILE_SHAPES) throw new FileError(`It has more than ${MAX_FILE_SHAPES} shapes.`);
      const name = uniqueName((textIn(properties, NAMES.name) ?? defaults.name).slice(0, 180));
      const isShape = shape.type in SHAPES;
      const lacks = lackOf(shape, properties, defaults);
      items.push({
        name,
        feature:
          isShape && lacks === null ? featureOf(shape, isOne ? feature : null, name, properties, defaults) : null,
        unsupported: isShape ? null : shape.type,
        lacks,
        ignored,
      });
    }
  }
  return items;
}

/** Appends a number to names that were used before. */
function uniqueNames(): (wanted: string) => string {
  const taken = new Map<string, number>();
  return (wanted) => {
    let name = wanted;
    for (let number = taken.get(wanted) ?? 1; taken.has(name); ) {
      number += 1;
      taken.set(wanted, number);
      name = `${wanted} ${number}`;
    }
    if (!taken.has(name)) taken.set(name, 1);
    return name;
  };
}

type Shape = { type: string; coordinates: unknown };

/** The parts that can be geofences. A MultiPolygon stays one shape of several areas. */
function* shapesOf(geometry: FileGeometry | null, depth: number): Generator<Shape> {
  if (geometry === null || typeof geometry !== 'object') return;
  if ('geometries' in geometry) {
    if (depth === MAX_DEPTH) throw new FileError(`It nests collections more than ${MAX_DEPTH} deep.`);
    for (const part of geometry.geometries) yield* shapesOf(part, depth + 1);
    return;
  }
  const { type, coordinates } = geometry;
  const parts = Array.isArray(coordinates) ? coordinates : [];
  if (type === 'MultiPolygon' && parts.length === 1) yield { type: 'Polygon', coordinates: parts[0] };
  else if (type === 'MultiLineString') for (const part of parts) yield { type: 'LineString', coordinates: part };
  else if (type === 'MultiPoint') for (const part of parts) yield { type: 'Point', coordinates: part };
  else yield { type, coordinates };
}

/** The circle behind a polygon from this service's KML export. */
function circleIn({ properties }: FileFeature): FileGeometry | null {
  const [longitude, latitude] = [numberIn(properties, ['longitude']), numberIn(properties, ['latitude'])];
  if (properties.shape !== 'circle' || longitude === null || latitude === null) return null;
  return { type: 'Point', coordinates: [longitude, latitude] };
}

function lackOf({ type }: Shape, properties: FileFeature['properties'], defaults: ItemDefaults): FileItem['lacks'] {
  const size = type === 'Point' ? 'radiusM' : type === 'LineString' ? 'widthM' : null;
  return size === null || (positiveIn(properties, NAMES[size]) ?? defaults[size]) !== null ? null : size;
}

/** @param whole the feature whose only shape it is; null if the feature has several, which can't share its ids */
function featureOf(
  { type, coordinates }: Shape,
  whole: FileFeature | null,
  name: string,
  properties: FileFeature['properties'],
  { radiusM, widthM }: ItemDefaults,
): object {
  const positive = (names: readonly string[]) => positiveIn(properties, names);
  const color = NAMES.color.map((one) => properties[one]).find((value) => /^#[0-9a-f]{6}$/i.test(String(value)));
  const shared = properties.sharedWithOrganisation;
  return {
    type: 'Feature',
    ...(whole === null || whole.id === null ? {} : { id: whole.id }),
    geometry: { type, coordinates: flat(coordinates, DEPTHS[type] ?? 0) },
    properties: {
      shape: SHAPES[type],
      name,
      ...(type === 'Point' && { radiusM: positive(NAMES.radiusM) ?? radiusM }),
      ...(type === 'LineString' && { widthM: positive(NAMES.widthM) ?? widthM }),
      speedLimitKmh: positive(NAMES.speedLimitKmh),
      minDwellSeconds: positive(NAMES.minDwellSeconds) ?? 0,
      color: color === undefined ? null : String(color).toLowerCase(),
      description: textIn(properties, NAMES.description)?.slice(0, 2000) ?? null,
      category: textIn(properties, NAMES.category)?.slice(0, 100) ?? null,
      groupIds: listIn(properties.groupIds),
      sharedWithOrganisation: shared === true || shared === 'true',
      sharedGroupIds: listIn(properties.sharedGroupIds) ?? [],
      externalId: whole && textIn(properties, NAMES.externalId),
      customAttributes: objectIn(properties.customAttributes) ?? {},
    },
  };
}

/** Removes altitudes. */
function flat(part: unknown, depth: number): unknown {
  if (!Array.isArray(part)) return part;
  return depth === 0 ? part.slice(0, 2) : part.map((each) => flat(each, depth - 1));
}

function textIn(properties: FileFeature['properties'], names: readonly string[]): string | null {
  for (const name of names) {
    const value = properties[name];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
}

function numberIn(properties: FileFeature['properties'], names: readonly string[]): number | null {
  for (const name of names) {
    const value = properties[name];
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
  }
  return null;
}

function positiveIn(properties: FileFeature['properties'], names: readonly string[]): number | null {
  const value = numberIn(properties, names);
  return value !== null && value > 0 ? value : null;
}

/** An object, which KML has as JSON in a text. */
function objectIn(value: unknown): object | null {
  try {
    const object: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return typeof object === 'object' && object !== null && !Array.isArray(object) ? object : null;
  } catch {
    return null;
  }
}

/** Ids in a list property: KML has them as text, QGIS may have them as JSON in a text. */
function listIn(value: unknown): unknown[] | null {
  if (typeof value === 'string' && /^\s*\[/.test(value)) return value.match(/[0-9a-f-]{36}/gi) ?? [];
  if (typeof value === 'string' && value.trim() !== '') return value.trim().split(/\s+/);
  return Array.isArray(value) ? value : null;
}
