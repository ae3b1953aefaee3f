import type { EventsRow, FeedEvent, TripsRow, Vehicle, VehicleState } from '@outrider/client';
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { VehicleCommands } from '../../commands/vehicle-commands.tsx';
import { startOfDay } from '../../days.ts';
import { describeError } from '../../errors.ts';
import { fleet, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { live } from '../../live/live.ts';
import { VehicleCounters } from '../../maintenance/counters.tsx';
import { Icon } from '../../parts/icon.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { Panel } from '../../parts/panel.tsx';
import { VehicleIcon } from '../../parts/vehicle-icon.tsx';
import { preferences } from '../../preferences.ts';
import { api } from '../../session.ts';
import { ShareButton } from '../../share/share-button.tsx';
import { OrderVideo } from '../../video/order-video.tsx';
import { joined, t } from '../../words/words.ts';
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

interface Details {
  state: VehicleState | null;
  /** Where it is, in words. */
  place: string | null;
  events: EventsRow[];
  trips: TripsRow[];
  error: string | null;
}

const NOTHING: Details = { state: null, place: null, events: [], trips: [], error: null };
const MOST_EVENTS = 20;
const ScoreLine = lazy(async () => (await import('./score-line.tsx')).ScoreLine);

/** Sensors and totals come by REST, between events at this pace. */
const REFRESH_MS = 30_000;
/** Corrections come in numbers, and a moment before the archive has them: they are read once, after this. */
const CORRECTED_MS = 3000;

/** Everything about one vehicle now and today. */
export function VehiclePanel({ id, isFollowed, onFollow, onClose }: Props) {
  const details = useSignal<Details>(NOTHING);
  void fleet.watchedVersion.value;
  void fleet.version.value;
  const index = fleet.indexOf(id);
  const vehicle = fleet.vehicles[index];
  // Its data can't be read while it is suspended.
  const isHidden = vehicle !== undefined && vehicle.suspension !== null && fleet.hidesSuspended;
  useEffect(() => {
    fleet.watched = id;
    details.value = NOTHING;
    if (isHidden) return;
    const ending = new AbortController();
    const read = () =>
      void readDetails(id, ending.signal).then((read) => {
        if (!ending.signal.aborted) details.value = read;
      });
    read();
    const timer = setInterval(() => {
      if (!document.hidden) read();
    }, REFRESH_MS);
    return () => {
      clearInterval(timer);
      ending.abort();
      fleet.watched = null;
    };
  }, [id, isHidden, details]);
  useLiveState(id, (state) => {
    details.value = { ...details.peek(), state };
  });
  // An event begins or ends something of what is shown; a recalculation changes or removes it.
  const correction = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => () => clearTimeout(correction.current ?? undefined), []);
  useSignalEffect(() => {
    const event = live.event.value;
    if (event?.vehicleId !== id) return;
    const read = () => {
      correction.current = null;
      const signal = AbortSignal.timeout(30_000);
      void readDetails(id, signal).then((read) => {
        details.value = read;
      });
    };
    if (event.origin !== 'recalculated') return read();
    if (event.phase === 'removed') details.value = without(details.peek(), event);
    correction.current ??= setTimeout(read, CORRECTED_MS);
  });
  if (vehicle === undefined && loaded.value === null) return null;
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
          <p>{t().notFoundVehicle}</p>
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
            {details.value.error !== null && <p class="error">{details.value.error}</p>}
            {details.value.state !== null && <SensorValues state={details.value.state} />}
            <Sensors state={details.value.state} />
            <VehicleCounters vehicleId={id} />
            <VehicleCommands vehicleId={id} vehicleName={vehicle.name} />
            <Trips trips={details.value.trips} />
            <Events events={details.value.events} />
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
  const words = t().vehiclePages.suspension;
  return (
    <p class="note">
      <strong>{words.since(formats().moment(Date.parse(suspension.since)))}</strong> <bdi>{suspension.reason}</bdi>
      <br />
      {words.note}
    </p>
  );
}

/** Why a vehicle shows less than others, and what to do. */
function Note({ index }: { index: number }) {
  void fleet.watchedVersion.value;
  const state = fleet.stateOf(index);
  const contactMs = fleet.contactMs[index] ?? 0;
  const words = t().fleetMap;
  const terminals = screenFor('/terminals');
  if (state === 'offline' && contactMs > 0) return <p class="note">{words.offlineNote(formats().moment(contactMs))}</p>;
  if (contactMs > 0) return fleet.hasPosition(index) ? null : <p class="note">{words.noFixNote}</p>;
  return (
    <p class="note">
      {words.unknownNote} {terminals !== null && <a href={terminals}>{words.toTerminals}</a>}
    </p>
  );
}

