import type { Vehicle } from '@outrider/client';
import type { State } from '../../fleet/fleet.ts';
import { stateName } from '../../fleet/state-name.ts';
import { fleet } from '../../fleet/store.ts';
import { t } from '../../words/words.ts';
import type { Spot } from './fleet-map.ts';
import { MapMenu } from './map-menu.tsx';

/** Vehicles on one spot, and where it is, in pixels of the map. */
export interface Choice {
  spot: Spot;
  x: number;
  y: number;
}

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
  void fleet.version.value;
  return (
    <MapMenu label={t().fleetMap.vehiclesHere(spot.length)} x={x} y={y} onClose={onClose}>
      {vehiclesOf(spot).map(({ id, name, state }) => (
        <button
          key={id}
          type="button"
          aria-current={id === selected ? 'true' : undefined}
          onClick={() => {
            onClose();
            onSelect(id);
          }}
        >
          <bdi>{name}</bdi>
          <span class={`chip ${state}`}>{stateName(state)}</span>
        </button>
      ))}
    </MapMenu>
  );
}
