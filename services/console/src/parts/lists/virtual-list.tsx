import type { ComponentChild } from 'preact';
import { useRef } from 'preact/hooks';
import { useArrowKeys } from './arrow-keys.ts';
import { useRowsInSight } from './rows-in-sight.ts';

interface Props {
  label: string;
  count: number;
  /** Row height in rem, so that rows grow with the text size. */
  rowRem: number;
  /** A list item with the properties of `placed`. */
  row: (index: number) => ComponentChild;
}

const MARGIN_ROWS = 6;

/** A long list of rows of equal height, of which only the visible ones are in the document. It is one tab stop. */
export function VirtualList({ label, count, rowRem, row }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { from, to } = useRowsInSight(box, { rowRem, count, marginRows: MARGIN_ROWS });
  const active = useArrowKeys(box, count);
  return (
    <div class="rows" ref={box}>
      <ul aria-label={label} style={{ blockSize: `${count * rowRem}rem` }}>
        {rowsWith(active, from, to, count).map(row)}
      </ul>
    </div>
  );
}

/** Props that place a row of a virtual list. */
export function placed(index: number, count: number, rowRem: number) {
  return {
    'data-row': index,
    'aria-posinset': index + 1,
    'aria-setsize': count,
    style: { insetBlockStart: `${index * rowRem}rem` },
  } as const;
}

/** The visible rows in order, and the active row wherever it is, so that it keeps the focus. */
export function rowsWith(active: number | null, from: number, to: number, count: number): number[] {
  const rows = Array.from({ length: Math.max(0, to - from) }, (_, nth) => from + nth);
  if (active === null || active >= count || (active >= from && active < to)) return rows;
  return active < from ? [active, ...rows] : [...rows, active];
}
