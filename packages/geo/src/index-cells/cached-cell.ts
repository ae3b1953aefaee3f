/**
 * The finest cell of a query, if no boundary is in it: while a vehicle stays in the cell, its geofences are the same.
 * Set by `GeofenceIndex.query`, and valid for that index only.
 */
export class CachedCell {
  /** -1: no cell. */
  column = -1;
  row = -1;
  /** Version of the index. */
  version = -1;

  /** Whether two cells share a side or are the same: a straight segment between them touches no third cell. */
  isBeside(column: number, row: number): boolean {
    return Math.abs(this.column - column) + Math.abs(this.row - row) <= 1;
  }

  set(column: number, row: number, version: number): void {
    this.column = column;
    this.row = row;
    this.version = version;
  }

  clear(): void {
    this.column = -1;
    this.version = -1;
  }
}
