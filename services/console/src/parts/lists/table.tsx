import type { ComponentChild } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { t } from '../../words/words.ts';
import { Icon } from '../icon.tsx';
import { useArrowKeys } from './arrow-keys.ts';
import { useRowsInSight } from './rows-in-sight.ts';
import { rowsWith } from './virtual-list.tsx';

export interface Column<T> {
  key: string;
  title: string;
  cell: (row: T) => ComponentChild;
  /** Numbers are aligned to the end of their column. */
  isNumber?: boolean;
  /** Sort key for sorting in the page; if left out, the column's title does not sort. */
  sortBy?: (row: T) => string | number | null;
  /** Shown in a totals row at the foot. */
  total?: ComponentChild;
}

export interface Sorting {
  key: string;
  isDescending: boolean;
}

interface Props<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  sorting?: Sorting | null;
  /** Sorts by a column. Left out, titles don't sort. */
  onSort?: (sorting: Sorting) => void;
  onOpen?: (row: T) => void;
  /** Key of the open or marked row. */
  currentKey?: string | null;
  /** Called when the last rows become visible. */
  onEnd?: () => void;
  selection?: ReadonlySet<string>;
  onSelect?: (selection: ReadonlySet<string>) => void;
}

/** As in parts.css: rows grow with the text. */
const ROW_REM = 2.5;
const MARGIN_ROWS = 10;
const MOST_MADE = 500;

/**
 * A long table, of which only the visible rows are in the document. Its box scrolls both ways. Its rows are one tab
 * stop, and so is the box.
 */
export function Table<T>(props: Props<T>) {
  const { label, columns, rows, rowKey, onOpen, currentKey, onEnd, selection, onSelect } = props;
  const box = useRef<HTMLDivElement>(null);
  const { from, to } = useRowsInSight(box, { rowRem: ROW_REM, count: rows.length, marginRows: MARGIN_ROWS });
  const active = useArrowKeys(box, rows.length);
  const isAtEnd = rows.length > 0 && to >= rows.length;
  useEffect(() => {
    if (isAtEnd) onEnd?.();
  }, [isAtEnd, rows.length]);

  const isSelectable = selection !== undefined && onSelect !== undefined;
  const width = columns.length + (isSelectable ? 1 : 0);
  const select = (keys: readonly string[], isChosen: boolean) => {
    const next = new Set(selection);
    for (const key of keys) isChosen ? next.add(key) : next.delete(key);
    onSelect?.(next);
  };
  const line = (index: number) => {
    const row = rows[index] as T;
    const key = rowKey(row);
    return (
      <tr
        key={key}
        data-row={index}
        aria-rowindex={index + 2}
        aria-selected={isSelectable ? selection.has(key) : undefined}
        aria-current={key === currentKey ? 'true' : undefined}
        class={onOpen ? 'opens' : undefined}
        onClick={(event) => {
          if (!(event.target as Element).closest('a,button,input,label')) onOpen?.(row);
        }}
      >
        {isSelectable && (
          <td class="choose">
            <input
              type="checkbox"
              aria-label={t().parts.chooseRow}
              checked={selection.has(key)}
              onChange={(event) => select([key], event.currentTarget.checked)}
            />
          </td>
        )}
        {columns.map((column, at) => (
          <td key={column.key} class={column.isNumber ? 'number' : undefined}>
            {at === 0 && onOpen ? (
              <button type="button" class="link" onClick={() => onOpen(row)}>
                {shown(column.cell(row))}
              </button>
            ) : (
              shown(column.cell(row))
            )}
          </td>
        ))}
      </tr>
    );
  };
  // A row that stays visible is created once: Preact skips identical objects.
  const made = useMemo(() => new Map<number, ComponentChild>(), [props]);
  if (made.size > MOST_MADE) made.clear();
  const lines: ComponentChild[] = [];
  let next = 0;
  for (const index of rowsWith(active, from, to, rows.length)) {
    const known = made.get(index) ?? line(index);
    made.set(index, known);
    lines.push(<Gap key={`gap ${next}`} rows={index - next} width={width} />, known);
    next = index + 1;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by keyboard.
    <section class="table" ref={box} aria-label={label} tabIndex={0}>
      <table aria-rowcount={rows.length + 1}>
        <Head {...props} select={select} />
        <tbody>
          {lines}
          <Gap rows={rows.length - next} width={width} />
        </tbody>
        {columns.some(({ total }) => total !== undefined) && (
          <tfoot>
            <tr>
              {isSelectable && <td />}
              {columns.map(({ key, total, isNumber }) => (
                <td key={key} class={isNumber ? 'number' : undefined}>
                  {total}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

/** Names keep their own direction in right-to-left pages. */
function shown(cell: ComponentChild): ComponentChild {
  return typeof cell === 'string' && cell !== '' ? <bdi>{cell}</bdi> : cell;
}

function Gap({ rows, width }: { rows: number; width: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="gap">
      <td colSpan={width} style={{ blockSize: `${rows * ROW_REM}rem` }} />
    </tr>
  );
}

function Head<T>({
  columns,
  rows,
  rowKey,
  sorting,
  onSort,
  selection,
  onSelect,
  select,
}: Props<T> & { select: (keys: readonly string[], isChosen: boolean) => void }) {
  const keys = selection && onSelect ? rows.map(rowKey) : [];
  return (
    <thead>
      <tr>
        {selection && onSelect && (
          <th class="choose">
            <input
              type="checkbox"
              aria-label={t().parts.chooseAll}
              checked={keys.length > 0 && keys.every((key) => selection.has(key))}
              onChange={(event) => select(keys, event.currentTarget.checked)}
            />
          </th>
        )}
        {columns.map(({ key, title, isNumber, sortBy }) => {
          const isSorted = sorting?.key === key;
          const order = sorting?.isDescending ? 'descending' : 'ascending';
          return (
            <th key={key} scope="col" class={isNumber ? 'number' : undefined} aria-sort={isSorted ? order : undefined}>
              {onSort && sortBy ? (
                <button
                  type="button"
                  onClick={() => onSort({ key, isDescending: isSorted ? !sorting.isDescending : Boolean(isNumber) })}
                >
                  {title}
                  {isSorted && <Icon name={sorting.isDescending ? 'down' : 'up'} />}
                </button>
              ) : (
                title
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** Sorts rows by a column; rows without a value come last. */
export function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], sorting: Sorting | null): readonly T[] {
  const by = columns.find(({ key }) => key === sorting?.key)?.sortBy;
  if (by === undefined || sorting === null) return rows;
  const collator = new Intl.Collator(undefined, { numeric: true });
  const sign = sorting.isDescending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [by(a), by(b)];
    if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
    return (
      sign *
      (typeof left === 'number' && typeof right === 'number' ? left - right : collator.compare(`${left}`, `${right}`))
    );
  });
}
