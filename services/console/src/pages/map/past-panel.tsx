import { nowOfMap } from '../../fleet/past.ts';
import { stateName } from '../../fleet/state-name.ts';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { joined, t } from '../../words/words.ts';

/** A vehicle at the past moment that the map shows. */
export function PastPanel({ id, onClose }: { id: string; onClose: () => void }) {
  void fleet.version.value;
  const index = fleet.indexOf(id);
  const vehicle = fleet.vehicles[index];
  const atMs = nowOfMap();
  const isKnown = vehicle !== undefined && fleet.hasPosition(index);
  const speedKmh = fleet.speedKmh[index] ?? Number.NaN;
  const [latitude, longitude] = [fleet.latitude[index] ?? 0, fleet.longitude[index] ?? 0];
  const facts: [string, string][] = [
    [t().lastFix, formats().moment(fleet.fixMs[index] ?? 0)],
    [t().speed, Number.isNaN(speedKmh) ? '–' : formats().speed(speedKmh)],
    [t().coordinates, formats().coordinates(latitude, longitude)],
  ];
  return (
    <Panel
      kind="panel"
      of={id}
      label={vehicle?.name ?? t().vehicles}
      onClose={onClose}
      head={
        <div>
          <h2>
            <bdi>{vehicle?.name ?? '–'}</bdi>
          </h2>
          {vehicle && <small>{joined([vehicle.plate, vehicle.terminalId])}</small>}
        </div>
      }
    >
      <div class="body">
        <div class="actions">
          <a class="button" href={trackLink({ vehicleId: id, atMs })}>
            <Icon name="track" /> {t().showTrack}
          </a>
        </div>
        {isKnown ? (
          <>
            <p>
              <span class={`chip ${fleet.stateOf(index)}`}>{stateName(fleet.stateOf(index))}</span>
            </p>
            <dl class="facts">
              {facts.map(([label, value]) => (
                <>
                  <dt key={`${label} term`}>{label}</dt>
                  <dd key={label}>
                    <bdi>{value}</bdi>
                  </dd>
                </>
              ))}
            </dl>
          </>
        ) : (
          <p>{t().fleetMap.past.unknown}</p>
        )}
      </div>
    </Panel>
  );
}
