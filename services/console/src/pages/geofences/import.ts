import type { Geozone } from '@outrider/client';

/** A shape of a file, as the API reads it. */
export interface ImportItem {
  name: string;
  /** Null: nothing that can be a geofence. */
  feature: ImportFeature | null;
  /** Kind of geometry that can't be a geofence. */
  unsupported: string | null;
  /** The panel sends both sizes: no shape lacks one. */
  lacks: 'radiusM' | 'widthM' | null;
  /** Names of properties that mean nothing here. */
  ignored: readonly string[];
}

export type ImportFeature = Pick<Geozone, 'type' | 'geometry'> & {
  properties: Omit<Geozone['properties'], 'ownerId' | 'areaM2' | 'perimeterM'>;
};

/** Sizes of what files draw without one. */
export interface Sizes {
  radiusM: number;
  widthM: number;
}

const FORMATS: Readonly<Record<string, 'geojson' | 'kml' | 'gpx'>> = { kml: 'kml', gpx: 'gpx' };

/** What the API is asked about a file: its format, and a name for what has none. */
export function questionOf(fileName: string, sizes: Sizes) {
  const extension = fileName.toLowerCase().split('.').at(-1) ?? '';
  // The API takes neither an empty name nor a long one.
  const name = fileName
    .replace(/\.\w+$/, '')
    .trim()
    .slice(0, 180);
  return { format: FORMATS[extension] ?? 'geojson', ...(name === '' ? {} : { name }), ...sizes };
}

/** The feature that the API imports, with its name in the list. */
export function featureOf({ name, feature }: Pick<ImportItem, 'name' | 'feature'>): ImportFeature {
  if (feature === null) throw new Error('an item without a feature');
  return { ...feature, properties: { ...feature.properties, name: name.trim() } };
}

/** Which properties of the file are left out, each once. */
export function ignoredIn(items: readonly ImportItem[]): string[] {
  return [...new Set(items.flatMap(({ ignored }) => ignored))];
}
