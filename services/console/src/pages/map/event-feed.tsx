import type { FeedEvent, PublishedEvent } from '@outrider/client';
import { isUnwanted } from '@outrider/words/sentences';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { live } from '../../live/live.ts';
import { eventTime } from '../../notifications.ts';
import { describeLive } from '../../sentences/sentences.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';

/** What happened in this time before the map was opened is shown. */
const PAST_MS = 15 * 60_000;
const PAST_EVENTS = 1000;
const MOST_SHOWN = 50;
/** Each goes with a trip, a stop or a stay. */
const PASSED_OVER: ReadonlySet<string> = new Set(['ignition', 'parking', 'idling']);

/** What has just happened, the newest first, over the edge of the map. */
export function EventFeed({ onChoose }: { onChoose: (event: PublishedEvent) => void }) {
  const events = useSignal<readonly PublishedEvent[] | null>(null);
  useEffect(() => {
    const ending = new AbortController();
    const take = (some: readonly FeedEvent[]) => {
      events.value = some.reduce(withEvent, events.peek() ?? []);
    };
    const seen = live.event.peek();
    const unfollow = live.event.subscribe((event) => {
      if (event !== null && event !== seen) take([event]);
    });
    const fromMs = Date.now() - PAST_MS;
    const from = new Date(fromMs).toISOString();
    api.get('/api/v1/feed/events', { query: { from, limit: PAST_EVENTS }, signal: ending.signal }).then(
      ({ items }) => {
        const since = events.peek() ?? [];
        events.value = [];
        // What became known in this time may have happened long before.
        take(items.filter((event) => Date.parse(eventTime(event)) >= fromMs));
        take(since.toReversed());
      },
      // What happens from now on is shown in any case.
      () => take([]),
    );
    return () => {
      ending.abort();
      unfollow();
    };
  }, [events]);
  // Names may come after the events.
  void fleet.version.value;
  const words = t().fleetMap.feed;
  return (
    <section class="event-feed" aria-label={words.title}>
      {events.value?.length === 0 && <small>{words.none}</small>}
      <ol>
        {events.value?.map((event) => (
          <li key={`${event.id} ${event.phase}`}>
            <button type="button" onClick={() => onChoose(event)}>
              <time dateTime={eventTime(event)}>{formats().moment(eventTime(event))}</time>
              <span class={event.phase === 'begin' && isUnwanted(event.kind) ? 'unwanted' : ''}>
                {describeLive(event)}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Of an event the last that is known of it stands; of what never happened, nothing. */
function withEvent(events: readonly PublishedEvent[], event: FeedEvent): readonly PublishedEvent[] {
  const { phase } = event;
  const others = events.filter(({ id }) => id !== event.id);
  if (phase === 'removed' || PASSED_OVER.has(event.kind)) return others;
  const all = [{ ...event, phase }, ...others];
  return all.sort((a, b) => Date.parse(eventTime(b)) - Date.parse(eventTime(a))).slice(0, MOST_SHOWN);
}
