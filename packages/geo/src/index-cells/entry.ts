/**
 * An entry is what a cell stores about a geofence, in units of 8 bytes that are read either as two 32-bit words or as
 * one double. It contains all data needed to decide on a place, so that a query reads one contiguous block of memory
 * for each cell. The first word is `slot * 4 + kind`, where the slot is the index's internal number of the geofence.
 * The meaning of the second word depends on the kind.
 *
 * - `FULL`: nothing more. The whole cell is inside.
 * - `CIRCLE`: doubles: longitude, latitude, cosine of latitude, limit of the haversine.
 * - `LINE`: second word: number of runs. Doubles: squared half width in degrees, half width. Then the runs.
 * - `POLYGON`: second word: `runs * 2 + base`. Then the runs.
 *
 * A run is a part of a ring or path with all of its edges in or near the cell: a unit whose first word is `edges * 4 +
 * flags`, then a longitude and a latitude for each of its points. A place is inside a polygon when base + crossings of
 * the runs' edges + crossed ends is odd. A flagged end counts where its latitude is at or below the place's. (A ray to
 * the west also crosses edges that are not in the cell. As a ring is closed, their number changes only at the latitudes
 * at which a run ends left of the cell. The rest is the same for the whole cell: base.)
 */
export const FULL = 0;
export const POLYGON = 1;
export const CIRCLE = 2;
export const LINE = 3;

/** Flag of a run whose first point counts as an end. */
export const START_COUNTS = 1;
/** Flag of a run whose last point counts as an end. */
export const END_COUNTS = 2;

/** Number of words of a run with this many edges. */
export function runLength(edges: number): number {
  return 2 + 4 * (edges + 1);
}

/** Index of the word at which the first run of a polygon's or line's entry begins. */
export function runsAt(at: number, kind: number): number {
  return kind === LINE ? at + 6 : at + 2;
}

/** Number of words of the entry that begins at word `at`. */
export function entryLength(words: Int32Array, at: number): number {
  const kind = (words[at] as number) & 3;
  if (kind === FULL) return 2;
  if (kind === CIRCLE) return 10;
  const second = words[at + 1] as number;
  let end = runsAt(at, kind);
  for (let left = kind === LINE ? second : second >> 1; left > 0; left--) end += runLength((words[end] as number) >> 2);
  return end - at;
}
