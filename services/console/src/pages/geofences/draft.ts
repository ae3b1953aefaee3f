import type { Geozone, GeozonePatch, NewGeozone } from '@outrider/client';
import { circle } from '../../map/shapes.ts';

const EARTH_RADIUS_M = 6_371_008.8;
const RADIANS = Math.PI / 180;
/** About a centimetre; the drawing tool takes no more digits than nine. */
const DIGITS = 7;

type Geometry = Geozone['geometry'];
type Point = readonly [longitude: number, latitude: number];

/** A geofence as its form has it: numbers as they were typed. */
export interface Draft {
  /** Null: a new one. */
  id: string | null;
  etag: string | null;
  shape: 'polygon' | 'circle' | 'line';
  /** Null until it is drawn. */
  geometry: Geometry | null;
  name: string;
  radiusM: string;
  widthM: string;
  speedLimitKmh: string;
  minDwellSeconds: string;
}

export function newDraft(shape: 'polygon' | 'circle'): Draft {
  const numbers = { radiusM: '', widthM: '', speedLimitKmh: '', minDwellSeconds: '0' };
  return { id: null, etag: null, shape, geometry: null, name: '', ...numbers };
}

export function draftOf({ id, geometry, properties }: Geozone, etag: string | null): Draft {
  const { shape, name, radiusM, widthM, speedLimitKmh, minDwellSeconds } = properties;
  const text = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value));
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
  };
}

/** What the API is sent; null while nothing is drawn. What is no number is left to the API to refuse. */
export function bodyOf(draft: Draft): (NewGeozone & GeozonePatch) | null {
  const { shape, geometry, name, radiusM, widthM, speedLimitKmh, minDwellSeconds } = draft;
  if (geometry === null) return null;
  const properties = {
    shape,
    name: name.trim(),
    ...(shape === 'circle' ? { radiusM: Number(radiusM) } : {}),
    ...(shape === 'line' ? { widthM: Number(widthM) } : {}),
    speedLimitKmh: speedLimitKmh.trim() === '' ? null : Number(speedLimitKmh),
    minDwellSeconds: Number(minDwellSeconds),
  };
  return { type: 'Feature', geometry, properties };
}

/**
 * The area that the drawing tool edits; null for what it can't: lines, polygons with holes, circles without a radius.
 */
export function editableArea({ shape, geometry, radiusM }: Draft): GeoJSON.Polygon | null {
  if (geometry?.type === 'Point') {
    const metres = Number(radiusM);
    return metres > 0 ? rounded(circle(geometry.coordinates, metres)) : null;
  }
  if (shape !== 'polygon' || geometry?.type !== 'Polygon' || geometry.coordinates.length !== 1) return null;
  return rounded(geometry as GeoJSON.Polygon);
}

/** The draft with what was drawn: a ring, or for a circle its centre and radius. */
export function withArea(draft: Draft, area: GeoJSON.Polygon): Draft {
  const ring = (area.coordinates[0] ?? []) as unknown as Point[];
  if (draft.shape !== 'circle') return { ...draft, geometry: { type: 'Polygon', coordinates: [ring] } as Geometry };
  const centre = centreOf(ring);
  const metres = ring.reduce((sum, point) => sum + distanceM(centre, point), 0) / Math.max(1, ring.length);
  return { ...draft, geometry: { type: 'Point', coordinates: centre } as Geometry, radiusM: metres.toFixed(1) };
}

function rounded({ coordinates }: GeoJSON.Polygon): GeoJSON.Polygon {
  const round = (value: number) => Number(value.toFixed(DIGITS));
  return { type: 'Polygon', coordinates: coordinates.map((ring) => ring.map((point) => point.map(round))) };
}

function centreOf(ring: readonly Point[]): [number, number] {
  const middle = (values: number[]) => Number(((Math.min(...values) + Math.max(...values)) / 2).toFixed(DIGITS));
  return [middle(ring.map(([longitude]) => longitude)), middle(ring.map(([, latitude]) => latitude))];
}

function distanceM([fromX, fromY]: Point, [toX, toY]: Point): number {
  const half = (degrees: number) => Math.sin((degrees * RADIANS) / 2) ** 2;
  const chord = half(toY - fromY) + Math.cos(fromY * RADIANS) * Math.cos(toY * RADIANS) * half(toX - fromX);
  return 2 * EARTH_RADIUS_M * Math.asin(Math.sqrt(chord));
}
