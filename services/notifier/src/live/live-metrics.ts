import { Counter, Gauge, type Metrics } from '@outrider/runtime';

/** Message types that are counted. */
const SENT_TYPES = [
  'position',
  'vehicle-state',
  'vehicle-drivers',
  'vehicle-tanks',
  'vehicle-counters',
  'event',
  'notification',
  'video-task',
  'command',
  'report-job',
  'incident',
  'definition',
  'unread',
] as const;
export type SentType = (typeof SENT_TYPES)[number];

/** Limits that can refuse an upgrade. */
const REFUSAL_BOUNDS = ['total', 'address', 'user', 'anonymous'] as const;
export type RefusalBound = (typeof REFUSAL_BOUNDS)[number];

export interface LiveMetrics {
  /** Counters of sent messages, their labels resolved once. */
  sent: Record<SentType, { inc(count?: number): void }>;
  refused(bound: RefusalBound): void;
  disconnectedSlow(bound: 'client' | 'sum', count: number): void;
}

export function createLiveMetrics(registry: Metrics, sizes: { clients(): number; unsentBytes(): number }): LiveMetrics {
  const registers = [registry];
  new Gauge({
    name: 'outrider_live_clients',
    help: 'Open WebSockets of the live API',
    registers,
    collect() {
      this.set(sizes.clients());
    },
  });
  new Gauge({
    name: 'outrider_live_unsent_bytes',
    help: 'Bytes buffered in memory for live API clients that read too slowly',
    registers,
    collect() {
      this.set(sizes.unsentBytes());
    },
  });
  const sent = new Counter({
    name: 'outrider_live_messages_total',
    help: 'Messages sent to WebSockets of the live API',
    labelNames: ['type'],
    registers,
  });
  const slow = new Counter({
    name: 'outrider_live_slow_disconnects_total',
    help: 'WebSockets closed because the client read too slowly, by the limit that was exceeded',
    labelNames: ['bound'],
    registers,
  });
  const refused = new Counter({
    name: 'outrider_live_refused_total',
    help: 'Refused WebSockets of the live API, by the limit that was exceeded',
    labelNames: ['bound'],
    registers,
  });
  for (const bound of ['client', 'sum']) slow.inc({ bound }, 0);
  for (const bound of REFUSAL_BOUNDS) refused.inc({ bound }, 0);
  return {
    sent: Object.fromEntries(SENT_TYPES.map((type) => [type, sent.labels(type)])) as LiveMetrics['sent'],
    refused: (bound) => refused.inc({ bound }),
    disconnectedSlow: (bound, count) => slow.inc({ bound }, count),
  };
}
