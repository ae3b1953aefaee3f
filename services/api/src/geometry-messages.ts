import type { GeofenceItem, InputError, ProblemKind } from '@outrider/access';
import type { Shape } from '@outrider/domain';
import type { GeozoneFeature } from './geojson.ts';

/** What the thread that checks geometries is given. */
export type GeometryTask = { id: number } & ({ collection: ArrayBuffer } | { feature: GeozoneFeature });

/** What it answers: parts of a collection, and then the end of the task. */
export type GeometryAnswer = { id: number } & (
  | { items: GeofenceItem[] }
  | { wrong: readonly InputError[]; wrongCount: number }
  | { shape: Shape }
  | { problem: { kind: ProblemKind; detail: string; errors: readonly InputError[] } }
  | { failure: string }
);
