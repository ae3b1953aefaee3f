/** A feature of a file (RFC 7946), before anything of it was checked. */
export interface FileFeature {
  id: string | null;
  geometry: FileGeometry | null;
  properties: Readonly<Record<string, unknown>>;
}

export type FileGeometry =
  | { type: string; coordinates: unknown }
  | { type: 'GeometryCollection'; geometries: readonly (FileGeometry | null)[] };

/** More shapes are no file that anybody drew. */
export const MAX_FILE_SHAPES = 10_000;

/** What stands in a file can't be read as what it should be; the message says why. */
export class FileError extends Error {
  override name = 'FileError';
}
