import type { Vehicle } from '@outrider/client';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { fleet } from '../../fleet/store.ts';
import { t } from '../../words/words.ts';
import type { Spot } from './fleet-map.ts';

/** Vehicles on one spot, and where it is, in pixels of the map. */
export interface Choice {
  spot: Spot;
  x: number;
  y: number;
}

interface SpotMenuProps extends Choice {
  selected: string | null;
  onSelect: (id: string) => void;
  onClose: () => void;
}

/** The vehicles of one spot, to choose from. */
export function SpotMenu({ spot, x, y, selected, onSelect, onClose }: SpotMenuProps) {
  const menu = useRef<HTMLElement>(null);
  void fleet.version.value;
  useLayoutEffect(() => {
    const element = menu.current;
    const box = element?.parentElement?.getBoundingClientRect();
    if (!element || !box) return;
    element.showPopover();
    const left = Math.min(box.left + x, innerWidth - element.offsetWidth - 8);
    const top = Math.min(box.top + y, innerHeight - element.offsetHeight - 8);
    element.style.inset = `${Math.max(8, top)}px auto auto ${Math.max(8, left)}px`;
    element.querySelector('button')?.focus();
  }, [spot, x, y]);
  const vehicles = spot.map((id) => fleet.indexOf(id)).filter((index) => index >= 0);
  const byName = vehicles.toSorted((a, b) =>
    (fleet.vehicles[a]?.name ?? '').localeCompare(fleet.vehicles[b]?.name ?? '', undefined, { numeric: true }),
  );
  return (
    <section
      class="menu spot"
      popover="auto"
      ref={menu}
      aria-label={t().fleetMap.vehiclesHere(spot.length)}
      onToggle={(event) => event.newState === 'closed' && onClose()}
    >
      <p>
        <strong>{t().fleetMap.vehiclesHere(spot.length)}</strong>
      </p>
      {byName.map((index) => {
        const { id, name } = fleet.vehicles[index] as Vehicle;
        const state = fleet.stateOf(index);
        const choose = () => {
          menu.current?.hidePopover();
          onSelect(id);
        };
        return (
          <button key={id} type="button" aria-current={id === selected ? 'true' : undefined} onClick={choose}>
            <bdi>{name}</bdi>
            <span class={`chip ${state}`}>{t().states[state]}</span>
          </button>
        );
      })}
    </section>
  );
}
