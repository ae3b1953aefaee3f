import { ApiError } from '@outrider/client';
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { hasNoVehicles } from '../../fleet/store.ts';
import { secondText, timeOf } from '../../links.ts';
import { MapTool } from '../../parts/map-tool.tsx';
import { Message } from '../../parts/message.tsx';
import { preferences } from '../../preferences.ts';
import { route, setQuery } from '../../router.ts';
import type { TimeRange } from '../../time-range.ts';
import { ReplayClock } from '../../track/clock.ts';
import { replayRange } from '../../track/range.ts';
import { t } from '../../words/words.ts';
import { NoVehicles } from '../map/no-vehicles.tsx';
import { isBySpeed, MOST_VEHICLES } from './choice.ts';
import { Filters } from './filters.tsx';
import { type Part, readPart } from './load.ts';
import { MarkCard } from './mark-card.tsx';
import { nameOf } from './names.ts';
import { Player } from './player.tsx';
import { Side } from './side.tsx';
import { TrackMap } from './track-map.ts';
import '../../style/track.css';
import { trackWords } from './words.ts';

/** The address is updated once the clock has stood still for this long. */
const ADDRESS_MS = 400;

type Reading = Part | 'loading' | { error: string };
const isPart = (reading: Reading | undefined): reading is Part => typeof reading === 'object' && 'track' in reading;

/**
 * Replay of tracks with one clock: where vehicles were, how fast, where they stopped and what happened. The address has
 * the vehicles, the interval and the second.
 */
export function TrackPage() {
  const { query } = route.value;
  const { timeZone } = preferences.value;
  const vehicleIds = [...new Set(query.getAll('vehicle'))].slice(0, MOST_VEHICLES);
  const range = replayRange(query, timeZone, Date.now());
  const atMs = timeOf(query.get('t'));
  const interval = `${range.fromMs} ${range.toMs}`;
  const clock = useMemo(() => new ReplayClock(), []);
  const readings = useReadings(vehicleIds, range);
  const parts = vehicleIds.map((id) => readings.get(id)).filter(isPart);
  const isLoading = vehicleIds.some((id) => readings.get(id) === 'loading' || !readings.has(id));
  const present = useStable(parts);

  // Runs before the effects of components that show the clock: the chart is created for its interval.
  useLayoutEffect(() => {
    const times = present.flatMap(({ track }) => [track.timeMs.at(0), track.timeMs.at(-1)]);
    const known = times.filter((time) => time !== undefined);
    if (known.length === 0) return;
    const at = timeOf(route.peek().query.get('t'));
    // An added vehicle does not move the clock of the replay.
    const [fromMs, toMs] = [Math.min(...known), Math.max(...known)];
    const nowMs = clock.timeMs.peek();
    clock.setInterval(fromMs, toMs, at ?? (nowMs >= fromMs && nowMs <= toMs ? nowMs : fromMs));
  }, [present, clock]);
  useAddress(clock, interval, atMs);

  const failures = vehicleIds.flatMap((id) => {
    const reading = readings.get(id);
    return typeof reading === 'object' && 'error' in reading ? [{ id, error: reading.error }] : [];
  });
  const hasTrack = present.some(({ track }) => track.count > 0);
  return (
    <div class="split replay">
      <section class="side" aria-label={t().pages.track}>
        <Filters vehicleIds={vehicleIds} range={range} />
        {failures.map(({ id, error }) => (
          <p key={id} class="error notice" role="alert">
            <bdi>{nameOf(id)}</bdi>: {error}
          </p>
        ))}
        {vehicleIds.length === 0 && hasNoVehicles() ? (
          <NoVehicles />
        ) : vehicleIds.length === 0 ? (
          <Message icon="track" title={t().chooseVehicle} hint={trackWords().chooseHint} />
        ) : isLoading && !hasTrack ? (
          <Message title={t().loading} />
        ) : hasTrack ? (
          <Side parts={present} vehicleIds={vehicleIds} range={range} clock={clock} />
        ) : (
          failures.length < vehicleIds.length && (
            <Message icon="track" title={t().noTrack} hint={trackWords().noTrackHint} />
          )
        )}
      </section>
      <div class="mapbox">
        <MapBox parts={present} vehicleIds={vehicleIds} clock={clock} />
        <MarkCard parts={present} clock={clock} />
        {hasTrack && <Player parts={present} vehicleIds={vehicleIds} range={range} clock={clock} />}
      </div>
    </div>
  );
}

