/** A feature of a file (RFC 7946), not validated. */
export interface FileFeature {
  id: string | null;
  geometry: FileGeometry | null;
  properties: Readonly<Record<string, unknown>>;
}

export type FileGeometry =
  | { type: string; coordinates: unknown }
  | { type: 'GeometryCollection'; geometries: readonly (FileGeometry | null)[] };

/** Most shapes accepted in a file: hand-drawn files have far fewer. */
export const MAX_FILE_SHAPES = 10_000;

/** The file is not valid in its format; the message says why. */
export class FileError extends Error {
  override name = 'FileError';
}
