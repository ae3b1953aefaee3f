import { nearest } from '../../fleet/nearest.ts';
import { nowOfMap } from '../../fleet/past.ts';
import { stateName } from '../../fleet/state-name.ts';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { t } from '../../words/words.ts';
import { MapMenu } from './map-menu.tsx';

/** A place of the map whose nearest vehicles are requested. */
export interface AskedPlace {
  longitude: number;
  latitude: number;
  /** In pixels of the map. */
  x: number;
  y: number;
}

interface Props extends AskedPlace {
  onSelect: (id: string) => void;
  onClose: () => void;
}

const MOST = 10;
/** The age is shown for fixes older than this. */
const OLD_MS = 5 * 60_000;

/** The vehicles nearest to a place, of those that the list shows. */
export function NearestMenu({ longitude, latitude, x, y, onSelect, onClose }: Props) {
  void fleet.version.value;
  const found = nearest(fleet, [longitude, latitude], MOST);
  const nowMs = nowOfMap();
  return (
    <MapMenu label={t().fleetMap.nearest} x={x} y={y} onClose={onClose}>
      <small>{formats().coordinates(latitude, longitude)}</small>
      {found.map(({ index, distanceM }) => {
        const vehicle = fleet.vehicles[index];
        if (vehicle === undefined) return null;
        const state = fleet.stateOf(index);
        const agoMs = nowMs - (fleet.fixMs[index] as number);
        return (
          <button
            key={vehicle.id}
            type="button"
            onClick={() => {
              onClose();
              onSelect(vehicle.id);
            }}
          >
            <bdi>{vehicle.name}</bdi>
            <span>
              {formats().distance(distanceM)}
              {agoMs > OLD_MS && <small> · {formats().ago(agoMs / 1000)}</small>}
            </span>
            <span class={`chip ${state}`}>{stateName(state)}</span>
          </button>
        );
      })}
      {found.length === 0 && <p>{t().nothingFound}</p>}
    </MapMenu>
  );
}
