import { FEED_NAMES, type FeedName } from '@outrider/feeds';
import { Counter, Gauge, type Metrics } from '@outrider/runtime';

/** Forms of a feed, as labels of metrics. */
type Form = 'page' | 'ndjson' | 'sse';

export interface FeedMetrics {
  opened(feed: FeedName, form: Form): void;
  closed(feed: FeedName, form: Form): void;
  sent(feed: FeedName, count: number): void;
  refused(bound: 'account' | 'total'): void;
}

/**
 * Creates the metrics of feeds.
 *
 * @param lagSeconds lag of the stream that is farthest behind
 */
export function createFeedMetrics(metrics: Metrics, lagSeconds: (feed: FeedName) => number): FeedMetrics {
  const registers = [metrics];
  const open = new Gauge({
    name: 'outrider_feed_calls',
    help: 'Open feed requests, by form of the response; `page` includes long polls',
    labelNames: ['feed', 'form'],
    registers,
  });
  new Gauge({
    name: 'outrider_feed_lag_seconds',
    help: 'Lag of the slowest open feed stream: age of the oldest log record it has not read',
    labelNames: ['feed'],
    registers,
    collect() {
      for (const feed of FEED_NAMES) this.set({ feed }, lagSeconds(feed));
    },
  });
  const items = new Counter({
    name: 'outrider_feed_items_total',
    help: 'Items sent to feed consumers',
    labelNames: ['feed'],
    registers,
  });
  const refused = new Counter({
    name: 'outrider_feed_refused_total',
    help: 'Refused feed requests, by the limit that was exceeded',
    labelNames: ['bound'],
    registers,
  });
  for (const feed of FEED_NAMES) items.inc({ feed }, 0);
  for (const bound of ['account', 'total']) refused.inc({ bound }, 0);
  return {
    opened: (feed, form) => open.inc({ feed, form }),
    closed: (feed, form) => open.dec({ feed, form }),
    sent: (feed, count) => items.inc({ feed }, count),
    refused: (bound) => refused.inc({ bound }),
  };
}
