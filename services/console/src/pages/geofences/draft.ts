import type { Geozone, GeozonePatch, NewGeozone } from '@outrider/client';
import { type CustomAttributes, type CustomDraft, customPatch } from '../../custom-fields/attributes.ts';
import { metresBetween } from '../../fleet/mercator.ts';
import { circle } from '../../map/shapes.ts';

/** About a centimetre; the drawing tool accepts at most nine digits. */
const DIGITS = 7;

type Geometry = Geozone['geometry'];
type Point = readonly [longitude: number, latitude: number];

/** Form state of a geofence, with numbers as they were typed. */
export interface Draft extends CustomDraft {
  /** Null: a new one. */
  id: string | null;
  etag: string | null;
  shape: 'polygon' | 'multipolygon' | 'circle' | 'line';
  /** Null until it is drawn. */
  geometry: Geometry | null;
  name: string;
  radiusM: string;
  widthM: string;
  speedLimitKmh: string;
  minDwellSeconds: string;
  /** Null: the map's default colour. */
  color: string | null;
  description: string;
  /** Null: watches all vehicles that its owner may see. */
  groupIds: readonly string[] | null;
  category: string;
  sharedWithOrganisation: boolean;
  sharedGroupIds: readonly string[];
  /** Null: a new one. */
  ownerId: string | null;
  /** Attributes as they were read. */
  attributesBefore: CustomAttributes;
}

const NEW_WIDTH_M = '50';
const NO_CUSTOM_FIELDS = { externalId: null, customAttributes: {}, attributesBefore: {} };

export function newDraft(shape: Draft['shape']): Draft {
  const numbers = { radiusM: '', widthM: shape === 'line' ? NEW_WIDTH_M : '', speedLimitKmh: '', minDwellSeconds: '0' };
  const rest = { color: null, description: '', groupIds: null, category: '', ownerId: null };
  const sharing = { sharedWithOrganisation: false, sharedGroupIds: [] };
  return {
    id: null,
    etag: null,
    shape,
    geometry: null,
    name: '',
    ...numbers,
    ...rest,
    ...sharing,
    ...NO_CUSTOM_FIELDS,
  };
}

export function draftOf({ id, geometry, properties }: Geozone, etag: string | null): Draft {
  const { shape, name, radiusM, widthM, speedLimitKmh, minDwellSeconds, color, description, groupIds } = properties;
  const { category, sharedWithOrganisation, sharedGroupIds, ownerId, externalId, customAttributes } = properties;
  const text = (value: number | string | null | undefined) =>
    value === null || value === undefined ? '' : String(value);
  return {
    id,
    etag,
    shape,
    geometry,
    name,
    radiusM: text(radiusM),
    widthM: text(widthM),
    speedLimitKmh: text(speedLimitKmh),
    minDwellSeconds: text(minDwellSeconds),
    color,
    description: text(description),
    groupIds,
    category: text(category),
    sharedWithOrganisation,
    sharedGroupIds,
    ownerId,
    externalId,
    customAttributes,
    attributesBefore: customAttributes,
  };
}

/** Body for the API; null while nothing is drawn. Invalid numbers are passed on for the API to refuse. */
export function bodyOf(draft: Draft): (NewGeozone & GeozonePatch) | null {
  const { shape, geometry, name, radiusM, widthM, speedLimitKmh, minDwellSeconds } = draft;
  const { color, description, groupIds, category, sharedWithOrganisation, sharedGroupIds } = draft;
  if (geometry === null) return null;
  const properties = {
    shape,
    name: name.trim(),
    ...(shape === 'circle' ? { radiusM: Number(radiusM) } : {}),
    ...(shape === 'line' ? { widthM: Number(widthM) } : {}),
    speedLimitKmh: speedLimitKmh.trim() === '' ? null : Number(speedLimitKmh),
    minDwellSeconds: Number(minDwellSeconds),
    color,
    description: description.trim() === '' ? null : description.trim(),
    groupIds: groupIds === null ? null : [...groupIds],
    category: category.trim() === '' ? null : category.trim(),
    sharedWithOrganisation,
    sharedGroupIds: [...sharedGroupIds],
    externalId: draft.externalId,
    ...customPatch(draft.attributesBefore, { customAttributes: draft.customAttributes }),
  };
  // A new geofence has no attributes to remove, so its patch contains exactly its attributes.
  return { type: 'Feature', geometry, properties } as NewGeozone & GeozonePatch;
}

/** What the drawing tool edits: a ring, or a line. */
export type Drawn = GeoJSON.Polygon | GeoJSON.LineString;

/**
 * Geometry for the drawing tool; null for what it cannot edit: several polygons, holes, or a circle without a radius.
 */
