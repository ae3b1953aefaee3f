import type { Geofence, LngLat } from '@outrider/domain';
import { featureFromShape } from '../feature-from-shape.ts';
import { FileError, type FileFeature, type FileGeometry } from './feature.ts';
import { allIn, childOf, readXml, textOf, type XmlNode } from './xml.ts';

const PLACEMARKS = new Set(['Placemark']);
const STYLES = new Set(['Style', 'StyleMap']);
const DATA = new Set(['Data', 'SimpleData']);
const GEOMETRIES = new Set(['Point', 'LineString', 'LinearRing', 'Polygon', 'MultiGeometry', 'Track', 'MultiTrack']);

/**
 * The placemarks of a file, with their colours and data.
 *
 * @throws {FileError} when the text is not KML
 */
export function readKml(text: string): FileFeature[] {
  const root = readXml(text);
  if (root.name !== 'kml' && root.name !== 'Document') throw new FileError('It is not KML.');
  const styles = new Map<string, XmlNode>();
  for (const style of allIn(root, STYLES)) if (style.attributes.id) styles.set(`#${style.attributes.id}`, style);
  return [...allIn(root, PLACEMARKS)].map((placemark) => {
    const data: Record<string, string> = {};
    for (const each of allIn(placemark, DATA)) {
      const value = each.name === 'Data' ? textOf(each, 'value') : each.text.trim();
      if (each.attributes.name && value) data[each.attributes.name] = value;
    }
    const geometries = [...allIn(placemark, GEOMETRIES)].map(geometryOf);
    return {
      id: data.id ?? null,
      geometry: geometries.length === 1 ? (geometries[0] ?? null) : collectionOf(geometries),
      properties: {
        ...data,
        ...{ name: textOf(placemark, 'name'), description: textOf(placemark, 'description') },
        color: colorOf(placemark, styles),
      },
    };
  });
}

function collectionOf(geometries: readonly (FileGeometry | null)[]): FileGeometry | null {
  return geometries.length === 0 ? null : { type: 'GeometryCollection', geometries };
}

function geometryOf(node: XmlNode): FileGeometry | null {
  switch (node.name) {
    case 'Point':
      return { type: 'Point', coordinates: coordinatesIn(node)[0] ?? [] };
    case 'LineString':
    case 'LinearRing':
      return { type: 'LineString', coordinates: coordinatesIn(node) };
    case 'Polygon': {
      const outer = childOf(node, 'outerBoundaryIs');
      const rings = [outer, ...node.children.filter(({ name }) => name === 'innerBoundaryIs')];
      return {
        type: 'Polygon',
        coordinates: rings.flatMap((ring) => {
          const line = ring && childOf(ring, 'LinearRing');
          return line === undefined ? [] : [coordinatesIn(line)];
        }),
      };
    }
    case 'Track':
      return {
        type: 'LineString',
        coordinates: node.children.filter(({ name }) => name === 'coord').map(({ text }) => numbersIn(text, /\s+/)),
      };
    default: {
      const parts = node.children.filter(({ name }) => GEOMETRIES.has(name)).map(geometryOf);
      // Some programs write several areas with one name like this.
      const areas = parts.flatMap((part) => (part?.type === 'Polygon' && 'coordinates' in part ? [part] : []));
      return areas.length > 1 && areas.length === parts.length
        ? { type: 'MultiPolygon', coordinates: areas.map(({ coordinates }) => coordinates) }
        : collectionOf(parts);
    }
  }
}

function coordinatesIn(node: XmlNode): number[][] {
  const text = textOf(node, 'coordinates') ?? '';
  return text === '' ? [] : text.split(/\s+/).map((tuple) => numbersIn(tuple, ','));
}

function numbersIn(text: string, separator: string | RegExp): number[] {
  return text.trim().split(separator).slice(0, 2).map(Number);
}

