import type { Geozone } from '@outrider/client';

/** A shape of a file, as the API reads it. */
export interface ImportItem {
  name: string;
  /** Null: it cannot become a geofence. */
  feature: ImportFeature | null;
  /** Kind of the geometry, if that kind cannot become a geofence. */
  unsupported: string | null;
  /** Never set in practice: the panel sends both sizes. */
  lacks: 'radiusM' | 'widthM' | null;
  /** Names of unsupported properties, which are ignored. */
  ignored: readonly string[];
}

export type ImportFeature = Pick<Geozone, 'type' | 'geometry'> & {
  properties: Omit<Geozone['properties'], 'ownerId' | 'areaM2' | 'perimeterM'>;
};

/** Default sizes for shapes that the file draws without one. */
export interface Sizes {
  radiusM: number;
  widthM: number;
}

const FORMATS: Readonly<Record<string, 'geojson' | 'kml' | 'gpx'>> = { kml: 'kml', gpx: 'gpx' };

/** Query for parsing a file: its format, and a name for shapes without one. */
export function questionOf(fileName: string, sizes: Sizes) {
  const extension = fileName.toLowerCase().split('.').at(-1) ?? '';
  // The API takes neither an empty name nor a long one.
  const name = fileName
    .replace(/\.\w+$/, '')
    .trim()
    .slice(0, 180);
  return { format: FORMATS[extension] ?? 'geojson', ...(name === '' ? {} : { name }), ...sizes };
}

/** The feature to import, with its name from the list. */
export function featureOf({ name, feature }: Pick<ImportItem, 'name' | 'feature'>): ImportFeature {
  if (feature === null) throw new Error('an item without a feature');
  return { ...feature, properties: { ...feature.properties, name: name.trim() } };
}

/** Names of the ignored properties of all items, without duplicates. */
export function ignoredIn(items: readonly ImportItem[]): string[] {
  return [...new Set(items.flatMap(({ ignored }) => ignored))];
}