/** Loads the data of each vehicle. Loaded data is kept until the interval changes. */
function useReadings(vehicleIds: readonly string[], range: TimeRange): Map<string, Reading> {
  const readings = useSignal(new Map<string, Reading>());
  const running = useRef(new Map<string, AbortController>());
  const interval = `${range.fromMs} ${range.toMs}`;
  const endAll = () => {
    for (const controller of running.current.values()) controller.abort();
    running.current.clear();
  };
  useEffect(() => {
    endAll();
    readings.value = new Map();
  }, [interval]);
  useEffect(() => {
    const set = (id: string, reading: Reading) => {
      readings.value = new Map(readings.peek()).set(id, reading);
    };
    for (const [id, controller] of running.current)
      if (!vehicleIds.includes(id)) {
        controller.abort();
        running.current.delete(id);
      }
    for (const id of vehicleIds) {
      if (readings.peek().has(id) && running.current.has(id)) continue;
      const controller = new AbortController();
      running.current.set(id, controller);
      set(id, 'loading');
      readPart(id, range, controller.signal).then(
        (part) => !controller.signal.aborted && set(id, part),
        (error: unknown) => {
          if (controller.signal.aborted) return;
          const isGone = error instanceof ApiError && error.status === 404;
          set(id, { error: isGone ? t().notFoundVehicle : describeError(error) });
        },
      );
    }
  }, [interval, vehicleIds.join()]);
  useEffect(() => endAll, []);
  return readings.value;
}

/** Returns the same array as long as it has the same parts. */
function useStable(parts: readonly Part[]): readonly Part[] {
  const last = useRef<readonly Part[]>([]);
  const isSame = parts.length === last.current.length && parts.every((part, index) => part === last.current[index]);
  if (!isSame) last.current = parts;
  return last.current;
}

/** Keeps clock and address in step. During playback, the address is not updated. */
function useAddress(clock: ReplayClock, interval: string, atMs: number | null): void {
  /** Last time that the clock wrote. It is not applied to the clock, which may have moved on meanwhile. */
  const written = useRef<number | null>(null);
  useEffect(() => {
    if (atMs === null || atMs === written.current) return;
    if (Math.floor(clock.timeMs.peek() / 1000) * 1000 !== atMs) clock.seek(atMs);
  }, [atMs, interval, clock]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useSignalEffect(() => {
    const timeMs = clock.timeMs.value;
    const isPlaying = clock.isPlaying.value;
    clearTimeout(timer.current);
    if (isPlaying || timeMs <= clock.fromMs) return;
    timer.current = setTimeout(() => {
      if (route.peek().path !== '/track') return;
      const t = secondText(timeMs);
      written.current = timeOf(t);
      setQuery({ t });
    }, ADDRESS_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}

function MapBox({ parts, vehicleIds, clock }: { parts: readonly Part[]; vehicleIds: string[]; clock: ReplayClock }) {
  const container = useRef<HTMLDivElement>(null);
  const map = useRef<TrackMap | null>(null);
  const { query } = route.value;
  const bySpeed = isBySpeed(query, vehicleIds.length);
  const chosen = query.get('mark');
  useEffect(() => {
    if (container.current === null) return;
    const made = new TrackMap(container.current, clock, (mark) => setQuery({ mark: mark?.key ?? null }));
    map.current = made;
    return () => {
      map.current = null;
      made.destroy();
    };
  }, [clock]);
  useEffect(() => {
    const numbered = parts.map((part) => ({ ...part, number: vehicleIds.indexOf(part.vehicleId) }));
    map.current?.show(numbered, bySpeed);
  }, [parts, vehicleIds.join(), bySpeed]);
  useEffect(() => map.current?.choose(chosen), [chosen, parts]);
  return (
    <>
      <div class="canvas" ref={container} />
      {parts.length > 0 && (
        <div class="tools">
          <MapTool icon="fit" label={trackWords().showWholeTrack} onClick={() => map.current?.fitAll()} />
        </div>
      )}
    </>
  );
}
