import type { GeofenceItem, InputError, ProblemKind } from '@outrider/access';
import type { Shape } from '@outrider/domain';
import type { FileFormat, FileItem, ItemDefaults } from '@outrider/geo/files';
import type { GeozoneFeature } from './geojson.ts';

/** A file with places, and how it is to be read. */
export interface PlacesFile {
  bytes: ArrayBuffer;
  format: FileFormat;
  defaults: ItemDefaults;
}

/** What the thread that checks geometries is given. */
export type GeometryTask = { id: number } & (
  | { collection: ArrayBuffer }
  | { feature: GeozoneFeature }
  /** `isChecked`: its geofences are asked for as well, and what is wrong with them. */
  | { file: PlacesFile; isChecked: boolean }
);

/** What it answers: parts of a collection or of a file, and then the end of the task. */
export type GeometryAnswer = { id: number } & (
  | { items: GeofenceItem[] }
  | { read: FileItem[] }
  | { wrong: readonly InputError[]; wrongCount: number }
  | { shape: Shape }
  | { problem: { kind: ProblemKind; detail: string; errors: readonly InputError[] } }
  | { failure: string }
);
