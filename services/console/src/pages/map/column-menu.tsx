import { change, preferences } from '../../preferences.ts';
import { t } from '../../words/words.ts';
import { COLUMNS, type Column, shownColumns } from './columns.ts';

/** Chooses the columns of the vehicle list, and whether each vehicle takes one line or two. */
export function ColumnMenu() {
  const shown = shownColumns();
  const { compactList, listColumns } = preferences.value;
  const toggle = (column: Column) =>
    change({
      listColumns: COLUMNS.filter((each) => (each === column ? !shown.includes(each) : shown.includes(each))),
    });
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={compactList} onChange={() => change({ compactList: !compactList })} />
        {t().fleetMap.compactList}
      </label>
      <fieldset>
        <legend>{t().fleetMap.columns.title}</legend>
        {COLUMNS.map((column) => (
          <label key={column} class="check">
            <input type="checkbox" checked={shown.includes(column)} onChange={() => toggle(column)} />
            {t().fleetMap.columns[column]}
          </label>
        ))}
      </fieldset>
      {listColumns !== null && (
        <button type="button" onClick={() => change({ listColumns: null })}>
          {t().fleetMap.columns.usual}
        </button>
      )}
    </>
  );
}
