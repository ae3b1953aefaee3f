import { FileError, type FileFeature, type FileGeometry } from './feature.ts';
import { allIn, childOf, readXml, textOf, type XmlNode } from './xml.ts';

const TOP = new Set(['wpt', 'rte', 'trk']);

/**
 * Reads waypoints as points, and routes and track segments as lines.
 *
 * @throws {FileError} when the text is not GPX
 */
export function readGpx(text: string): FileFeature[] {
  const root = readXml(text);
  if (root.name !== 'gpx') throw new FileError('It is not GPX.');
  return [...allIn(root, TOP)].map((node) => ({
    id: null,
    geometry: geometryOf(node),
    properties: {
      ...{ name: textOf(node, 'name'), description: textOf(node, 'desc') ?? textOf(node, 'cmt') },
    },
  }));
}

function geometryOf(node: XmlNode): FileGeometry {
  if (node.name === 'wpt') return { type: 'Point', coordinates: pointOf(node) };
  if (node.name === 'rte') return { type: 'LineString', coordinates: pointsIn(node, 'rtept') };
  const segments = node.children.filter(({ name }) => name === 'trkseg');
  return { type: 'MultiLineString', coordinates: segments.map((segment) => pointsIn(segment, 'trkpt')) };
}

function pointsIn(node: XmlNode, name: string): number[][] {
  return node.children.filter((child) => child.name === name).map(pointOf);
}

function pointOf({ attributes }: XmlNode): number[] {
  return [Number(attributes.lon), Number(attributes.lat)];
}

/** A point of a track with the time at which it was recorded. */
export interface TrackPoint {
  /** ISO 8601, as in the file. */
  time: string;
  latitude: number;
  longitude: number;
  altitudeM: number | null;
  speedKmh: number | null;
  courseDeg: number | null;
}

const KMH_PER_MPS = 3.6;

/**
 * The points of all tracks that have a time, in the order of the file. Speed and course are read as in GPX 1.0, or from
 * extensions.
 *
 * @returns also the number of points without a time
 * @throws {FileError} when the text is not GPX
 */
export function readGpxTrack(text: string): { points: TrackPoint[]; withoutTime: number } {
  const root = readXml(text);
  if (root.name !== 'gpx') throw new FileError('It is not GPX.');
  const points: TrackPoint[] = [];
  let withoutTime = 0;
  for (const node of allIn(root, new Set(['trkpt']))) {
    const time = textOf(node, 'time');
    if (time === null) {
      withoutTime++;
      continue;
    }
    const [longitude = Number.NaN, latitude = Number.NaN] = pointOf(node);
    const metresPerSecond = measureOf(node, 'speed');
    points.push({
      ...{ time, latitude, longitude, altitudeM: measureOf(node, 'ele') },
      speedKmh: metresPerSecond === null ? null : metresPerSecond * KMH_PER_MPS,
      courseDeg: measureOf(node, 'course'),
    });
  }
  return { points, withoutTime };
}

/** A number of a point, or of its extensions; null if missing. */
function measureOf(node: XmlNode, name: string): number | null {
  const extensions = childOf(node, 'extensions');
  const [nested] = extensions === undefined ? [] : allIn(extensions, new Set([name]));
  const text = textOf(node, name) ?? nested?.text.trim();
  const value = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
