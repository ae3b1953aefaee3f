/**
 * The finest cell that a query found without a boundary in it: while a vehicle stays in it, its geofences are the same.
 * Filled in by `GeofenceIndex.query`, and valid for that index alone.
 */
export class CachedCell {
  /** -1: no cell. */
  column = -1;
  row = -1;
  /** Version of the index. */
  version = -1;

  /** True where two cells share a side, or are one: a straight way between them touches no third cell. */
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
