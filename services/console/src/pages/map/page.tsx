import type { PublishedEvent } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { ageOf } from '../../fleet/age.ts';
import { STATES } from '../../fleet/fleet.ts';
import { leavePast, pastMs, showPast } from '../../fleet/past.ts';
import { stateName } from '../../fleet/state-name.ts';
import { fleet, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { secondText, timeOf } from '../../links.ts';
import { live, liveAnswered } from '../../live/live.ts';
import { readPlace } from '../../map/map.ts';
import { lazy } from '../../parts/loading/lazy.tsx';
import { MapTool } from '../../parts/map-tool.tsx';
import { change, preferences } from '../../preferences.ts';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { isNarrow } from '../../text-size.ts';
import { t } from '../../words/words.ts';
import '../../style/map.css';
import { listRem } from './columns.ts';
import { FleetMap, type HoveredCluster, type Spot } from './fleet-map.ts';
import { MapLegend, VehicleList } from './list.tsx';
import type { AskedPlace } from './nearest-menu.tsx';
import { type Choice, SpotMenu, vehiclesOf } from './spot-menu.tsx';
import { Trouble } from './trouble.tsx';

/** Number of vehicles at one place that are named beside the pointer. */
const MOST_NAMED = 5;
const HOUR_MS = 3_600_000;
/** A moment is loaded once it stays chosen for this long. */
const SETTLED_MS = 120;
const PastBar = lazy(async () => (await import('./past-bar.tsx')).PastBar);
const PastPanel = lazy(async () => (await import('./past-panel.tsx')).PastPanel);
const EventFeed = lazy(async () => (await import('./event-feed.tsx')).EventFeed);
const NearestMenu = lazy(async () => (await import('./nearest-menu.tsx')).NearestMenu);
const VehiclePanel = lazy(async () => (await import('./panel.tsx')).VehiclePanel);

/** The live map with its list. The address has the vehicle, the filter, the place, and whether it is followed. */
export function MapPage() {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<FleetMap | null>(null);
  const hover = useSignal<Hovered | null>(null);
  /** Clicked vehicles of which the user must choose one. */
  const choice = useSignal<Choice | null>(null);
  /** A place whose nearest vehicles are requested. */
  const asked = useSignal<AskedPlace | null>(null);
  const { query } = route.value;
  const selected = query.get('vehicle');
  const isFollowing = query.get('follow') === '1' && selected !== null;
  const isListHidden = query.get('list') === '0';
  const feed = query.get('feed');
  const hasFeed = feed === null ? !isNarrow() : feed === '1';
  const isAnswered = useLiveAnswered();

  useEffect(() => {
    if (container.current === null || !isAnswered) return;
    const map = new FleetMap(container.current, readPlace(route.peek().query.get('at')), {
      onSelect: (spot, x, y) => {
        if (spot === null || spot.length === 1) select(spot?.[0] ?? null);
        else choice.value = { spot, x, y };
      },
      onHover: (over, x, y) => {
        hover.value = over === null ? null : { over, x, y };
      },
      onAsk: (place) => (asked.value = place),
      onMove: (at) => setQuery({ at }),
      onDrag: () => setQuery({ follow: null }),
      onZoom: () => (choice.value = asked.value = null),
    });
    view.current = map;
    return () => {
      view.current = null;
      map.destroy();
    };
  }, [hover, choice, asked, isAnswered]);
  const atMs = timeOf(query.get('time'));
  usePast(atMs);
  useEffect(() => view.current?.select(selected), [selected, isAnswered]);
  useEffect(() => view.current?.follow(isFollowing ? selected : null), [isFollowing, selected, isAnswered]);

  const choose = (id: string) => {
    select(id);
    view.current?.show(id);
  };
  const showEvent = useCallback(({ vehicleId, longitude, latitude }: PublishedEvent) => {
    select(vehicleId);
    view.current?.showPlace({ longitude, latitude });
  }, []);
  return (
    <div class={isListHidden ? 'split wide' : 'split'} style={{ '--list': `${listRem()}rem` }}>
      <VehicleList selected={selected} onSelect={choose} />
      <div class="mapbox">
        <div class="canvas" ref={container} />
        <div class="tools">
          <MapTool
            icon="list"
            label={isListHidden ? t().showList : t().hideList}
            onClick={() => setQuery({ list: isListHidden ? null : '0' })}
          />
          <MapTool icon="fit" label={t().showAll} onClick={() => view.current?.fitAll()} />
          <MapTool
            icon="calendar"
            label={t().fleetMap.past.open}
            isPressed={atMs !== null}
            onClick={() => setQuery({ follow: null, time: atMs === null ? secondText(Date.now() - HOUR_MS) : null })}
          />
          <MapTool
            icon="bell"
            label={t().fleetMap.feed.open}
            isPressed={hasFeed}
            onClick={() => setQuery({ feed: hasFeed ? '0' : '1' })}
          />
          <MapTool
            icon="follow"
            label={t().fleetMap.nearestToMiddle}
            onClick={() => (asked.value = view.current?.middle() ?? null)}
          />
          <MapTool
            icon="group"
            label={t().clusters}
            isPressed={preferences.value.clusters}
            onClick={() => change({ clusters: !preferences.peek().clusters })}
          />
          <MapTool
            icon="palette"
            label={t().fleetMap.vehicleColors}
            isPressed={preferences.value.vehicleColors}
            onClick={() => change({ vehicleColors: !preferences.peek().vehicleColors })}
          />
        </div>
        {isListHidden && <MapLegend />}
        {asked.value !== null && (
          <NearestMenu {...asked.value} onSelect={choose} onClose={() => (asked.value = null)} />
        )}
        {hover.value !== null && choice.value === null && <HoverCard {...hover.value} />}
        {choice.value !== null && (
          <SpotMenu {...choice.value} selected={selected} onSelect={select} onClose={() => (choice.value = null)} />
        )}
        {hasFeed && atMs === null && <EventFeed onChoose={showEvent} />}
        {atMs !== null && <PastBar atMs={atMs} />}
        {selected !== null && atMs !== null && <PastPanel id={selected} onClose={() => select(null)} />}
        {selected !== null && atMs === null && (
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

/** False until the live API has answered. The map is created afterwards, because that keeps the page busy. */
function useLiveAnswered(): boolean {
  const isAnswered = useSignal(live.status.peek() !== 'connecting');
  useEffect(() => {
    void liveAnswered().then(() => (isAnswered.value = true));
  }, [isAnswered]);
  return isAnswered.value;
}

/** Shows the fleet at a past moment, until the page is left; null: now. */
function usePast(atMs: number | null): void {
  const isReady = loaded.value === true;
  const isOfPast = atMs !== null;
  useEffect(() => {
    if (atMs === null || !isReady) return;
    const ending = new AbortController();
    // While a slider is dragged, only its last moment is loaded.
    const timer = setTimeout(() => void showPast(atMs, ending.signal), pastMs.peek() === null ? 0 : SETTLED_MS);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [atMs, isReady]);
  useEffect(() => (isOfPast ? leavePast : undefined), [isOfPast]);
}

function select(id: string | null): void {
  if (id === route.peek().query.get('vehicle')) return;
  navigate(withQuery({ vehicle: id, follow: null }));
}

/** The vehicles or cluster under the pointer, and the pointer's position in pixels of the map. */
interface Hovered {
  over: Spot | HoveredCluster;
  x: number;
  y: number;
}

/** Card beside the pointer, on the side where it fits into the map. */
function HoverCard({ over, x, y }: Hovered) {
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = card.current;
    const box = element?.parentElement;
    if (!element || !box) return;
    const { offsetWidth, offsetHeight } = element;
    const left = x + 14 + offsetWidth < box.clientWidth ? x + 14 : Math.max(4, x - 14 - offsetWidth);
    const top = y + 14 + offsetHeight < box.clientHeight ? y + 14 : Math.max(4, y - 14 - offsetHeight);
    element.style.transform = `translate(${left}px, ${top}px)`;
  });
  return (
    <div class="hover" ref={card}>
      {'states' in over ? (
        <ClusterCard {...over} />
      ) : over.length > 1 ? (
        <SpotCard spot={over} />
      ) : (
        <VehicleCard id={over[0]} />
      )}
    </div>
  );
}

function VehicleCard({ id }: { id: string }) {
  void fleet.version.value;
  const index = fleet.indexOf(id);
  const vehicle = fleet.vehicles[index];
  if (vehicle === undefined) return null;
  const state = fleet.stateOf(index);
  const speed = fleet.speedKmh[index] ?? Number.NaN;
  const sinceMs = fleet.sinceMs[index] ?? 0;
  return (
    <>
      <strong>
        <bdi>{vehicle.name}</bdi>
      </strong>
      {vehicle.plate !== null && (
        <small>
          <bdi>{vehicle.plate}</bdi>
        </small>
      )}
      <span class={`chip ${state}`}>
        {stateName(state)}
        {state === 'moving' && !Number.isNaN(speed) ? ` · ${formats().speed(speed)}` : ''}
      </span>
      <Trouble index={index} />
      {sinceMs > 0 && state !== 'moving' && <small>{t().since(formats().moment(sinceMs))}</small>}
      <small>
        {t().lastContact}: <span class={fleet.overdue[index] === 1 ? 'late' : undefined}>{ageOf(index)}</span>
      </small>
    </>
  );
}

function SpotCard({ spot }: { spot: Spot }) {
  void fleet.version.value;
  return (
    <>
      <strong>{t().fleetMap.vehiclesHere(spot.length)}</strong>
      {vehiclesOf(spot.slice(0, MOST_NAMED)).map(({ id, name, state }) => (
        <span key={id} class={`chip ${state}`}>
          <bdi>{name}</bdi>
        </span>
      ))}
      {spot.length > MOST_NAMED && <small>…</small>}
    </>
  );
}

function ClusterCard({ count, states }: HoveredCluster) {
  return (
    <>
      <strong>{t().fleetMap.vehiclesHere(count)}</strong>
      {STATES.map((state, nth) =>
        (states[nth] ?? 0) === 0 ? null : (
          <span key={state} class={`chip ${state}`}>
            {t().states[state]} {formats().number(states[nth])}
          </span>
        ),
      )}
      <small>{t().fleetMap.clickToZoom}</small>
    </>
  );
}
