import type { Shared } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { formats } from '../format.ts';
import { Icon } from '../parts/icon.tsx';
import { Message } from '../parts/message.tsx';
import { indexAt, type Track } from '../track/track.ts';
import { joined, t } from '../words/words.ts';
import { SharedMap } from './shared-map.ts';
import type { SharedView } from './shared-view.ts';

/** Update interval of ages such as "5 minutes ago". */
const CLOCK_MS = 5000;

export function SharedPage({ view }: { view: SharedView }) {
  const shared = view.shared.value;
  const title =
    shared?.name ??
    (shared &&
      joined(
        shared.vehicles.map(({ name }) => name),
        ', ',
      )) ??
    t().share.title;
  useEffect(() => {
    document.title = title;
  }, [title]);
  if (view.hasEnded.value)
    return (
      <main class="shared-end">
        <h1 class="hidden">{t().share.ended}</h1>
        <Message icon="share" title={t().share.ended} hint={t().share.endedHint} />
      </main>
    );
  const trouble = view.trouble.value;
  return (
    <div class="shared">
      <header>
        <img src="/favicon.svg" alt="" width="28" height="28" />
        <div>
          <h1>
            <bdi>{title}</bdi>
          </h1>
          {shared !== null && <small>{subtitleOf(shared)}</small>}
        </div>
      </header>
      {trouble !== null && (
        <p class="banner" role="status">
          <Icon name="offline" /> {trouble === 'connection' ? t().share.notReached : t().share.tooMany}
        </p>
      )}
      <main>{shared === null ? <Message title={t().loading} /> : <Content shared={shared} />}</main>
    </div>
  );
}

function subtitleOf({ track, expiresAt }: Shared): string {
  const until = t().share.until(formats().moment(expiresAt));
  if (track === null) return until;
  return `${formats().interval(Date.parse(track.from), Date.parse(track.to))} · ${until}`;
}

function Content({ shared }: { shared: Shared }) {
  const container = useRef<HTMLDivElement>(null);
  const map = useRef<SharedMap | null>(null);
  const timeMs = useSignal(Number.POSITIVE_INFINITY);
  const tracks = useMemo(() => tracksOf(shared), [shared]);
  useEffect(() => {
    if (container.current === null) return;
    const made = new SharedMap(container.current, timeMs);
    map.current = made;
    return () => {
      map.current = null;
      made.destroy();
    };
  }, [timeMs]);
  useEffect(() => map.current?.show(shared, tracks), [shared, tracks]);
  return (
    <>
      <div class="mapbox">
        <div class="canvas" ref={container} />
      </div>
      <section class="shared-list" aria-label={t().share.vehicles}>
        {tracks.length > 0 && <Slider tracks={tracks} timeMs={timeMs} />}
        <ul>
          {shared.vehicles.map((vehicle, index) => (
            <li key={index}>
              <button type="button" onClick={() => map.current?.goTo(index)}>
                <strong>
                  <bdi>{vehicle.name}</bdi>
                </strong>
                {vehicle.points === null ? (
                  <Now vehicle={vehicle} />
                ) : (
                  <small>
                    {vehicle.points.length === 0 ? t().share.noTrack : speedAt(tracks[index], timeMs.value)}
                  </small>
                )}
              </button>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

/** State, speed and age of the last fix. */
function Now({ vehicle: { state, position } }: { vehicle: Shared['vehicles'][number] }) {
  const nowMs = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      nowMs.value = Date.now();
    }, CLOCK_MS);
    return () => clearInterval(timer);
  }, [nowMs]);
  const format = formats();
  const kind = state ?? 'unknown';
  if (position === null) return <small>{t().share.noPosition}</small>;
  const isMoving = kind === 'moving' && position.speedKmh !== null;
  return (
    <>
      <span class={`chip ${kind}`}>
        {t().states[kind]}
        {isMoving ? ` · ${format.speed(position.speedKmh)}` : ''}
      </span>
      <small>
        {t().share.lastFix}: {format.ago((Math.max(nowMs.value, Date.now()) - Date.parse(position.fixTime)) / 1000)}
      </small>
    </>
  );
}

/** Slider for the time at which the vehicles are shown on their tracks. */
function Slider({ tracks, timeMs }: { tracks: readonly Track[]; timeMs: Signal<number> }) {
  const times = tracks.flatMap(({ timeMs: all }) => [all.at(0), all.at(-1)]).filter((time) => time !== undefined);
  if (times.length === 0) return null;
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const now = Math.min(to, Math.max(from, timeMs.value));
  return (
    <div class="shared-time">
      <input
        type="range"
        aria-label={t().time}
        aria-valuetext={formats().dateTime(now)}
        min={from}
        max={to}
        step={1000}
        value={now}
        onInput={(event) => {
          timeMs.value = Number(event.currentTarget.value);
        }}
      />
      <output>{formats().dateTimeWithSeconds(now)}</output>
    </div>
  );
}

function speedAt(track: Track | undefined, timeMs: number): string {
  const kmh = track?.speedKmh[Math.max(0, indexAt(track, timeMs))] ?? Number.NaN;
  return Number.isNaN(kmh) ? '–' : formats().speed(kmh);
}

/** Empty if the link shows current positions. */
function tracksOf({ track, vehicles }: Shared): Track[] {
  if (track === null) return [];
  return vehicles.map(({ points }) => {
    const all = points ?? [];
    return {
      count: all.length,
      timeMs: Float64Array.from(all, ([, , time]) => time),
      longitude: Float64Array.from(all, ([longitude]) => longitude),
      latitude: Float64Array.from(all, ([, latitude]) => latitude),
      speedKmh: Float32Array.from(all, ([, , , speed]) => speed ?? Number.NaN),
      courseDeg: new Float32Array(all.length).fill(Number.NaN),
    } as Track;
  });
}
