import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { remPx } from '../../text-size.ts';

/** Rows are added and removed in groups, so that most scroll steps change nothing in the document. */
const STEP_ROWS = 5;

interface Options {
  rowRem: number;
  /** Total number of rows. */
  count: number;
  /** Number of rows above and below the visible ones that are also in the document. */
  marginRows: number;
}

/**
 * Range of the rows of equal height to keep in the document: those that are visible at the box's scroll position and
 * size.
 */
export function useRowsInSight(
  box: RefObject<HTMLElement | null>,
  { rowRem, count, marginRows }: Options,
): { from: number; to: number } {
  const first = useSignal(0);
  const visible = useSignal(2 * marginRows);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    let rowPx = rowRem * remPx();
    const measure = () => {
      const top = Math.max(0, Math.floor(element.scrollTop / rowPx) - marginRows);
      first.value = top - (top % STEP_ROWS);
      visible.value = Math.ceil(element.clientHeight / rowPx) + 2 * marginRows + STEP_ROWS;
    };
    const resize = new ResizeObserver(() => {
      rowPx = rowRem * remPx();
      measure();
    });
    resize.observe(element);
    // The content grows with the text size, while the box may keep its size.
    if (element.firstElementChild !== null) resize.observe(element.firstElementChild);
    element.addEventListener('scroll', measure, { passive: true });
    measure();
    return () => {
      resize.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [box, rowRem, marginRows, first, visible]);
  const from = Math.min(first.value, Math.max(0, count - visible.value));
  return { from, to: Math.min(count, from + visible.value) };
}
