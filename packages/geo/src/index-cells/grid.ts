/**
 * Number of levels of the grid. Its cells are square in degrees, and each level is four times finer than the one
 * before, so that a cell has 16 children. Level 0 has 4 columns and 2 rows of 90°.
 */
export const LEVELS = 9;

export const FINEST = LEVELS - 1;

/**
 * Number of columns on the finest level: 2^18, cells of 153 m (on the equator; narrower towards the poles). There are
 * half as many rows.
 */
export const FINEST_COLUMNS = 4 ** LEVELS;

/** Number of finest cells per degree. */
export const CELLS_PER_DEGREE = FINEST_COLUMNS / 360;

/** Width and height in degrees of a cell of each level. */
export const CELL_DEG: readonly number[] = Array.from({ length: LEVELS }, (_, level) => 360 / 4 ** (level + 1));

/**
 * Margin around a cell (degrees) within which edges count as being in it. It is far above the rounding of degrees
 * (1e-13), so that no relevant edge is missed, and larger on coarser levels, so that a cell has all edges of its
 * children.
 */
export const MARGIN_DEG: readonly number[] = Array.from({ length: LEVELS }, (_, level) => 1e-9 * (LEVELS - level));

/** Finest column of a longitude from -180 to 180. Columns continue beyond. */
export function columnOf(longitude: number): number {
  return Math.floor((longitude + 180) * CELLS_PER_DEGREE);
}

/** Finest row of a latitude. */
export function rowOf(latitude: number): number {
  return Math.floor((latitude + 90) * CELLS_PER_DEGREE);
}

/** The nearest valid column. */
export function clampColumn(column: number): number {
  return Math.min(FINEST_COLUMNS - 1, Math.max(0, column));
}

/** The nearest valid row. */
export function clampRow(row: number): number {
  return Math.min(FINEST_COLUMNS / 2 - 1, Math.max(0, row));
}
