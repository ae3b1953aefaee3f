import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { remPx } from '../../text-size.ts';

/** Rows come and go together: most steps of scrolling change nothing in the document. */
const STEP_ROWS = 5;

interface Options {
  rowRem: number;
  /** How many rows of all there are. */
  count: number;
  /** Rows above and below those in sight that are in the document too. */
  marginRows: number;
}

/** Which rows of one height are in the document: those that the box shows, as it is scrolled and resized. */
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
    // Its content grows with the text, while the box may keep its size.
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
