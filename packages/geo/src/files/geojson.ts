import { FileError, type FileFeature, type FileGeometry } from './feature.ts';

/**
 * Features of any GeoJSON: a collection, a feature, or a bare geometry.
 *
 * @throws {FileError} when the text is not GeoJSON
 */
export function readGeoJson(text: string): FileFeature[] {
  const root = parsed(text);
  if (isObject(root)) {
    if (root.type === 'FeatureCollection' && Array.isArray(root.features)) return root.features.map(featureOf);
    if (root.type === 'Feature') return [featureOf(root)];
    if (geometryOf(root) !== null) return [featureOf({ geometry: root })];
  }
  throw new FileError('It is not GeoJSON: it is neither a FeatureCollection nor a Feature nor a geometry.');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new FileError(
      `It is not JSON: ${error instanceof Error ? error.message.slice(0, 200) : 'it ends too early'}.`,
    );
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function featureOf(value: unknown): FileFeature {
  const feature = isObject(value) ? value : {};
  const properties = isObject(feature.properties) ? feature.properties : {};
  // QGIS keeps the id of a feature as one of its properties.
  const id = feature.id ?? properties.id;
  return { id: typeof id === 'string' ? id : null, geometry: geometryOf(feature.geometry), properties };
}

function geometryOf(value: unknown): FileGeometry | null {
  if (!isObject(value) || typeof value.type !== 'string') return null;
  return 'coordinates' in value || Array.isArray(value.geometries) ? (value as unknown as FileGeometry) : null;
}
