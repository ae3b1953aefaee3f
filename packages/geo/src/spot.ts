/**
 * Where a place was found to be, so that the next place near it need not be looked up: see `GeofenceIndex.query` and
 * `GeofenceIndex.isUnchanged`. It belongs to the index that filled it in.
 */
export class Spot {
  /** Finest cell that the place is in; -1 where nothing is known. */
  column = -1;
  row = -1;
  /** Place of the cell's map, and the place's region in it (see `cell-map.ts`). */
  map = 0;
  region = 0;
  /** The index's version that all this is of. */
  version = -1;

  /** True where its cell and another have a side in common, or are one: a straight way between the two is in no third. */
  isBeside(column: number, row: number): boolean {
    return Math.abs(this.column - column) + Math.abs(this.row - row) <= 1;
  }

  /** Forgets the place. */
  forget(): void {
    this.column = -1;
  }
}
