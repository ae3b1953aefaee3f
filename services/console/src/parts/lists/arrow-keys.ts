import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

const CONTROLS = 'a[href], button, input, select, textarea';
/** Controls that use arrow keys themselves. */
const TYPED = 'select, textarea, input:not([type="checkbox"], [type="radio"])';

/**
 * Makes the rows of a box, which have their index as `data-row`, a single tab stop. Arrow keys, Page Up, Page Down,
 * Home and End move between them.
 *
 * @returns the row that had the focus last; it must stay in the document wherever the box is scrolled to
 */
export function useArrowKeys(box: RefObject<HTMLElement | null>, count: number): number | null {
  const active = useSignal<number | null>(null);
  /** Index of the focused control within its row. */
  const nth = useRef(0);
  const isMoving = useRef(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const focused = document.activeElement?.closest('[data-row]');
    if (focused && element.contains(focused) && !isMoving.current) active.value = indexOf(focused);
    else if (active.peek() !== null && (active.peek() ?? 0) >= count) active.value = null;
    const drawn = [...element.querySelectorAll('[data-row]')];
    const stop =
      drawn.find((row) => indexOf(row) === active.peek()) ??
      drawn.find((row) => row.ariaCurrent === 'true') ??
      drawn[0];
    for (const row of drawn) {
      const controls = controlsOf(row);
      const chosen = row === stop ? Math.min(nth.current, controls.length - 1) : -1;
      controls.forEach((control, at) => {
        control.tabIndex = at === chosen ? 0 : -1;
        if (at === chosen && isMoving.current) control.focus();
      });
    }
    isMoving.current = false;
  });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const onFocus = ({ target }: FocusEvent) => {
      const row = (target as Element).closest('[data-row]');
      if (row === null) return;
      const controls = controlsOf(row);
      nth.current = Math.max(0, controls.indexOf(target as HTMLElement));
      active.value = indexOf(row);
      // Moving within a row renders nothing, so tab stops are set here. Otherwise Tab would move to another control of
      // the row.
      controls.forEach((control, at) => {
        control.tabIndex = at === nth.current ? 0 : -1;
      });
    };
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const row = target.closest('[data-row]');
      if (row === null || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey)
        return;
      if (target.matches(TYPED)) return;
      const sideways = stepSideways(event.key, target);
      const pageRows = Math.max(1, Math.floor(element.clientHeight / row.getBoundingClientRect().height) - 1);
      const next = nextRow(event.key, { index: indexOf(row), count, pageRows });
      if (sideways === 0 && next === null) return;
      event.preventDefault();
      if (next === null) return controlsOf(row)[nth.current + sideways]?.focus();
      if (next === indexOf(row)) return;
      isMoving.current = true;
      active.value = next;
    };
    element.addEventListener('focusin', onFocus);
    element.addEventListener('keydown', onKey);
    return () => {
      element.removeEventListener('focusin', onFocus);
      element.removeEventListener('keydown', onKey);
    };
  }, [box, count, active]);
  return active.value;
}

/** The row that a key goes to; null for other keys. */
export function nextRow(
  key: string,
  { index, count, pageRows }: { index: number; count: number; pageRows: number },
): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: pageRows,
    PageUp: -pageRows,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  return step === undefined ? null : Math.min(count - 1, Math.max(0, index + step));
}

/** Step of an arrow key to the next or previous control, in text direction. */
function stepSideways(key: string, target: Element): number {
  const right = getComputedStyle(target).direction === 'rtl' ? -1 : 1;
  return key === 'ArrowRight' ? right : key === 'ArrowLeft' ? -right : 0;
}

const indexOf = (row: Element): number => Number((row as HTMLElement).dataset.row);
const controlsOf = (row: Element): HTMLElement[] => [...row.querySelectorAll<HTMLElement>(CONTROLS)];
