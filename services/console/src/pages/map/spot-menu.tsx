import type { Vehicle } from '@outrider/client';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { State } from '../../fleet/fleet.ts';
import { stateName } from '../../fleet/state-name.ts';
import { fleet } from '../../fleet/store.ts';
import { t } from '../../words/words.ts';
import type { Spot } from './fleet-map.ts';

/** Vehicles on one spot, and where it is, in pixels of the map. */
export interface Choice {
  spot: Spot;
  x: number;
  y: number;
}

/** The menu leaves the spot itself to be seen. */
const BESIDE_PX = 10;

/** The vehicles of a spot, by name. */
export function vehiclesOf(spot: readonly string[]): { id: string; name: string; state: State }[] {
  return spot
    .map((id) => fleet.indexOf(id))
    .filter((index) => index >= 0)
    .map((index) => ({ ...(fleet.vehicles[index] as Vehicle), state: fleet.stateOf(index) }))
    .sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
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
    const left = Math.min(box.left + x + BESIDE_PX, innerWidth - element.offsetWidth - 8);
    const top = Math.min(box.top + y + BESIDE_PX, innerHeight - element.offsetHeight - 8);
    element.style.inset = `${Math.max(8, top)}px auto auto ${Math.max(8, left)}px`;
    element.querySelector('button')?.focus();
  }, [spot, x, y]);
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
      {vehiclesOf(spot).map(({ id, name, state }) => {
        const choose = () => {
          menu.current?.hidePopover();
          onSelect(id);
        };
        return (
          <button key={id} type="button" aria-current={id === selected ? 'true' : undefined} onClick={choose}>
            <bdi>{name}</bdi>
            <span class={`chip ${state}`}>{stateName(state)}</span>
          </button>
        );
      })}
    </section>
  );
}
