import type { Vehicle, VehicleState } from '@outrider/client';
import { useEffect } from 'preact/hooks';
import { VehicleCommands } from '../../commands/vehicle-commands.tsx';
import { absentText, stateName } from '../../fleet/state-name.ts';
import { fleet, hasStates, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { VehicleCounters } from '../../maintenance/counters.tsx';
import { Icon } from '../../parts/icon.tsx';
import { lazy } from '../../parts/loading/lazy.tsx';
import { Failure } from '../../parts/message.tsx';
import { Panel } from '../../parts/panel.tsx';
import { VehicleIcon } from '../../parts/vehicle-icon.tsx';
import { ShareButton } from '../../share/share-button.tsx';
import { OrderVideo } from '../../video/order-video.tsx';
import { joined, t } from '../../words/words.ts';
import { type Details, useDetails } from './details.ts';
import { DriverLine } from './driver-line.tsx';
import { screenFor } from './panel-links.ts';
import { SensorValues, useLiveState } from './sensor-values.tsx';
import { sensorsOf } from './sensors.ts';

interface Props {
  id: string;
  isFollowed: boolean;
  onFollow: () => void;
  onClose: () => void;
}

/** Maximum number of events in the panel. Others are one click away. */
const MOST_EVENTS = 20;
const ScoreLine = lazy(async () => (await import('./score-line.tsx')).ScoreLine);

/** Panel with the current data and today's history of one vehicle. */
export function VehiclePanel({ id, isFollowed, onFollow, onClose }: Props) {
  void fleet.watchedVersion.value;
  void fleet.version.value;
  const index = fleet.indexOf(id);
  const vehicle = fleet.vehicles[index];
  // Data of a suspended vehicle cannot be loaded.
  const isHidden = vehicle !== undefined && vehicle.suspension !== null && fleet.hidesSuspended;
  useEffect(() => {
    fleet.watched = id;
    return () => {
      fleet.watched = null;
    };
  }, [id]);
  const details = useDetails(id, isHidden);
  useLiveState(id, (state) => {
    details.value = { ...details.peek(), state };
  });
  const isLoading = vehicle === undefined && loaded.value === null;
  return (
    <Panel
      kind="panel"
      of={id}
      label={vehicle?.name ?? t().vehicles}
      onClose={onClose}
      head={
        <div>
          <h2>
            {vehicle && vehicle.icon !== null && <VehicleIcon name={vehicle.icon} color={vehicle.color} />}{' '}
            <bdi>{vehicle?.name ?? '–'}</bdi>
          </h2>
          {vehicle && <small>{joined([vehicle.plate, vehicle.terminalId])}</small>}
        </div>
      }
    >
      <div class="body">
        {vehicle === undefined ? (
          <p>{isLoading ? t().loading : t().notFoundVehicle}</p>
        ) : isHidden ? (
          <>
            <div class="actions">
              <EditLink vehicleId={id} />
            </div>
            <SuspendedNote vehicle={vehicle} />
          </>
        ) : (
          <>
            <div class="actions">
              <button type="button" aria-pressed={isFollowed} onClick={onFollow} disabled={!fleet.hasPosition(index)}>
                <Icon name="follow" /> {isFollowed ? t().following : t().follow}
              </button>
              <a class="button" href={trackLink({ vehicleId: id })}>
                <Icon name="track" /> {t().showTrack}
              </a>
              <OrderVideo vehicleId={id} />
              <ShareButton vehicleIds={[id]} />
              <EditLink vehicleId={id} />
            </div>
            {vehicle.suspension === null ? <Note index={index} /> : <SuspendedNote vehicle={vehicle} />}
            <DriverLine vehicleId={id} />
            <ScoreLine vehicleId={id} driverId={fleet.drivingOf(id)?.driver?.id ?? null} />
            <Facts index={index} state={details.value.state} place={details.value.place} />
            {details.value.error !== null && <Failure>{details.value.error}</Failure>}
            {details.value.state !== null && <SensorValues state={details.value.state} />}
            <Sensors state={details.value.state} />
            <VehicleCounters vehicleId={id} />
            <VehicleCommands vehicleId={id} vehicleName={vehicle.name} />
            <Trips {...details.value} />
            <Events vehicleId={id} {...details.value} />
          </>
        )}
      </div>
    </Panel>
  );
}

function EditLink({ vehicleId }: { vehicleId: string }) {
  const href = screenFor('/vehicles', vehicleId);
  if (href === null) return null;
  return (
    <a class="button" href={href}>
      <Icon name="edit" /> {t().fleetMap.edit}
    </a>
  );
}

/** Why the data of a vehicle is hidden from all but operators. */
function SuspendedNote({ vehicle: { suspension } }: { vehicle: Vehicle }) {
  if (suspension === null) return null;
  const words = t().fleetMap.suspension;
  return (
    <p class="note">
      <strong>{words.since(formats().moment(Date.parse(suspension.since)))}</strong> <bdi>{suspension.reason}</bdi>
      <br />
      {words.note}
    </p>
  );
}

/** Explains why a vehicle shows less data than others, and what to do. */
function Note({ index }: { index: number }) {
  void fleet.watchedVersion.value;
  const state = fleet.stateOf(index);
  const contactMs = fleet.contactMs[index] ?? 0;
  const words = t().fleetMap;
  const terminals = screenFor('/terminals');
  if (!hasStates.value && contactMs === 0) return null;
  if (state === 'offline' && contactMs > 0) return <p class="note">{words.offlineNote(formats().moment(contactMs))}</p>;
  if (contactMs > 0) return fleet.hasPosition(index) ? null : <p class="note">{words.noFixNote}</p>;
  return (
    <p class="note">
      {words.unknownNote} {terminals !== null && <a href={terminals}>{words.toTerminals}</a>}
    </p>
  );
}

/** Sensor values of the last record. */
function Sensors({ state }: { state: VehicleState | null }) {
  const format = formats();
  const words = t().fleetMap;
  if (state === null) return null;
  const { position } = state;
  const facts: [string, string | null | undefined][] = [
    [words.odometer, position?.odometerM == null ? null : format.distance(position.odometerM)],
    [words.altitude, position?.altitudeM == null ? null : format.height(position.altitudeM)],
    [words.satellites, position?.satellites == null ? null : format.number(position.satellites)],
    ...sensorsOf(state.attributes, format, { names: words.sensorNames, yes: words.yes, no: words.no }).map(
      ({ label, text }): [string, string] => [label, text],
    ),
    [words.protocol, state.protocol],
    [
      words.connection,
      state.connectedSince === null
        ? words.notConnected
        : words.connectedSince(format.moment(Date.parse(state.connectedSince))),
    ],
    [words.lastRefusal, state.lastRefusal && refusalText(state.lastRefusal)],
  ];
  return (
    <details class="sensors">
      <summary>{words.sensors}</summary>
      <dl class="facts">
        {facts.map(([label, value]) =>
          value == null ? null : (
            <>
              <dt key={`${label} term`}>{label}</dt>
              <dd key={label}>
                <bdi>{value}</bdi>
              </dd>
            </>
          ),
        )}
      </dl>
    </details>
  );
}

function refusalText({ at, protocol, address, reason }: NonNullable<VehicleState['lastRefusal']>): string {
  return joined([formats().moment(Date.parse(at)), protocol, address, t().fleetMap.refusals[reason]]);
}

function Facts({ index, state, place }: { index: number; state: VehicleState | null; place: string | null }) {
  void fleet.watchedVersion.value;
  const format = formats();
  const name = fleet.stateOf(index);
  const sinceMs = fleet.sinceMs[index] ?? 0;
  const contactMs = fleet.contactMs[index] ?? 0;
  const fixMs = fleet.fixMs[index] ?? 0;
  const speed = fleet.speedKmh[index] ?? Number.NaN;
  const facts: [string, string | null][] = [
    [t().speed, Number.isNaN(speed) || name !== 'moving' ? null : format.speed(speed)],
    [t().ignition, state === null || state.ignition === null ? null : state.ignition ? t().on : t().off],
    // The level of a monitored tank is listed among the sensors.
    [t().fuel, state?.fuelL == null || state.tank !== null ? null : format.volume(state.fuelL)],
    [t().supply, state?.supplyV === undefined || state.supplyV === null ? null : format.voltage(state.supplyV)],
    [t().alarms, state === null || state.alarms.length === 0 ? null : state.alarms.join(', ')],
    [t().place, fixMs === 0 ? null : place],
    [
      place === null || fixMs === 0 ? t().place : t().coordinates,
      fixMs === 0
        ? absentText(t().noPosition)
        : format.coordinates(fleet.latitude[index] ?? 0, fleet.longitude[index] ?? 0),
    ],
    [t().lastFix, fixMs === 0 ? null : format.moment(fixMs)],
    [t().lastContact, contactMs === 0 ? absentText(t().never) : format.ago((Date.now() - contactMs) / 1000)],
  ];
  return (
    <dl class="facts">
      <dt>{t().state}</dt>
      <dd>
        <span class={`chip ${name}`}>{stateName(name)}</span>
        {sinceMs > 0 && <small> {t().since(format.moment(sinceMs))}</small>}
      </dd>
      {facts.map(([label, value]) =>
        value === null ? null : (
          <>
            <dt key={`${label} term`}>{label}</dt>
            <dd key={label}>
              <bdi>{value}</bdi>
            </dd>
          </>
        ),
      )}
    </dl>
  );
}

/** Link to the replay of a trip; an ongoing trip is shown up to now. */
function tripLink(vehicleId: string, startedAt: string, endedAt: string | null): string {
  const fromMs = Date.parse(startedAt);
  return trackLink({ vehicleId, fromMs, toMs: endedAt === null ? Date.now() : Date.parse(endedAt), atMs: fromMs });
}

/** Text of a list without rows. That nothing happened is shown only after a successful load. */
function Empty({ rows, error, none }: { rows: readonly unknown[] | null; error: string | null; none: string }) {
  if (rows === null) return error === null ? <small>{t().loading}</small> : null;
  return rows.length === 0 ? <small>{none}</small> : null;
}

function Trips({ trips, error }: Pick<Details, 'trips' | 'error'>) {
  const format = formats();
  return (
    <section>
      <h3>{t().tripsToday}</h3>
      <Empty rows={trips} error={error} none={t().noTrips} />
      <ol class="timeline">
        {trips?.map(({ vehicleId, startedAt, endedAt, distanceM, durationSeconds, startPlace, endPlace }) => (
          <li key={startedAt}>
            <a href={tripLink(vehicleId, startedAt, endedAt)}>
              <time dateTime={startedAt}>{format.moment(startedAt)}</time>
            </a>
            <span>
              {endedAt === null
                ? `${t().ongoing}, ${format.duration(durationSeconds)}`
                : t().tripSummary(format.distance(distanceM), format.duration(durationSeconds))}
              <small>
                <bdi>{joined([startPlace, endPlace], ' – ')}</bdi>
              </small>
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Events({ vehicleId, events, error }: Pick<Details, 'events' | 'error'> & { vehicleId: string }) {
  const format = formats();
  return (
    <section>
      <h3>{t().lastEvents}</h3>
      <Empty rows={events} error={error} none={t().noEvents} />
      <ol class="timeline">
        {events?.slice(0, MOST_EVENTS).map((event) => (
          <li key={event.id}>
            <a href={trackLink({ vehicleId: event.vehicleId, atMs: Date.parse(event.startedAt) })}>
              <time dateTime={event.startedAt}>{format.moment(event.startedAt)}</time>
            </a>
            <span>
              {joined(
                [
                  t().events[event.kind] ?? event.kind,
                  event.geozoneName ?? event.alarm,
                  event.peakKmh === null ? null : format.speed(event.peakKmh),
                  event.endedAt === null ? t().ongoing : format.duration(event.durationSeconds),
                ],
                ', ',
              )}
            </span>
            <OrderVideo vehicleId={event.vehicleId} atMs={Date.parse(event.startedAt)} isSmall />
          </li>
        ))}
      </ol>
      {events !== null && events.length > MOST_EVENTS && (
        <a href={`/reports?kind=events&vehicle=${vehicleId}&range=today`}>
          {t().fleetMap.allEvents(format.number(events.length))}
        </a>
      )}
    </section>
  );
}