/** What the last record held beside its position. */
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

/** Something that never happened leaves the lists at once. */
function without(details: Details, { id: eventId, kind, startedAt }: FeedEvent): Details {
  return {
    ...details,
    events: details.events.filter(({ id }) => id !== eventId),
    trips: kind === 'trip' ? details.trips.filter((trip) => trip.startedAt !== startedAt) : details.trips,
  };
}

async function readDetails(id: string, signal: AbortSignal): Promise<Details> {
  const from = startOfDay(Date.now(), preferences.peek().timeZone).toISOString();
  const query = { vehicleId: id, from, to: new Date(Date.now() + 1000).toISOString(), limit: 200 };
  try {
    const [state, trips, events, place] = await Promise.all([
      api.get('/api/v1/vehicles/{id}/state', { path: { id }, signal }),
      api.get('/api/v1/reports/trips', { query, signal }),
      api.get('/api/v1/reports/events', { query, signal }),
      placeOf(id, signal),
    ]);
    return {
      state,
      place,
      trips: trips.items.toReversed(),
      events: events.items.toReversed().slice(0, MOST_EVENTS),
      error: null,
    };
  } catch (error) {
    return { ...NOTHING, error: signal.aborted ? null : describeError(error) };
  }
}

async function placeOf(id: string, signal: AbortSignal): Promise<string | null> {
  const index = fleet.indexOf(id);
  if (!fleet.hasPosition(index)) return null;
  const query = {
    latitude: (fleet.latitude[index] ?? 0).toFixed(6),
    longitude: (fleet.longitude[index] ?? 0).toFixed(6),
  };
  return (await api.get('/api/v1/place', { query, signal })).place?.text ?? null;
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
    // The level of a tank that is watched stands among the sensors.
    [t().fuel, state?.fuelL == null || state.tank !== null ? null : format.volume(state.fuelL)],
    [t().supply, state?.supplyV === undefined || state.supplyV === null ? null : format.voltage(state.supplyV)],
    [t().alarms, state === null || state.alarms.length === 0 ? null : state.alarms.join(', ')],
    [t().place, fixMs === 0 ? null : place],
    [
      place === null || fixMs === 0 ? t().place : t().coordinates,
      fixMs === 0 ? t().noPosition : format.coordinates(fleet.latitude[index] ?? 0, fleet.longitude[index] ?? 0),
    ],
    [t().lastFix, fixMs === 0 ? null : format.moment(fixMs)],
    [t().lastContact, contactMs === 0 ? t().never : format.ago((Date.now() - contactMs) / 1000)],
  ];
  return (
    <dl class="facts">
      <dt>{t().state}</dt>
      <dd>
        <span class={`chip ${name}`}>{t().states[name]}</span>
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

/** The trip, from its begin; one that lasts up to now. */
function tripLink(vehicleId: string, startedAt: string, endedAt: string | null): string {
  const fromMs = Date.parse(startedAt);
  return trackLink({ vehicleId, fromMs, toMs: endedAt === null ? Date.now() : Date.parse(endedAt), atMs: fromMs });
}

function Trips({ trips }: { trips: readonly TripsRow[] }) {
  const format = formats();
  return (
    <section>
      <h3>{t().tripsToday}</h3>
      {trips.length === 0 && <small>{t().noTrips}</small>}
      <ol class="timeline">
        {trips.map(({ vehicleId, startedAt, endedAt, distanceM, durationSeconds, startPlace, endPlace }) => (
          <li key={startedAt}>
            <a href={tripLink(vehicleId, startedAt, endedAt)}>
              <time dateTime={startedAt}>{format.time(startedAt)}</time>
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

function Events({ events }: { events: readonly EventsRow[] }) {
  const format = formats();
  return (
    <section>
      <h3>{t().lastEvents}</h3>
      {events.length === 0 && <small>{t().noEvents}</small>}
      <ol class="timeline">
        {events.map((event) => (
          <li key={event.id}>
            <a href={trackLink({ vehicleId: event.vehicleId, atMs: Date.parse(event.startedAt) })}>
              <time dateTime={event.startedAt}>{format.time(event.startedAt)}</time>
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
    </section>
  );
}
