import type { EventsRow, TripsRow, VehicleState } from '@outrider/client';
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { startOfDay } from '../../days.ts';
import { describeError } from '../../errors.ts';
import { fleet, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { live } from '../../live/live.ts';
import { Icon } from '../../parts/icon.tsx';
import { preferences } from '../../preferences.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';

interface Props {
  id: string;
  isFollowed: boolean;
  onFollow: () => void;
  onClose: () => void;
}

interface Details {
  state: VehicleState | null;
  events: EventsRow[];
  trips: TripsRow[];
  error: string | null;
}

const NOTHING: Details = { state: null, events: [], trips: [], error: null };
const MOST_EVENTS = 20;

/** Everything about one vehicle now and today. */
export function VehiclePanel({ id, isFollowed, onFollow, onClose }: Props) {
  const details = useSignal<Details>(NOTHING);
  useEffect(() => {
    fleet.watched = id;
    const ending = new AbortController();
    details.value = NOTHING;
    const read = () =>
      void readDetails(id, ending.signal).then((read) => {
        if (!ending.signal.aborted) details.value = read;
      });
    read();
    return () => {
      ending.abort();
      fleet.watched = null;
    };
  }, [id, details]);
  // An event begins or ends something of what is shown.
  useSignalEffect(() => {
    const event = live.event.value;
    if (event?.vehicleId !== id) return;
    const signal = AbortSignal.timeout(30_000);
    void readDetails(id, signal).then((read) => {
      details.value = read;
    });
  });
  void fleet.watchedVersion.value;
  void fleet.version.value;
  const index = fleet.indexOf(id);
  const vehicle = fleet.vehicles[index];
  if (vehicle === undefined && loaded.value === null) return null;
  return (
    <aside class="panel" aria-label={vehicle?.name ?? t().vehicles}>
      <header>
        <div>
          <h2>{vehicle?.name ?? '–'}</h2>
          {vehicle && <small>{[vehicle.plate, vehicle.terminalId].filter(Boolean).join(' · ')}</small>}
        </div>
        <button type="button" class="icon" aria-label={t().close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="body">
        {vehicle === undefined ? (
          <p>{t().notFoundVehicle}</p>
        ) : (
          <>
            <div class="actions">
              <button type="button" aria-pressed={isFollowed} onClick={onFollow} disabled={!fleet.hasPosition(index)}>
                <Icon name="follow" /> {isFollowed ? t().following : t().follow}
              </button>
              <a class="button" href={`/track?vehicle=${id}`}>
                <Icon name="track" /> {t().showTrack}
              </a>
            </div>
            <Facts index={index} state={details.value.state} />
            {details.value.error !== null && <p class="error">{details.value.error}</p>}
            <Trips trips={details.value.trips} />
            <Events events={details.value.events} />
          </>
        )}
      </div>
    </aside>
  );
}

async function readDetails(id: string, signal: AbortSignal): Promise<Details> {
  const from = startOfDay(Date.now(), preferences.peek().timeZone).toISOString();
  const query = { vehicleId: id, from, to: new Date(Date.now() + 1000).toISOString(), limit: 200 };
  try {
    const [state, trips, events] = await Promise.all([
      api.get('/api/v1/vehicles/{id}/state', { path: { id }, signal }),
      api.get('/api/v1/reports/trips', { query, signal }),
      api.get('/api/v1/reports/events', { query, signal }),
    ]);
    return {
      state,
      trips: trips.items.toReversed(),
      events: events.items.toReversed().slice(0, MOST_EVENTS),
      error: null,
    };
  } catch (error) {
    return { ...NOTHING, error: signal.aborted ? null : describeError(error) };
  }
}

function Facts({ index, state }: { index: number; state: VehicleState | null }) {
  const format = formats();
  const name = fleet.stateOf(index);
  const sinceMs = fleet.sinceMs[index] ?? 0;
  const contactMs = fleet.contactMs[index] ?? 0;
  const fixMs = fleet.fixMs[index] ?? 0;
  const speed = fleet.speedKmh[index] ?? Number.NaN;
  const facts: [string, string | null][] = [
    [t().speed, Number.isNaN(speed) || name !== 'moving' ? null : format.speed(speed)],
    [t().ignition, state === null || state.ignition === null ? null : state.ignition ? t().on : t().off],
    [t().fuel, state?.fuelL === undefined || state.fuelL === null ? null : format.volume(state.fuelL)],
    [t().supply, state?.supplyV === undefined || state.supplyV === null ? null : format.voltage(state.supplyV)],
    [t().alarms, state === null || state.alarms.length === 0 ? null : state.alarms.join(', ')],
    [
      t().place,
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
            <dd key={label}>{value}</dd>
          </>
        ),
      )}
    </dl>
  );
}

function Trips({ trips }: { trips: readonly TripsRow[] }) {
  const format = formats();
  return (
    <section>
      <h3>{t().tripsToday}</h3>
      {trips.length === 0 && <small>{t().noTrips}</small>}
      <ol class="timeline">
        {trips.map(({ vehicleId, startedAt, endedAt, distanceM, durationSeconds }) => (
          <li key={startedAt}>
            <a href={`/track?vehicle=${vehicleId}&time=${Date.parse(startedAt)}`}>
              <time dateTime={startedAt}>{format.time(startedAt)}</time>
            </a>
            <span>
              {endedAt === null
                ? `${t().ongoing}, ${format.duration(durationSeconds)}`
                : t().tripSummary(format.distance(distanceM), format.duration(durationSeconds))}
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
            <time dateTime={event.startedAt}>{format.time(event.startedAt)}</time>
            <span>
              {[
                t().events[event.kind] ?? event.kind,
                event.geozoneName ?? event.alarm,
                event.peakKmh === null ? null : format.speed(event.peakKmh),
                event.endedAt === null ? t().ongoing : format.duration(event.durationSeconds),
              ]
                .filter(Boolean)
                .join(', ')}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