/** Colour of the outline, else of the area; KML writes aabbggrr. */
function colorOf(placemark: XmlNode, styles: ReadonlyMap<string, XmlNode>): string | null {
  const named = (url: string | null) => (url === null ? undefined : styles.get(url.slice(url.indexOf('#'))));
  let style = childOf(placemark, 'Style') ?? named(textOf(placemark, 'styleUrl'));
  if (style?.name === 'StyleMap') {
    const pair = style.children.find((each) => textOf(each, 'key') === 'normal');
    style = pair && (childOf(pair, 'Style') ?? named(textOf(pair, 'styleUrl')));
  }
  for (const part of ['LineStyle', 'PolyStyle', 'IconStyle']) {
    const found = style && childOf(style, part);
    const [, blue, green, red] =
      /^[0-9a-f]{2}([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec((found && textOf(found, 'color')) ?? '') ?? [];
    if (blue !== undefined) return `#${red}${green}${blue}`.toLowerCase();
  }
  return null;
}

/** Number of sides of the polygon that represents a circle. */
const CIRCLE_SIDES = 72;

export const KML_HEAD =
  '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document>\n';
export const KML_FOOT = '</Document></kml>\n';

/**
 * A geofence as a placemark. Fields without an element in KML are written as its data, so that an import with
 * {@link readKml} restores the same geofence.
 */
export function writePlacemark(geofence: Geofence): string {
  const { id, name, description, color, shape } = geofence;
  const { geometry, properties } = featureFromShape(shape);
  const data: Record<string, unknown> = {
    ...{ id, ...properties },
    ...(shape.type === 'circle' && { longitude: shape.center[0], latitude: shape.center[1] }),
    ...{ speedLimitKmh: geofence.speedLimitKmh, minDwellSeconds: geofence.minDwellSeconds },
    ...{
      category: geofence.category,
      groupIds: geofence.groupIds?.join(' '),
      sharedGroupIds: geofence.sharedGroupIds.join(' '),
    },
    sharedWithOrganisation: geofence.sharedWithOrganisation,
    externalId: geofence.externalId,
    customAttributes:
      Object.keys(geofence.customAttributes).length === 0 ? null : JSON.stringify(geofence.customAttributes),
  };
  const said = Object.entries(data).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const bgr = color === null ? '' : [5, 3, 1].map((at) => color.slice(at, at + 2)).join('');
  return [
    `<Placemark><name>${escaped(name)}</name>`,
    description === null ? '' : `<description>${escaped(description)}</description>`,
    color === null
      ? ''
      : `<Style><LineStyle><color>ff${bgr}</color></LineStyle><PolyStyle><color>40${bgr}</color></PolyStyle></Style>`,
    '<ExtendedData>',
    ...said.map(([key, value]) => `<Data name="${key}"><value>${escaped(String(value))}</value></Data>`),
    '</ExtendedData>',
    shape.type === 'circle'
      ? polygonText([circleRing(shape.center, shape.radiusM)])
      : geometryText(geometry as { type: string; coordinates: unknown }),
    '</Placemark>\n',
  ].join('');
}

function geometryText({ type, coordinates }: { type: string; coordinates: unknown }): string {
  if (type === 'LineString') return `<LineString>${coordinatesText(coordinates as LngLat[])}</LineString>`;
  if (type === 'Polygon') return polygonText(coordinates as LngLat[][]);
  return `<MultiGeometry>${(coordinates as LngLat[][][]).map(polygonText).join('')}</MultiGeometry>`;
}

function polygonText([outer = [], ...holes]: readonly (readonly LngLat[])[]): string {
  const ring = (points: readonly LngLat[]) => `<LinearRing>${coordinatesText(points)}</LinearRing>`;
  const inner = holes.map((hole) => `<innerBoundaryIs>${ring(hole)}</innerBoundaryIs>`).join('');
  return `<Polygon><outerBoundaryIs>${ring(outer)}</outerBoundaryIs>${inner}</Polygon>`;
}

function coordinatesText(points: readonly LngLat[]): string {
  return `<coordinates>${points.map(([longitude, latitude]) => `${longitude},${latitude}`).join(' ')}</coordinates>`;
}

function circleRing([longitude, latitude]: LngLat, radiusM: number): LngLat[] {
  const degrees = radiusM / 111_195;
  const across = degrees / Math.max(0.01, Math.cos((latitude * Math.PI) / 180));
  return Array.from({ length: CIRCLE_SIDES + 1 }, (_, nth): LngLat => {
    const angle = (2 * Math.PI * (nth % CIRCLE_SIDES)) / CIRCLE_SIDES;
    const at = (value: number) => Math.round(value * 1e7) / 1e7;
    return [at(longitude + across * Math.cos(angle)), at(latitude + degrees * Math.sin(angle))];
  });
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text, without characters that are not allowed in XML. */
function escaped(text: string): string {
  const allowed = text.toWellFormed().replace(/[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu, '');
  return allowed.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}
