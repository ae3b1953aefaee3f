import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Distance from the point, so that the point stays visible. */
const BESIDE_PX = 10;

interface Props {
  label: string;
  /** The point that the menu belongs to, in pixels of the map. */
  x: number;
  y: number;
  onClose: () => void;
  children: ComponentChildren;
}

/** A menu beside a point of the map, placed so that it fits into the window. */
export function MapMenu({ label, x, y, onClose, children }: Props) {
  const menu = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const element = menu.current;
    const box = element?.parentElement?.getBoundingClientRect();
    if (!element || !box) return;
    element.showPopover();
    const left = Math.min(box.left + x + BESIDE_PX, innerWidth - element.offsetWidth - 8);
    const top = Math.min(box.top + y + BESIDE_PX, innerHeight - element.offsetHeight - 8);
    element.style.inset = `${Math.max(8, top)}px auto auto ${Math.max(8, left)}px`;
    element.querySelector('button')?.focus();
  }, [label, x, y]);
  return (
    <section
      class="menu spot"
      popover="auto"
      ref={menu}
      aria-label={label}
      onToggle={(event) => event.newState === 'closed' && onClose()}
    >
      <p>
        <strong>{label}</strong>
      </p>
      {children}
    </section>
  );
}
