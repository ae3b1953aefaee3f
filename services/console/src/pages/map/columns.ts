import type { Preferences } from '@outrider/client';
import { preferences } from '../../preferences.ts';

/** What the list can show of a vehicle beside its name and its state. */
export type Column = NonNullable<Preferences['listColumns']>[number];

/** In their order, with the width that a list of one line a vehicle gives them, in rem. */
export const WIDTHS: Readonly<Record<Column, number>> = {
  plate: 5.5,
  driver: 7,
  groups: 7,
  speed: 5,
  fuel: 1.75,
  contact: 5.5,
};
export const COLUMNS = Object.keys(WIDTHS) as readonly Column[];

/** Where nobody has chosen: two lines have space for more than one has. */
const USUAL: readonly Column[] = ['plate', 'driver', 'speed', 'fuel', 'contact'];
const USUAL_COMPACT: readonly Column[] = ['speed', 'contact'];
/** Of a row beside its columns: the mark of its state, its name and its star. */
const NAME_REM = 17;
const GAP_REM = 0.5;
const NARROWEST_REM = 22;

/** Those of the list, in their order. */
export function shownColumns(): readonly Column[] {
  const { listColumns, compactList } = preferences.value;
  if (listColumns === null) return compactList ? USUAL_COMPACT : USUAL;
  return COLUMNS.filter((column) => listColumns.includes(column));
}

/** How wide the list is, in rem: as much as its columns need. */
export function listRem(): number {
  if (!preferences.value.compactList) return NARROWEST_REM;
  const columns = shownColumns().reduce((sum, column) => sum + WIDTHS[column] + GAP_REM, 0);
  return Math.max(NARROWEST_REM, NAME_REM + columns);
}
