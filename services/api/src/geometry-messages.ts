import type { Shape } from '@outrider/domain';
import type { GeofenceItem } from './bulk-reach.ts';
import type { GeozoneFeature } from './geojson.ts';
import type { InputError, ProblemKind } from './problem.ts';

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
