import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { readPlace } from '../../map/map.ts';
import { Icon } from '../../parts/icon.tsx';
import { change, preferences } from '../../preferences.ts';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { t } from '../../words/words.ts';
import { FleetMap } from './fleet-map.ts';
import { VehicleList } from './list.tsx';
import { VehiclePanel } from './panel.tsx';

/** The live map with its list. The address has the vehicle, the filter, the place, and whether it is followed. */
export function MapPage() {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<FleetMap | null>(null);
  const hover = useSignal<{ id: string; x: number; y: number } | null>(null);
  const { query } = route.value;
  const selected = query.get('vehicle');
  const isFollowing = query.get('follow') === '1' && selected !== null;
  const isListHidden = query.get('list') === '0';

  useEffect(() => {
    if (container.current === null) return;
    const map = new FleetMap(container.current, readPlace(route.peek().query.get('at')), {
      onSelect: (id) => select(id),
      onHover: (id, x, y) => {
        hover.value = id === null ? null : { id, x, y };
      },
      onMove: (at) => setQuery({ at }),
      onDrag: () => setQuery({ follow: null }),
    });
    view.current = map;
    return () => {
      view.current = null;
      map.destroy();
    };
  }, [hover]);
  useEffect(() => view.current?.select(selected), [selected]);
  useEffect(() => view.current?.follow(isFollowing ? selected : null), [isFollowing, selected]);

  const choose = (id: string) => {
    select(id);
    view.current?.show(id);
  };
  return (
    <div class={isListHidden ? 'split wide' : 'split'}>
      <VehicleList selected={selected} onSelect={choose} />
      <div class="mapbox">
        <div class="canvas" ref={container} />
        <div class="tools">
          <Tool
            icon="list"
            label={isListHidden ? t().showList : t().hideList}
            onClick={() => setQuery({ list: isListHidden ? null : '0' })}
          />
          <Tool icon="fit" label={t().showAll} onClick={() => view.current?.fitAll()} />
          <Tool
            icon="group"
            label={t().clusters}
            isPressed={preferences.value.clusters}
            onClick={() => change({ clusters: !preferences.peek().clusters })}
          />
        </div>
        {hover.value !== null && <HoverCard {...hover.value} />}
        {selected !== null && (
          <VehiclePanel
            id={selected}
            isFollowed={isFollowing}
            onFollow={() => setQuery({ follow: isFollowing ? null : '1' })}
            onClose={() => select(null)}
          />
        )}
      </div>
    </div>
  );
}

function select(id: string | null): void {
  if (id === route.peek().query.get('vehicle')) return;
  navigate(withQuery({ vehicle: id, follow: null }));
}

interface ToolProps {
  icon: 'list' | 'fit' | 'group';
  label: string;
  isPressed?: boolean;
  onClick: () => void;
}

function Tool({ icon, label, isPressed, onClick }: ToolProps) {
  return (
    <button type="button" class="icon" aria-label={label} title={label} aria-pressed={isPressed} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

function HoverCard({ id, x, y }: { id: string; x: number; y: number }) {
  void fleet.version.value;
  const index = fleet.indexOf(id);
  const vehicle = fleet.vehicles[index];
  if (vehicle === undefined) return null;
  const state = fleet.stateOf(index);
  const speed = fleet.speedKmh[index] ?? Number.NaN;
  return (
    <div class="hover" style={{ left: `${x + 14}px`, top: `${y + 14}px` }}>
      <strong>{vehicle.name}</strong>
      <span class={`chip ${state}`}>
        {t().states[state]}
        {state === 'moving' && !Number.isNaN(speed) ? ` · ${formats().speed(speed)}` : ''}
      </span>
      <small>{formats().moment(fleet.fixMs[index] ?? 0)}</small>
    </div>
  );
}
