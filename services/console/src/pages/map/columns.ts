import type { Preferences } from '@outrider/client';
import { preferences } from '../../preferences.ts';

/** Data that the list can show of a vehicle, in addition to its name and its state. */
export type Column = NonNullable<Preferences['listColumns']>[number];

/** Columns in display order, with their width in rem in the list with one line per vehicle. */
export const WIDTHS: Readonly<Record<Column, number>> = {
  plate: 5.5,
  driver: 7,
  groups: 7,
  speed: 5,
  fuel: 1.75,
  contact: 5.5,
};
export const COLUMNS = Object.keys(WIDTHS) as readonly Column[];

/** Default columns. Two lines have space for more columns than one line. */
const USUAL: readonly Column[] = ['plate', 'driver', 'speed', 'fuel', 'contact'];
const USUAL_COMPACT: readonly Column[] = ['speed', 'contact'];
/** Width of a row without its columns: the mark of its state, its name and its star. */
const NAME_REM = 17;
const GAP_REM = 0.5;
const NARROWEST_REM = 22;

/** The columns of the list, in display order. */
export function shownColumns(): readonly Column[] {
  const { listColumns, compactList } = preferences.value;
  if (listColumns === null) return compactList ? USUAL_COMPACT : USUAL;
  return COLUMNS.filter((column) => listColumns.includes(column));
}

/** Width of the list in rem, as its columns need. */
export function listRem(): number {
  if (!preferences.value.compactList) return NARROWEST_REM;
  const columns = shownColumns().reduce((sum, column) => sum + WIDTHS[column] + GAP_REM, 0);
  return Math.max(NARROWEST_REM, NAME_REM + columns);
}