export function editableArea({ shape, geometry, radiusM }: Draft): Drawn | null {
  if (geometry?.type === 'LineString')
    return { type: 'LineString', coordinates: geometry.coordinates.map((point) => point.map(round)) };
  if (geometry?.type === 'Point') {
    const metres = Number(radiusM);
    return metres > 0 ? rounded(circle(geometry.coordinates, metres)) : null;
  }
  if (shape !== 'polygon' || geometry?.type !== 'Polygon' || geometry.coordinates.length !== 1) return null;
  return rounded(geometry as GeoJSON.Polygon);
}

/** The draft with the drawn geometry: a line, a ring, or for a circle its centre and radius. */
export function withArea(draft: Draft, area: Drawn): Draft {
  if (area.type === 'LineString') return { ...draft, geometry: area as Geometry };
  const ring = (area.coordinates[0] ?? []) as unknown as Point[];
  if (draft.shape !== 'circle') return { ...draft, geometry: { type: 'Polygon', coordinates: [ring] } as Geometry };
  const centre = centreOf(ring);
  const metres = ring.reduce((sum, point) => sum + metresBetween(centre, point), 0) / Math.max(1, ring.length);
  return { ...draft, geometry: { type: 'Point', coordinates: centre } as Geometry, radiusM: metres.toFixed(1) };
}

function round(value: number): number {
  return Number(value.toFixed(DIGITS));
}

function rounded({ coordinates }: GeoJSON.Polygon): GeoJSON.Polygon {
  return { type: 'Polygon', coordinates: coordinates.map((ring) => ring.map((point) => point.map(round))) };
}

function centreOf(ring: readonly Point[]): [number, number] {
  const middle = (values: number[]) => Number(((Math.min(...values) + Math.max(...values)) / 2).toFixed(DIGITS));
  return [middle(ring.map(([longitude]) => longitude)), middle(ring.map(([, latitude]) => latitude))];
}

/** Line that separates polygons. */
const POLYGON_BREAK = '---';

/** Formats a geometry as text: `latitude, longitude` per line, an empty line before a hole, `---` between polygons. */
export function coordinatesText(geometry: Geometry | null): string {
  const line = ([longitude, latitude]: Point) => `${round(latitude)}, ${round(longitude)}`;
  if (geometry === null) return '';
  if (geometry.type === 'Point') return line(geometry.coordinates);
  if (geometry.type === 'LineString') return geometry.coordinates.map(line).join('\n');
  // The closing point of a ring, which repeats the first one, is omitted.
  const polygon = (rings: readonly (readonly Point[])[]) =>
    rings.map((ring) => ring.slice(0, -1).map(line).join('\n')).join('\n\n');
  if (geometry.type === 'Polygon') return polygon(geometry.coordinates);
  return geometry.coordinates.map(polygon).join(`\n${POLYGON_BREAK}\n`);
}

/**
 * Parses the geometry from such a text. Otherwise returns the number of the wrong line, from 1, or 0 for too few
 * points.
 */
export function geometryOfText(text: string, shape: Draft['shape']): Geometry | { line: number } {
  const polygons: [number, number][][][] = [[[]]];
  for (const [index, line] of text.split('\n').entries()) {
    const rings = polygons.at(-1) ?? [];
    if (line.trim() === POLYGON_BREAK) {
      polygons.push([[]]);
      continue;
    }
    if (line.trim() === '') {
      if (rings.at(-1)?.length !== 0) rings.push([]);
      continue;
    }
    const [latitude = Number.NaN, longitude = Number.NaN, ...more] = line
      .split(/[,;\s]+/)
      .filter(Boolean)
      .map(Number);
    const isPlace = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && more.length === 0;
    if (!isPlace) return { line: index + 1 };
    rings.at(-1)?.push([longitude, latitude]);
  }
  const drawn = polygons.map((rings) => rings.filter((ring) => ring.length > 0)).filter(({ length }) => length > 0);
  const [[first = []] = []] = drawn;
  const [point] = first;
  if (shape === 'circle') return point === undefined ? { line: 0 } : { type: 'Point', coordinates: point };
  if (shape === 'line') return first.length < 2 ? { line: 0 } : { type: 'LineString', coordinates: first };
  if (drawn.length === 0 || drawn.flat().some((ring) => ring.length < 3)) return { line: 0 };
  const closed = drawn.map((rings) => rings.map((ring) => [...ring, ...ring.slice(0, 1)]));
  const [only = [], ...others] = closed;
  return others.length === 0 ? { type: 'Polygon', coordinates: only } : { type: 'MultiPolygon', coordinates: closed };
}

const SHAPES = { Polygon: 'polygon', MultiPolygon: 'multipolygon', Point: 'circle', LineString: 'line' } as const;

/** The shape that a geometry represents. */
export function shapeOf(geometry: Geometry): Draft['shape'] {
  return SHAPES[geometry.type];
}
