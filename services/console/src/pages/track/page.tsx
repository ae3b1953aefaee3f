import type { StopsRow, TripsRow } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { addDays, dateOf, dayStart } from '../../days.ts';
import { describeError } from '../../errors.ts';
import { fleet, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Message } from '../../parts/message.tsx';
import { preferences } from '../../preferences.ts';
import { route, setQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { ReplayClock } from '../../track/clock.ts';
import { highestKmh, lengthM, type Track, trackOf } from '../../track/track.ts';
import { language, t } from '../../words/words.ts';
import { Player } from './player.tsx';
import { TrackMap } from './track-map.ts';

/** Points of a track that are enough for a screen, and that the API thins it to. */
const MOST_POINTS = 20_000;
const PAGE = 1000;

interface Day {
  fromMs: number;
  toMs: number;
  track: Track;
  trips: TripsRow[];
  stops: StopsRow[];
}
type Loading = Day | 'loading' | 'nothing chosen' | { error: string };

/**
 * A vehicle's day: where it was, how fast, where it stopped; played by one clock. The address has vehicle, day and
 * time.
 */
export function TrackPage() {
  const { query } = route.value;
  const { timeZone } = preferences.value;
  const vehicleId = query.get('vehicle');
  const today = dateOf(Date.now(), timeZone);
  const date = /^\d{4}-\d\d-\d\d$/.test(query.get('day') ?? '') ? (query.get('day') as string) : today;
  const day = useSignal<Loading>('nothing chosen');
  const clock = useMemo(() => new ReplayClock(), []);

  useEffect(() => {
    if (vehicleId === null) {
      day.value = 'nothing chosen';
      return;
    }
    const ending = new AbortController();
    day.value = 'loading';
    void readDay(vehicleId, date, timeZone, ending.signal).then(
      (read) => {
        if (ending.signal.aborted) return;
        const at = Number(route.peek().query.get('time') ?? Number.NaN);
        const [first = read.fromMs, last = read.toMs] = [read.track.timeMs.at(0), read.track.timeMs.at(-1)];
        clock.setInterval(first, last, Number.isNaN(at) ? first : at);
        day.value = read;
      },
      (error: unknown) => {
        if (!ending.signal.aborted) day.value = { error: describeError(error) };
      },
    );
    return () => ending.abort();
  }, [vehicleId, date, timeZone, clock, day]);

  return (
    <div class="split">
      <section class="side" aria-label={t().pages.track}>
        <div class="filters">
          <VehicleChoice value={vehicleId} />
          <DayChoice date={date} today={today} />
        </div>
        <Side day={day} clock={clock} />
      </section>
      <div class="mapbox">
        <MapBox day={day} clock={clock} />
        {isDay(day.value) && day.value.track.count > 0 && <Player track={day.value.track} clock={clock} />}
      </div>
    </div>
  );
}

function isDay(value: Loading): value is Day {
  return typeof value === 'object' && 'track' in value;
}

async function readDay(vehicleId: string, date: string, timeZone: string | null, signal: AbortSignal): Promise<Day> {
  const from = dayStart(date, timeZone);
  const to = dayStart(addDays(date, 1), timeZone);
  const query = { vehicleId, from: from.toISOString(), to: to.toISOString(), limit: PAGE };
  const [positions, trips, stops] = await Promise.all([
    all((cursor) =>
      api.get('/api/v1/reports/track', { query: { ...query, maxPoints: MOST_POINTS, ...cursor }, signal }),
    ),
    all((cursor) => api.get('/api/v1/reports/trips', { query: { ...query, ...cursor }, signal })),
    all((cursor) => api.get('/api/v1/reports/stops', { query: { ...query, ...cursor }, signal })),
  ]);
  return { fromMs: from.getTime(), toMs: to.getTime(), track: trackOf(positions), trips, stops };
}

async function all<T>(page: (cursor: { cursor?: string }) => Promise<{ items: T[]; nextCursor: string | null }>) {
  const items: T[] = [];
  for await (const more of api.pages((cursor) => page(cursor === undefined ? {} : { cursor }))) items.push(...more);
  return items;
}

function VehicleChoice({ value }: { value: string | null }) {
  void fleet.version.value;
  void loaded.value;
  const collator = new Intl.Collator(language.value, { numeric: true });
  const vehicles = fleet.vehicles.toSorted((a, b) => collator.compare(a.name, b.name));
  return (
    <select
      aria-label={t().trackOf}
      value={value ?? ''}
      onChange={(event) => setQuery({ vehicle: event.currentTarget.value, time: null }, { replace: false })}
    >
      <option value="">{t().chooseVehicle}</option>
      {vehicles.map(({ id, name, plate }) => (
        <option key={id} value={id} selected={id === value}>
          {plate === null ? name : `${name} · ${plate}`}
        </option>
      ))}
    </select>
  );
}

function DayChoice({ date, today }: { date: string; today: string }) {
  const go = (day: string) => setQuery({ day: day === today ? null : day, time: null }, { replace: false });
  return (
    <div class="row">
      <button type="button" class="icon" aria-label={t().previousDay} onClick={() => go(addDays(date, -1))}>
        <span class="flip">
          <Icon name="back" />
        </span>
      </button>
      <input
        type="date"
        aria-label={t().day}
        value={date}
        max={today}
        onChange={(event) => event.currentTarget.value !== '' && go(event.currentTarget.value)}
      />
      <button
        type="button"
        class="icon"
        aria-label={t().nextDay}
        disabled={date >= today}
        onClick={() => go(addDays(date, 1))}
      >
        <span class="flip">
          <Icon name="forward" />
        </span>
      </button>
    </div>
  );
}

function Side({ day, clock }: { day: Signal<Loading>; clock: ReplayClock }) {
  const value = day.value;
  if (value === 'nothing chosen') return <Message icon="track" title={t().chooseVehicle} />;
  if (value === 'loading') return <Message title={t().loading} />;
  if (!isDay(value)) return <Message icon="warning" title={value.error} />;
  if (value.track.count === 0) return <Message icon="track" title={t().noTrack} hint={t().noTrackHint} />;
  const { trips, stops } = value;
  const format = formats();
  // The service counts a trip's distance when it ends.
  const distanceM = trips.reduce(
    (sum, trip) => sum + (trip.distanceM ?? lengthM(value.track, Date.parse(trip.startedAt))),
    0,
  );
  const highest = highestKmh(value.track);
  const rows = [
    ...trips.map((trip) => ({ ...trip, isStop: false })),
    ...stops.map((stop) => ({ ...stop, distanceM: null, isStop: true })),
  ].sort((a, b) => a.startedAt.localeCompare(b.startedAt));
  return (
    <div class="scroll">
      <dl class="facts">
        <dt>{t().distance}</dt>
        <dd>{format.distance(distanceM)}</dd>
        <dt>{t().highestSpeed}</dt>
        <dd>{Number.isNaN(highest) ? '–' : format.speed(highest)}</dd>
        <dt>{t().trips}</dt>
        <dd>{format.number(trips.length)}</dd>
        <dt>{t().stops}</dt>
        <dd>{format.number(stops.length)}</dd>
      </dl>
      <ol class="timeline">
        {rows.map(({ startedAt, endedAt, durationSeconds, distanceM: metres, isStop }) => (
          <li key={`${startedAt}${isStop}`}>
            <button type="button" onClick={() => clock.seek(Date.parse(startedAt))}>
              <time dateTime={startedAt}>{format.time(startedAt)}</time>
              <span class={`chip ${isStop ? 'parking' : 'moving'}`}>
                {isStop
                  ? t().stopOf(format.duration(durationSeconds))
                  : endedAt === null
                    ? `${t().ongoing}, ${format.duration(durationSeconds)}`
                    : t().tripSummary(format.distance(metres), format.duration(durationSeconds))}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

function MapBox({ day, clock }: { day: Signal<Loading>; clock: ReplayClock }) {
  const container = useRef<HTMLDivElement>(null);
  const map = useRef<TrackMap | null>(null);
  useEffect(() => {
    if (container.current === null) return;
    const made = new TrackMap(container.current, clock);
    map.current = made;
    return () => {
      map.current = null;
      made.destroy();
    };
  }, [clock]);
  const value = day.value;
  useEffect(() => {
    if (isDay(value)) map.current?.show(value.track, value.stops);
    else map.current?.show(trackOf([]), []);
  }, [value]);
  return <div class="canvas" ref={container} />;
}
