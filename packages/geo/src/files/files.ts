import { FileError, type FileFeature } from './feature.ts';
import { readGeoJson } from './geojson.ts';
import { readGpx } from './gpx.ts';
import { type FileItem, type ItemDefaults, itemsOf } from './items.ts';
import { readKml } from './kml.ts';

export { FileError, MAX_FILE_SHAPES } from './feature.ts';
export { readGpxTrack, type TrackPoint } from './gpx.ts';
export type { FileItem, ItemDefaults } from './items.ts';
export { KML_FOOT, KML_HEAD, writePlacemark } from './kml.ts';

/** File formats that can be imported. */
export const FILE_FORMATS = ['geojson', 'kml', 'gpx'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

const READERS: Record<FileFormat, (text: string) => FileFeature[]> = {
  geojson: readGeoJson,
  kml: readKml,
  gpx: readGpx,
};

/**
 * Reads the shapes of a file as features for an import.
 *
 * @throws {FileError} when the file is not of this format, or has too many shapes
 */
export function readPlaces(format: FileFormat, text: string, defaults: ItemDefaults): FileItem[] {
  if (text.startsWith('PK\u0003\u0004')) throw new FileError('It is packed (KMZ): unpack the KML in it.');
  return itemsOf(READERS[format](text), defaults);
}
