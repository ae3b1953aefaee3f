/**
 * The cells that geofences are indexed by: square in degrees, on levels that are each four times finer than the one
 * before, so that a cell has 16 children. Level 0 has 4 columns and 2 rows of 90°.
 */
export const LEVELS = 9;

export const FINEST = LEVELS - 1;

/**
 * Number of columns on the finest level: 2^18, cells of 153 m (on the equator; narrower to the poles). There are half
 * as many rows.
 */
export const FINEST_COLUMNS = 4 ** LEVELS;

/** Finest cells in a degree. */
export const CELLS_PER_DEGREE = FINEST_COLUMNS / 360;

/** Degrees that a cell of each level is wide and high. */
export const CELL_DEG: readonly number[] = Array.from({ length: LEVELS }, (_, level) => 360 / 4 ** (level + 1));

/**
 * How far around a cell (degrees) edges count as being in it: far above the rounding of degrees (1e-13), so that no
 * place is ever decided without an edge that could matter, and growing to the coarser levels, so that what is in a
 * child is in its parent.
 */
export const MARGIN_DEG: readonly number[] = Array.from({ length: LEVELS }, (_, level) => 1e-9 * (LEVELS - level));

/** Finest column of a longitude of -180 to 180; beyond them, the columns run on. */
export function columnOf(longitude: number): number {
  return Math.floor((longitude + 180) * CELLS_PER_DEGREE);
}

/** Finest row of a latitude. */
export function rowOf(latitude: number): number {
  return Math.floor((latitude + 90) * CELLS_PER_DEGREE);
}

/** The nearest column that there is. */
export function clampColumn(column: number): number {
  return Math.min(FINEST_COLUMNS - 1, Math.max(0, column));
}

/** The nearest row that there is. */
export function clampRow(row: number): number {
  return Math.min(FINEST_COLUMNS / 2 - 1, Math.max(0, row));
}
