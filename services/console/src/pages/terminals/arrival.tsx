import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import type { FleetMap } from '../map/fleet-map.ts';
import { vehicleWords } from '../vehicles/words.ts';
import type { Added } from './waiting.tsx';
import { terminalWords } from './words.ts';

const ZOOM = 14;

/** Card of a newly created vehicle. Its own map shows when the first position arrives. */
export function ArrivalCard({ id, name }: Added) {
  void fleet.version.value;
  const terminals = terminalWords();
  const index = fleet.indexOf(id);
  const hasArrived = index >= 0 && fleet.hasPosition(index);
  const speed = fleet.speedKmh[index] ?? Number.NaN;
  return (
    <section class="arrival" aria-label={name}>
      <p>
        <Icon name="check" /> {terminals.added(name)}
      </p>
      <p role="status">
        {hasArrived ? (
          <>
            <strong>{terminals.arrived}</strong> {formats().moment(fleet.fixMs[index] ?? 0)} ·{' '}
            <bdi>{formats().coordinates(fleet.latitude[index] ?? 0, fleet.longitude[index] ?? 0)}</bdi>
            {Number.isNaN(speed) ? '' : ` · ${formats().speed(speed)}`}
          </>
        ) : (
          <>
            {terminals.awaiting} <small>{terminals.awaitingHint}</small>
          </>
        )}
      </p>
      {hasArrived ? <ArrivalMap id={id} /> : <progress aria-label={terminals.awaiting} />}
      <div class="actions">
        <a class="button" href={`/vehicles?vehicle=${id}`}>
          <Icon name="edit" /> {terminals.editVehicle}
        </a>
        {hasArrived && (
          <a class="button" href={`/?vehicle=${id}&follow=1`}>
            <Icon name="map" /> {vehicleWords().showOnMap}
          </a>
        )}
      </div>
    </section>
  );
}

function ArrivalMap({ id }: { id: string }) {
  const container = useRef<HTMLDivElement>(null);
  const hasFailed = useSignal(false);
  useEffect(() => {
    let map: FleetMap | null = null;
    let isGone = false;
    const index = fleet.indexOf(id);
    const place = { zoom: ZOOM, latitude: fleet.latitude[index] ?? 0, longitude: fleet.longitude[index] ?? 0 };
    const ignore = () => {};
    import('../map/fleet-map.ts').then(
      (module) => {
        if (isGone || container.current === null) return;
        fleet.setShown(() => true);
        map = new module.FleetMap(container.current, place, {
          onSelect: ignore,
          onHover: ignore,
          onAsk: ignore,
          onMove: ignore,
          onDrag: ignore,
        });
        map.select(id);
        map.follow(id);
      },
      () => {
        hasFailed.value = true;
      },
    );
    return () => {
      isGone = true;
      map?.destroy();
    };
  }, [id, hasFailed]);
  if (hasFailed.value) return null;
  return (
    <div class="mapbox">
      <div class="canvas" ref={container} />
    </div>
  );
}
