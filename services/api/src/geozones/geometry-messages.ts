import type { GeofenceItem, InputError, ProblemKind } from '@outrider/access';
import type { Shape } from '@outrider/domain';
import type { FileFormat, FileItem, ItemDefaults } from '@outrider/geo/files';
import type { GeozoneFeature } from './geojson.ts';

/** A file with places, and how to read it. */
export interface PlacesFile {
  bytes: ArrayBuffer;
  format: FileFormat;
  defaults: ItemDefaults;
}

/** Task for the thread that checks geometries. */
export type GeometryTask = { id: number } & (
  | { collection: ArrayBuffer }
  | { feature: GeozoneFeature }
  /** `isChecked`: its geofences and their faults are requested as well. */
  | { file: PlacesFile; isChecked: boolean }
);

/** Message of the thread: parts of a collection or of a file, and then the end of the task. */
export type GeometryAnswer = { id: number } & (
  | { items: GeofenceItem[] }
  | { read: FileItem[] }
  | { wrong: readonly InputError[]; wrongCount: number }
  | { shape: Shape }
  | { problem: { kind: ProblemKind; detail: string; errors: readonly InputError[] } }
  | { failure: string }
);
