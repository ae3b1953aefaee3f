import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

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
  const first = useSignal(0);
  const visible = useSignal(20);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => {
      first.value = Math.max(0, Math.floor(element.scrollTop / rowHeight) - MARGIN_ROWS);
      visible.value = Math.ceil(element.clientHeight / rowHeight) + 2 * MARGIN_ROWS;
    };
    const resize = new ResizeObserver(measure);
    resize.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    measure();
    return () => {
      resize.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [rowHeight, first, visible]);

  const from = Math.min(first.value, Math.max(0, count - 1));
  const to = Math.min(count, from + visible.value);
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
