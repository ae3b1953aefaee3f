import type { FeedEvent, PublishedEvent } from '@outrider/client';
import { isUnwanted } from '@outrider/words/sentences';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { live } from '../../live/live.ts';
import { eventTime } from '../../notifications.ts';
import { describeEvent, namesOf } from '../../sentences/sentences.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';

/** Time before the map was opened from which events are shown. */
const PAST_MS = 15 * 60_000;
const PAST_EVENTS = 1000;
const MOST_SHOWN = 50;
/** Kinds that are omitted, because each accompanies a trip, a stop or a stay. */
const PASSED_OVER: ReadonlySet<string> = new Set(['ignition', 'parking', 'idling']);

/** The latest events, newest first, at the edge of the map. */
export function EventFeed({ onChoose }: { onChoose: (event: PublishedEvent) => void }) {
  const events = useSignal<readonly PublishedEvent[] | null>(null);
  useEffect(() => {
    const ending = new AbortController();
    let newest: readonly PublishedEvent[] = [];
    let frame = 0;
    // A fleet has many events a second: each frame renders all that arrived before it.
    const take = (some: readonly FeedEvent[]) => {
      newest = some.reduce(withEvent, newest);
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        events.value = newest;
      });
    };
    const seen = live.event.peek();
    const unfollow = live.event.subscribe((event) => {
      if (event !== null && event !== seen) take([event]);
    });
    const fromMs = Date.now() - PAST_MS;
    const from = new Date(fromMs).toISOString();
    api.get('/api/v1/feed/events', { query: { from, limit: PAST_EVENTS }, signal: ending.signal }).then(
      ({ items }) => {
        const since = newest.toReversed();
        newest = [];
        // A recently published event may have happened long before.
        take([...items.filter((event) => Date.parse(eventTime(event)) >= fromMs), ...since]);
      },
      // Later events are shown even if the request fails.
      () => take([]),
    );
    return () => {
      ending.abort();
      unfollow();
      cancelAnimationFrame(frame);
    };
  }, [events]);
  // Names may be loaded after the events.
  void fleet.version.value;
  const words = t().fleetMap.feed;
  const today = formats().date(Date.now());
  return (
    <section class="event-feed" aria-label={words.title}>
      {events.value?.length === 0 && <small>{words.none}</small>}
      <ol>
        {events.value?.map((event) => (
          <EventRow key={`${event.id} ${event.phase}`} {...{ event, today, onChoose }} {...namesOf(event)} />
        ))}
      </ol>
    </section>
  );
}

interface EventRowProps {
  event: PublishedEvent;
  vehicleName: string | null;
  geofenceName: string | null;
  /** Not shown: a new day renders each row again, since times of other days are shown with their date. */
  today: string;
  onChoose: (event: PublishedEvent) => void;
}

/** Rendered again only when its properties change: its sentence is expensive to build. */
function EventRow({ event, vehicleName, geofenceName, onChoose }: EventRowProps) {
  return (
    <li>
      <button type="button" onClick={() => onChoose(event)}>
        <time dateTime={eventTime(event)}>{formats().moment(eventTime(event))}</time>
        <span class={event.phase === 'begin' && isUnwanted(event.kind) ? 'unwanted' : ''}>
          {describeEvent(event, vehicleName, geofenceName)}
        </span>
      </button>
    </li>
  );
}

/** Inserts an event. Its latest version replaces earlier ones; an event that was withdrawn is removed. */
function withEvent(events: readonly PublishedEvent[], event: FeedEvent): readonly PublishedEvent[] {
  const { phase } = event;
  const others = events.filter(({ id }) => id !== event.id);
  if (phase === 'removed' || PASSED_OVER.has(event.kind)) return others;
  // Times have one format, so string order is time order.
  const time = eventTime(event);
  const after = others.findIndex((other) => eventTime(other) <= time);
  const place = after === -1 ? others.length : after;
  return others.toSpliced(place, 0, { ...event, phase }).slice(0, MOST_SHOWN);
}
