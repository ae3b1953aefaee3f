import type { LngLat, Shape } from '@outrider/domain';

/** Width of a line without one in Traccar: its own default distance of 25 m to either side. */
const DEFAULT_WIDTH_M = 50;
const NUMBER = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`;
const POINT = new RegExp(`^(${NUMBER})\\s+(${NUMBER})$`);
const CIRCLE = new RegExp(`^CIRCLE\\s*\\(\\s*(${NUMBER})\\s+(${NUMBER})\\s*,\\s*(${NUMBER})\\s*\\)$`, 'i');
const RINGS = /^POLYGON\s*\(\s*(\(.*\))\s*\)$/is;
const LINE = /^LINESTRING\s*\(([^()]*)\)$/is;

/**
 * A shape in Traccar's format for areas of geofences: Well-Known Text, but with latitude before longitude, and with
 * `CIRCLE`. The width of a line is not included, and of several polygons only the first is.
 */
export function traccarArea(shape: Shape): string {
  switch (shape.type) {
    case 'circle':
      return `CIRCLE (${point(shape.center)}, ${shape.radiusM})`;
    case 'line':
      return `LINESTRING (${points(shape.path)})`;
    case 'polygon':
      return polygon(shape.rings);
    case 'multipolygon':
      return polygon(shape.polygons[0] ?? []);
  }
}

/**
 * Parses a shape in Traccar's format for areas, without validating it further.
 *
 * @param widthM of a line
 * @returns null for anything but `CIRCLE`, `POLYGON` and `LINESTRING`
 */
export function shapeOfTraccarArea(area: string, widthM = DEFAULT_WIDTH_M): Shape | null {
  const text = area.trim();
  const [, latitude, longitude, radius] = CIRCLE.exec(text) ?? [];
  if (radius !== undefined)
    return { type: 'circle', center: [Number(longitude), Number(latitude)], radiusM: Number(radius) };
  const [, line] = LINE.exec(text) ?? [];
  if (line !== undefined) {
    const path = readPoints(line);
    return path && { type: 'line', path, widthM };
  }
  const [, inner] = RINGS.exec(text) ?? [];
  if (inner === undefined) return null;
  const rings = [...inner.matchAll(/\(([^()]*)\)/g)].map(([, ring = '']) => readPoints(ring));
  return rings.length > 0 && rings.every((ring) => ring !== null)
    ? { type: 'polygon', rings: rings.map(closed) }
    : null;
}

function polygon(rings: readonly (readonly LngLat[])[]): string {
  return `POLYGON (${rings.map((ring) => `(${points(ring)})`).join(', ')})`;
}

function points(line: readonly LngLat[]): string {
  return line.map(point).join(', ');
}

function point([longitude, latitude]: LngLat): string {
  return `${latitude} ${longitude}`;
}

function readPoints(text: string): LngLat[] | null {
  const read: LngLat[] = [];
  for (const each of text.split(',')) {
    const [, latitude, longitude] = POINT.exec(each.trim()) ?? [];
    if (longitude === undefined) return null;
    read.push([Number(longitude), Number(latitude)]);
  }
  return read;
}

/** Closes a ring: its last point repeats its first. */
function closed(ring: LngLat[]): LngLat[] {
  const [first] = ring;
  const last = ring.at(-1);
  return first === undefined || (last?.[0] === first[0] && last[1] === first[1]) ? ring : [...ring, first];
}
