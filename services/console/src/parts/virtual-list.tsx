import type { ComponentChild } from 'preact';
import { useRef } from 'preact/hooks';
import { useRowsInSight } from './rows-in-sight.ts';

interface Props {
  label: string;
  count: number;
  rowHeight: number;
  row: (index: number, top: number) => ComponentChild;
}

const MARGIN_ROWS = 6;

/** A long list of rows of one height: only those in sight are in the document. */
export function VirtualList({ label, count, rowHeight, row }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { from, to } = useRowsInSight(box, { rowPx: rowHeight, count, marginRows: MARGIN_ROWS });
  const rows: ComponentChild[] = [];
  for (let index = from; index < to; index += 1) rows.push(row(index, index * rowHeight));
  return (
    <div class="rows" ref={box}>
      <ul aria-label={label} style={{ blockSize: `${count * rowHeight}px` }}>
        {rows}
      </ul>
    </div>
  );
}
